<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// A blog, built otherwise than the training site: no reflection, no magic; typed entities, repositories with arrays behind them, a
// Markdown reader, templates that are parsed to a tree and interpreted, a router that walks a tree of segments.
namespace Held\Blog;

final class Tag
{
    public function __construct(public readonly string $name, public readonly int $uses = 0)
    {
    }

    public function used(): self
    {
        return new self($this->name, $this->uses + 1);
    }
}

final class Post
{
    /** @param list<string> $tags */
    public function __construct(public readonly int $id, public readonly string $title, public readonly string $text,
        public readonly array $tags, public readonly int $time, private ?string $html = null)
    {
    }

    public function html(Markdown $markdown): string
    {
        return $this->html = $markdown->render($this->text);
    }

    public function isNewerThan(Post $other): bool
    {
        return $this->time > $other->time || ($this->time === $other->time && $this->id > $other->id);
    }
}

interface Repository
{
    public function byId(int $id): ?Post;

    /** @return list<Post> */
    public function newest(int $n, ?string $tag = null): array;
}

final class Posts implements Repository
{
    /** @var array<int, Post> */
    private array $all = [];
    /** @var array<string, list<int>> */
    private array $byTag = [];

    public function add(Post $post): void
    {
        $this->all[$post->id] = $post;
        foreach ($post->tags as $tag)
            $this->byTag[$tag][] = $post->id;
    }

    public function byId(int $id): ?Post
    {
        return $this->all[$id] ?? null;
    }

    public function newest(int $n, ?string $tag = null): array
    {
        $found = [];
        foreach ($tag === null ? array_keys($this->all) : $this->byTag[$tag] ?? [] as $id)
            $found[] = $this->all[$id];
        usort($found, static fn (Post $a, Post $b): int => $a->isNewerThan($b) ? -1 : 1);
        return array_slice($found, 0, $n);
    }

    /** @return array<string, Tag> */
    public function tags(): array
    {
        $tags = [];
        foreach ($this->all as $post)
            foreach ($post->tags as $name)
                $tags[$name] = ($tags[$name] ?? new Tag($name))->used();
        uasort($tags, static fn (Tag $a, Tag $b): int => [$b->uses, $a->name] <=> [$a->uses, $b->name]);
        return $tags;
    }
}

/** Line by line, no regular expression for blocks; a few for spans. */
final class Markdown
{
    private array $out = [];
    private ?string $open = null;

    public function render(string $text): string
    {
        $this->out = [];
        $this->open = null;
        foreach (explode("\n", $text) as $line)
            $this->line(rtrim($line));
        $this->close();
        return implode("\n", $this->out);
    }

    private function line(string $line): void
    {
        if ($line === '') {
            $this->close();
            return;
        }
        $level = strspn($line, '#');
        if ($level > 0 && $level < 7 && ($line[$level] ?? '') === ' ') {
            $this->close();
            $title = $this->spans(substr($line, $level + 1));
            $this->out[] = "<h$level>$title</h$level>";
        } elseif (strncmp($line, '- ', 2) === 0) {
            $this->open('ul');
            $this->out[] = '<li>' . $this->spans(substr($line, 2)) . '</li>';
        } elseif (strncmp($line, '    ', 4) === 0) {
            $this->open('pre');
            $this->out[] = htmlspecialchars(substr($line, 4));
        } elseif ($line[0] === '>') {
            $this->open('blockquote');
            $this->out[] = $this->spans(ltrim(substr($line, 1)));
        } else {
            $this->open('p');
            $this->out[] = $this->spans($line);
        }
    }

    private function open(string $tag): void
    {
        if ($this->open === $tag)
            return;
        $this->close();
        $this->out[] = "<$tag>";
        $this->open = $tag;
    }

    private function close(): void
    {
        if ($this->open !== null)
            $this->out[] = "</{$this->open}>";
        $this->open = null;
    }

