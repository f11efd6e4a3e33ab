/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "http/router.h"
#include "unit/test.h"

/* The tree that all cases see, below ROOT. */
#define ROOT "/srv/app"

static const struct {
    const char *path;
    enum fs_kind kind;
    int rc;
    bool outside; /* a link that leaves the root */
} tree[] = {
    {"", FS_DIR},
    {"/index.php", FS_FILE},
    {"/info.php", FS_FILE},
    {"/robots.txt", FS_FILE},
    {"/a b.txt", FS_FILE},
    {"/dir", FS_DIR},
    {"/dir/index.php", FS_FILE},
    {"/docs", FS_DIR},
    {"/docs/index.html", FS_FILE},
    {"/empty", FS_DIR},
    {"/\xc3\xa9\\x", FS_DIR},
    {"/\xc3\xa9\\x/index.html", FS_FILE},
    {"/php", FS_DIR},
    {"/php/xxx", FS_DIR},
    {"/php/xxx/yyy.php", FS_FILE},
    {"/a.php", FS_DIR},
    {"/a.php/b.php", FS_FILE},
    {"/a.php/c.txt", FS_FILE},
    {"/upload", FS_DIR},
    {"/upload/cat.jpg", FS_FILE},
    {"/.env", FS_FILE},
    {"/.user.ini", FS_FILE},
    {"/.git", FS_DIR},
    {"/.git/config", FS_FILE},
    {"/.well-known", FS_DIR},
    {"/.well-known/acme", FS_FILE},
    {"/.well-known/.x", FS_FILE},
    {"/.php", FS_FILE},
    {"/UP.PHP", FS_FILE},
    {"/x.php~", FS_FILE},
    {"/wp-config.php.bak", FS_FILE},
    {"/x.phps", FS_FILE},
    {"/x.php.txt", FS_FILE},
    {"/link.txt", FS_FILE, 0, true},
    {"/link.php", FS_FILE, 0, true},
    {"/linkdir", FS_DIR},
    {"/linkdir/index.php", FS_FILE, 0, true},
    {"/sock", FS_SOCKET},
    {"/fifo.php", FS_OTHER},
    {"/locked", FS_FILE, ERR_ACCESS},
    {"/locked.php", FS_FILE, ERR_ACCESS},
    {"/loop", FS_FILE, ERR_LOOP},
    {"/cache/page.html", FS_FILE},
    {"/tool.phar", FS_FILE},
    {"/NUL", FS_FILE},
};

static int lookups, containments;

static int find(const char *abs)
{
    size_t root = strlen(ROOT);

    if (strncmp(abs, ROOT, root) != 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(tree); i++) {
        if (strcmp(tree[i].path, abs + root) == 0)
            return (int)i;
    }
    return -1;
}

static int fake_lookup(void *arg, const char *abs, struct fs_stat *out)
{
    int i = find(abs);

    lookups++;
    if (i < 0)
        return strstr(abs, ".jpg/") ? ERR_NOTDIR : ERR_NOTFOUND;
    if (tree[i].rc != 0)
        return tree[i].rc;
    *out = (struct fs_stat){.kind = tree[i].kind, .size = 1};
    return 0;
}

static bool fake_contained(void *arg, const char *abs)
{
    int i = find(abs);

    containments++;
    CHECK(i >= 0);
    return i >= 0 && !tree[i].outside;
}

static const struct router_fs fake_fs = {fake_lookup, fake_contained, NULL};
static const struct str indexes[] = {{"index.php", 9}, {"index.html", 10}};
static const struct str front[] = {{"$uri", 4}, {"$uri/", 5}, {"/index.php?$query_string", 24}};

static struct router_site site_default(void)
{
    return (struct router_site){.document_root = STR(ROOT),
        .index_files = indexes,
        .index_file_count = ARRAY_LEN(indexes),
        .fallback = front,
        .fallback_count = ARRAY_LEN(front)};
}

/*
 * Says the route in one line: "status 404", "static FILE", "redirect LOCATION",
 * "php SCRIPT_NAME PATH_INFO DOCUMENT_URI QUERY" (with "-" for empty ones).
 */
static struct str describe(struct arena *a, const struct route *r)
{
    const struct str none = STR("-");

