/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/conf.h"

#include "base/mem.h"
#include "core/conf_value.h"

void conf_format(const struct conf *c, size_t i, struct buf *out)
{
    const struct conf_row *row = &c->table->rows[i];

    if (!conf_value_format(row, conf_field(c, row), out))
        buf_add_lit(out, "\"auto\"");
}

static struct str section_of(const char *key)
{
    struct str s = str_c(key);
    ptrdiff_t dot = str_rchr(s, '.');

    return str_sub(s, 0, dot < 0 ? 0 : (size_t)dot);
}

static struct str name_of(const char *key)
{
    struct str s = str_c(key);

    return str_sub(s, (size_t)(str_rchr(s, '.') + 1), s.len);
}

static void dump_row(const struct conf *c, size_t i, struct buf *out)
{
    const struct conf_row *row = &c->table->rows[i];
    const struct conf_mark *mark = &c->marks[i];
    struct buf value = {0};
    bool set = true;

    if (row->kind == CONF_TABLES)
        conf_tables_format(row, conf_field(c, row), true, &value);
    else
        set = conf_value_format(row, conf_field(c, row), &value);
    /* An unset key is no TOML; it stands in a comment so that the dump can be read back. */
    if (!set)
        buf_printf(out, "# " STR_F " is not set", STR_A(name_of(row->key)));
    else if ((row->flags & CONF_SECRET) && mark->source != CONF_FROM_DEFAULT)
        buf_printf(out, STR_F " = \"***\"", STR_A(name_of(row->key)));
    else
        buf_printf(out, STR_F " = " STR_F, STR_A(name_of(row->key)), STR_A(buf_str(&value)));
    buf_printf(out, "%s%s", set ? "  # " : ": ", conf_source_name(mark->source));
    if (mark->where)
        buf_printf(out, ", %s", mark->where);
    buf_add_char(out, '\n');
    buf_fini(&value);
}

void conf_dump(const struct conf *c, struct buf *out)
{
    struct str section = STR_NONE;

    for (size_t i = 0; i < c->table->nrows; i++) {
        const struct conf_row *row = &c->table->rows[i];

        if (row->alias)
            continue;
        if (i == 0 || !str_eq(section, section_of(row->key))) {
            section = section_of(row->key);
            buf_printf(out, "%s[" STR_F "]\n", i ? "\n" : "", STR_A(section));
        }
        dump_row(c, i, out);
    }
}

/* A range of two powers in bytes or milliseconds helps nobody; plain numbers do. */
static void add_range(const struct conf_row *row, struct buf *out)
{
    if (row->min == 0 && row->max == 0)
        return;
    if (row->max == INT64_MAX || row->max == INT32_MAX)
        buf_printf(out, ", from %lld", (long long)row->min);
    else
        buf_printf(out, ", %lld to %lld", (long long)row->min, (long long)row->max);
}

static void add_names(const struct conf_row *row, struct buf *out)
{
    struct str rest = str_c(row->names), name;
    bool more = false;

    while (str_split(&rest, '|', &name)) {
        if (!name.len)
            continue;
        buf_printf(out, "%s`\"" STR_F "\"`", more ? ", " : "", STR_A(name));
        more = true;
    }
}

static void add_type(const struct conf_row *row, struct buf *out)
{
    static const char *const names[] = {
        [CONF_BOOL] = "boolean",
        [CONF_TRI] = "boolean or `\"auto\"`",
        [CONF_INT] = "integer",
        [CONF_SIZE] = "size",
        [CONF_MB] = "megabytes",
        [CONF_DURATION] = "duration",
        [CONF_STRING] = "string",
        [CONF_ENUM] = "",
        [CONF_FLOAT] = "number",
        [CONF_LIST] = "list of strings",
        [CONF_PAIRS] = "list of pairs",
        [CONF_TABLES] = "list of tables",
    };

    if (row->kind == CONF_ENUM)
        add_names(row, out);
    else if (row->flags & CONF_MS)
        buf_add_lit(out, "duration (bare number: milliseconds)");
    else if (row->flags & CONF_PHP_SIZE)
        buf_add_lit(out, "PHP size");
    else
        buf_add_str(out, str_c(names[row->kind]));
    if (row->kind == CONF_INT || row->kind == CONF_MB || row->kind == CONF_FLOAT)
        add_range(row, out);
}

static void add_change(const struct conf_row *row, struct buf *out)
{
    if (row->flags & CONF_SITE_STARTUP)
        buf_add_lit(out, "new generation");
    else if (row->flags & CONF_RELOADABLE)
        buf_add_lit(out, "reload");
    else
        buf_add_lit(out, "restart");
}

/* A table cell: bars would end it. */
static void add_cell(const char *text, struct buf *out)
{
    for (; *text; text++) {
        if (*text == '|')
            buf_add_char(out, '\\');
        buf_add_char(out, *text);
    }
}

static const struct conf_row *row_of(const struct conf_table *t, const char *key)
{
    int i = conf_find(t, str_c(key));

    ENSURE(i >= 0);
    return &t->rows[i];
}

static void reference_row(const struct conf_table *t, const struct conf_row *row, struct buf *out)
{
    const struct conf_row *value = row->alias ? row_of(t, row->alias) : row;

    buf_printf(out, "| `" STR_F "` | ", STR_A(name_of(row->key)));
    add_type(value, out);
    if (row->alias)
        buf_printf(out, " | | | Another name of `%s`. ", row->alias);
    else if (row->def)
        buf_printf(out, " | `%s` | ", row->def);
    else
        buf_add_lit(out, " | not set | ");
    if (!row->alias) {
        add_change(row, out);
        buf_add_lit(out, " | ");
    }
    if (row->help)
        add_cell(row->help, out);
    buf_add_lit(out, " |\n");
}

/* [[php.path]]: a section that may come several times, with a table of its own. */
static void reference_tables(const struct conf_row *row, struct buf *out)
{
    buf_printf(out, "\n## [[%s]]\n\n%s A change needs a ", row->key, row->help);
    add_change(row, out);
    buf_add_lit(out, ".\n\n| key | type | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < row->item->nrows; i++) {
        const struct conf_row *r = &row->item->rows[i];

        buf_printf(out, "| `%s` | ", r->key);
        add_type(r, out);
        buf_add_lit(out, " | ");
        add_cell(r->help, out);
        buf_add_lit(out, " |\n");
    }
}

void conf_reference(const struct conf_table *t, struct buf *out)
{
    struct str section = STR_NONE;

    for (size_t i = 0; i < t->nrows; i++) {
        const struct conf_row *row = &t->rows[i];

        if (row->kind == CONF_TABLES && !row->alias) {
            reference_tables(row, out);
            section = STR_NONE;
            continue;
        }
        if (i == 0 || !str_eq(section, section_of(row->key))) {
            section = section_of(row->key);
            buf_printf(out,
                "\n## [" STR_F "]\n\n| key | type | default | change needs | meaning |\n"
                "|---|---|---|---|---|\n",
                STR_A(section));
        }
        reference_row(t, row, out);
    }
}

void conf_serialize(const struct conf *c, struct buf *out)
{
    for (size_t i = 0; i < c->table->nrows; i++) {
        const struct conf_row *row = &c->table->rows[i];
        const struct conf_mark *mark = &c->marks[i];

        if (mark->source == CONF_FROM_DEFAULT)
            continue;
        buf_printf(out, "[%d, ", (int)mark->source);
        buf_add_json(out, str_c(mark->where));
        buf_printf(out, ", \"%s\", ", row->key);
        conf_format(c, i, out);
        buf_add_lit(out, "]\n");
    }
}
