<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// Twig (Debian's php-twig) renders a shop's pages from compiled templates.
require_once '/usr/share/php/Twig/autoload.php';

return static function (): Closure {
    $cache = sys_get_temp_dir() . '/ephpm-bench-twig-' . getmyuid();
    $twig = new Twig\Environment(new Twig\Loader\ArrayLoader([
        'frame' => '<html><head><title>{% block title %}{% endblock %} - {{ site.name|upper }}</title></head><body>{% for l in site.links %}<a href="{{ l.url|e(\'html_attr\') }}">{{ l.name }}</a>{% endfor %}'
            . '{% block body %}{% endblock %}<footer>{{ "now"|length }} {{ site.year }}</footer></body></html>',
        'macros' => '{% macro price(n, currency = "EUR") %}<b>{{ (n / 100)|number_format(2, ".", ",") }} {{ currency }}</b>{% endmacro %}',
        'card' => '<div class="card {{ cycle(["odd", "even"], n) }}"><h2>{{ product.name|title }}</h2><p>{{ product.text|slice(0, 40) }}{% if product.text|length > 40 %}...{% endif %}</p></div>',
        'page' => '{% extends "frame" %}{% import "macros" as m %}{% block title %}{{ products|length }} products{% endblock %}{% block body %}<h1>{{ block("title") }}</h1>'
            . '{% for id, product in products %}{{ include("card", {product: product, n: loop.index0}) }}{{ m.price(product.price) }}'
            . '{% if product.tags is not empty %}<ul>{% for t in product.tags|sort %}<li{% if loop.first %} class="first"{% endif %}>{{ loop.index }}/{{ loop.length }} {{ t }}</li>{% endfor %}</ul>{% else %}none{% endif %}'
            . '{% set total = (total ?? 0) + product.price %}{% endfor %}<p>{{ total }} {{ products|map(p => p.price)|reduce((a, b) => a + b) }} '
            . '{{ products|filter(p => p.price > 3000)|length }} {{ products|first.name|replace({"1": "one"}) }} {{ "%05d"|format(total) }} {{ {a: 1, b: [1, 2]}|json_encode|raw }}</p>{% endblock %}',
    ]), ['cache' => $cache, 'autoescape' => 'html', 'strict_variables' => false]);
    $products = [];
    for ($i = 0; $i < 30; $i++)
        $products["p$i"] = ['name' => "product & thing $i", 'text' => str_repeat("Some <text> of $i. ", 1 + $i % 4), 'price' => 100 + $i * 317 % 7000, 'tags' => array_slice(['x', 'b', 'a<'], 0, $i % 4)];
    $site = ['name' => 'The shop', 'year' => 2024, 'links' => [['url' => '/?a=1&b=2', 'name' => 'Home'], ['url' => '/about', 'name' => 'About "us"']]];
    return static fn (): string => $twig->render('page', ['products' => $products, 'site' => $site]);
};
