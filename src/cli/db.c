/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/dump.h"
#include "cli/sqlclient.h"
#include "cli/sqlsplit.h"
#include "core/json.h"
#include "platform/fs.h"
#include "platform/process.h"

/*
 * Commands on the database of a site of the server on this machine. Who may use its control socket
 * is told the account there, and then is a client like any other.
 */
enum { DB_PATH = 4096, DB_PIECE = 1 << 16 };

/* --- the account ------------------------------------------------------------------------------ */

struct db_account {
    struct arena arena;
    struct sqlclient_login login;
    const char *path;
};

static int db_find(struct cli *c, struct db_account *a)
{
    struct json_value *v = NULL;
    const struct json_value *account;
    int code = cli_remote_ask(c, "db_account", &a->arena, &v);

    if (code)
        return code;
    account = json_get(v, "account");
    a->login = (struct sqlclient_login){.socket = json_get_str(account, "socket").p,
        .user = json_get_str(account, "user").p,
        .password = json_get_str(account, "password").p,
        .database = json_get_str(account, "database").p};
    a->path = json_get_str(account, "path").p;
    if (a->login.socket && a->login.user && a->login.password && a->login.database)
        return CLI_OK;
    fprintf(stderr, "ephpm: the server's answer is not understood\n");
    return CLI_FAILED;
}

static int db_connect(struct cli *c, struct db_account *a, struct sqlclient *out)
{
    int code = db_find(c, a);

    if (code)
        return code;
    if (sqlclient_open(out, &a->login) == 0)
        return CLI_OK;
    fprintf(stderr, "ephpm: %s\n", out->error);
    return CLI_FAILED;
}

static void db_say_error(const struct sqlclient *c)
{
    if (c->number)
        fprintf(stderr, "ephpm: error %d: %s\n", c->number, c->error);
    else
        fprintf(stderr, "ephpm: %s\n", c->error);
}

/* --- shell ------------------------------------------------------------------------------------ */

static bool db_find_program(const char *name, char out[DB_PATH])
{
    const char *path = getenv("PATH");
    struct str rest = str_c(path ? path : "/usr/bin:/bin"), dir;

    while (str_split(&rest, ':', &dir)) {
        int n = snprintf(out, DB_PATH, STR_F "/%s", STR_A(dir), name);

        if (n > 0 && n < DB_PATH && dir.len && fs_readable(out) == 0)
            return true;
    }
    return false;
}

/* Becomes the usual client; returns when there is none. */
static void db_exec_client(const struct db_account *a)
{
    static const char *const names[] = {"mariadb", "mysql"};
    char path[DB_PATH], socket[DB_PATH], user[256], database[256];
    char *argv[] = {path, socket, user, (char *)(uintptr_t)"--protocol=socket", database, NULL};

    (void)snprintf(socket, sizeof(socket), "--socket=%s", a->login.socket);
    (void)snprintf(user, sizeof(user), "--user=%s", a->login.user);
    (void)snprintf(database, sizeof(database), "%s", a->login.database);
    (void)setenv("MYSQL_PWD", a->login.password, 1); /* not on the command line, for all to see */
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (db_find_program(names[i], path))
            (void)!process_exec(path, argv); /* the next one, or our own */
}

static void db_print_value(struct str v)
{
    if (!v.p) {
        fputs("NULL", stdout);
        return;
    }
    for (size_t i = 0; i < v.len; i++) {
        switch (v.p[i]) {
        case '\t':
            fputs("\\t", stdout);
            break;
        case '\n':
            fputs("\\n", stdout);
            break;
        case '\\':
            fputs("\\\\", stdout);
            break;
        case '\0':
            fputs("\\0", stdout);
            break;
        default:
            putchar(v.p[i]);
        }
    }
}

static int db_print_result(struct sqlclient *c)
{
    int rc = 0;

    if (c->ncolumns == 0) {
        printf("OK, %llu rows\n", (unsigned long long)c->affected);
        return 0;
    }
    for (uint32_t i = 0; i < c->ncolumns; i++)
        printf("%s" STR_F, i ? "\t" : "", STR_A(c->columns[i].name));
    putchar('\n');
    while ((rc = sqlclient_row(c)) == 0) {
        for (uint32_t i = 0; i < c->ncolumns; i++) {
            if (i)
                putchar('\t');
            db_print_value(c->row[i]);
        }
        putchar('\n');
    }
    return rc == ERR_EOF ? 0 : rc;
}

