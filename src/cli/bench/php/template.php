<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
// A page from a template with output buffers: a table of 400 rows, escaped, with a layout around it.
function bench_e(string $s): string
{
    return htmlspecialchars($s, ENT_QUOTES | ENT_SUBSTITUTE, 'UTF-8');
}

function bench_render(callable $template, array $vars): string
{
    ob_start();
    $template($vars);
    return ob_get_clean();
}

return function (): string {
    $rows = [];
    for ($i = 0; $i < 400; $i++) {
        $rows[] = ['id' => $i, 'title' => "Title <$i> & \"more\"", 'tags' => ['x', 'y' . $i % 7]];
    }
    $body = bench_render(function (array $v): void {
        foreach ($v['rows'] as $n => $row) { ?>
  <tr class="<?= $n % 2 ? 'odd' : 'even' ?>">
    <td><?= $row['id'] ?></td><td><a href="/item/<?= $row['id'] ?>"><?= bench_e($row['title']) ?></a></td>
    <td><?php foreach ($row['tags'] as $tag): ?><em><?= bench_e($tag) ?></em><?php endforeach ?></td>
  </tr>
<?php   }
    }, ['rows' => $rows]);
    $page = bench_render(function (array $v): void { ?>
<!doctype html>
<title><?= bench_e($v['title']) ?></title>
<table>
<?= $v['body'] ?>
</table>
<?php }, ['title' => 'A <list>', 'body' => $body]);
    return strlen($page) . ' ' . crc32($page);
};
