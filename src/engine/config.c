/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/config.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "engine/config_table.h"
#include "engine/config_warn.h"
#include "platform/process.h"
#include "platform/sock.h"

/* As text, which is one message to the front. */
enum { CONFIG_MAX = SOCK_MSG_MAX - 4096 };

static struct config *config_new(enum config_mode mode)
{
    struct config *cfg = mem_new(sizeof(*cfg));

    cfg->mode = mode;
    arena_init(&cfg->arena);
    atomic_init(&cfg->refs, 1);
    conf_init(&cfg->conf, &config_table, cfg, &cfg->arena);
    return cfg;
}

struct config *config_ref(struct config *cfg)
{
    /* Relaxed: whoever takes a reference holds one already. */
    atomic_fetch_add_explicit(&cfg->refs, 1, memory_order_relaxed);
    return cfg;
}

void config_unref(struct config *cfg)
{
    /* Release and acquire: every use by others happens before the memory goes. */
    if (!cfg || atomic_fetch_sub_explicit(&cfg->refs, 1, memory_order_acq_rel) != 1)
        return;
    arena_fini(&cfg->arena);
    mem_free(cfg);
}

/* Values that follow others, then the checks of the whole. */
static int finish(struct config *cfg, struct err *err)
{
    int rc;

    if (cfg->mode == CONFIG_DEV && !config_is_set(cfg, "server.listen"))
        cfg->server.listen = "127.0.0.1:8080";
    if (!config_is_set(cfg, "deploy.drain"))
        cfg->deploy.drain = cfg->server.timeouts.shutdown;
    rc = config_verify(cfg, err);
    if (rc == 0)
        config_collect_warnings(cfg);
    return rc;
}

static int read_file(struct config *cfg, const struct config_source *src, struct err *err)
{
    int rc;

    if (!src->path)
        return 0;
    rc = conf_read_file(&cfg->conf, src->path, err);
    return rc == ERR_NOTFOUND && !src->path_explicit ? 0 : rc;
}

static int read_sources(struct config *cfg, const struct config_source *src, struct err *err)
{
    int rc = read_file(cfg, src, err);

    if (rc == 0 && src->env)
        rc = conf_read_env(&cfg->conf, src->env, err);
    for (size_t i = 0; i < src->noverrides && rc == 0; i++) {
        const struct config_override *o = &src->overrides[i];

        rc = conf_set(&cfg->conf, o->key, o->value, CONF_FROM_CLI, o->where, err);
    }
    return rc;
}

static int check_length(const struct config *cfg, struct err *err)
{
    struct buf text = {0};
    size_t n;

    config_serialize(cfg, &text);
    n = text.len;
    buf_fini(&text);
    return n <= CONFIG_MAX ? 0
                           : err_set(err, ERR_TOOBIG,
                                 "the configuration is too long: %zu bytes without its comments, "
                                 "and %d is the most",
                                 n, CONFIG_MAX);
}

int config_load(const struct config_source *src, struct config **out, struct err *err)
{
    struct config *cfg = config_new(src->mode);
    int rc = read_sources(cfg, src, err);

    if (rc == 0)
        rc = finish(cfg, err);
    if (rc == 0)
        rc = check_length(cfg, err);
    if (rc) {
        config_unref(cfg);
        return rc;
    }
    *out = cfg;
    return 0;
}

bool config_is_set(const struct config *cfg, const char *key)
{
    return conf_is_set(&cfg->conf, key);
}

const char *config_env_name(const char *value)
{
    const char *p = value;

    if (*p++ != '$')
        return NULL;
    for (; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';

        if (!letter && (p == value + 1 || *p < '0' || *p > '9'))
            return NULL;
    }
    return p > value + 1 ? value + 1 : NULL;
}

const struct config_php_site *config_php_site(const struct config *cfg, const char *site)
{
    const struct config_php_site *v = cfg->php.sites.v;

    for (size_t i = 0; i < cfg->php.sites.n; i++) {
        if (strcmp(v[i].site, site) == 0)
            return &v[i];
    }
    return NULL;
}

static bool resolve(int tri, bool automatic)
{
    return tri < 0 ? automatic : tri > 0;
}

bool config_request_log(const struct config *cfg)
{
    return resolve(cfg->server.diagnostics.request_log, cfg->mode == CONFIG_DEV);
}

bool config_clear_env(const struct config *cfg)
{
    return resolve(cfg->php.clear_env, cfg->mode == CONFIG_SERVE);
}

bool config_hardening(const struct config *cfg)
{
    return config_is_multi(cfg) && resolve(cfg->server.security.multi_tenant_hardening, true);
}

bool config_open_basedir(const struct config *cfg)
{
    return config_is_multi(cfg) && resolve(cfg->server.security.open_basedir, true);
}