    switch (r->kind) {
    case ROUTE_STATUS:
        CHECK(r->reason != NULL);
        return arena_printf(a, "status %d", r->status);
    case ROUTE_REDIRECT:
        CHECK_INT(r->status, 301);
        return arena_printf(a, "redirect " STR_F, STR_A(r->location));
    case ROUTE_STATIC:
        CHECK_INT(r->stat.kind, FS_FILE);
        CHECK_INT(strlen(r->file.p), r->file.len);
        return arena_printf(a, "static " STR_F, STR_A(str_sub(r->file, strlen(ROOT), 1000)));
    default:
        CHECK_INT(r->stat.kind, FS_FILE);
        CHECK_INT(strlen(r->file.p), r->file.len);
        CHECK(str_eq(r->file, arena_printf(a, ROOT STR_F, STR_A(r->script_name))));
        return arena_printf(a, "php " STR_F " " STR_F " " STR_F " " STR_F, STR_A(r->script_name),
            STR_A(r->path_info.len ? r->path_info : none), STR_A(r->document_uri),
            STR_A(r->query.len ? r->query : none));
    }
}

struct row {
    const char *path, *query, *want;
};

static void check_rows(const struct router_site *site, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena a = {0};
        struct route out;

        test_row(rows[i].path);
        router_route(site, &fake_fs, &a, str_c(rows[i].path), str_c(rows[i].query),
            rows[i].query != NULL, &out);
        CHECK_STR(describe(&a, &out), rows[i].want);
        arena_fini(&a);
    }
    test_row(NULL);
}

static void test_router_default_site(void)
{
    static const struct row rows[] = {
        {"/", NULL, "php /index.php - /index.php -"},
        {"/", "a=1", "php /index.php - /index.php a=1"},
        {"/index.php", "a=1&b", "php /index.php - /index.php a=1&b"},
        {"/index.php/en", NULL, "php /index.php /en /index.php/en -"},
        {"/index.php/", NULL, "php /index.php / /index.php/ -"},
        {"/index.php/a.php/b", NULL, "php /index.php /a.php/b /index.php/a.php/b -"},
        {"/index.php/PHP\nis_the_x.php", "q",
            "php /index.php /PHP\nis_the_x.php /index.php/PHP\nis_the_x.php q"},
        {"/php/xxx/yyy.php", NULL, "php /php/xxx/yyy.php - /php/xxx/yyy.php -"},
        {"/php/xxx/yyy.php/en/x", "a", "php /php/xxx/yyy.php /en/x /php/xxx/yyy.php/en/x a"},
        {"/a.php/b.php", NULL, "php /a.php/b.php - /a.php/b.php -"},
        {"/a.php/b.php/c", NULL, "php /a.php/b.php /c /a.php/b.php/c -"},
        {"/a.php/c.txt", NULL, "static /a.php/c.txt"},
        {"/upload/cat.jpg", NULL, "static /upload/cat.jpg"},
        {"/upload/cat.jpg/x.php", NULL, "php /index.php - /index.php -"},
        {"/upload/cat.jpg/x", NULL, "php /index.php - /index.php -"},
        {"/nothing-here.php", "x=1", "php /index.php - /index.php x=1"},
        {"/nothing-here.php/index.php", NULL, "php /index.php - /index.php -"},
        {"/blog/2024/", "p=2", "php /index.php - /index.php p=2"},
        {"/blog", NULL, "php /index.php - /index.php -"},
        {"/a?b", "c", "php /index.php - /index.php c"},
        {"/robots.txt", "x", "static /robots.txt"},
        {"/robots.txt/", NULL, "php /index.php - /index.php -"},
        {"/a b.txt", NULL, "static /a b.txt"},
        {"/dir", NULL, "redirect /dir/"},
        {"/dir", "a=%20", "redirect /dir/?a=%20"},
        {"/dir", "", "redirect /dir/?"},
        {"/dir/", "a", "php /dir/index.php - /dir/index.php a"},
        {"/docs", NULL, "redirect /docs/"},
        {"/docs/", NULL, "static /docs/index.html"},
        {"/\xc3\xa9\\x", NULL, "redirect /%C3%A9%5Cx/"},
        {"/empty", NULL, "php /index.php - /index.php -"},
        {"/empty/", NULL, "php /index.php - /index.php -"},
        {"/.env", NULL, "status 403"},
        {"/.env/", NULL, "status 403"},
        {"/.user.ini", NULL, "status 403"},
        {"/.git/config", NULL, "status 403"},
        {"/.php", NULL, "status 403"},
        {"/dir/.hidden", NULL, "status 403"},
        {"/.well-known/acme", NULL, "static /.well-known/acme"},
        {"/.well-known/.x", NULL, "status 403"},
        {"/.well-knownx/acme", NULL, "status 403"},
        {"/UP.PHP", NULL, "status 403"},
        {"/UP.PHP/x", NULL, "php /index.php - /index.php -"},
        {"/x.php~", NULL, "status 403"},
        {"/wp-config.php.bak", NULL, "status 403"},
        {"/x.phps", NULL, "static /x.phps"},
        {"/x.php.txt", NULL, "static /x.php.txt"},
        {"/x.php.", NULL, "php /index.php - /index.php -"},
        {"/link.txt", NULL, "status 403"},
        {"/link.php", NULL, "status 403"},
        {"/linkdir", NULL, "status 403"},
        {"/linkdir/", NULL, "status 403"},
        {"/sock", NULL, "status 403"},
        {"/fifo.php", NULL, "php /index.php - /index.php -"},
        {"/locked", NULL, "status 403"},
        {"/locked.php", NULL, "status 403"},
        {"/loop", NULL, "php /index.php - /index.php -"},
        {"/NUL", NULL, "static /NUL"},
        {"/tool.phar", NULL, "static /tool.phar"},
        {"", NULL, "status 400"},
        {"*", NULL, "status 400"},
    };
    struct router_site site = site_default();

    check_rows(&site, rows, ARRAY_LEN(rows));
}

