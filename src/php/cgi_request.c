/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "php/cgi.h"
#include "platform/fs.h"

extern char **environ;

bool embed_cgi_is_web(void)
{
    return getenv("SERVER_SOFTWARE") || getenv("SERVER_NAME") || getenv("GATEWAY_INTERFACE") ||
           getenv("REQUEST_METHOD");
}

void embed_cgi_guard_environment(void)
{
    /* It would come from a client's "Proxy" header, and HTTP clients obey it. */
    if (embed_cgi_is_web())
        (void)unsetenv("HTTP_PROXY");
}

static struct str env(const char *name)
{
    return str_c(getenv(name));
}

/* --- script ----------------------------------------------------------------------------------- */

static bool is_script(const char *path, char *resolved, size_t cap)
{
    struct fs_stat st;

    return fs_realpath(path, resolved, cap) == 0 && fs_stat(resolved, &st) == 0 &&
           st.kind != FS_DIR;
}

/* "/app/index.php/a/b": the script is /app/index.php when that is a file; *len is its length. */
static bool find_script(struct str path, char *resolved, size_t cap, size_t *len)
{
    char *head = mem_dup_str(path.p, path.len);
    bool found = false;

    for (size_t n = path.len; n > 1 && !found;) {
        do
            n--;
        while (n > 1 && head[n] != '/');
        head[n] = '\0';
        found = is_script(head, resolved, cap);
        if (found)
            *len = n;
    }
    mem_free(head);
    return found;
}

static void set_variable(const char *name, const char *original, struct str head, struct str tail)
{
    const char *old = getenv(name);
    struct buf b = {0};

    buf_add_str(&b, head);
    buf_add_str(&b, tail);
    if (old && strcmp(old, buf_cstr(&b)) != 0)
        (void)setenv(original, old, 1);
    (void)setenv(name, buf_cstr(&b), 1);
    buf_fini(&b);
}

/* The environment as it would be from a server that splits paths. */
static void split_variables(struct str script, struct str rest)
{
    struct str url = env("SCRIPT_NAME"), root = env("DOCUMENT_ROOT");
    struct str none = STR("");

    set_variable("SCRIPT_FILENAME", "ORIG_SCRIPT_FILENAME", script, none);
    set_variable("PATH_INFO", "ORIG_PATH_INFO", rest, none);
    if (root.len)
        set_variable("PATH_TRANSLATED", "ORIG_PATH_TRANSLATED", root, rest);
    if (root.len && script.len > root.len && str_under(script, root))
        url = str_sub(script, root.len, script.len);
    else if (url.len > rest.len && str_ends(url, rest))
        url.len -= rest.len;
    if (url.p)
        set_variable("SCRIPT_NAME", "ORIG_SCRIPT_NAME", url, none);
}

static int choose_script(struct embed_cgi_request *out, const char *file, bool split_path)
{
    struct str path = file ? str_c(file) : env("SCRIPT_FILENAME");
    char *copy;
    size_t n;

    if (file && strcmp(file, EMBED_SCRIPT_STDIN) == 0) {
        (void)str_put(out->script, sizeof(out->script), path);
        return 0;
    }
    if (!path.p)
        path = env("PATH_TRANSLATED");
    if (path.len == 0)
        return ERR_NOTFOUND;
    if (is_script(path.p, out->script, sizeof(out->script))) {
        if (!file)
            (void)setenv("SCRIPT_FILENAME", path.p, 0);
        return 0;
    }
    if (file || !split_path || !find_script(path, out->script, sizeof(out->script), &n))
        return ERR_NOTFOUND;
    copy = mem_dup_str(path.p, path.len); /* setting a variable ends the life of its old value */
    split_variables(str_n(copy, n), str_n(copy + n, path.len - n));
    mem_free(copy);
    return 0;
}

/* --- variables -------------------------------------------------------------------------------- */

/* HTTP_X_FORWARDED_FOR came from "X-Forwarded-For", or something that reads the same. */
static void read_headers(struct embed_cgi_request *out)
{
    static const struct str prefix = {"HTTP_", 5};
    size_t n = 0;

    while (environ[n])
        n++;
    out->headers = mem_new_array(n + 1, sizeof(*out->headers));
    for (size_t i = 0; environ[i]; i++) {
        struct str line = str_c(environ[i]);
        ptrdiff_t eq = str_chr(line, '=');

        if (!str_starts(line, prefix) || eq <= (ptrdiff_t)prefix.len)
            continue;
        out->headers[out->req.nheaders++] =
            (struct embed_field){str_sub(line, prefix.len, (size_t)eq - prefix.len),
                str_sub(line, (size_t)eq + 1, line.len)};
    }
    out->req.headers = out->headers;
}

static int read_length(struct embed_request *r, struct err *err)
{
    struct str text = env("CONTENT_LENGTH");
    uint64_t n;

    r->content_length = -1;
    if (text.len == 0)
        return 0;
    if (str_u64(text, &n) < 0 || n > INT64_MAX)
        return err_set(err, ERR_INVAL, "CONTENT_LENGTH is not a length: \"" STR_F "\"",
            STR_A(str_sub(text, 0, 64)));
    r->content_length = (int64_t)n;
    return 0;
}

static void read_query(struct embed_cgi_request *out, char *const *argv)
{
    struct embed_request *r = &out->req;

    r->query = env("QUERY_STRING");
    if (r->query.p && !argv)
        return;
    for (; argv && *argv; argv++) {
        if (out->text.len)
            buf_add_char(&out->text, '&');
        buf_add_str(&out->text, str_c(*argv));
    }
    r->query = str_c(buf_cstr(&out->text));
    r->query.len = out->text.len;
}

int embed_cgi_request_read(struct embed_cgi_request *out, const char *file, bool split_path,
    char *const *argv, struct err *err)
{
    struct embed_request *r = &out->req;
    int rc;

    *out = (struct embed_cgi_request){0};
    rc = choose_script(out, file, split_path);
    if (rc)
        return rc;
    rc = read_length(r, err);
    if (rc)
        return rc;
    r->script_filename = str_c(out->script);
    r->method = env("REQUEST_METHOD");
    r->uri = env("REQUEST_URI");
    r->script_name = env("SCRIPT_NAME");
    r->path_info = env("PATH_INFO");
    r->document_root = env("DOCUMENT_ROOT");
    r->server_name = env("SERVER_NAME");
    r->protocol = env("SERVER_PROTOCOL");
    r->content_type = env("CONTENT_TYPE");
    r->cookie = env("HTTP_COOKIE");
    r->authorization = env("HTTP_AUTHORIZATION");
    read_query(out, argv);
    read_headers(out);
    return 0;
}

void embed_cgi_request_fini(struct embed_cgi_request *r)
{
    mem_free(r->headers);
    buf_fini(&r->text);
    r->headers = NULL;
}
