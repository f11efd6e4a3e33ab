/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/facts.h"

#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "db/func/tz.h"
#include "db/store/info.h"
#include "db/store/sess.h"
#include "db/store/status.h"
#include "platform/clock.h"

enum {
    COUNT_UP_TO = 5000, /* rows that are counted one by one; more are estimated */
    PAGE = 16384,       /* sizes are shown in pages of InnoDB's size */
};

/* ---- tables ---- */

uint64_t store_info_auto(struct db_session *s, const struct db_cat_table *t)
{
    const char *schema = t->temporary ? "temp" : "main";
    struct arena a = {0};
    struct str table, column;
    int64_t n = 0;

    if (t->auto_column < 0)
        return 0;
    table = tr_quote(&a, t->name);
    column = tr_quote(&a, t->columns[t->auto_column].name);
    if (t->auto_column == t->rowid_column) {
        sqlite3_stmt *stmt = NULL;

        if (store_handle_stmt(s->handle,
                arena_printf(&a, "SELECT seq FROM %s.sqlite_sequence WHERE name = ?1", schema),
                &stmt) == SQLITE_OK) {
            if (sqlite3_bind_text(stmt, 1, t->name.p, (int)t->name.len, SQLITE_STATIC) ==
                    SQLITE_OK &&
                sqlite3_step(stmt) == SQLITE_ROW)
                n = sqlite3_column_int64(stmt, 0);
            (void)store_handle_done(s->handle, stmt);
        }
    } else {
        n = store_handle_number(s->handle,
            arena_printf(
                &a, "SELECT max(" STR_F ") FROM %s." STR_F, STR_A(column), schema, STR_A(table)),
            0);
    }
    arena_fini(&a);
    return (uint64_t)(n < 0 ? 0 : n) + 1;
}

/* Bytes of a row, about. */
static uint64_t row_width(const struct db_cat_table *t)
{
    uint64_t n = 8;

    for (uint32_t i = 0; i < t->n_columns; i++) {
        const struct db_type *type = &t->columns[i].type;

        if (db_base_is_number(type->base) || db_base_is_temporal(type->base))
            n += 6;
        else if (type->length > 0)
            n += (uint64_t)MIN(type->length, 64);
        else
            n += 128;
    }
    return n;
}

/* As MySQL's numbers are for InnoDB, those of large tables are estimates: their cost must not grow
 * with the table. */
static uint64_t row_count(struct db_session *s, const struct db_cat_table *t)
{
    const char *schema = t->temporary ? "temp" : "main";
    struct arena a = {0};
    struct str table = tr_quote(&a, t->name);
    int64_t span, n;

    span = store_handle_number(s->handle,
        arena_printf(&a,
            "SELECT (SELECT max(rowid) FROM %s." STR_F ") - (SELECT min(rowid) FROM %s." STR_F
            ") + 1",
            schema, STR_A(table), schema, STR_A(table)),
        0);
    n = store_handle_number(s->handle,
        arena_printf(&a, "SELECT count(*) FROM (SELECT 1 FROM %s." STR_F " LIMIT %d)", schema,
            STR_A(table), COUNT_UP_TO),
        0);
    arena_fini(&a);
    return (uint64_t)(n < COUNT_UP_TO ? n : MAX(span, n));
}

static uint64_t in_pages(uint64_t bytes)
{
    return MAX(1, (bytes + PAGE - 1) / PAGE) * PAGE;
}

static void add_table(struct db_session *s, struct info_facts *f, struct info_table *v,
    const struct db_cat_table *t, uint32_t needs, const struct info_filter *filter)
{
    struct info_table *it = &v[f->n_tables++];
    bool wanted = !filter->table.p || str_ieq(filter->table, t->name);

    it->table = t;
    if (!(needs & INFO_NEEDS_SIZES) || t->is_view || !wanted)
        return;
    it->rows = row_count(s, t);
    it->data_length = in_pages(it->rows * row_width(t));
    it->index_length = t->n_keys > 1 ? in_pages(it->rows * 16) * (t->n_keys - 1) : 0;
    it->auto_increment = store_info_auto(s, t);
}

static void tables(struct db_session *s, struct arena *a, struct info_facts *f, uint32_t needs,
    const struct info_filter *filter)
{
    uint32_t n = (s->tables ? s->tables->n : 0) + (s->temp ? s->temp->n : 0);
    struct info_table *v = arena_new(a, (n + 1) * sizeof(*v));

    for (uint32_t i = 0; s->temp && i < s->temp->n; i++)
        add_table(s, f, v, s->temp->v[i]->table, needs, filter);
    for (uint32_t i = 0; s->tables && i < s->tables->n; i++) {
        if (!s->temp || !store_tables_find(s->temp, s->tables->v[i]->table->name))
            add_table(s, f, v, s->tables->v[i]->table, needs, filter);
    }
    f->tables = v;
}

/* ---- the rest ---- */

static struct info_pairs variables(struct db_session *s, struct arena *a, bool global)
{
    struct info_pair *v = arena_new(a, STORE_VAR_COUNT * sizeof(*v));
    struct info_pairs pairs = {v, 0};

    if (global)
        pthread_mutex_lock(&s->db->mutex);
    for (int i = 0; i < STORE_VAR_COUNT; i++) {
        const struct store_var_row *row = store_var_row(i);
        const struct store_vars *from = &s->vars;
        struct db_value value;
        struct db_type type;
        char text[32];

        if (global && !(row->flags & VAR_G))
            continue;
        if (global)
            from = &s->db->globals;
        v[pairs.n].name = row->name;
        if (row->flags & VAR_D && eval_system_var(s, SQL_SCOPE_NONE, row->name, &value, &type))
            v[pairs.n].value = eval_text(s, &value);
        else
            v[pairs.n].value = arena_str(a, store_var_text(from, i, text));
        pairs.n++;
    }
    if (global)
        pthread_mutex_unlock(&s->db->mutex);
    return pairs;
}

