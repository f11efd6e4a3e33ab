<?php
// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: The ephpm developers
/**
 * Plugin Name: ephpm object cache
 * Description: WordPress's object cache in the key-value store of the ephpm server, shared by all workers.
 * Author: The ephpm developers
 * License: MIT
 *
 * Copy it to wp-content/object-cache.php. In a PHP that has no such store (wp-cli under another PHP, [kv] off) this file
 * defines nothing, and WordPress goes on with its own cache, which lasts for one request.
 *
 * Keys of the store are "wp:SALT:BLOG:GROUP:KEY"; SALT is WP_CACHE_KEY_SALT, or made of database and table prefix.
 */

defined('ABSPATH') || exit;

if (function_exists('ephpm_kv_get') && !function_exists('wp_cache_init')) {
    function wp_cache_init()
    {
        $GLOBALS['wp_object_cache'] = new WP_Object_Cache();
    }

    function wp_cache_add($key, $data, $group = '', $expire = 0)
    {
        return $GLOBALS['wp_object_cache']->add($key, $data, $group, (int) $expire);
    }

    function wp_cache_add_multiple(array $data, $group = '', $expire = 0)
    {
        return $GLOBALS['wp_object_cache']->add_multiple($data, $group, (int) $expire);
    }

    function wp_cache_replace($key, $data, $group = '', $expire = 0)
    {
        return $GLOBALS['wp_object_cache']->replace($key, $data, $group, (int) $expire);
    }

    function wp_cache_set($key, $data, $group = '', $expire = 0)
    {
        return $GLOBALS['wp_object_cache']->set($key, $data, $group, (int) $expire);
    }

    function wp_cache_set_multiple(array $data, $group = '', $expire = 0)
    {
        return $GLOBALS['wp_object_cache']->set_multiple($data, $group, (int) $expire);
    }

    function wp_cache_get($key, $group = '', $force = false, &$found = null)
    {
        return $GLOBALS['wp_object_cache']->get($key, $group, $force, $found);
    }

    function wp_cache_get_multiple($keys, $group = '', $force = false)
    {
        return $GLOBALS['wp_object_cache']->get_multiple($keys, $group, $force);
    }

    function wp_cache_delete($key, $group = '')
    {
        return $GLOBALS['wp_object_cache']->delete($key, $group);
    }

    function wp_cache_delete_multiple(array $keys, $group = '')
    {
        return $GLOBALS['wp_object_cache']->delete_multiple($keys, $group);
    }

    function wp_cache_incr($key, $offset = 1, $group = '')
    {
        return $GLOBALS['wp_object_cache']->incr($key, $offset, $group);
    }

    function wp_cache_decr($key, $offset = 1, $group = '')
    {
        return $GLOBALS['wp_object_cache']->decr($key, $offset, $group);
    }

    function wp_cache_flush()
    {
        return $GLOBALS['wp_object_cache']->flush();
    }

    function wp_cache_flush_runtime()
    {
        return $GLOBALS['wp_object_cache']->flush_runtime();
    }

    function wp_cache_flush_group($group)
    {
        return $GLOBALS['wp_object_cache']->flush_group($group);
    }

    function wp_cache_supports($feature)
    {
        return in_array(
            $feature,
            ['add_multiple', 'set_multiple', 'get_multiple', 'delete_multiple', 'flush_runtime', 'flush_group'],
            true,
        );
    }

    function wp_cache_close()
    {
        return true;
    }

    function wp_cache_add_global_groups($groups)
    {
        $GLOBALS['wp_object_cache']->add_global_groups($groups);
    }

    function wp_cache_add_non_persistent_groups($groups)
    {
        $GLOBALS['wp_object_cache']->add_non_persistent_groups($groups);
    }

    function wp_cache_switch_to_blog($blog_id)
    {
        $GLOBALS['wp_object_cache']->switch_to_blog($blog_id);
    }

    function wp_cache_reset()
    {
        _deprecated_function(__FUNCTION__, '3.5.0', 'wp_cache_switch_to_blog()');
        $GLOBALS['wp_object_cache']->flush_runtime();
    }

    /**
     * The cache: what this request has seen, in front of the store. Values are the store's while another worker writes
     * one; get() with $force reads the store again.
     */
    #[AllowDynamicProperties]
    class WP_Object_Cache
    {
        private const BATCH = 10000;

        /** Of counting, while others count too. */
        private const TRIES = 1000;

        /** Stored for null, which the store has for a missing key. */
        private const NOTHING = "\0ephpm-null\0";

        public $cache_hits = 0;
        public $cache_misses = 0;
        /** Of those hits, how many came from the store. */
        public $shared_hits = 0;

        /** Values by full key. */
        private array $local = [];
        private array $global_groups = [];
        private array $own_groups = [];
        /** Prefixes of groups, for the blog that is switched to. */
        private array $prefixes = [];
        private readonly string $prefix;
        private readonly bool $multisite;
        private string $blog;

        public function __construct()
        {
            global $table_prefix;
            $salt = defined('WP_CACHE_KEY_SALT') && WP_CACHE_KEY_SALT !== ''
                ? WP_CACHE_KEY_SALT
                : hash('xxh64', (defined('DB_HOST') ? DB_HOST : '') . "\0" . (defined('DB_NAME') ? DB_NAME : '')
                    . "\0" . $table_prefix);
            $this->prefix = 'wp:' . self::quote($salt) . ':';
            $this->multisite = is_multisite();
            $this->blog = (string) ($this->multisite ? get_current_blog_id() : 1);
        }

        public function add($key, $data, $group = 'default', $expire = 0)
        {
            if (wp_suspend_cache_addition() || !$this->is_valid_key($key)) {
                return false;
            }
            $id = $this->id($key, $group);
            if (isset($this->local[$id]) || array_key_exists($id, $this->local)) {
                return false;
            }
            if (!$this->is_own($group)) {
                try {
                    if (!ephpm_kv_setnx($id, self::pack($data), max(0, $expire))) {
                        if (ephpm_kv_exists($id)) {
                            return false;
                        }
                    }
                } catch (Throwable) {
                    // Too large, or not to be serialized: for this request alone.
                }
            }
            $this->local[$id] = self::copy($data);

            return true;
        }

        public function add_multiple(array $data, $group = '', $expire = 0)
        {
            $done = [];
            foreach ($data as $key => $value) {
                $done[$key] = $this->add($key, $value, $group, $expire);
            }

            return $done;
        }

        public function replace($key, $data, $group = 'default', $expire = 0)
        {
            if (!$this->is_valid_key($key)) {
                return false;
            }
            $id = $this->id($key, $group);
            if (!array_key_exists($id, $this->local) && ($this->is_own($group) || !ephpm_kv_exists($id))) {
                return false;
            }

            return $this->set($key, $data, $group, $expire);
        }

        public function set($key, $data, $group = 'default', $expire = 0)
        {
            if (!$this->is_valid_key($key)) {
                return false;
            }
            $id = $this->id($key, $group);
            if ($expire < 0) {
                $this->forget($id, $group);

                return true;
            }
            $this->local[$id] = self::copy($data);

            return $this->is_own($group) || self::store($id, $data, $expire);
        }

        public function set_multiple(array $data, $group = '', $expire = 0)
        {
            $done = [];
            foreach ($data as $key => $value) {
                $done[$key] = $this->set($key, $value, $group, $expire);
            }

            return $done;
        }

        public function get($key, $group = 'default', $force = false, &$found = null)
        {
            $found = false;
            if (!$this->is_valid_key($key)) {
                return false;
            }
            $id = $this->id($key, $group);
            if ((!$force || $this->is_own($group)) && array_key_exists($id, $this->local)) {
                return $this->hit($id, $found);
            }
            if (!$this->is_own($group)) {
                return $this->found($id, ephpm_kv_get($id), $found);
            }
            $this->cache_misses++;

            return false;
        }

        public function get_multiple($keys, $group = 'default', $force = false)
        {
            $values = [];
            $asked = [];
            foreach ($keys as $key) {
                $values[$key] = false;
                if (!$this->is_valid_key($key)) {
                    continue;
                }
                $id = $this->id($key, $group);
                if ((!$force || $this->is_own($group)) && array_key_exists($id, $this->local)) {
                    $values[$key] = $this->hit($id);
                } elseif ($this->is_own($group)) {
                    $this->cache_misses++;
                } else {
                    $asked[$key] = $id;
                }
            }
            foreach ($asked ? ephpm_kv_mget($asked) : [] as $key => $stored) {
                $values[$key] = $this->found($asked[$key], $stored);
            }

            return $values;
        }

        public function delete($key, $group = 'default', $deprecated = false)
        {
            return $this->is_valid_key($key) && $this->forget($this->id($key, $group), $group);
        }

        public function delete_multiple(array $keys, $group = '')
        {
            $done = [];
            foreach ($keys as $key) {
                $done[$key] = $this->delete($key, $group);
            }

            return $done;
        }

        public function incr($key, $offset = 1, $group = 'default')
        {
            return $this->count($key, (int) $offset, $group);
        }

        public function decr($key, $offset = 1, $group = 'default')
        {
            return $this->count($key, -(int) $offset, $group);
        }

        /** What is this WordPress's, of all its blogs. */
        public function flush()
        {
            $this->local = [];
            self::clear($this->prefix);

            return true;
        }

        public function flush_runtime()
        {
            $this->local = [];

            return true;
        }

        public function flush_group($group)
        {
            $prefix = $this->prefix_of($group);
            foreach (array_keys($this->local) as $id) {
                if (str_starts_with((string) $id, $prefix)) {
                    unset($this->local[$id]);
                }
            }
            if (!$this->is_own($group)) {
                self::clear($prefix);
            }

            return true;
        }

        public function add_global_groups($groups)
        {
            $this->global_groups = array_fill_keys((array) $groups, true) + $this->global_groups;
            $this->prefixes = [];
        }

        public function add_non_persistent_groups($groups)
        {
            $this->own_groups = array_fill_keys((array) $groups, true) + $this->own_groups;
        }

        public function switch_to_blog($blog_id)
        {
            $this->blog = (string) ($this->multisite ? (int) $blog_id : 1);
            $this->prefixes = [];
        }

        public function stats()
        {
            echo '<p><strong>Cache Hits:</strong> ', (int) $this->cache_hits, '<br />';
            echo '<strong>Of the store:</strong> ', (int) $this->shared_hits, '<br />';
            echo '<strong>Cache Misses:</strong> ', (int) $this->cache_misses, '</p>';
        }

        protected function is_valid_key($key)
        {
            if (is_int($key) || (is_string($key) && trim($key) !== '')) {
                return true;
            }
            _doing_it_wrong(
                __CLASS__ . '::' . debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS, 2)[1]['function'],
                is_string($key)
                    ? 'Cache key must not be an empty string.'
                    : 'Cache key must be integer or non-empty string, ' . gettype($key) . ' given.',
                '6.1.0',
            );

            return false;
        }

        private function count($key, int $by, $group)
        {
            if (!$this->is_valid_key($key)) {
                return false;
            }
            $id = $this->id($key, $group);
            if ($this->is_own($group)) {
                if (!array_key_exists($id, $this->local)) {
                    return false;
                }

                return $this->local[$id] = self::sum($this->local[$id], $by);
            }
            unset($this->local[$id]);
            for ($try = 0; $try < self::TRIES; $try++) {
                $old = ephpm_kv_get($id);
                if ($old === null) {
                    return false;
                }
                $new = self::sum(self::unpack($old), $by);
                // A deadline is of whole seconds here; it may end up to one later.
                if (ephpm_kv_cas($id, $old, $new, max(0, ephpm_kv_ttl($id)))) {
                    return $this->local[$id] = $new;
                }
            }

            return false;
        }

        private function hit(string $id, &$found = null)
        {
            $found = true;
            $this->cache_hits++;

            return self::copy($this->local[$id]);
        }

        /** What the store said of it. */
        private function found(string $id, mixed $stored, &$found = null)
        {
            if ($stored === null) {
                unset($this->local[$id]);
                $this->cache_misses++;

                return false;
            }
            $this->shared_hits++;
            $this->local[$id] = self::unpack($stored);

            return $this->hit($id, $found);
        }

        private function forget(string $id, $group): bool
        {
            $there = array_key_exists($id, $this->local);
            unset($this->local[$id]);

            return $this->is_own($group) ? $there : ephpm_kv_del($id) > 0 || $there;
        }

        private function is_own($group): bool
        {
            return isset($this->own_groups[$group ?: 'default']);
        }

        private function id($key, $group): string
        {
            $id = $this->prefix_of($group) . $key;

            // The store's longest key is longer than any that is meant to be one.
            return strlen($id) <= 4096 ? $id : $this->prefix_of($group) . 'sha256:' . hash('sha256', (string) $key);
        }

        private function prefix_of($group): string
        {
            $group = (string) ($group ?: 'default');

            return $this->prefixes[$group] ??= $this->prefix
                . (isset($this->global_groups[$group]) ? 'all' : $this->blog) . ':' . self::quote($group) . ':';
        }

        private static function quote(string $part): string
        {
            return strtr($part, ['%' => '%25', ':' => '%3A']);
        }

        /** False when it is not in the store, where no older value is left then. */
        private static function store(string $id, mixed $data, int $expire): bool
        {
            try {
                $done = ephpm_kv_set($id, self::pack($data), $expire);
            } catch (Throwable) {
                $done = false;
            }
            if (!$done) {
                ephpm_kv_del($id);
            }

            return $done;
        }

        private static function clear(string $prefix): void
        {
            do {
                $keys = ephpm_kv_keys($prefix, self::BATCH);
                foreach ($keys as $key) {
                    ephpm_kv_del($key);
                }
            } while (count($keys) === self::BATCH);
        }

        private static function sum(mixed $value, int $by): int|float
        {
            return max(0, (is_numeric($value) ? $value + 0 : 0) + $by);
        }

        private static function copy(mixed $value): mixed
        {
            return is_object($value) ? clone $value : $value;
        }

        private static function pack(mixed $value): mixed
        {
            return $value ?? self::NOTHING;
        }

        private static function unpack(mixed $stored): mixed
        {
            return $stored === self::NOTHING ? null : $stored;
        }
    }
}
