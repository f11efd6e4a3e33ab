<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Controller;

use Train\Http\{HttpException, Request, Response};
use Train\I18n\Translator;
use Train\Model\{Article, Author, Status};
use Train\Routing\Get;
use Train\View\Engine;

final class Pages
{
    public function __construct(private Engine $views, private Translator $translator)
    {
    }

    #[Get('/', name: 'home')]
    public function home(Request $request): Response
    {
        $articles = Article::query()->where('status', Status::Published->value)->with('author', 'comments')
            ->orderBy('published', 'desc')->limit(10)->get();
        return $this->page('home', $request, ['articles' => $articles,
            'tags' => $articles->pluck('tags')->reduce(static function (array $all, array $tags): array {
                foreach ($tags as $tag)
                    $all[$tag] = ($all[$tag] ?? 0) + 1;
                ksort($all);
                return $all;
            }, [])]);
    }

    #[Get('/articles', name: 'articles')]
    public function list(Request $request): Response
    {
        $page = max(1, $request->query->int('page', 1));
        $data = Article::query()->when($request->query->get('q'), static function ($query, string $words): void {
            $query->where(static fn ($q) => $q->where('title', 'like', "%$words%")->orWhere('body', 'like', "%$words%"));
        })->orderBy('id')->with('author')->paginate($page, 12);
        return $this->page('list', $request, $data);
    }

    #[Get('/articles/{id}-{slug}', name: 'article', where: ['id' => '\d+', 'slug' => '[a-z0-9-]+'])]
    public function show(Request $request, int $id, string $slug): Response
    {
        $article = Article::query()->with('author', 'comments')->find($id)
            ?? throw new HttpException(404, "There is no article $id");
        if ($article->slug !== "$id-$slug")
            return new Response('', 302, ['Location' => '/articles/' . $article->slug]);
        return $this->page('article', $request, compact('article'));
    }

    #[Get('/authors/{id}', name: 'author', where: ['id' => '\d+'])]
    public function author(Request $request, int $id): Response
    {
        $author = Author::query()->with('articles.comments')->find($id) ?? throw new HttpException(404, 'Nobody');
        $years = $author->articles->groupBy(static fn (Article $a): string => $a->published->format('Y'));
        return $this->page('author', $request, compact('author', 'years'));
    }

    #[Get('/feed.xml', name: 'feed')]
    public function feed(): Response
    {
        $dom = new \DOMDocument('1.0', 'UTF-8');
        $channel = $dom->appendChild($dom->createElement('rss'))->appendChild($dom->createElement('channel'));
        $channel->parentNode->setAttribute('version', '2.0');
        foreach (Article::query()->orderBy('id', 'desc')->limit(8)->get() as $article) {
            $item = $channel->appendChild($dom->createElement('item'));
            $item->appendChild($dom->createElement('title'))->appendChild($dom->createTextNode($article->title));
            $item->appendChild($dom->createElement('pubDate', $article->published->format(DATE_RSS)));
            $item->appendChild($dom->createElement('description'))->appendChild($dom->createCDATASection($article->teaser));
        }
        return new Response((string) $dom->saveXML(), 200, ['Content-Type' => 'application/rss+xml']);
    }

    private function page(string $name, Request $request, array $data): Response
    {
        $wanted = substr($request->headers->accepted('accept-language')[0] ?? 'en', 0, 2);
        return new Response($this->views->render($name, $data + [
            't' => $this->translator->locale($wanted), 'session' => $request->session, 'path' => $request->path()]));
    }
}