/* ERR_INVAL: the server said what is wrong; anything else ends the conversation. */
static int db_run(struct sqlclient *c, struct str statement)
{
    int rc = sqlclient_query(c, statement);

    while (rc == 0) {
        rc = db_print_result(c);
        if (rc == 0)
            rc = sqlclient_more(c);
    }
    if (rc == ERR_EOF)
        return 0;
    db_say_error(c);
    return rc;
}

static int db_shell(struct cli *c)
{
    struct db_account a = {0};
    struct sqlclient client;
    struct sqlsplit split;
    struct str statement;
    bool terminal = fs_is_terminal(0), end = false;
    int code = db_connect(c, &a, &client), rc = 0;

    if (code) {
        arena_fini(&a.arena);
        return code;
    }
    if (terminal && !c->plain)
        db_exec_client(&a);
    if (terminal)
        printf("Database %s in %s. Statements end with \";\", Ctrl-D ends.\n", a.login.database,
            a.path);
    sqlsplit_init(&split);
    while (!end) {
        char line[DB_PIECE];

        if (terminal)
            fputs(split.text.len > 1 ? "    -> " : "sql> ", stdout);
        (void)fflush(stdout); /* a closed terminal shows in what follows */
        end = fgets(line, sizeof(line), stdin) == NULL;
        if (!end)
            sqlsplit_add(&split, str_c(line));
        /* A terminal's line is complete: nothing follows that could belong to it. */
        while (sqlsplit_next(&split, end, &statement)) {
            rc = db_run(&client, statement);
            if (rc && (rc != ERR_INVAL || !terminal))
                end = true;
            if (rc)
                code = CLI_FAILED;
            if (rc && end)
                break;
        }
    }
    sqlsplit_fini(&split);
    sqlclient_close(&client);
    arena_fini(&a.arena);
    return code;
}

/* --- check, backup ---------------------------------------------------------------------------- */

static int db_check(struct cli *c)
{
    struct arena a = {0};
    struct json_value *v = NULL;
    struct str report;
    int code = cli_remote_ask(c, "db_check", &a, &v);

    if (code == CLI_OK) {
        report = str_trim(json_get_str(v, "report"));
        printf(STR_F "\n", STR_A(report.len ? report : STR("the database is sound")));
        code = report.len ? CLI_FAILED : CLI_OK;
    }
    arena_fini(&a);
    return code;
}

static int db_backup(struct cli *c)
{
    struct arena a = {0};
    struct json_value *v = NULL;
    char folder[DB_PATH], path[2 * DB_PATH];
    int code;

    if (c->args[1][0] == '/')
        (void)snprintf(path, sizeof(path), "%s", c->args[1]);
    else if (fs_getcwd(folder, sizeof(folder)) == 0)
        (void)snprintf(path, sizeof(path), "%s/%s", folder, c->args[1]);
    else
        return cli_usage("the current folder has no name; give an absolute path, not", c->args[1]);
    c->path = path;
    code = cli_remote_ask(c, "db_backup", &a, &v);
    if (code == CLI_OK)
        printf("%s\n", json_get_str(v, "message").p);
    c->path = NULL;
    arena_fini(&a);
    return code;
}

/* --- import, export --------------------------------------------------------------------------- */

static int db_discard(struct sqlclient *c)
{
    int rc = 0;

    while (rc == 0) {
        while (c->ncolumns && rc == 0)
            rc = sqlclient_row(c);
        if (rc && rc != ERR_EOF)
            return rc;
        rc = sqlclient_more(c);
    }
    return rc == ERR_EOF ? 0 : rc;
}

