<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Http\{HttpException, JsonResponse, Request, Response};
use Train\Validation\ValidationException;
use Train\View\Engine;

final class Errors implements Middleware
{
    public function __construct(private Engine $views)
    {
    }

    public function handle(Request $request, callable $next): Response
    {
        try {
            return $next($request);
        } catch (ValidationException $e) {
            return new JsonResponse(['message' => $e->getMessage(), 'errors' => $e->errors], 422);
        } catch (HttpException $e) {
            if ($request->wantsJson())
                return new JsonResponse(['message' => $e->getMessage(), 'status' => $e->status], $e->status, $e->headers);
            return new Response($this->views->render('error', ['status' => $e->status, 'message' => $e->getMessage()]),
                $e->status, $e->headers);
        } catch (\JsonException | \InvalidArgumentException $e) {
            return new JsonResponse(['message' => $e->getMessage(), 'kind' => $e::class], 400);
        }
    }
}