/* No front controller: what the fallback names decides. */
static void test_router_not_found_without_front(void)
{
    static const struct row rows[] = {
        {"/", NULL, "php /index.php - /index.php -"},
        {"/nope.php", NULL, "status 404"},
        {"/nope", NULL, "status 404"},
        {"/upload/cat.jpg/x.php", NULL, "status 404"},
        {"/php/xxx/yyy.php", NULL, "php /php/xxx/yyy.php - /php/xxx/yyy.php -"},
        {"/dir", "q", "redirect /dir/?q"},
        {"/empty/", NULL, "status 404"},
        {"/fifo.php", NULL, "status 404"},
    };
    static const struct str not_found[] = {{"$uri", 4}, {"$uri/", 5}, {"=404", 4}};
    struct router_site site = site_default();

    site.fallback = not_found;
    site.fallback_count = ARRAY_LEN(not_found);
    check_rows(&site, rows, ARRAY_LEN(rows));
    site.fallback_count = 0; /* the default is the same */
    check_rows(&site, rows, ARRAY_LEN(rows));
}

static void test_router_fallback_entries(void)
{
    static const struct {
        const char *entries[4];
        struct row row;
    } rows[] = {
        {{"/cache$uri.html", "=404"}, {"/page", NULL, "static /cache/page.html"}},
        {{"/cache$uri.html", "=404"}, {"/other", NULL, "status 404"}},
        {{"=410"}, {"/robots.txt", NULL, "status 410"}},
        {{"=x"}, {"/robots.txt", NULL, "status 404"}},
        {{"=200"}, {"/robots.txt", NULL, "status 404"}},
        {{"=410"}, {"/info.php", NULL, "php /info.php - /info.php -"}},
        {{"$uri", "/info.php$is_args$args"}, {"/x", "a=1", "php /info.php - /info.php a=1"}},
        {{"$uri", "/info.php$is_args$args"}, {"/x", NULL, "php /info.php - /info.php -"}},
        {{"$uri", "/info.php?q=$uri&$query_string"},
            {"/x", "a=1", "php /info.php - /info.php q=/x&a=1"}},
        {{"$uri", "/info.php"}, {"/x", "a=1", "php /info.php - /info.php a=1"}},
        {{"$uri", "/info.php$uri"}, {"/x?y", NULL, "php /info.php /x?y /info.php/x?y -"}},
        {{"$uri", "/gone.php"}, {"/x", NULL, "status 404"}},
        {{"$uri", "/UP.PHP"}, {"/x", NULL, "status 403"}},
        {{"$uri", "/docs/"}, {"/x", NULL, "static /docs/index.html"}},
        {{"$uri", "relative.php"}, {"/x", NULL, "status 404"}},
        {{"$uri"}, {"/robots.txt", NULL, "static /robots.txt"}},
        {{"$uri"}, {"/dir", NULL, "status 404"}},
        {{"$uri/"}, {"/robots.txt", NULL, "status 404"}},
        {{"$uri/"}, {"/dir", NULL, "redirect /dir/"}},
        {{"/robots.txt", "$uri", "=404"}, {"/a b.txt", NULL, "static /robots.txt"}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct router_site site = site_default();
        struct str entries[4];
        size_t n = 0;

        for (; n < 4 && rows[i].entries[n]; n++)
            entries[n] = str_c(rows[i].entries[n]);
        site.fallback = entries;
        site.fallback_count = n;
        check_rows(&site, &rows[i].row, 1);
    }
}

static void test_router_policies(void)
{
    static const struct row ignore[] = {
        {"/.env", NULL, "status 404"}, {"/.well-known/acme", NULL, "static /.well-known/acme"}};
    static const struct row allow[] = {{"/.env", NULL, "static /.env"},
        {"/.php", NULL, "static /.php"}, {"/.user.ini", NULL, "status 403"}};
    static const struct row blocked[] = {{"/upload/cat.jpg", NULL, "status 403"},
        {"/upload/x.php", NULL, "status 403"}, {"/robots.txt", NULL, "static /robots.txt"}};
    static const struct row allowed[] = {{"/index.php", NULL, "php /index.php - /index.php -"},
        {"/blog", NULL, "php /index.php - /index.php -"}, {"/info.php", NULL, "status 403"},
        {"/dir/", NULL, "status 403"}};
    static const struct row extensions[] = {{"/tool.phar", NULL, "php /tool.phar - /tool.phar -"},
        {"/index.php/x", NULL, "php /index.php /x /index.php/x -"}};
    static const struct str blocked_globs[] = {{"/upload/**", 10}};
    static const struct str allowed_globs[] = {{"/index.php", 10}};
    static const struct str exts[] = {{".php", 4}, {".phar", 5}};
    struct router_site site = site_default();

    site.hidden = ROUTER_HIDDEN_IGNORE;
    check_rows(&site, ignore, ARRAY_LEN(ignore));
    site.hidden = ROUTER_HIDDEN_ALLOW;
    check_rows(&site, allow, ARRAY_LEN(allow));
    site = site_default();
    site.blocked = blocked_globs;
    site.blocked_count = 1;
    check_rows(&site, blocked, ARRAY_LEN(blocked));
    site = site_default();
    site.allowed_php = allowed_globs;
    site.allowed_php_count = 1;
    check_rows(&site, allowed, ARRAY_LEN(allowed));
    site = site_default();
    site.php_extensions = exts;
    site.php_extension_count = 2;
    check_rows(&site, extensions, ARRAY_LEN(extensions));
}

static void test_router_windows_names_are_404(void)
{
    static const struct row rows[] = {
        {"/index.php::$DATA", NULL, "status 404"},
        {"/index.php.", NULL, "status 404"},
        {"/index.php ", NULL, "status 404"},
        {"/index.php /x", NULL, "status 404"},
        {"/dir\\index.php", NULL, "status 404"},
        {"/C:/x", NULL, "status 404"},
        {"/NUL", NULL, "status 404"},
        {"/con.txt", NULL, "status 404"},
        {"/x/com1", NULL, "status 404"},
        {"/com\xc2\xb9.txt", NULL, "status 404"},
        {"/INDEX~1.PHP", NULL, "status 404"},
        {"/a\nb", NULL, "status 404"},
        {"/a*", NULL, "status 404"},
        {"/robots.txt", NULL, "static /robots.txt"},
        {"/a b.txt", NULL, "static /a b.txt"},
        {"/console", NULL, "php /index.php - /index.php -"},
        {"/common", NULL, "php /index.php - /index.php -"},
        {"/~user", NULL, "php /index.php - /index.php -"},
    };
    struct router_site site = site_default();

    site.windows_names = true;
    check_rows(&site, rows, ARRAY_LEN(rows));
}

static void test_router_hot_paths_look_up_little(void)
{
    static const struct {
        const char *path;
        int lookups, containments;
    } rows[] = {
        {"/", 1, 1},
        {"/index.php", 1, 1},
        {"/index.php/a/b", 1, 1},
        {"/robots.txt", 1, 1},
        {"/blog/post", 2, 1},
        {"/blog/post/", 2, 1},
        {"/gone.php", 2, 1},
        {"/dir/", 2, 1},
    };
    struct router_site site = site_default();

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct arena a = {0};
        struct route out;

        test_row(rows[i].path);
        lookups = containments = 0;
        router_route(&site, &fake_fs, &a, str_c(rows[i].path), STR_NONE, false, &out);
        CHECK_INT(lookups, rows[i].lookups);
        CHECK_INT(containments, rows[i].containments);
        arena_fini(&a);
    }
    test_row(NULL);
}

const struct test tests_router[] = {TEST(test_router_default_site),
    TEST(test_router_not_found_without_front), TEST(test_router_fallback_entries),
    TEST(test_router_policies), TEST(test_router_windows_names_are_404),
    TEST(test_router_hot_paths_look_up_little), TEST_END};