    private function spans(string $text): string
    {
        $out = '';
        for ($i = 0, $n = strlen($text); $i < $n;) {
            $plain = strcspn($text, '*`[&<', $i);
            $out .= substr($text, $i, $plain);
            $i += $plain;
            if ($i >= $n)
                break;
            switch ($text[$i]) {
            case '*':
                $two = ($text[$i + 1] ?? '') === '*';
                $mark = $two ? '**' : '*';
                $end = strpos($text, $mark, $i + strlen($mark));
                if ($end === false) {
                    $out .= '*';
                    $i++;
                    break;
                }
                $inner = $this->spans(substr($text, $i + strlen($mark), $end - $i - strlen($mark)));
                $out .= $two ? "<strong>$inner</strong>" : "<em>$inner</em>";
                $i = $end + strlen($mark);
                break;
            case '`':
                $end = strpos($text, '`', $i + 1);
                if ($end === false) {
                    $out .= '`';
                    $i++;
                    break;
                }
                $out .= '<code>' . htmlspecialchars(substr($text, $i + 1, $end - $i - 1)) . '</code>';
                $i = $end + 1;
                break;
            case '[':
                if (preg_match('/\[([^\]]+)\]\(([^)\s]+)\)/A', $text, $m, 0, $i)) {
                    $out .= '<a href="' . htmlspecialchars($m[2]) . '">' . $this->spans($m[1]) . '</a>';
                    $i += strlen($m[0]);
                    break;
                }
                $out .= '[';
                $i++;
                break;
            default:
                $out .= $text[$i] === '&' ? '&amp;' : '&lt;';
                $i++;
            }
        }
        return $out;
    }
}

/** "Hello <%name%>", <%each list as item%>..<%end%>, <%if x%>..<%else%>..<%end%>: a tree, walked for each page. */
final class Template
{
    private array $tree;
    private array $tokens;
    private int $at = 0;

    public function __construct(string $source)
    {
        $this->tokens = preg_split('/<%(.*?)%>/', $source, -1, PREG_SPLIT_DELIM_CAPTURE);
        $this->tree = $this->block();
    }

    private function block(): array
    {
        $nodes = [];
        for (; $this->at < count($this->tokens); $this->at++) {
            $token = $this->tokens[$this->at];
            if ($this->at % 2 === 0) {
                if ($token !== '')
                    $nodes[] = ['text', $token];
                continue;
            }
            $words = explode(' ', trim($token));
            switch ($words[0]) {
            case 'end':
            case 'else':
                return $nodes;
            case 'each':
                $this->at++;
                $nodes[] = ['each', explode('.', $words[1]), $words[3], $this->block()];
                break;
            case 'if':
                $this->at++;
                $then = $this->block();
                $else = [];
                if (trim($this->tokens[$this->at]) === 'else') {
                    $this->at++;
                    $else = $this->block();
                }
                $nodes[] = ['if', explode('.', $words[1]), $then, $else];
                break;
            case 'raw':
                $nodes[] = ['raw', explode('.', $words[1])];
                break;
            default:
                $nodes[] = ['echo', explode('.', $words[0]), array_slice($words, 1)];
            }
        }
        return $nodes;
    }

    public function render(array $scope): string
    {
        return $this->walk($this->tree, $scope);
    }

    private function walk(array $nodes, array $scope): string
    {
        $out = '';
        foreach ($nodes as $node)
            switch ($node[0]) {
            case 'text':
                $out .= $node[1];
                break;
            case 'echo':
                $value = $this->value($node[1], $scope);
                foreach ($node[2] as $filter)
                    $value = match ($filter) {
                        'upper' => strtoupper((string) $value),
                        'date' => gmdate('d M Y', $value),
                        'length' => is_array($value) ? count($value) : strlen((string) $value),
                        'short' => strlen($value) > 60 ? substr($value, 0, strrpos(substr($value, 0, 60), ' ') ?: 60) . '...' : $value,
                    };
                $out .= htmlspecialchars((string) $value, ENT_QUOTES);
                break;
            case 'raw':
                $out .= $this->value($node[1], $scope);
                break;
            case 'if':
                $out .= $this->walk($this->value($node[1], $scope) ? $node[2] : $node[3], $scope);
                break;
            case 'each':
                $inner = $scope;
                $i = 0;
                foreach ($this->value($node[1], $scope) ?? [] as $key => $item) {
                    $inner[$node[2]] = $item;
                    $inner['key'] = $key;
                    $inner['even'] = $i++ % 2 === 0;
                    $out .= $this->walk($node[3], $inner);
                }
            }
        return $out;
    }

    private function value(array $path, array $scope): mixed
    {
        $value = $scope[$path[0]] ?? null;
        for ($i = 1, $n = count($path); $i < $n && $value !== null; $i++)
            $value = is_array($value) ? $value[$path[$i]] ?? null : $value->{$path[$i]};
        return $value;
    }
}

final class Segments
{
    private array $root = [];

    public function on(string $pattern, callable $do): void
    {
        $at = &$this->root;
        foreach (explode('/', trim($pattern, '/')) as $segment) {
            $key = $segment !== '' && $segment[0] === ':' ? '*' : $segment;
            if ($key === '*')
                $at['name'] = substr($segment, 1);
            if (!isset($at['next'][$key]))
                $at['next'][$key] = [];
            $at = &$at['next'][$key];
        }
        $at['do'] = $do;
    }

