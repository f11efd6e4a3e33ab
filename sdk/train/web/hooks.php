<?php
/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
declare(strict_types=1);

// A content system in the older style: functions, globals, hooks with priorities, options, big arrays, string building.
$GLOBALS['hooks'] = $GLOBALS['options'] = $GLOBALS['cache'] = [];
$GLOBALS['hook_now'] = [];

function hook_add(string $name, callable $fn, int $priority = 10, int $accepted = 1): void
{
    global $hooks;
    $hooks[$name][$priority][] = ['fn' => $fn, 'accepted' => $accepted];
}

function hook_apply(string $name, mixed $value, mixed ...$more): mixed
{
    global $hooks, $hook_now;
    if (!isset($hooks[$name]))
        return $value;
    $hook_now[] = $name;
    ksort($hooks[$name], SORT_NUMERIC);
    $args = array_merge([$value], $more);
    foreach ($hooks[$name] as $callbacks)
        foreach ($callbacks as $one) {
            $args[0] = $value;
            if ($one['accepted'] === 0)
                $value = call_user_func($one['fn']);
            elseif ($one['accepted'] >= count($args))
                $value = call_user_func_array($one['fn'], $args);
            else
                $value = call_user_func_array($one['fn'], array_slice($args, 0, $one['accepted']));
        }
    array_pop($hook_now);
    return $value;
}

function option(string $name, mixed $default = false): mixed
{
    global $options, $cache;
    $early = hook_apply("pre_option_$name", false, $name, $default);
    if ($early !== false)
        return $early;
    if (isset($cache['options'][$name]))
        $value = $cache['options'][$name];
    elseif (isset($options[$name]))
        $value = $cache['options'][$name] = $options[$name];
    else
        return hook_apply("default_option_$name", $default, $name);
    if (is_string($value) && preg_match('/^(?:[aOs]:\d+:|[ib]:\d+;)/', $value))
        $value = unserialize(trim($value));
    return hook_apply("option_$name", $value, $name);
}

function attributes(string $text): array
{
    $found = [];
    $pattern = '/([\w-]+)\s*=\s*"([^"]*)"(?:\s|$)|([\w-]+)\s*=\s*\'([^\']*)\'(?:\s|$)|([\w-]+)\s*=\s*([^\s\'"]+)(?:\s|$)|(\S+)(?:\s|$)/';
    preg_match_all($pattern, preg_replace("/[\u{00a0}\u{200b}]+/u", ' ', $text), $matches, PREG_SET_ORDER);
    foreach ($matches as $m)
        if (!empty($m[1]))
            $found[strtolower($m[1])] = stripcslashes($m[2]);
        elseif (!empty($m[3]))
            $found[strtolower($m[3])] = stripcslashes($m[4]);
        elseif (!empty($m[5]))
            $found[strtolower($m[5])] = stripcslashes($m[6]);
        elseif (isset($m[7]) && strlen($m[7]))
            $found[] = stripcslashes($m[7]);
    return $found;
}

function allowed_html(string $html, array $allowed): string
{
    return (string) preg_replace_callback('%(<!--.*?(?:-->|$))|(<[^>]*(?:>|$)|>)%', static function (array $m) use ($allowed): string {
        $tag = $m[0];
        if (str_starts_with($tag, '<!--'))
            return '';
        if (!preg_match('%^<\s*(/\s*)?([a-z0-9]+)([^>]*)>?$%i', $tag, $parts))
            return htmlspecialchars($tag);
        $name = strtolower($parts[2]);
        if (!isset($allowed[$name]))
            return '';
        if ($parts[1] !== '')
            return "</$name>";
        $keep = '';
        foreach (attributes($parts[3]) as $key => $value)
            if (is_string($key) && !empty($allowed[$name][$key]) && !preg_match('/^\s*(?:java|vb)script:/i', $value))
                $keep .= " $key=\"" . hook_apply('attribute', $value, $key, $name) . '"';
        return "<$name$keep>";
    }, $html);
}

