/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/charset.h"
#include "db/ddl/info_out.h"

void info_rows_engines(struct info_out *o, const struct info_facts *f)
{
    static const struct str rows[][6] = {
        {STR("InnoDB"), STR("DEFAULT"),
            STR("Supports transactions, row-level locking, and foreign keys"), STR("YES"),
            STR("NO"), STR("YES")},
        {STR("MyISAM"), STR("YES"), STR("MyISAM storage engine"), STR("NO"), STR("NO"), STR("NO")},
        {STR("MEMORY"), STR("YES"),
            STR("Hash based, stored in memory, useful for temporary tables"), STR("NO"), STR("NO"),
            STR("NO")},
    };

    (void)f;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        for (int k = 0; k < 6; k++)
            out_str(o, rows[i][k]);
    }
}

void info_rows_collations(struct info_out *o, const struct info_facts *f)
{
    uint32_t n;
    const struct db_collation *c = db_collations(&n);

    (void)f;
    for (uint32_t i = 0; i < n; i++) {
        out_str(o, c[i].name);
        out_str(o, c[i].charset);
        out_uint(o, c[i].number);
        out_str(o, c[i].is_default ? STR("Yes") : STR(""));
        out_str(o, STR("Yes"));
        out_uint(o, c[i].max_bytes > 2 ? 8 : 1);
        out_str(o, c[i].pads ? STR("PAD SPACE") : STR("NO PAD"));
    }
}

static struct str description_of(struct str charset)
{
    static const struct {
        struct str name;
        struct str text;
    } rows[] = {
        {STR("utf8mb4"), STR("UTF-8 Unicode")},
        {STR("utf8mb3"), STR("UTF-8 Unicode")},
        {STR("latin1"), STR("cp1252 West European")},
        {STR("ascii"), STR("US ASCII")},
        {STR("binary"), STR("Binary pseudo charset")},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (str_eq(rows[i].name, charset))
            return rows[i].text;
    }
    return charset;
}

void info_rows_charsets(struct info_out *o, const struct info_facts *f)
{
    uint32_t n;
    const struct db_collation *c = db_collations(&n);

    (void)f;
    for (uint32_t i = 0; i < n; i++) {
        if (!c[i].is_default)
            continue;
        out_str(o, c[i].charset);
        out_str(o, c[i].name);
        out_str(o, description_of(c[i].charset));
        out_uint(o, c[i].max_bytes);
    }
}

void info_rows_applicability(struct info_out *o, const struct info_facts *f)
{
    uint32_t n;
    const struct db_collation *c = db_collations(&n);

    (void)f;
    for (uint32_t i = 0; i < n; i++) {
        out_str(o, c[i].name);
        out_str(o, c[i].charset);
    }
}

void info_rows_processes(struct info_out *o, const struct info_facts *f)
{
    for (uint32_t i = 0; i < f->n_processes; i++) {
        const struct info_process *p = &f->processes[i];

        out_uint(o, p->id);
        out_str(o, p->user);
        out_str(o, p->host);
        out_opt(o, p->db.len > 0 ? p->db : STR_NONE);
        out_str(o, p->command);
        out_int(o, p->seconds);
        out_str(o, p->state);
        out_opt(o, p->info);
    }
}

void info_rows_digests(struct info_out *o, const struct info_facts *f)
{
    for (uint32_t i = 0; i < f->n_digests; i++) {
        const struct info_digest *d = &f->digests[i];

        out_str(o, d->schema);
        out_str(o, d->digest);
        out_str(o, d->text);
        out_uint(o, d->count);
        out_uint(o, d->sum);
        out_uint(o, d->average);
        out_uint(o, d->most);
        out_uint(o, d->errors);
        out_uint(o, d->rows_changed);
        out_uint(o, d->rows_sent);
        out_time(o, f, d->first_seen / 1000000);
        out_time(o, f, d->last_seen / 1000000);
    }
}

