<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// The PHP parser of Debian's php-parser reads two of the programs here, and prints them.
require_once '/usr/share/php/PhpParser/autoload.php';

return static function (): Closure {
    $parser = (new PhpParser\ParserFactory())->create(PhpParser\ParserFactory::PREFER_PHP7);
    $printer = new PhpParser\PrettyPrinter\Standard();
    $sources = array_map('file_get_contents', [__DIR__ . '/blog.php', __DIR__ . '/shop.php']);
    return static function () use ($parser, $printer, $sources): string {
        $out = '';
        foreach ($sources as $source) {
            $tree = $parser->parse($source);
            $names = new PhpParser\NodeTraverser();
            $names->addVisitor(new PhpParser\NodeVisitor\NameResolver());
            $out .= $printer->prettyPrintFile($names->traverse($tree));
        }
        return $out;
    };
};
