<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers

/**
 * What PHP code can call in every request.
 * @generate-class-entries
 */

/** Ends the response; the script goes on without a client. False when it had ended before. */
function fastcgi_finish_request(): bool {}

/** @return array<string, string> the request's headers, names in Title-Case */
function getallheaders(): array {}

/** @alias getallheaders */
function apache_request_headers(): array {}

/** @return array<string, string> the response's headers so far; of a repeated one the last */
function apache_response_headers(): array {}

/**
 * Sends the headers set so far: with 100 to 199 as an informational response (103 Early Hints), else as the head of
 * the response. Returns the status, 0 when it could not.
 */
function headers_send(int $status = 200): int {}

/** @return array<string, mixed> this worker, under the names of FPM's status */
function fpm_get_status(): array {}