function paragraphs(string $text): string
{
    $text = str_replace(["\r\n", "\r"], "\n", trim($text)) . "\n\n";
    $blocks = '(?:table|ul|ol|li|pre|blockquote|h[1-6]|div|figure)';
    $text = preg_replace('!(<' . $blocks . '[\s/>])!', "\n\n$1", $text);
    $text = preg_replace('!(</' . $blocks . '>)!', "$1\n\n", $text);
    $text = preg_replace("/\n\n+/", "\n\n", $text);
    $out = '';
    foreach (preg_split('/\n\s*\n/', $text, -1, PREG_SPLIT_NO_EMPTY) as $part)
        $out .= '<p>' . trim($part, "\n") . "</p>\n";
    $out = preg_replace('|<p>\s*</p>|', '', $out);
    $out = preg_replace('!<p>\s*(</?' . $blocks . '[^>]*>)!', '$1', $out);
    $out = preg_replace('!(</?' . $blocks . '[^>]*>)\s*</p>!', '$1', $out);
    return (string) preg_replace('|(?<!<br />)\s*\n(?!<)|', "<br />\n", $out);
}

function quotes(string $text): string
{
    $parts = preg_split('/(<[^>]*>|\[[^\]]*\])/', $text, -1, PREG_SPLIT_DELIM_CAPTURE | PREG_SPLIT_NO_EMPTY);
    $in = 0;
    foreach ($parts as &$part) {
        if ($part[0] === '<') {
            if (preg_match('!^<(/?)(pre|code|script)!', $part, $m))
                $in += $m[1] === '/' ? -1 : 1;
            continue;
        }
        if ($in > 0 || $part[0] === '[')
            continue;
        if (str_contains($part, "'"))
            $part = preg_replace(["/(\\w)'(\\w)/", "/'(\\d\\ds?)/", "/'/"], ['$1&#8217;$2', '&#8217;$1', '&#8216;'], $part);
        if (str_contains($part, '"'))
            $part = preg_replace(['/"(?=\w)/', '/"/'], ['&#8220;', '&#8221;'], $part);
        $part = str_replace(['---', ' -- ', '...', '(tm)'], ['&#8212;', ' &#8211; ', '&#8230;', ' &#8482;'], $part);
    }
    unset($part);
    return implode('', $parts);
}

class ContentQuery
{
    public $posts = array();
    public $vars = array();
    public $current = -1;
    public $post;

    public function __construct($vars)
    {
        $this->vars = array_merge(array('type' => 'post', 'orderby' => 'date', 'order' => 'DESC', 'per_page' => 10, 'paged' => 1), $vars);
        $this->vars = hook_apply('query_vars', $this->vars, $this);
        foreach (option('posts', array()) as $row)
            if ($row['type'] == $this->vars['type'] && (empty($this->vars['tag']) || in_array($this->vars['tag'], $row['tags'])))
                $this->posts[] = (object) $row;
        $by = $this->vars['orderby'];
        usort($this->posts, function ($a, $b) use ($by) {
            $c = $a->$by <=> $b->$by;
            return $this->vars['order'] == 'DESC' ? -$c : $c;
        });
        $this->posts = array_slice($this->posts, ($this->vars['paged'] - 1) * $this->vars['per_page'], $this->vars['per_page']);
    }

    public function have()
    {
        return $this->current + 1 < count($this->posts);
    }

    public function next()
    {
        global $post;
        $this->current++;
        $post = $this->post = $this->posts[$this->current];
    }
}

function css_classes($post, $more = '')
{
    $classes = array('post-' . $post->id, 'type-' . $post->type, 'status-publish');
    if ($more)
        $classes = array_merge($classes, preg_split('#\s+#', $more));
    foreach ((array) $post->tags as $tag)
        $classes[] = 'tag-' . sanitize($tag);
    return implode(' ', array_map('htmlspecialchars', array_unique(hook_apply('post_class', $classes, $more, $post->id))));
}

function sanitize($title)
{
    $title = strip_tags($title);
    $title = preg_replace('|%([a-fA-F0-9][a-fA-F0-9])|', '---$1---', $title);
    $title = str_replace('%', '', $title);
    $title = strtolower($title);
    $title = preg_replace('/&.+?;/', '', $title);
    $title = preg_replace('/[^%a-z0-9 _-]/', '', str_replace('.', '-', $title));
    $title = preg_replace('/\s+/', '-', $title);
    return trim(preg_replace('|-+|', '-', $title), '-');
}

function link_of($post)
{
    $structure = option('permalinks', '/%year%/%month%/%name%/');
    $replace = array('%year%' => substr($post->date, 0, 4), '%month%' => substr($post->date, 5, 2), '%name%' => sanitize($post->title));
    return hook_apply('post_link', option('home', '') . str_replace(array_keys($replace), array_values($replace), $structure), $post);
}

