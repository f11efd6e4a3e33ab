<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// JSON: 300 records written and read again, twice.
return function (): string {
    $records = [];
    for ($i = 0; $i < 300; $i++) {
        $records[] = ['id' => $i, 'name' => "Name $i", 'tags' => ['a', "t$i", 'ünïcode'], 'ok' => $i % 2 === 0,
            'price' => $i + 0.25, 'owner' => ['id' => $i * 7, 'mail' => "user$i@example.org"], 'note' => null];
    }
    $text = json_encode($records, JSON_UNESCAPED_UNICODE);
    $arrays = json_decode($text, true, 16, JSON_THROW_ON_ERROR);
    $objects = json_decode($text);
    $again = json_encode($objects, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES);
    return strlen($text) . ' ' . ($arrays === $records ? 'same' : 'different') . ' ' . crc32($again);
};