static void processes(struct db_session *s, struct arena *a, struct info_facts *f)
{
    struct db_server *server = s->server;
    struct info_process *v;
    uint64_t now = clock_mono_ms();

    pthread_mutex_lock(&server->mutex);
    v = arena_new(a, (server->n_sessions + 1) * sizeof(*v));
    list_each (it, &server->sessions) {
        struct db_session *other = CONTAINER_OF(it, struct db_session, link);
        struct info_process *p = &v[f->n_processes];

        if (other->db != s->db) /* another account's */
            continue;
        pthread_mutex_lock(&other->mutex);
        p->id = other->id;
        p->user = arena_str(a, str_c(other->user));
        p->host = arena_str(a, str_c(other->host));
        p->db = other->shown_db[0] ? arena_str(a, str_c(other->shown_db)) : STR_NONE;
        p->command = other->running ? STR("Query") : STR("Sleep");
        p->seconds = (int64_t)((now - MIN(now, other->info_since_ms)) / 1000);
        p->state = !other->running  ? STR("")
                   : other->waiting ? STR("Waiting for table metadata lock")
                                    : STR("executing");
        if (other->running)
            p->info = arena_str(a, str_n(other->info, other->info_len));
        pthread_mutex_unlock(&other->mutex);
        f->n_processes++;
    }
    pthread_mutex_unlock(&server->mutex);
    f->processes = v;
}

static void warnings(struct db_session *s, struct arena *a, struct info_facts *f)
{
    static const struct str levels[] = {STR("Note"), STR("Warning"), STR("Error")};
    struct info_warning *v = arena_new(a, (s->n_warnings + 1) * sizeof(*v));

    list_each (it, &s->warnings) {
        const struct sess_warning *w = CONTAINER_OF(it, struct sess_warning, link);

        v[f->n_warnings].level = levels[w->level];
        v[f->n_warnings].code = w->number;
        v[f->n_warnings].message = str_c(w->text);
        f->n_warnings++;
    }
    f->warnings = v;
}

struct digest_list {
    struct arena *arena;
    struct info_digest *v;
    uint32_t n, cap;
};

static void add_digest(void *arg, const struct db_digest *d)
{
    enum { PICO = 1000000 }; /* picoseconds of a microsecond */
    struct digest_list *l = arg;
    struct info_digest *to;

    if (l->n == l->cap) {
        uint32_t cap = l->cap ? 2 * l->cap : 64;
        struct info_digest *v = arena_new(l->arena, cap * sizeof(*v));

        if (l->n)
            memcpy(v, l->v, l->n * sizeof(*v));
        l->v = v;
        l->cap = cap;
    }
    to = &l->v[l->n++];
    to->schema = arena_str(l->arena, d->database);
    to->digest = arena_printf(l->arena, "%016llx", (unsigned long long)d->hash);
    to->text = arena_str(l->arena, d->text);
    to->count = d->count;
    to->sum = d->total_us * PICO;
    to->average = d->count ? d->total_us * PICO / d->count : 0;
    to->most = d->max_us * PICO;
    to->errors = d->errors;
    to->rows_changed = d->rows_changed;
    to->rows_sent = d->rows_sent;
    to->first_seen = (int64_t)d->first_seen;
    to->last_seen = (int64_t)d->last_seen;
}

static void digests(struct db_session *s, struct arena *a, struct info_facts *f)
{
    struct digest_list l = {.arena = a};

    store_digests_each(&s->server->digests, s->db->name, add_digest, &l);
    f->digests = l.v;
    f->n_digests = l.n;
}

static void local_time(void *arg, int64_t seconds, char out[20])
{
    const struct db_session *s = arg;
    time_t at = (time_t)(seconds + (s->f.tz ? db_tz_from_utc(s->f.tz, seconds) : s->f.utc_offset));
    struct tm tm;

    if (!gmtime_r(&at, &tm) || strftime(out, 20, "%Y-%m-%d %H:%M:%S", &tm) == 0)
        (void)str_put(out, 20, STR("1970-01-01 00:00:00"));
}

struct info_facts *store_facts(
    struct db_session *s, struct arena *arena, uint32_t needs, const struct info_filter *filter)
{
    struct info_facts *f = arena_new(arena, sizeof(*f));
    struct info_schema *schema = arena_new(arena, sizeof(*schema));

    schema->name = s->db->name;
    schema->charset = store_var_str(&s->vars, VAR_character_set_database);
    schema->collation = store_var_str(&s->vars, VAR_collation_database);
    f->schemas = schema;
    f->n_schemas = 1;
    f->user = str_c(s->user);
    f->host = str_c(s->host);
    f->local_time = local_time;
    f->arg = s;
    if (needs & (INFO_NEEDS_TABLES | INFO_NEEDS_SIZES))
        tables(s, arena, f, needs, filter);
    if (needs & INFO_NEEDS_SESSION_VARIABLES)
        f->session_variables = variables(s, arena, false);
    if (needs & INFO_NEEDS_GLOBAL_VARIABLES)
        f->global_variables = variables(s, arena, true);
    if (needs & INFO_NEEDS_SESSION_STATUS)
        f->session_status = store_status(s->server, arena);
    if (needs & INFO_NEEDS_GLOBAL_STATUS)
        f->global_status = store_status(s->server, arena);
    if (needs & INFO_NEEDS_PROCESSES)
        processes(s, arena, f);
    if (needs & INFO_NEEDS_DIGESTS)
        digests(s, arena, f);
    if (needs & INFO_NEEDS_WARNINGS)
        warnings(s, arena, f);
    return f;
}
