/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_func/handle.h"

#include "db/real.h"
#include "unit/test.h"

static void on_warning(void *arg, enum db_warning_level level, const struct db_error *e)
{
    struct handle *h = arg;

    (void)level;
    h->warning = *e;
    h->warnings++;
}

void handle_open(struct handle *h)
{
    memset(h, 0, sizeof(*h));
    CHECK_INT(sqlite3_open(":memory:", &h->db), SQLITE_OK);
    (void)sqlite3_db_config(h->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    CHECK_INT(db_func_register(h->db, &h->context), 0);
    h->session = (struct db_func_session){
        .arg = h,
        .mode = DB_MODE_STRICT_TRANS_TABLES | DB_MODE_NO_ZERO_DATE | DB_MODE_NO_ZERO_IN_DATE |
                DB_MODE_ERROR_FOR_DIVISION_BY_ZERO,
        .now = INT64_C(1706695810123456), /* 2024-01-31 10:10:10.123456 */
        .id = 7,
        .user = STR("app"),
        .host = STR("localhost"),
        .account = STR("app@%"),
        .database = STR("shop"),
        .version = STR("8.0.36-ephpm"),
        .last_insert_id = 42,
        .row_count = -1,
        .found_rows = 3,
        .div_precision_increment = 4,
        .warn = on_warning,
    };
    h->context.session = &h->session;
}

void handle_close(struct handle *h)
{
    CHECK_INT(sqlite3_close(h->db), SQLITE_OK);
    buf_fini(&h->result);
}

static void take_value(struct handle *h, sqlite3_stmt *stmt)
{
    char text[DB_REAL_TEXT];
    const unsigned char *p;
    int n;

    switch (sqlite3_column_type(stmt, 0)) {
    case SQLITE_NULL:
        buf_add_lit(&h->result, "NULL");
        return;
    case SQLITE_FLOAT:
        buf_add(&h->result, text, db_real_text(sqlite3_column_double(stmt, 0), text));
        return;
    case SQLITE_BLOB:
        p = sqlite3_column_blob(stmt, 0);
        n = sqlite3_column_bytes(stmt, 0);
        buf_add_lit(&h->result, "x'");
        for (int i = 0; i < n; i++)
            buf_printf(&h->result, "%02X", p[i]);
        buf_add_lit(&h->result, "'");
        return;
    default:
        p = sqlite3_column_text(stmt, 0);
        buf_add(&h->result, p, (size_t)sqlite3_column_bytes(stmt, 0));
    }
}

struct str handle_ask(struct handle *h, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    struct db_error e;
    int rc = sqlite3_prepare_v2(h->db, sql, -1, &stmt, NULL);

    buf_clear(&h->result);
    h->warnings = 0;
    h->warning.number = 0;
    if (rc == SQLITE_OK)
        rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        take_value(h, stmt);
    else if (rc != SQLITE_DONE && db_error_unpack(sqlite3_errmsg(h->db), &e))
        buf_printf(&h->result, "ERROR %d (%s): %s", e.number, e.state, e.text);
    else if (rc != SQLITE_DONE)
        buf_printf(&h->result, "SQLITE: %s", sqlite3_errmsg(h->db));
    (void)sqlite3_finalize(stmt); /* says the error again */
    return buf_str(&h->result);
}

struct str handle_eval(struct handle *h, const char *expression)
{
    struct buf sql = {0};
    struct str r;

    buf_printf(&sql, "SELECT %s", expression);
    r = handle_ask(h, buf_cstr(&sql));
    buf_fini(&sql);
    return r;
}
