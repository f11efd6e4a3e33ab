/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "php/internal.h"

#if COMPAT_SESSION

#include <dlfcn.h>

#include "base/buf.h"
#include "kv/lock.h"
#include "platform/clock.h"

/*
 * session.save_handler = ephpm: sessions in the store that the host gave at startup. It is one
 * site's, so sessions are.
 *
 *   session:<id>       the data as session.serialize_handler made it; ends after gc_maxlifetime
 *   session_lock:<id>  while a request has the session open, see kv/lock.h
 *
 * As with PHP's files handler, one request at a time has a session open; the others wait for it. A
 * request that stops waiting, since its time is over or its client is gone, has read nothing, so it
 * writes nothing either.
 *
 * The session extension may be a library of its own that PHP loads, so its functions are looked up.
 */

#define DATA_PREFIX     "session:"
#define ID_MAX          256 /* as PHP has it */
#define CREATE_TRIES    3
#define MS_PER_S        1000
#define NS_PER_MS       1000000u
#define BUFFER_KEPT     (1u << 20)
#define LIFETIME_OF_PHP 1440 /* s, for a gc_maxlifetime that is no time */

enum stage {
    CLOSED,  /* or open, and no session was read */
    READING, /* still so at the end when the wait or the read was given up */
    READY,
};

/* Of the running request. PHP has one session at a time, and one handler in use. */
static struct {
    enum stage stage;
    char id[ID_MAX];
    size_t id_len;
    bool locked;
    struct kv_owner me; /* pid 0: not known yet */
    struct buf buf;     /* of the value read */
    struct embed_sessions done;
} session;

static struct {
    __typeof__(php_session_register_module) *add_handler;
    __typeof__(php_session_create_id) *create_id;
} ext;

/* As PHP has it for files. */
static bool is_valid(const zend_string *id)
{
    for (size_t i = 0; i < ZSTR_LEN(id); i++) {
        char c = ZSTR_VAL(id)[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            c != ',' && c != '-')
            return false;
    }
    return ZSTR_LEN(id) > 0 && ZSTR_LEN(id) <= ID_MAX;
}

static struct str key_of(char *out, struct str prefix, const char *id, size_t len)
{
    memcpy(out, prefix.p, prefix.len);
    memcpy(out + prefix.len, id, len);
    return str_n(out, prefix.len + len);
}

/* A key with that prefix for an id of at most ID_MAX bytes; as long as the block. */
#define KEY(prefix, id, len) \
    key_of((char[sizeof(prefix) - 1 + ID_MAX]){0}, STR(prefix), (id), (len))
#define DATA_KEY(id) KEY(DATA_PREFIX, ZSTR_VAL(id), ZSTR_LEN(id))

/* ---- the lock -------------------------------------------------------------------------------- */

static bool is_interrupted(void)
{
    return embed_g.interrupted || zend_atomic_bool_load_ex(&EG(timed_out));
}

static bool is_client_gone(void)
{
    return !PG(ignore_user_abort) && embed_g.req &&
           (embed_g.client_gone ||
               (embed_g.host.aborted && embed_g.host.aborted(embed_g.host.arg)));
}

static bool shall_stop(void *arg)
{
    (void)arg;
    return is_interrupted() || is_client_gone();
}

/* What is left of max_execution_time for waiting, which takes no CPU time but counts; -1: no limit
 * is set. */
static int64_t time_left(void)
{
    int64_t limit = MIN(EG(timeout_seconds), INT32_MAX) * (int64_t)MS_PER_S;

    return limit > 0 ? MAX(limit - (int64_t)(embed_g.waited_ns / NS_PER_MS), 0) : -1;
}