return static function (): Closure {
    $posts = [];
    for ($i = 0; $i < 80; $i++)
        $posts[] = ['id' => $i, 'type' => $i % 5 ? 'post' : 'page', 'title' => "It's \"post\" number $i -- really...", 'date' => sprintf('2023-%02d-%02d', $i % 12 + 1, $i % 27 + 1),
            'tags' => ['Tag ' . $i % 4, 'Other Tag'], 'content' => "First 'paragraph' of $i... <b class=\"x\" onclick='y'>bold</b>\n\n<h2>Head</h2>Text with <script>no</script> <code>\"raw\"</code>\nnew line"
                . "\n\n<ul><li>one</li><li>two</li></ul>\n\n<a href=\"javascript:z\" title=t>link</a> <!-- note --> 10' 20\" end."];
    $GLOBALS['options'] = ['posts' => serialize($posts), 'home' => 'https://blog.example', 'blogname' => 'A <Blog>', 'widgets' => serialize([['kind' => 'recent', 'n' => 5], ['kind' => 'tags']])];
    foreach (range(1, 40) as $n)
        $GLOBALS['options']["plugin_$n"] = $n % 3 ? "value $n" : serialize(['on' => $n % 2 === 0, 'list' => range(1, $n % 6)]);
    $allowed = array_fill_keys(['b', 'i', 'p', 'h2', 'ul', 'li', 'code', 'br'], ['class' => true]) + ['a' => ['href' => true, 'title' => true]];
    hook_add('content', 'quotes');
    hook_add('content', 'paragraphs', 12);
    hook_add('content', static fn (string $html): string => allowed_html($html, $allowed), 8);
    hook_add('content', static fn (string $html): string => str_replace('First', 'The first', $html), 20);
    hook_add('title', 'quotes');
    hook_add('title', 'trim', 5);
    hook_add('title', static fn (string $title, int $id): string => "$title #$id", 30, 2);
    hook_add('attribute', 'htmlspecialchars');
    hook_add('option_home', static fn (string $home): string => rtrim($home, '/'));
    hook_add('post_class', static function (array $classes): array {
        $classes[] = 'entry';
        return $classes;
    });
    return static function (): string {
        $GLOBALS['cache'] = [];
        $html = '<html><head><title>' . htmlspecialchars(option('blogname')) . "</title></head>\n";
        foreach (range(1, 40) as $n) {
            $value = option("plugin_$n");
            $html .= is_array($value) ? implode(',', $value['list']) : "<meta name='p$n' content='" . htmlspecialchars($value, ENT_QUOTES) . "'>\n";
        }
        foreach ([['per_page' => 8], ['tag' => 'Tag 2', 'order' => 'ASC', 'per_page' => 4], ['type' => 'page', 'orderby' => 'title', 'per_page' => 4]] as $vars) {
            $query = new ContentQuery($vars);
            while ($query->have()) {
                $query->next();
                global $post;
                $html .= sprintf('<article id="post-%1$d" class="%2$s"><h2><a href="%3$s">%4$s</a></h2>%5$s</article>' . "\n", $post->id,
                    css_classes($post, 'a b'), htmlspecialchars(link_of($post)), hook_apply('title', $post->title, $post->id), hook_apply('content', $post->content));
            }
        }
        foreach (option('widgets') as $widget) {
            ob_start();
            switch ($widget['kind']) {
            case 'recent':
                $recent = new ContentQuery(['per_page' => $widget['n']]);
                foreach ($recent->posts as $one)
                    echo '<li>', htmlspecialchars($one->title), ' <time>', date('F j, Y', strtotime($one->date)), "</time></li>\n";
                break;
            case 'tags':
                $tags = array();
                foreach (option('posts') as $one)
                    foreach ($one['tags'] as $tag)
                        $tags[$tag] = ($tags[$tag] ?? 0) + 1;
                uksort($tags, 'strnatcasecmp');
                foreach ($tags as $tag => $n)
                    printf("<a class='tag-%s' style='font-size: %.1fpt'>%s</a>\n", sanitize($tag), 8 + $n / 10, $tag);
                break;
            }
            $html .= '<aside>' . ob_get_clean() . '</aside>';
        }
        return $html . '</html>';
    };
};
