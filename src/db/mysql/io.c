/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/mysql/io.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "base/mem.h"
#include "platform/clock.h"

/* --- certificates ----------------------------------------------------------------------------- */

struct mysql_tls {
    SSL_CTX *ctx;
};

static int tls_failed(struct err *err, const char *what, const char *path)
{
    char text[200];

    ERR_error_string_n(ERR_peek_last_error(), text, sizeof(text));
    ERR_clear_error();
    return err_set(err, ERR_INVAL, "%s: %s: %s", what, path, text);
}

int mysql_tls_new(const char *cert, const char *key, struct mysql_tls **out, struct err *err)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    struct mysql_tls *t;
    int rc = 0;

    if (!ctx)
        return err_set(err, ERR_NOMEM, "TLS cannot be started");
    (void)SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION); /* cannot fail for a known version */
    (void)SSL_CTX_set_mode(ctx, SSL_MODE_AUTO_RETRY);
    (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    if (SSL_CTX_use_certificate_chain_file(ctx, cert) != 1)
        rc = tls_failed(err, "db.sqlite.proxy.tls_cert", cert);
    else if (SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1 ||
             SSL_CTX_check_private_key(ctx) != 1)
        rc = tls_failed(err, "db.sqlite.proxy.tls_key", key);
    if (rc) {
        SSL_CTX_free(ctx);
        return rc;
    }
    t = mem_new(sizeof(*t));
    t->ctx = ctx;
    *out = t;
    return 0;
}

void mysql_tls_free(struct mysql_tls *t)
{
    if (!t)
        return;
    SSL_CTX_free(t->ctx);
    mem_free(t);
}

/* --- bytes ------------------------------------------------------------------------------------ */

void mysql_io_init(struct mysql_io *io, sock_t fd, struct db_stats *stats)
{
    *io = (struct mysql_io){.fd = fd, .stats = stats};
    sock_set_blocking(fd, true);
}

void mysql_io_fini(struct mysql_io *io)
{
    if (io->tls)
        (void)SSL_shutdown(io->tls); /* the client may be gone */
    SSL_free(io->tls);
    io->tls = NULL;
    ERR_clear_error();
}

void mysql_io_set_timeouts(struct mysql_io *io, unsigned recv_ms, unsigned send_ms)
{
    if (io->recv_ms == recv_ms && io->send_ms == send_ms)
        return;
    io->recv_ms = recv_ms;
    io->send_ms = send_ms;
    sock_set_timeouts(io->fd, recv_ms, send_ms);
}

void mysql_io_set_deadline(struct mysql_io *io, unsigned ms)
{
    io->deadline_ms = ms ? clock_mono_ms() + ms : 0;
}

/* What is left until the deadline becomes the limit of the next read. */
static int io_arm(struct mysql_io *io)
{
    uint64_t now;

    if (!io->deadline_ms)
        return 0;
    now = clock_mono_ms();
    if (now >= io->deadline_ms)
        return ERR_TIMEOUT;
    mysql_io_set_timeouts(io, (unsigned)(io->deadline_ms - now), io->send_ms);
    return 0;
}

/* What went wrong in TLS. A socket's time limit shows as "would block". */
static int io_tls_error(struct mysql_io *io, int result)
{
    int e = SSL_get_error(io->tls, result);

    ERR_clear_error();
    switch (e) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
        return ERR_TIMEOUT;
    case SSL_ERROR_ZERO_RETURN:
        return ERR_EOF;
    case SSL_ERROR_SYSCALL:
        return ERR_CLOSED;
    default:
        return ERR_IO;
    }
}

int mysql_io_start_tls(struct mysql_io *io, const struct mysql_tls *t)
{
    SSL *tls = SSL_new(t->ctx);
    int rc, result;

    if (!tls)
        return ERR_NOMEM;
    io->tls = tls;
    rc = io_arm(io);
    if (rc == 0 && SSL_set_fd(tls, (int)io->fd) != 1)
        rc = ERR_NOMEM;
    if (rc == 0) {
        result = SSL_accept(tls);
        rc = result == 1 ? 0 : io_tls_error(io, result);
    }
    if (rc) { /* what is left of it says nothing that the client could read */
        SSL_free(tls);
        io->tls = NULL;
    }
    return rc;
}

int mysql_io_recv(struct mysql_io *io, void *p, size_t n, size_t *got)
{
    int rc = io_arm(io);

    if (rc)
        return rc;
    if (io->tls) {
        int result = SSL_read_ex(io->tls, p, n, got);

        rc = result == 1 ? 0 : io_tls_error(io, result);
    } else {
        rc = sock_recv(io->fd, p, n, got);
        if (rc == ERR_AGAIN)
            rc = ERR_TIMEOUT;
    }
    if (rc == 0)
        db_count(&io->stats->bytes_in, *got);
    return rc;
}

int mysql_io_send(struct mysql_io *io, struct str bytes)
{
    int rc = 0;

    db_count(&io->stats->bytes_out, bytes.len);
    while (bytes.len && rc == 0) {
        size_t sent = 0;

        if (io->tls) {
            int result = SSL_write_ex(io->tls, bytes.p, bytes.len, &sent);

            rc = result == 1 ? 0 : io_tls_error(io, result);
        } else {
            rc = sock_sendv(io->fd, &bytes, 1, false, &sent);
            if (rc == ERR_AGAIN)
                rc = ERR_TIMEOUT;
        }
        bytes = str_sub(bytes, sent, bytes.len);
    }
    return rc;
}