static bool lock(void)
{
    struct kv_lock_wait wait = {.timeout = time_left(), .stop = shall_stop};
    uint64_t begin = clock_mono_ns(), waited;
    int r;

    if (session.me.pid == 0)
        kv_owner_init(&session.me, 0);
    r = kv_lock_take(
        embed_g.opt.kv, KEY(KV_SESSION_LOCK, session.id, session.id_len), &session.me, &wait);
    session.locked = r == 0;
    waited = clock_mono_ns() - begin;
    embed_g.waited_ns += waited;
    session.done.waited_ns += waited;
    session.done.taken_over += wait.taken_over;
    if (r == ERR_FULL) {
        php_error_docref(NULL, E_WARNING,
            "The store has no room for a lock, other requests may use the session as well");
        return true;
    }
    if (r == ERR_TIMEOUT) {
        embed_g.waited_ns = 0; /* shutdown functions may wait as long again */
        embed_timer_expire();
    }
    /* An interruption ends the script as soon as we return. A client's going does not. */
    if (r == ERR_INTR && !is_interrupted())
        php_handle_aborted_connection();
    return r == 0;
}

static void unlock(void)
{
    if (session.locked)
        (void)!kv_lock_release(embed_g.opt.kv, KEY(KV_SESSION_LOCK, session.id, session.id_len),
            &session.me); /* it may have been evicted */
    session.locked = false;
    session.stage = CLOSED;
}

static bool is_open(const zend_string *id)
{
    return session.stage != CLOSED &&
           str_eq(str_n(session.id, session.id_len), str_n(ZSTR_VAL(id), ZSTR_LEN(id)));
}

/* Has the session for this request alone; another one that is open is given back. */
static bool take(const zend_string *id)
{
    if (is_open(id))
        return session.stage == READY;
    if (!is_valid(id)) {
        php_error_docref(NULL, E_WARNING,
            "Session ID is too long or contains illegal characters. "
            "Only the A-Z, a-z, 0-9, \"-\", and \",\" characters are allowed");
        return false;
    }
    unlock();
    memcpy(session.id, ZSTR_VAL(id), ZSTR_LEN(id));
    session.id_len = ZSTR_LEN(id);
    session.stage = READING;
    if (!lock())
        return false;
    session.stage = READY;
    session.done.opened++;
    return true;
}

void embed_session_end(struct embed_sessions *out)
{
    unlock();
    *out = session.done;
    session.done = (struct embed_sessions){0};
    if (session.buf.cap > BUFFER_KEPT)
        buf_fini(&session.buf);
}

void embed_session_after_fork(void)
{
    session.me.pid = 0;
    session.locked = false; /* the parent's */
}

/* ---- the handler ----------------------------------------------------------------------------- */

static int64_t ttl_of(zend_long seconds)
{
    int64_t ms;

    if (seconds <= 0)
        seconds = LIFETIME_OF_PHP;
    return __builtin_mul_overflow((int64_t)seconds, MS_PER_S, &ms) ? INT64_MAX : ms;
}

static bool exists(const zend_string *id)
{
    return is_valid(id) && kv_store_exists(embed_g.opt.kv, DATA_KEY(id));
}

static zend_result put(const zend_string *id, struct str data, zend_long lifetime)
{
    struct kv_value v = {.type = KV_STRING, .bytes = data};
    int r = kv_store_set(embed_g.opt.kv, DATA_KEY(id), &v, 0, ttl_of(lifetime));

    if (r == ERR_TOOBIG)
        php_error_docref(NULL, E_WARNING,
            "The session could not be written: %zu bytes, the store takes %u at most", data.len,
            KV_VALUE_MAX);
    else if (r)
        php_error_docref(NULL, E_WARNING,
            "The session could not be written: no room for %zu bytes in the store", data.len);
    session.done.not_written += r != 0;
    return r ? FAILURE : SUCCESS;
}

static PS_OPEN_FUNC(ephpm)
{
    (void)save_path; /* there is one store */
    (void)session_name;
    PS_SET_MOD_DATA(&session);
    return SUCCESS;
}