/* Runs what is complete. */
static int db_import_some(struct cli *c, struct sqlclient *client, struct sqlsplit *split, bool end,
    unsigned long *done, unsigned long *failed)
{
    struct str statement;

    while (sqlsplit_next(split, end, &statement)) {
        int rc = sqlclient_query(client, statement);

        if (rc == 0)
            rc = db_discard(client);
        *done += rc == 0;
        if (rc == 0)
            continue;
        ++*failed;
        fprintf(stderr, "ephpm: %s line %u: ", c->args[1], split->line);
        if (client->number)
            fprintf(stderr, "error %d: ", client->number);
        fprintf(stderr, "%s\n", client->error);
        if (rc != ERR_INVAL || !c->force)
            return rc;
    }
    return 0;
}

static int db_import_file(struct cli *c, struct sqlclient *client, int fd)
{
    struct sqlsplit split;
    unsigned long done = 0, failed = 0;
    char *piece = mem_new(DB_PIECE);
    size_t got = 0;
    int rc;

    sqlsplit_init(&split);
    do {
        rc = fs_read_some(fd, piece, DB_PIECE, &got);
        if (rc)
            fprintf(stderr, "ephpm: %s: %s\n", c->args[1], err_text(rc));
        else
            sqlsplit_add(&split, str_n(piece, got));
        if (rc == 0)
            rc = db_import_some(c, client, &split, got == 0, &done, &failed);
    } while (rc == 0 && got);
    sqlsplit_fini(&split);
    mem_free(piece);
    fprintf(stderr, "%lu statements, %lu errors\n", done, failed);
    return rc || failed ? CLI_FAILED : CLI_OK;
}

static int db_import(struct cli *c)
{
    struct db_account a = {0};
    struct sqlclient client;
    int fd = 0, code, rc = 0;

    if (strcmp(c->args[1], "-") != 0)
        rc = fs_open_read(c->args[1], &fd);
    if (rc) {
        fprintf(stderr, "ephpm: %s: %s\n", c->args[1], err_text(rc));
        return CLI_FAILED;
    }
    code = db_connect(c, &a, &client);
    if (code == CLI_OK) {
        code = db_import_file(c, &client, fd);
        sqlclient_close(&client);
    }
    if (fd)
        fs_close(fd);
    arena_fini(&a.arena);
    return code;
}

static int db_write(void *arg, struct str text)
{
    const int *fd = arg;

    return fs_write(*fd, text.p, text.len);
}

static int db_export(struct cli *c)
{
    struct db_account a = {0};
    struct sqlclient client;
    int fd = 1, code = db_connect(c, &a, &client), rc;

    if (code == CLI_OK) {
        rc = c->nargs > 1 ? fs_open_new(c->args[1], 0600, &fd) : 0;
        if (rc) {
            fprintf(stderr, "ephpm: %s: %s\n", c->args[1], err_text(rc));
        } else {
            rc = dump_database(&client, a.login.database, db_write, &fd);
            if (rc && client.number)
                db_say_error(&client);
            else if (rc)
                fprintf(stderr, "ephpm: db export: %s\n", err_text(rc));
        }
        if (fd > 1)
            fs_close(fd);
        if (rc && fd > 1)
            (void)!fs_unlink(c->args[1]); /* half a dump is none */
        code = rc ? CLI_FAILED : CLI_OK;
        sqlclient_close(&client);
    }
    arena_fini(&a.arena);
    return code;
}

static const struct {
    const char *name;
    int (*run)(struct cli *c);
    size_t min, max; /* arguments */
    const char *usage;
} db_commands[] = {
    {"shell", db_shell, 0, 0, "db shell [--plain] [--site NAME]"},
    {"check", db_check, 0, 0, "db check [--site NAME]"},
    {"backup", db_backup, 1, 1, "db backup FILE [--site NAME]"},
    {"import", db_import, 1, 1,
        "db import FILE [--force] [--site NAME] (FILE - is standard input)"},
    {"export", db_export, 0, 1, "db export [FILE] [--site NAME]"},
};

int cli_db(struct cli *c)
{
    const char *name = c->nargs ? c->args[0] : "";

    for (size_t i = 0; i < ARRAY_LEN(db_commands); i++) {
        if (strcmp(db_commands[i].name, name) != 0)
            continue;
        if (c->nargs - 1 < db_commands[i].min || c->nargs - 1 > db_commands[i].max)
            return cli_usage("the command is", db_commands[i].usage);
        return db_commands[i].run(c);
    }
    return cli_usage("db knows shell, check, backup, import and export, not", name);
}
