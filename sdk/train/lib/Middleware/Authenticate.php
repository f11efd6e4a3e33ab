<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

namespace Train\Middleware;

use Train\Http\{HttpException, Request, Response};

final class Authenticate implements Middleware
{
    public function handle(Request $request, callable $next): Response
    {
        $header = $request->headers->get('authorization', '');
        if (!preg_match('/^Bearer\s+([\w-]+)\.([\w-]+)\.([0-9a-f]{16})$/', $header, $m))
            throw new HttpException(401, 'A token is needed', ['WWW-Authenticate' => 'Bearer']);
        if (!hash_equals(self::sign("$m[1].$m[2]"), $m[3]))
            throw new HttpException(401, 'The token is not ours', ['WWW-Authenticate' => 'Bearer']);
        $claims = json_decode((string) base64_decode(strtr($m[2], '-_', '+/')), true);
        $request->attributes->set('user', $claims['sub'] ?? null);
        return $next($request);
    }

    public static function token(string $user): string
    {
        $encode = static fn (array $part): string => rtrim(strtr(base64_encode(json_encode($part)), '+/', '-_'), '=');
        $text = $encode(['alg' => 'HS256']) . '.' . $encode(['sub' => $user, 'iat' => 1700000000]);
        return "$text." . self::sign($text);
    }

    private static function sign(string $text): string
    {
        return substr(hash_hmac('sha256', $text, 'not a secret'), 0, 16);
    }
}
