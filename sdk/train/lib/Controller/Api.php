<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Controller;

use Train\Http\{HttpException, JsonResponse, Request};
use Train\Model\{Article, Author, Comment};
use Train\Orm\Connection;
use Train\Routing\{Get, Post};
use Train\Serializer\Normalizer;
use Train\Support\Arr;
use Train\Validation\Validator;

final class Api
{
    private const RULES = [
        'customer.name' => 'required|string|max:60',
        'customer.email' => 'required|email',
        'customer.site' => 'url',
        'deliver' => 'required|date:Y-m-d',
        'payment' => 'required|in:card,invoice,transfer',
        'items' => 'required|array|between:1,20',
        'items.*.id' => 'required|int|min:1',
        'items.*.quantity' => 'required|int|between:1,99',
        'items.*.note' => 'string|max:80|regex:/^[\w .,!-]*$/u',
    ];

    public function __construct(private Validator $validator, private Normalizer $normalizer, private Connection $db)
    {
    }

    #[Get('/api/articles')]
    public function index(Request $request): JsonResponse
    {
        $data = Article::query()->orderBy('id')->with('author', 'comments')->paginate($request->query->int('page', 1), 10);
        return new JsonResponse(['data' => $data['items'], 'meta' => Arr::dot(['page' => ['current' => $data['page'],
            'last' => $data['pages']], 'total' => $data['total']])]);
    }

    #[Get('/api/articles/{id}', where: ['id' => '\d+'])]
    public function show(int $id): JsonResponse
    {
        return new JsonResponse(Article::query()->with('author', 'comments')->find($id)
            ?? throw new HttpException(404, 'No such article'));
    }

    #[Get('/api/statistics')]
    public function statistics(): JsonResponse
    {
        $rows = Article::query()->select('author_id', 'count(*) as n', 'sum(price) as total')->groupBy('author_id')->get();
        $names = Author::query()->get()->pluck('name', 'id');
        $scores = Comment::query()->get()->groupBy('article_id')
            ->map(static fn ($g): float => round($g->sum('score') / count($g), 3));
        return new JsonResponse(['authors' => $rows->map(static fn ($r) => ['name' => $names[$r['author_id']], 'n' => $r->n,
            'total' => $r->total])->sortBy('total', true), 'scores' => $scores]);
    }

    #[Post('/api/orders')]
    public function order(Request $request): JsonResponse
    {
        $valid = $this->validator->validate($request->all(), self::RULES);
        $order = $this->normalizer->denormalize($valid, Order::class);
        $prices = Article::query()->whereIn('id', array_column($order->items, 'id'))->get()->pluck('price', 'id');
        foreach ($order->items as $item)
            $order->total += ($prices[$item['id']] ?? throw new HttpException(404, "No article $item[id]")) * $item['quantity'];
        return new JsonResponse($this->normalizer->normalize($order, 'order'), 201);
    }

    #[Post('/api/articles/{id}/comments', where: ['id' => '\d+'])]
    public function comment(Request $request, int $id): JsonResponse
    {
        $values = $this->validator->validate($request->all(), ['text' => 'required|string|min:3|max:400', 'score' => 'int']);
        try {
            $this->db->transaction(function () use ($values, $id): void {
                $comment = new Comment($values + ['article_id' => $id, 'written' => new \DateTimeImmutable('2024-05-01 10:00')]);
                $comment->save();
                $n = Comment::query()->where('article_id', $id)->count();
                throw new HttpException(200, "rolled back at $n"); // the next round finds the same
            });
        } catch (HttpException $e) {
            return new JsonResponse(['message' => $e->getMessage(), 'user' => $request->user], $e->status);
        }
        return new JsonResponse(null, 500);
    }
}
