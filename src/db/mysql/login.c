/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/log.h"
#include "db/mysql/conn.h"

/*
 * Who is it? An account has both proofs, so a client proves it in the way it chose. One that chose
 * before it knew ours, or that we have not, is asked again (auth switch). A wrong "fast" proof of
 * caching_sha2_password is followed by the full one, as a server does that may have forgotten the
 * password.
 */
enum { LOGIN_NAME_MAX = 256, LOGIN_PACKET_MAX = 4096 };

/* What the login is for, kept over further packets. */
struct login {
    char user[LOGIN_NAME_MAX + 1];
    char database[LOGIN_NAME_MAX + 1];
    char account_db[LOGIN_NAME_MAX + 1];
    uint8_t charset;
    bool known; /* there is such an account */
    bool gave_password;
    struct mysql_secret secret;
};

static int login_refuse(struct mysql_conn *c, const struct login *l)
{
    struct db_error e;

    (void)db_error_set(&e, DB_E_ACCESS, l->user, c->host, l->gave_password ? "YES" : "NO");
    mysql_answer_error(c, &e);
    db_count(&c->io.stats->denied, 1);
    log_warn("db_login_denied", F_CSTR("user", l->user), F_CSTR("host", c->host),
        F_BOOL("password", l->gave_password));
    return ERR_ACCESS;
}

static int login_bad(struct mysql_conn *c, const char *why)
{
    struct db_error e;

    (void)db_error_set(&e, DB_E_HANDSHAKE);
    mysql_answer_error(c, &e);
    db_count(&c->io.stats->denied, 1);
    log_warn("db_bad_handshake", F_CSTR("host", c->host), F_CSTR("reason", why));
    return ERR_PROTO;
}

/* --- proofs ----------------------------------------------------------------------------------- */

static int login_more(struct mysql_conn *c, struct str data)
{
    size_t mark = mysql_begin(&c->out);

    mysql_put_auth_more(&c->out, data);
    mysql_end(&c->out, mark, &c->seq);
    return mysql_conn_flush(c);
}

/* The password in clear text, with its NUL. */
static bool login_clear(const struct login *l, struct str sent)
{
    return sent.len && sent.p[sent.len - 1] == '\0' &&
           mysql_prove_clear(&l->secret, str_sub(sent, 0, sent.len - 1));
}

/* Where nobody can listen the password comes as it is, else for our key. */
static int login_full(struct mysql_conn *c, const struct login *l, bool *ok)
{
    char full = MYSQL_AUTH_FULL, password[512];
    struct str sent;
    struct buf pem = {0};
    size_t n = 0;
    int rc = login_more(c, str_n(&full, 1));

    if (rc == 0)
        rc = mysql_conn_read(c, LOGIN_PACKET_MAX, false, &sent);
    if (rc)
        return rc;
    if (sent.len == 1 && *sent.p == MYSQL_AUTH_PUBLIC_KEY && !mysql_io_is_tls(&c->io)) {
        rc = mysql_rsa_public(mysql_server_rsa(c->server), &pem);
        if (rc == 0)
            rc = login_more(c, buf_str(&pem));
        buf_fini(&pem);
        if (rc == 0)
            rc = mysql_conn_read(c, LOGIN_PACKET_MAX, false, &sent);
        if (rc)
            return rc;
        *ok =
            mysql_rsa_password(mysql_server_rsa(c->server), c->scramble, sent, password, &n) == 0 &&
            mysql_prove_clear(&l->secret, str_n(password, n));
        mysql_wipe(password, sizeof(password));
        return 0;
    }
    if (c->local || mysql_io_is_tls(&c->io)) {
        *ok = login_clear(l, sent);
        mysql_wipe(c->in.p, c->in.len);
    }
    return 0;
}

static int login_prove(
    struct mysql_conn *c, struct login *l, enum mysql_plugin plugin, struct str proof, bool *ok)
{
    static const char fast = MYSQL_AUTH_FAST;

    *ok = false;
    l->gave_password = proof.len > 0;
    if (plugin == MYSQL_PLUGIN_NATIVE) {
        *ok = l->known && mysql_prove_native(&l->secret, c->scramble, proof);
        return 0;
    }
    if (proof.len == 1 && *proof.p == '\0') { /* how it says that there is none */
        l->gave_password = false;
        proof.len = 0;
    }
    if (proof.len == 0) {
        *ok = l->known && l->secret.empty;
        return 0;
    }
    if (l->known && mysql_prove_sha2(&l->secret, c->scramble, proof)) {
        size_t mark = mysql_begin(&c->out); /* leaves together with the OK */

        mysql_put_auth_more(&c->out, str_n(&fast, 1));
        mysql_end(&c->out, mark, &c->seq);
        *ok = true;
        return 0;
    }
    /* Who has no account goes the same way, and is not told apart. */
    if (login_full(c, l, ok))
        return ERR_CLOSED;
    *ok = *ok && l->known;
    return 0;
}

/* Asks for a proof of that kind, and checks it. */
static int login_switch(struct mysql_conn *c, struct login *l, enum mysql_plugin plugin, bool *ok)
{
    size_t mark = mysql_begin(&c->out);
    struct str proof;
    int rc;

    mysql_put_auth_switch(&c->out, plugin, c->scramble);
    mysql_end(&c->out, mark, &c->seq);
    rc = mysql_conn_flush(c);
    if (rc == 0)
        rc = mysql_conn_read(c, LOGIN_PACKET_MAX, false, &proof);
    return rc ? rc : login_prove(c, l, plugin, proof, ok);
}

