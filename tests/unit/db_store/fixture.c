/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/log.h"
#include "db/real.h"

static void remove_file(const char *path, const char *suffix)
{
    char name[128];

    snprintf(name, sizeof(name), "%s%s", path, suffix);
    (void)unlink(name); /* it may not be there */
}

void fixture_init(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    snprintf(f->dir, sizeof(f->dir), "/tmp/ephpm-db-XXXXXX");
    if (!mkdtemp(f->dir))
        abort();
    snprintf(f->path, sizeof(f->path), "%s/app.db", f->dir);
    f->file = (struct db_file){STR("app"), str_c(f->path), STR("app")};
    f->config.files = &f->file;
    f->config.n_files = 1;
    f->config.synchronous = DB_SYNC_OFF;
    f->config.lock_wait_s = 1;
    f->config.stats.enabled = true;
    log_set_level(LOG_ALERT);
}

void fixture_start(struct fixture *f)
{
    struct err err = {0};

    if (db_server_new(&f->config, &f->stats, &f->server, &err) != 0) {
        test_fail(__FILE__, __LINE__, "db_server_new: %s", err.text);
        abort();
    }
}

void fixture_stop(struct fixture *f)
{
    if (f->server)
        db_server_stop(f->server);
    db_server_free(f->server);
    f->server = NULL;
}

void fixture_fini(struct fixture *f)
{
    fixture_stop(f);
    remove_file(f->path, "");
    remove_file(f->path, "-wal");
    remove_file(f->path, "-shm");
    remove_file(f->path, ".copy");
    if (rmdir(f->dir) != 0)
        test_fail(__FILE__, __LINE__, "%s is not empty", f->dir);
}

void client_open(struct client *c, struct fixture *f, uint32_t flags)
{
    struct db_login login = {.user = STR("app"),
        .host = STR("localhost"),
        .database = STR("app"),
        .account_db = STR("app"),
        .client_flags = flags | DB_CLIENT_MULTI_STATEMENTS,
        .charset = 45};
    struct db_error e = {0};

    memset(c, 0, sizeof(*c));
    c->id = db_server_next_id(f->server);
    if (db_session_new(f->server, c->id, &login, &c->s, &e) != 0) {
        test_fail(__FILE__, __LINE__, "db_session_new: %s", e.text);
        abort();
    }
}

void client_close(struct client *c)
{
    db_session_free(c->s);
    buf_fini(&c->out);
    c->s = NULL;
}

/* ---- the sink ---- */

static int on_columns(void *arg, const struct db_column *columns, uint32_t n)
{
    struct client *c = arg;

    for (uint32_t i = 0; i < n; i++)
        buf_printf(&c->out, "%s" STR_F, i ? "|" : "", STR_A(columns[i].name));
    buf_add_char(&c->out, '\n');
    return 0;
}

static void add_value(struct buf *b, const struct db_value *v)
{
    char text[DB_REAL_TEXT];

    switch (v->kind) {
    case DB_V_NULL:
        buf_add_lit(b, "NULL");
        break;
    case DB_V_INT:
        buf_printf(b, "%lld", (long long)v->i);
        break;
    case DB_V_UINT:
        buf_printf(b, "%llu", (unsigned long long)v->u);
        break;
    case DB_V_REAL:
        buf_add(b, text, db_real_text(v->d, text));
        break;
    default:
        buf_add_str(b, v->s);
    }
}

static int on_row(void *arg, const struct db_value *values, uint32_t n)
{
    struct client *c = arg;

    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_add_char(&c->out, '|');
        add_value(&c->out, &values[i]);
    }
    buf_add_char(&c->out, '\n');
    return 0;
}

static void on_end(void *arg, const struct db_ok *ok)
{
    struct client *c = arg;

    if (ok->warnings)
        buf_printf(&c->out, "w%u\n", ok->warnings);
}

static void on_ok(void *arg, const struct db_ok *ok)
{
    struct client *c = arg;

    buf_printf(&c->out, "ok %llu", (unsigned long long)ok->affected);
    if (ok->insert_id)
        buf_printf(&c->out, " id %llu", (unsigned long long)ok->insert_id);
    if (ok->warnings)
        buf_printf(&c->out, " w%u", ok->warnings);
    if (ok->info.len)
        buf_printf(&c->out, " (" STR_F ")", STR_A(ok->info));
    buf_add_char(&c->out, '\n');
}

static void on_error(void *arg, const struct db_error *e)
{
    struct client *c = arg;

    buf_printf(&c->out, "%d %s %s\n", e->number, e->state, e->text);
}

static struct db_sink sink_of(struct client *c)
{
    return (struct db_sink){c, on_columns, on_row, on_end, on_ok, on_error};
}

static const char *answer(struct client *c)
{
    if (c->out.len)
        c->out.len--; /* the last line's end */
    return buf_cstr(&c->out);
}

const char *client_run(struct client *c, const char *sql)
{
    struct db_sink sink = sink_of(c);

    buf_clear(&c->out);
    db_session_query(c->s, str_c(sql), &sink);
    return answer(c);
}

const char *client_execute(
    struct client *c, const char *sql, const struct db_value *params, uint32_t n)
{
    struct db_sink sink = sink_of(c);
    struct db_prepared *p;
    struct db_error e = {0};

    buf_clear(&c->out);
    if (db_session_prepare(c->s, str_c(sql), &p, &e) != 0) {
        on_error(c, &e);
        return answer(c);
    }
    db_session_execute(c->s, p, params, n, &sink);
    db_prepared_close(p);
    return answer(c);
}

long long client_number(struct client *c, const char *sql)
{
    const char *line = strchr(client_run(c, sql), '\n');

    return line ? atoll(line + 1) : -1;
}

void check_steps(struct client *c, const struct step *steps, const char *file, int line)
{
    for (; steps->sql; steps++) {
        const char *got = client_run(c, steps->sql);
        bool error =
            got[0] >= '1' && got[0] <= '9' && strlen(got) > 11 && got[4] == ' ' && got[10] == ' ';

        if (steps->want ? strcmp(got, steps->want) != 0 : error)
            test_fail(file, line, "%s\n  answers: %s\n  wanted:  %s", steps->sql, got,
                steps->want ? steps->want : "no error");
    }
}

void check_alone(const struct step *steps, const char *file, int line)
{
    struct fixture f;
    struct client c;

    fixture_init(&f);
    fixture_start(&f);
    client_open(&c, &f, 0);
    check_steps(&c, steps, file, line);
    client_close(&c);
    fixture_fini(&f);
}
