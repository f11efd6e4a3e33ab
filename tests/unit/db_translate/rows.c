/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "rows.h"

#include <stdlib.h>

/* clang-format off */
/* Statements, a line each. */
static const char data[] =
    "insert into t (i,b,u,d,r,s,c,x,dt,da,ti,ts,e,st,j,bin,y,bi) values (1,2,3,'4.5',1.5,"
    "'Abc','x','text','2024-01-31 10:00:00','2024-01-31','10:00:00','2024-01-31 "
    "10:00:00','medium','a,c','{\"a\":1}','bin',2024,5)\n"
    "insert into t (i,b,u,d,r,s,c,x,dt,da,ti,ts,e,st,j,bin,y,bi) values (-7,"
    "9007199254740993,18446744,'-12.34',-2.25,'éclair','Zed ','long text here',"
    "'1999-12-31 23:59:59','2000-02-29','-25:30:00','2001-01-01 00:00:01','large','b',"
    "'[1,2,{\"k\":\"v\"}]',x'00ff41',1999,15)\n"
    "insert into t (i,s,d) values (2,'b',10),(3,null,-2.345)\n"
    "insert into t (i,s,d,r,dt,da) values (10,'123abc',0,0.1,'2024-02-29 00:00:00',"
    "'2024-02-29'),(11,'',null,1e20,null,null),(12,'ABC',100.00,3,'2024-01-31 10:00:00',"
    "'2024-01-31')\n"
    "insert into p (t_id,name) values (1,'one'),(2,'two'),(1,'three'),(null,'four'),(99,"
    "'five')\n"
    "insert into pair (a,b,v,w) values (1,'x',1,null),(1,'y',2,3),(2,'x',3,4)\n";
/* clang-format on */

static void fill(struct fixture *f)
{
    struct str rest = str_n(data, sizeof(data) - 2), line;
    char sql[1000];

    while (str_split(&rest, '\n', &line)) {
        str_put(sql, sizeof(sql), line);
        if (!fixture_run(f, sql)) {
            fprintf(stderr, "%s: %s\n", sql, f->error.text);
            abort();
        }
    }
}

/* What a statement gave. */
static void outcome(struct fixture *f, bool ok, char *out, size_t cap)
{
    if (!ok && f->error.number > 0)
        snprintf(out, cap, "error %d: %s", f->error.number, f->error.text);
    else if (!ok)
        snprintf(out, cap, "error: %s", f->error.text);
    else if (f->plan->n_columns)
        snprintf(out, cap, "%s", f->text);
    else
        snprintf(out, cap, "%lld changed", (long long)f->affected);
}

void rows_check(const struct row *rows, size_t n)
{
    static char got[9000];
    struct fixture f;

    fixture_open(&f);
    tables_make(&f);
    fill(&f);
    for (size_t i = 0; i < n; i++) {
        test_row(rows[i].sql);
        outcome(&f, fixture_run(&f, rows[i].sql), got, sizeof(got));
        CHECK_STR(str_c(got), rows[i].wanted);
    }
    test_row(NULL);
    fixture_close(&f);
}

/* "3|0|0|SEARCH t1 ..." without the numbers, the columns of a plan. */
static void strip(const char *text, char *out, size_t cap)
{
    struct str rest = str_c(text), line;
    size_t n = 0;

    out[0] = '\0';
    while (str_split(&rest, ';', &line)) {
        for (int i = 0; i < 3; i++)
            line = str_sub(line, (size_t)str_chr(line, '|') + 1, line.len);
        n += (size_t)snprintf(out + n, cap - n, "%s" STR_F, n ? ";" : "", STR_A(line));
    }
}

void rows_explain(const struct row *rows, size_t n)
{
    static char got[9000];
    struct fixture f;

    fixture_open(&f);
    tables_make(&f);
    for (size_t i = 0; i < n; i++) {
        test_row(rows[i].sql);
        CHECK(fixture_explain(&f, rows[i].sql));
        strip(f.text, got, sizeof(got));
        CHECK_STR(str_c(got), rows[i].wanted);
    }
    test_row(NULL);
    fixture_close(&f);
}

void rows_meta(const struct row *rows, size_t n)
{
    char got[100];
    struct fixture f;

    fixture_open(&f);
    tables_make(&f);
    for (size_t i = 0; i < n; i++) {
        const struct db_column *c;

        test_row(rows[i].sql);
        if (!fixture_translate(&f, rows[i].sql) || !f.plan->n_columns) {
            CHECK(!"translated");
            continue;
        }
        c = f.plan->columns;
        snprintf(got, sizeof(got), "%d %u %d %x %d", db_base_wire(c->type.base), c->length,
            c->charset, c->flags, c->decimals);
        CHECK_STR(str_c(got), rows[i].wanted);
    }
    test_row(NULL);
    fixture_close(&f);
}
