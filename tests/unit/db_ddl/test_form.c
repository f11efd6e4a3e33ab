/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/err.h"
#include "unit/db_ddl/support.h"

static const char *const definitions[] = {
    "CREATE TABLE p (id int auto_increment primary key, x int unique comment 'k')",
    "CREATE TABLE t (id bigint unsigned auto_increment primary key, a varchar(20) not null default "
    "'a=1:2 \n x', b enum('a','b c','') default 'b c', c set('x','y'), d decimal(10,3) default "
    "-1.5, e timestamp(6) default current_timestamp(6) on update current_timestamp(6), f text, "
    "g json, h int as (d * 2) stored, i int invisible, j bit(9) default b'101', k double(9,2), "
    "l char(0), m binary(2) default '\\0x', key ka (a(3), i desc), key f ((i + 1)), fulltext ft "
    "(a), unique u (i) comment 'c' invisible, check (i > 1), constraint fk foreign key (i) "
    "references p (x) on delete cascade on update set null) comment='t' row_format=dynamic "
    "charset=latin1 partition by hash (id) partitions 4",
    "CREATE TEMPORARY TABLE tmp (a int)",
};

static void test_form_goes_out_and_comes_back(void)
{
    struct world w;

    world_open(&w);
    for (size_t i = 0; i < sizeof(definitions) / sizeof(*definitions); i++) {
        struct str shown = world_run(&w, definitions[i]);
        struct buf saved = {0}, again = {0}, show = {0};
        struct db_cat_table *t = NULL;

        CHECK(str_starts(shown, STR("CREATE T")));
        ddl_save(&saved, w.tables[w.n - 1]);
        CHECK_INT(ddl_load(&w.arena, buf_str(&saved), &t), 0);
        if (t) {
            ddl_save(&again, t);
            ddl_show(&show, t, 0);
            CHECK(str_eq(buf_str(&again), buf_str(&saved)));
            CHECK(str_eq(buf_str(&show), shown));
            CHECK_INT(t->rowid_column, w.tables[w.n - 1]->rowid_column);
            CHECK_STR(t->sqlite_name, t->name.p);
        }
        buf_fini(&saved);
        buf_fini(&again);
        buf_fini(&show);
    }
    world_close(&w);
}

static void test_form_damaged_is_refused(void)
{
    struct buf saved = {0};
    struct db_cat_table *t;
    struct world w;

    world_open(&w);
    (void)world_run(&w, definitions[0]);
    (void)world_run(&w, definitions[1]);
    ddl_save(&saved, w.tables[1]);
    for (size_t i = 0; i < saved.len; i++) {
        char c = saved.p[i];
        int r;

        CHECK_INT(ddl_load(&w.arena, str_n(saved.p, i), &t), ERR_CORRUPT);
        saved.p[i] = (char)(c ^ 1);
        r = ddl_load(&w.arena, buf_str(&saved), &t);
        CHECK(r == ERR_CORRUPT || r == ERR_VERSION);
        saved.p[i] = c;
    }
    CHECK_INT(ddl_load(&w.arena, buf_str(&saved), &t), 0);
    buf_fini(&saved);
    CHECK_INT(ddl_load(&w.arena, STR("ephpm-table 2 0\n"), &t), ERR_VERSION);
    CHECK_INT(ddl_load(&w.arena, STR(""), &t), ERR_CORRUPT);
    world_close(&w);
}

/* The hash of load.c, so that what is under it is reached. */
static struct str with_head(struct arena *arena, const char *body)
{
    uint64_t h = 14695981039346656037U;

    for (const char *p = body; *p; p++)
        h = (h ^ (unsigned char)*p) * 1099511628211U;
    return arena_printf(arena, "ephpm-table 1 %016llx\n%s", (unsigned long long)h, body);
}

static void test_form_of_a_later_version_is_read_as_far_as_known(void)
{
#define TABLE  "table name=1:t collation=11:utf8mb4_bin"
#define COLUMN "\ncolumn name=1:a type.base=1:4"
    static const struct {
        const char *body;
        int result;
    } rows[] = {
        {TABLE COLUMN "\n", 0},
        {TABLE " colour=3:red" COLUMN " smell=4:a\nb \nsound loud=1:1\n", 0},
        {TABLE "\n", ERR_CORRUPT},                                        /* no columns */
        {TABLE " is_view=1:1\n", 0},                                      /* fine for a view */
        {&COLUMN[1], ERR_CORRUPT},                                        /* no table */
        {TABLE COLUMN, ERR_CORRUPT},                                      /* no end */
        {TABLE COLUMN "\n" TABLE "\n", ERR_CORRUPT},                      /* two */
        {TABLE " auto_column=1:5" COLUMN "\n", ERR_CORRUPT},              /* no such column */
        {TABLE COLUMN "\ncolumn name=1:b type.base=2:99\n", ERR_CORRUPT}, /* no such type */
        {TABLE COLUMN "\nkey name=1:k\n", ERR_CORRUPT},                   /* no parts */
        {TABLE COLUMN "\nkey name=1:k\npart column=1:9\n", ERR_CORRUPT},
        {TABLE COLUMN "\nkey name=1:k\npart column=1:1\n", 0},
        {TABLE "\npart column=1:1" COLUMN "\n", ERR_CORRUPT}, /* of no key */
        {TABLE COLUMN " not_null=1:2\n", ERR_CORRUPT},
        {TABLE COLUMN " comment=99:x\n", ERR_CORRUPT},
        {TABLE "\ncolumn name=1:a type.base=2:27\n", ERR_CORRUPT}, /* ENUM without members */
        {TABLE COLUMN "\nfk name=1:f ref_table=1:p on_delete=7:CASCADE on_update=7:CASCADE\n"
                      "ref from=1:q to=1:x\n",
            ERR_CORRUPT}, /* q is no column */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct db_cat_table *t;
        struct arena arena;

        arena_init(&arena);
        test_row(rows[i].body);
        CHECK_INT(ddl_load(&arena, with_head(&arena, rows[i].body), &t), rows[i].result);
        arena_fini(&arena);
    }
    test_row(NULL);
}

const struct test tests_form[] = {TEST(test_form_goes_out_and_comes_back),
    TEST(test_form_damaged_is_refused), TEST(test_form_of_a_later_version_is_read_as_far_as_known),
    TEST_END};