    public function go(string $path): string
    {
        $at = $this->root;
        $values = [];
        foreach (explode('/', trim($path, '/')) as $segment) {
            if (isset($at['next'][$segment])) {
                $at = $at['next'][$segment];
            } elseif (isset($at['next']['*'])) {
                $values[$at['name']] = urldecode($segment);
                $at = $at['next']['*'];
            } else {
                return '404 Not Found';
            }
        }
        return isset($at['do']) ? '200 OK' . "\n" . $at['do']($values) : '404 Not Found';
    }
}

final class Site
{
    private const FRAME = '<html><title><%title upper%></title><ul><%each tags as tag%><li<%if even%> class="e"<%end%>><%tag.name%> (<%tag.uses%>)</li><%end%></ul>'
        . '<main><%raw body%></main></html>';
    private const LIST = '<%if posts%><%each posts as post%><section><h2><a href="/post/<%post.id%>"><%post.title%></a></h2><time><%post.time date%></time>'
        . '<p><%post.text short%></p><%each post.tags as tag%><b><%tag%></b> <%end%></section><%end%><%else%>Nothing yet.<%end%>';
    private const POST = '<article><h1><%post.title%></h1><%raw html%><%if next%><a href="/post/<%next.id%>"><%next.title%></a><%end%><p><%post.text length%> bytes</p></article>';

    private array $templates = [];
    private array $page = [];
    private Segments $router;

    public function __construct(private Posts $posts, private Markdown $markdown)
    {
        foreach (['frame' => self::FRAME, 'list' => self::LIST, 'post' => self::POST] as $name => $source)
            $this->templates[$name] = new Template($source);
        $this->router = $r = new Segments();
        $r->on('/', fn (): string => $this->view('list', 'Home', ['posts' => $this->posts->newest(10)]));
        $r->on('/tag/:tag', fn (array $v): string => $this->view('list', "Tag $v[tag]", ['posts' => $this->posts->newest(8, $v['tag'])]));
        $r->on('/post/:id', $this->post(...));
        $r->on('/api/post/:id', fn (array $v): string => json_encode($this->posts->byId((int) $v['id'])));
        $r->on('/feed', $this->feed(...));
        foreach (['a', 'b', 'c', 'd'] as $x)
            $r->on("/static/$x/about", static fn (): string => $x);
    }

    private function view(string $name, string $title, array $scope): string
    {
        $body = $this->templates[$name]->render($scope);
        return $this->templates['frame']->render(['title' => $title, 'body' => $body, 'tags' => array_slice($this->posts->tags(), 0, 12)]);
    }

    private function post(array $v): string
    {
        $post = $this->posts->byId((int) $v['id']);
        if ($post === null)
            return $this->view('list', 'Missing', ['posts' => []]);
        return $this->view('post', $post->title, ['post' => $post, 'html' => $post->html($this->markdown), 'next' => $this->posts->byId($post->id + 1)]);
    }

    private function feed(): string
    {
        $xml = "<feed>\n";
        foreach ($this->posts->newest(15) as $post) {
            $xml .= '  <entry id="' . $post->id . '">' . "\n";
            $xml .= '    <title>' . htmlspecialchars($post->title, ENT_XML1) . "</title>\n";
            $xml .= '    <updated>' . gmdate('Y-m-d\TH:i:s\Z', $post->time) . "</updated>\n  </entry>\n";
        }
        return $xml . '</feed>';
    }

    public function get(string $path): string
    {
        $this->page[$path] = ($this->page[$path] ?? 0) + 1;
        return $this->router->go($path);
    }
}

return static function (): \Closure {
    $posts = new Posts();
    for ($i = 1; $i <= 50; $i++)
        $posts->add(new Post($i, "On *number* $i & others", "# Part $i\n\nSome **bold** words and `code <$i>` in [a link](/post/$i?x=1&y=2).\nSecond line & more *text*.\n\n"
            . "- one $i\n- two `x`\n- three **y**\n\n    indented <code>\n    more $i\n\n> quoted *words* of somebody\n\n## End\nLast [one](http://x.example) * alone.",
            ['t' . $i % 5, 'u' . $i % 3, 'all'], 1700000000 + $i * 7919 % 86400 * 30));
    $site = new Site($posts, new Markdown());
    return static function () use ($site): string {
        $out = '';
        foreach (['/', '/tag/t1', '/tag/all', '/tag/none', '/post/7', '/post/12', '/post/33', '/post/50', '/post/999', '/api/post/3', '/feed', '/static/c/about', '/static/e/about', '/no'] as $path)
            $out .= $site->get($path) . "\n";
        return $out;
    };
};