bool config_disable_shell_exec(const struct config *cfg)
{
    return config_is_multi(cfg) && resolve(cfg->server.security.disable_shell_exec, true);
}

static void default_socket(const struct config *cfg, struct buf *out)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    uint64_t h = UINT64_C(14695981039346656037);

    for (const char *p = cfg->server.listen; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(1099511628211);
    if (process_is_root())
        buf_printf(out, "/run/ephpm/%016llx.sock", (unsigned long long)h);
    else if (runtime && runtime[0] == '/')
        buf_printf(out, "%s/ephpm-%016llx.sock", runtime, (unsigned long long)h);
    else
        buf_printf(
            out, "/tmp/ephpm-%u/%016llx.sock", (unsigned)process_uid(), (unsigned long long)h);
}

void config_control_path(const struct config *cfg, struct buf *out)
{
    if (cfg->server.control_socket)
        buf_add_str(out, str_c(cfg->server.control_socket));
    else
        default_socket(cfg, out);
}

void config_db_socket(const struct config *cfg, struct buf *out)
{
    if (cfg->db.proxy.socket) {
        buf_add_str(out, str_c(cfg->db.proxy.socket));
        return;
    }
    if (cfg->server.control_socket && *cfg->server.control_socket)
        buf_add_str(out, str_c(cfg->server.control_socket));
    else
        default_socket(cfg, out);
    if (str_ends(buf_str(out), STR(".sock")))
        out->len -= sizeof(".sock") - 1;
    buf_add_lit(out, "-db.sock");
}

void config_dump(const struct config *cfg, struct buf *out)
{
    conf_dump(&cfg->conf, out);
}

void config_reference(struct buf *out)
{
    buf_add_lit(out,
        "# Configuration\n\n"
        "This page is printed from the server's own tables by `gen-config-reference`.\n\n"
        "`ephpm serve` reads `ephpm.toml` (or the file given with `-c`), which is TOML 1.0. Every "
        "key can also be\n"
        "given as an environment variable: `EPHPM_` and the key in upper case with `__` for each "
        "dot, as in\n"
        "`EPHPM_SERVER__LISTEN`; lists are JSON. The command line wins over the environment, the "
        "environment over\n"
        "the file, the file over the default. An unknown key is an error. `ephpm config` prints "
        "the effective value\n"
        "of every key and where it came from.\n\n"
        "- **size**: bytes, or a string with a unit: `65536`, `\"64K\"`, `\"10MB\"`, `\"1G\"` "
        "(powers of 1024).\n"
        "- **duration**: seconds, or a string with a unit: `30`, `\"1500ms\"`, `\"5m\"`, `\"2h\"`, "
        "`\"1d\"`.\n"
        "- **list of pairs**: `[[\"name\", \"value\"]]`, or a section with a line `name = "
        "\"value\"` for each.\n"
        "- **`[[name]]`**: a section that may come several times, once for each table; in a "
        "variable "
        "a JSON list of objects.\n"
        "- **PHP size**: as php.ini writes it: `\"128M\"`, `-1`.\n\n"
        "*Change needs* says what applies a changed value: a reload (`ephpm reload`), a new "
        "generation of PHP\n"
        "processes (which a reload starts), or a restart of the server.\n");
    conf_reference(&config_table, out);
    buf_add_lit(out,
        "\n## Not in this version\n\n"
        "These keys are known and refused when set, so that nothing is ignored silently:\n\n");
    for (size_t i = 0; i < config_table.nrefused; i++) {
        struct str key = str_c(config_table.refused[i].key);

        if (str_ends(key, STR(".")))
            buf_printf(out, "- `[" STR_F "]`\n", STR_A(str_sub(key, 0, key.len - 1)));
        else
            buf_printf(out, "- `" STR_F "`\n", STR_A(key));
    }
}

/* The first line is the mode; the rest are the values that the user set. */
void config_serialize(const struct config *cfg, struct buf *out)
{
    buf_add_str(out, cfg->mode == CONFIG_DEV ? STR("dev\n") : STR("serve\n"));
    conf_serialize(&cfg->conf, out);
}

int config_deserialize(struct str text, struct config **out, struct err *err)
{
    struct config *cfg;
    struct str mode;
    int rc;

    if (!str_split(&text, '\n', &mode) || !(str_eq(mode, STR("dev")) || str_eq(mode, STR("serve"))))
        return err_set(err, ERR_CORRUPT, "serialized configuration: no mode");
    cfg = config_new(str_eq(mode, STR("dev")) ? CONFIG_DEV : CONFIG_SERVE);
    rc = conf_deserialize(&cfg->conf, text, err);
    if (rc == 0)
        rc = finish(cfg, err);
    if (rc) {
        config_unref(cfg);
        return rc;
    }
    *out = cfg;
    return 0;
}
