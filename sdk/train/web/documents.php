<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// XML and HTML: building, querying, sanitizing, streaming.
return static fn (): Closure => static function (): string {
    $writer = new XMLWriter();
    $writer->openMemory();
    $writer->setIndent(true);
    $writer->startDocument('1.0', 'UTF-8');
    $writer->startElement('catalogue');
    for ($i = 0; $i < 60; $i++) {
        $writer->startElement('item');
        $writer->writeAttribute('id', "i$i");
        $writer->writeElement('name', "Thing <$i> & more");
        $writer->writeElement('price', number_format($i * 1.25, 2));
        $writer->startElement('tags');
        foreach (range(0, $i % 4) as $t)
            $writer->writeElement('tag', "t$t");
        $writer->endElement();
        $writer->endElement();
    }
    $writer->endElement();
    $xml = $writer->outputMemory();
    $out = [md5($xml)];

    $simple = simplexml_load_string($xml);
    $sum = 0.0;
    foreach ($simple->item as $item)
        $sum += (float) $item->price * count($item->tags->tag) + strlen((string) $item['id']);
    $out[] = $sum;
    $out[] = count($simple->xpath('//item[tags/tag="t3"]'));

    $dom = new DOMDocument();
    $dom->loadXML($xml, LIBXML_NOBLANKS);
    $xpath = new DOMXPath($dom);
    foreach ($xpath->query('/catalogue/item[position() mod 7 = 1]') as $item) {
        $out[] = $item->getAttribute('id') . $xpath->evaluate('string(name)', $item);
        $item->setAttribute('seen', 'yes');
        $item->appendChild($dom->createElement('extra', 'x'));
    }
    foreach (iterator_to_array($dom->getElementsByTagName('price')) as $price)
        if ((float) $price->textContent > 50)
            $price->parentNode->removeChild($price);
    $out[] = md5($dom->saveXML());

    $html = '<div class="a b"><p onclick="evil()">Hello <b>you</b> &amp; <script>bad()</script><a href="javascript:x">y</a></p><img src="p.png" alt="q"></div>';
    $page = new DOMDocument();
    @$page->loadHTML('<?xml encoding="UTF-8">' . str_repeat($html, 8), LIBXML_NOERROR);
    $clean = static function (DOMNode $node) use (&$clean): string {
        if ($node instanceof DOMText)
            return htmlspecialchars($node->data);
        $inner = '';
        foreach ($node->childNodes ?? [] as $child)
            $inner .= $clean($child);
        if (!$node instanceof DOMElement || !in_array($node->tagName, ['div', 'p', 'b', 'a', 'img'], true))
            return $node instanceof DOMElement && $node->tagName === 'script' ? '' : $inner;
        $attributes = '';
        foreach ($node->attributes as $a)
            if (in_array($a->name, ['class', 'href', 'src', 'alt'], true) && !preg_match('/^\s*javascript:/i', $a->value))
                $attributes .= " $a->name=\"" . htmlspecialchars($a->value) . '"';
        return "<$node->tagName$attributes>$inner</$node->tagName>";
    };
    $out[] = md5($clean($page));

    $reader = new XMLReader();
    $reader->XML($xml);
    $depths = [];
    while ($reader->read())
        if ($reader->nodeType === XMLReader::ELEMENT)
            $depths[$reader->depth] = ($depths[$reader->depth] ?? 0) + 1;
    $out[] = implode(',', $depths);

    $parser = xml_parser_create('UTF-8');
    $seen = '';
    xml_set_element_handler($parser, static function ($p, string $name, array $a) use (&$seen): void {
        $seen .= "<$name" . implode('', $a);
    }, static function ($p, string $name) use (&$seen): void {
        $seen .= '>';
    });
    xml_parse($parser, $xml, true);
    $out[] = md5($seen);
    return implode("\n", array_map('strval', $out));
};