/* Is the proof that came with the login one of the plugin that it names? */
static bool login_has_proof(const struct login *l, const struct mysql_login *m)
{
    if (m->plugin == MYSQL_PLUGIN_UNKNOWN)
        return false;
    return m->auth.len > 0 || m->plugin == MYSQL_PLUGIN_GREETED ||
           !(m->capabilities & MYSQL_PLUGIN_AUTH) || (l->known && l->secret.empty);
}

static int login_authenticate(struct mysql_conn *c, struct login *l, const struct mysql_login *m)
{
    bool ok = false;
    int rc;

    if (login_has_proof(l, m))
        rc = login_prove(c, l, m->plugin, m->auth, &ok);
    else
        rc = login_switch(
            c, l, m->plugin == MYSQL_PLUGIN_UNKNOWN ? MYSQL_PLUGIN_GREETED : m->plugin, &ok);
    if (rc)
        return rc;
    return ok ? 0 : login_refuse(c, l);
}

/* --- sessions --------------------------------------------------------------------------------- */

static bool login_take(char *to, struct str from)
{
    return str_put(to, LOGIN_NAME_MAX + 1, from) == from.len && str_chr(from, '\0') < 0;
}

static void login_on_kill(void *arg)
{
    struct mysql_conn *c = arg;

    c->ending = true;
    sock_shutdown_wake(c->fd, false);
}

static int login_session(struct mysql_conn *c, const struct login *l)
{
    enum {
        FLAGS = DB_CLIENT_FOUND_ROWS | DB_CLIENT_IGNORE_SPACE | DB_CLIENT_INTERACTIVE |
                DB_CLIENT_MULTI_STATEMENTS
    };
    struct db_login login = {.user = str_c(l->user),
        .host = str_c(c->host),
        .database = str_c(l->database),
        .account_db = str_c(l->account_db),
        .client_flags = c->capabilities & FLAGS,
        .charset = l->charset};
    struct db_error e = {0};
    int rc =
        db_session_new(mysql_server_options(c->server)->engine, c->id, &login, &c->session, &e);

    if (rc) {
        mysql_answer_error(c, &e);
        db_count(&c->io.stats->denied, 1);
        log_warn("db_login_denied", F_CSTR("user", l->user), F_CSTR("host", c->host),
            F_CSTR("database", l->database), F_CSTR("error", e.text));
        return rc;
    }
    db_session_on_kill(c->session, login_on_kill, c);
    mysql_answer_done(c);
    return 0;
}

static int login_check(struct mysql_conn *c, const struct mysql_login *m)
{
    struct login l = {.charset = m->charset};
    int rc;

    if (!login_take(l.user, m->user) || !login_take(l.database, m->database))
        return login_bad(c, "a name is too long");
    l.known = mysql_server_find(c->server, m->user, &l.secret, l.account_db, sizeof(l.account_db));
    rc = login_authenticate(c, &l, m);
    if (rc == 0)
        rc = login_session(c, &l);
    mysql_wipe(&l.secret, sizeof(l.secret));
    return rc;
}

/* The answer to the greeting; over TLS it comes a second time. */
static int login_read(struct mysql_conn *c, struct mysql_login *m)
{
    const struct mysql_tls *tls = mysql_server_tls(c->server);
    struct str payload;
    int rc = mysql_conn_read(c, MYSQL_LOGIN_MAX, tls != NULL, &payload);

    if (rc)
        return rc;
    if (mysql_parse_login(payload, m))
        return login_bad(c, "the packet cannot be read");
    if (!m->wants_tls)
        return 0;
    if (!tls)
        return login_bad(c, "TLS is not configured (db.sqlite.proxy.tls_cert)");
    rc = mysql_io_start_tls(&c->io, tls);
    if (rc) {
        log_warn("db_tls_failed", F_CSTR("host", c->host), F_ERR(rc));
        return rc;
    }
    rc = mysql_conn_read(c, MYSQL_LOGIN_MAX, false, &payload);
    if (rc)
        return rc;
    if (mysql_parse_login(payload, m) || m->wants_tls)
        return login_bad(c, "the packet cannot be read");
    return 0;
}

int mysql_login_first(struct mysql_conn *c)
{
    const struct mysql_options *opt = mysql_server_options(c->server);
    struct mysql_greeting g = {.capabilities = MYSQL_CAPABILITIES,
        .status = DB_STATUS_AUTOCOMMIT,
        .scramble = c->scramble};
    struct mysql_login m;
    size_t mark;
    int rc;

    mysql_io_set_deadline(&c->io, opt->timeouts.connect * 1000);
    c->id = g.id = db_server_next_id(opt->engine);
    mysql_scramble(c->scramble);
    if (mysql_server_tls(c->server))
        g.capabilities |= MYSQL_SSL;
    mark = mysql_begin(&c->out);
    mysql_put_greeting(&c->out, &g);
    mysql_end(&c->out, mark, &c->seq);
    rc = mysql_conn_flush(c);
    if (rc == 0)
        rc = login_read(c, &m);
    if (rc)
        return rc;
    c->capabilities = m.capabilities & g.capabilities;
    rc = login_check(c, &m);
    mysql_io_set_deadline(&c->io, 0);
    return rc;
}

int mysql_login_again(struct mysql_conn *c, struct str payload)
{
    struct mysql_login m;
    int rc;

    if (mysql_parse_change_user(payload, c->capabilities, &m))
        return login_bad(c, "COM_CHANGE_USER cannot be read");
    mysql_io_set_deadline(&c->io, mysql_server_options(c->server)->timeouts.connect * 1000);
    mysql_statement_close_all(c, false);
    db_session_free(c->session);
    c->session = NULL;
    rc = login_check(c, &m);
    mysql_io_set_deadline(&c->io, 0);
    return rc;
}
