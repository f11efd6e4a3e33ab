/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/store/status.h"

#include "db/store/srv.h"
#include "platform/clock.h"

enum { UPTIME = -1, OPEN_FILES = -2, ZERO = -3, QUERIES = -4 };

#define AT(member) ((int)(offsetof(struct db_stats, member) / sizeof(db_counter)))

/* The counter's place in struct db_stats, all of whose members are such words, or one of the
 * above. */
static const struct {
    struct str name;
    int at;
} rows[] = {
    {STR("Aborted_clients"), AT(aborted)},
    {STR("Aborted_connects"), AT(denied)},
    {STR("Bytes_received"), AT(bytes_in)},
    {STR("Bytes_sent"), AT(bytes_out)},
    {STR("Com_delete"), AT(statements[DB_CLASS_DELETE])},
    {STR("Com_insert"), AT(statements[DB_CLASS_INSERT])},
    {STR("Com_replace"), AT(statements[DB_CLASS_REPLACE])},
    {STR("Com_select"), AT(statements[DB_CLASS_SELECT])},
    {STR("Com_set_option"), AT(statements[DB_CLASS_SET])},
    {STR("Com_update"), AT(statements[DB_CLASS_UPDATE])},
    {STR("Connections"), AT(connections)},
    {STR("Created_tmp_disk_tables"), ZERO},
    {STR("Created_tmp_tables"), ZERO},
    {STR("Handler_commit"), AT(commits)},
    {STR("Handler_rollback"), AT(rollbacks)},
    {STR("Innodb_deadlocks"), AT(deadlocks)},
    {STR("Innodb_row_lock_current_waits"), ZERO},
    {STR("Innodb_row_lock_time"), AT(lock_wait_us)},
    {STR("Innodb_row_lock_waits"), AT(lock_waits)},
    {STR("Innodb_rows_inserted"), AT(rows_changed)},
    {STR("Innodb_rows_read"), AT(rows_sent)},
    {STR("Max_used_connections"), AT(max_connected)},
    {STR("Open_files"), OPEN_FILES},
    {STR("Open_tables"), OPEN_FILES},
    {STR("Opened_tables"), OPEN_FILES},
    {STR("Prepared_stmt_count"), AT(prepared)},
    {STR("Queries"), QUERIES},
    {STR("Questions"), AT(commands)},
    {STR("Slow_queries"), AT(slow)},
    {STR("Ssl_accepts"), ZERO},
    {STR("Table_locks_waited"), AT(lock_waits)},
    {STR("Threads_cached"), AT(threads_cached)},
    {STR("Threads_connected"), AT(connected)},
    {STR("Threads_created"), AT(threads_created)},
    {STR("Threads_running"), AT(running)},
    {STR("Uptime"), UPTIME},
    {STR("Uptime_since_flush_status"), UPTIME},
};

static uint64_t value_of(const struct db_server *server, int at)
{
    const db_counter *words = (const db_counter *)server->counters;
    uint64_t n = 0;

    switch (at) {
    case UPTIME:
        return (clock_wall_us() - server->started_us) / 1000000;
    case OPEN_FILES:
        return server->n_dbs;
    case ZERO:
        return 0;
    case QUERIES:
        for (int i = 0; i < DB_CLASS_COUNT; i++)
            n += db_counted(&server->counters->statements[i]);
        return n;
    default:
        return db_counted(&words[at]);
    }
}

struct info_pairs store_status(struct db_server *server, struct arena *arena)
{
    struct info_pair *v = arena_new(arena, ARRAY_LEN(rows) * sizeof(*v));

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        v[i].name = rows[i].name;
        v[i].value = arena_printf(arena, "%llu", (unsigned long long)value_of(server, rows[i].at));
    }
    return (struct info_pairs){v, ARRAY_LEN(rows)};
}