static const struct {
    struct str name;
    struct str context;
    struct str comment;
} privileges[] = {
    {STR("Alter"), STR("Tables"), STR("To alter the table")},
    {STR("Create"), STR("Databases,Tables,Indexes"), STR("To create new databases and tables")},
    {STR("Create temporary tables"), STR("Databases"), STR("To use CREATE TEMPORARY TABLE")},
    {STR("Create view"), STR("Tables"), STR("To create new views")},
    {STR("Delete"), STR("Tables"), STR("To delete existing rows")},
    {STR("Drop"), STR("Databases,Tables"), STR("To drop databases, tables, and views")},
    {STR("Index"), STR("Tables"), STR("To create or drop indexes")},
    {STR("Insert"), STR("Tables"), STR("To insert data into tables")},
    {STR("Lock tables"), STR("Databases"),
        STR("To use LOCK TABLES (together with SELECT privilege)")},
    {STR("Process"), STR("Server Admin"),
        STR("To view the plain text of currently executing queries")},
    {STR("References"), STR("Databases,Tables"), STR("To have references on tables")},
    {STR("Select"), STR("Tables"), STR("To retrieve rows from table")},
    {STR("Show databases"), STR("Server Admin"), STR("To see all databases with SHOW DATABASES")},
    {STR("Show view"), STR("Tables"), STR("To see views with SHOW CREATE VIEW")},
    {STR("Super"), STR("Server Admin"), STR("To use KILL thread, SET GLOBAL, etc.")},
    {STR("Update"), STR("Tables"), STR("To update existing rows")},
    {STR("Usage"), STR("Server Admin"), STR("No privileges - allow connect only")},
};

void info_rows_privileges(struct info_out *o, const struct info_facts *f)
{
    (void)f;
    for (size_t i = 0; i < sizeof(privileges) / sizeof(*privileges); i++) {
        out_str(o, privileges[i].name);
        out_str(o, privileges[i].context);
        out_str(o, privileges[i].comment);
    }
}

static struct str upper(struct arena *arena, struct str s)
{
    char *p = arena_bytes(arena, s.len);

    for (size_t i = 0; i < s.len; i++)
        p[i] = str_upper_char(s.p[i]);
    return str_n(p, s.len);
}

void info_rows_user_privileges(struct info_out *o, const struct info_facts *f)
{
    struct str grantee = arena_printf(o->arena, "'" STR_F "'@'%%'", STR_A(f->user));

    for (size_t i = 0; i < sizeof(privileges) / sizeof(*privileges); i++) {
        if (str_eq(privileges[i].name, STR("Usage")))
            continue;
        out_str(o, grantee);
        out_str(o, STR("def"));
        out_str(o, upper(o->arena, privileges[i].name));
        out_str(o, STR("YES"));
    }
}

void info_rows_user(struct info_out *o, const struct info_facts *f)
{
    out_str(o, STR("%"));
    out_str(o, f->user);
    out_str(o, STR("Y"));
    out_str(o, STR("N"));
    out_str(o, STR("caching_sha2_password"));
    out_str(o, STR_NONE);
    out_str(o, STR("N"));
    out_str(o, STR("N"));
}

void info_rows_plugins(struct info_out *o, const struct info_facts *f)
{
    static const struct str rows[][2] = {
        {STR("mysql_native_password"), STR("AUTHENTICATION")},
        {STR("caching_sha2_password"), STR("AUTHENTICATION")},
        {STR("InnoDB"), STR("STORAGE ENGINE")},
    };

    (void)f;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        out_str(o, rows[i][0]);
        out_str(o, STR("1.0"));
        out_str(o, STR("ACTIVE"));
        out_str(o, rows[i][1]);
        out_str(o, STR("1.0"));
        out_nulls(o, 5);
        out_str(o, STR("FORCE"));
    }
}

static void pairs(struct info_out *o, const struct info_pairs *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        out_str(o, list->v[i].name);
        out_str(o, list->v[i].value);
    }
}

void info_rows_session_variables(struct info_out *o, const struct info_facts *f)
{
    pairs(o, &f->session_variables);
}

void info_rows_global_variables(struct info_out *o, const struct info_facts *f)
{
    pairs(o, &f->global_variables);
}

void info_rows_session_status(struct info_out *o, const struct info_facts *f)
{
    pairs(o, &f->session_status);
}

void info_rows_global_status(struct info_out *o, const struct info_facts *f)
{
    pairs(o, &f->global_status);
}

void info_rows_warnings(struct info_out *o, const struct info_facts *f)
{
    for (uint32_t i = 0; i < f->n_warnings; i++) {
        out_str(o, f->warnings[i].level);
        out_int(o, f->warnings[i].code);
        out_str(o, f->warnings[i].message);
    }
}