static PS_CLOSE_FUNC(ephpm)
{
    unlock();
    PS_SET_MOD_DATA(NULL);
    return SUCCESS;
}

/* A new session is there from now on, empty, as with files: its id counts as known. */
static zend_result read_data(const zend_string *id, zend_string **val, zend_long lifetime)
{
    struct kv_value v;
    int r = kv_store_get(embed_g.opt.kv, DATA_KEY(id), &session.buf, &v);

    if (r == ERR_NOTFOUND) {
        *val = ZSTR_EMPTY_ALLOC();
        v = (struct kv_value){.type = KV_STRING, .bytes = STR("")};
        /* In a full store it is missing; writing will tell. */
        (void)!kv_store_set(embed_g.opt.kv, DATA_KEY(id), &v, KV_ONLY_NEW, ttl_of(lifetime));
        return SUCCESS;
    }
    if (r || v.type != KV_STRING) {
        php_error_docref(
            NULL, E_WARNING, "The key " DATA_PREFIX "%s holds no session", ZSTR_VAL(id));
        return FAILURE;
    }
    *val = compat_string(v.bytes.p, v.bytes.len);
    return *val ? SUCCESS : FAILURE; /* memory_limit is reached */
}

static PS_READ_FUNC(ephpm)
{
    zend_result r;

    (void)mod_data;
    if (!take(key))
        return FAILURE;
    /* Memory may run out, and PHP would then write what it has: nothing. */
    session.stage = READING;
    r = read_data(key, val, maxlifetime);
    session.stage = READY;
    return r;
}

static PS_WRITE_FUNC(ephpm)
{
    (void)mod_data;
    if (is_open(key) && session.stage == READING)
        return SUCCESS; /* the request was ended before it knew what is there */
    if (!take(key))
        return FAILURE;
    return put(key, str_n(ZSTR_VAL(val), ZSTR_LEN(val)), maxlifetime);
}

static PS_UPDATE_TIMESTAMP_FUNC(ephpm)
{
    if (is_open(key) && session.stage == READY &&
        kv_store_expire(embed_g.opt.kv, DATA_KEY(key), ttl_of(maxlifetime)) == 0)
        return SUCCESS;
    return ps_write_ephpm(mod_data, key, val, maxlifetime);
}

static PS_DESTROY_FUNC(ephpm)
{
    (void)mod_data;
    if (exists(key))
        (void)!kv_store_del(embed_g.opt.kv, DATA_KEY(key)); /* it may have ended just now */
    return SUCCESS;
}

/* A session ends at its deadline, whether anybody collects it or not. */
static PS_GC_FUNC(ephpm)
{
    (void)mod_data;
    (void)maxlifetime;
    *nrdels = 0;
    return 0;
}

static PS_VALIDATE_SID_FUNC(ephpm)
{
    (void)mod_data;
    return exists(key) ? SUCCESS : FAILURE;
}

static PS_CREATE_SID_FUNC(ephpm)
{
    zend_string *id = ext.create_id(mod_data);

    for (int i = 1; id && exists(id); i++) {
        zend_string_release(id);
        id = i < CREATE_TRIES ? ext.create_id(mod_data) : NULL;
    }
    return id;
}

/* ---- registration ---------------------------------------------------------------------------- */

static const ps_module handler = {PS_MOD_UPDATE_TIMESTAMP(ephpm)};

bool embed_session_register(void)
{
    *(void **)&ext.add_handler = dlsym(RTLD_DEFAULT, "php_session_register_module");
    *(void **)&ext.create_id = dlsym(RTLD_DEFAULT, "php_session_create_id");
    return !embed_g.opt.kv || !ext.add_handler || !ext.create_id ||
           ext.add_handler(&handler) == SUCCESS;
}

#else

bool embed_session_register(void)
{
    return true;
}

void embed_session_end(struct embed_sessions *out)
{
}

void embed_session_after_fork(void)
{
}

#endif
