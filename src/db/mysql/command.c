/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>

#include "db/mysql/conn.h"

/*
 * The commands: the first byte of a payload, and who answers. A handler gets what follows it.
 */
typedef void command_cb(struct mysql_conn *c, struct str payload);

enum command {
    COM_QUIT = 1,
    COM_INIT_DB = 2,
    COM_QUERY = 3,
    COM_FIELD_LIST = 4,
    COM_REFRESH = 7,
    COM_STATISTICS = 9,
    COM_PROCESS_INFO = 10,
    COM_PROCESS_KILL = 12,
    COM_DEBUG = 13,
    COM_PING = 14,
    COM_CHANGE_USER = 17,
    COM_STMT_PREPARE = 22,
    COM_STMT_EXECUTE = 23,
    COM_STMT_SEND_LONG_DATA = 24,
    COM_STMT_CLOSE = 25,
    COM_STMT_RESET = 26,
    COM_SET_OPTION = 27,
    COM_STMT_FETCH = 28,
    COM_RESET_CONNECTION = 31,
    COMMANDS
};

static void command_say(struct mysql_conn *c, enum db_error_name name)
{
    struct db_error e;

    (void)db_error_set(&e, name);
    mysql_answer_error(c, &e);
}

static void command_query(struct mysql_conn *c, struct str payload)
{
    struct mysql_answer answer = {.conn = c};
    struct db_sink sink = mysql_answer_sink(&answer);

    db_session_query(c->session, payload, &sink);
}

static void command_init_db(struct mysql_conn *c, struct str payload)
{
    struct db_error e = {0};

    if (db_session_use(c->session, payload, &e))
        mysql_answer_error(c, &e);
    else
        mysql_answer_done(c);
}

static void command_field_list(struct mysql_conn *c, struct str payload)
{
    struct mysql_answer answer = {.conn = c, .fields = true};
    struct db_sink sink = mysql_answer_sink(&answer);
    struct mysql_reader r = mysql_reader(payload);
    struct str table = mysql_read_nul(&r), pattern = mysql_read_nul_or_end(&r);

    if (r.bad)
        command_say(c, DB_E_MALFORMED_PACKET);
    else
        db_session_fields(c->session, table, pattern, &sink);
}

/* mysqli_refresh(): there is nothing to flush that is not flushed anyway. */
static void command_refresh(struct mysql_conn *c, struct str payload)
{
    (void)payload;
    mysql_answer_done(c);
}

static void command_statistics(struct mysql_conn *c, struct str payload)
{
    size_t mark = mysql_begin(&c->out);

    (void)payload;
    buf_add_str(&c->out, db_session_statistics(c->session));
    mysql_end(&c->out, mark, &c->seq);
}

static void command_process_info(struct mysql_conn *c, struct str payload)
{
    (void)payload;
    command_query(c, STR("SHOW PROCESSLIST"));
}

static void command_process_kill(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    uint64_t id = mysql_read_int(&r, 4);
    char text[40];
    int n;

    if (r.bad) {
        command_say(c, DB_E_MALFORMED_PACKET);
        return;
    }
    /* As a statement, since the session knows whom it may kill. */
    n = snprintf(text, sizeof(text), "KILL %llu", (unsigned long long)id);
    command_query(c, str_n(text, (size_t)n));
}

static void command_debug(struct mysql_conn *c, struct str payload)
{
    (void)payload;
    mysql_answer_eof(c, db_session_status(c->session), 0);
}

static void command_ping(struct mysql_conn *c, struct str payload)
{
    (void)payload;
    mysql_answer_done(c);
}

static void command_change_user(struct mysql_conn *c, struct str payload)
{
    if (mysql_login_again(c, payload))
        c->ending = true;
}

static void command_reset(struct mysql_conn *c, struct str payload)
{
    struct db_error e = {0};

    (void)payload;
    mysql_statement_close_all(c, false);
    if (db_session_reset(c->session, &e)) {
        mysql_answer_error(c, &e);
        c->ending = true;
    } else {
        mysql_answer_done(c);
    }
}

static void command_set_option(struct mysql_conn *c, struct str payload)
{
    struct mysql_reader r = mysql_reader(payload);
    uint64_t option = mysql_read_int(&r, 2);

    if (r.bad || option > 1) {
        command_say(c, DB_E_UNKNOWN_COMMAND);
        return;
    }
    db_session_set_multi(c->session, option == 0);
    mysql_answer_eof(c, db_session_status(c->session), 0);
}

static command_cb *const commands[COMMANDS] = {
    [COM_INIT_DB] = command_init_db,
    [COM_QUERY] = command_query,
    [COM_FIELD_LIST] = command_field_list,
    [COM_REFRESH] = command_refresh,
    [COM_STATISTICS] = command_statistics,
    [COM_PROCESS_INFO] = command_process_info,
    [COM_PROCESS_KILL] = command_process_kill,
    [COM_DEBUG] = command_debug,
    [COM_PING] = command_ping,
    [COM_CHANGE_USER] = command_change_user,
    [COM_STMT_PREPARE] = mysql_statement_prepare,
    [COM_STMT_EXECUTE] = mysql_statement_execute,
    [COM_STMT_SEND_LONG_DATA] = mysql_statement_long_data,
    [COM_STMT_CLOSE] = mysql_statement_close,
    [COM_STMT_RESET] = mysql_statement_reset,
    [COM_SET_OPTION] = command_set_option,
    [COM_STMT_FETCH] = mysql_statement_fetch,
    [COM_RESET_CONNECTION] = command_reset,
};

bool mysql_command(struct mysql_conn *c, struct str payload)
{
    struct db_stats *stats = c->io.stats;
    uint8_t number = payload.len ? (uint8_t)*payload.p : 0;

    if (number == COM_QUIT)
        return false;
    db_count(&stats->commands, 1);
    db_count(&stats->running, 1);
    if (number < COMMANDS && commands[number])
        commands[number](c, str_sub(payload, 1, payload.len));
    else
        command_say(c, DB_E_UNKNOWN_COMMAND);
    db_uncount(&stats->running, 1);
    return true;
}
