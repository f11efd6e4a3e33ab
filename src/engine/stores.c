/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <assert.h>

#include "base/mem.h"
#include "core/log.h"
#include "engine/kvsave.h"
#include "engine/master.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/sysinfo.h"

/*
 * A site's store is made before its first generation and stays until the site or the server ends,
 * so that what is in it outlives deploys, resets and the death of any other process. All stores are
 * alike, as the server was started: a reload changes none.
 */

/* The role kv may die so often while it reads a snapshot, which is then set aside. */
enum { STORES_READS = 3 };

/* And so often while the store of a site that is gone waits to be saved: it is given up then. */
enum { STORES_SAVES = 3 };

/* The store of a site that is gone, kept until the role kv has saved it. */
struct leaving_store {
    struct list node; /* in the master's kv.leaving */
    char *name;
    int fd;
    uint64_t number;
    unsigned deaths; /* of the role kv meanwhile */
};

/* The role kv of a server that was killed may still be at its last snapshot. */
enum { STORES_LOCK_MS = 5000, STORES_LOCK_EVERY_MS = 20 };

enum {
    STORES_SHARE = 4, /* without kv.memory_limit: at most 1/4 of the machine's memory */
    STORES_BACKLOG = 511
};

static_assert(
    KV_NOEVICTION == 0 && KV_ALLKEYS_LRU == 1 && KV_VOLATILE_LRU == 2 && KV_ALLKEYS_RANDOM == 3,
    "the order of the names of kv.eviction_policy");
static_assert((int)KV_UNCOMPRESSED == CONFIG_KV_COMPRESSION_NONE &&
                  (int)KV_GZIP == CONFIG_KV_COMPRESSION_GZIP &&
                  (int)KV_BROTLI == CONFIG_KV_COMPRESSION_BROTLI &&
                  (int)KV_ZSTD == CONFIG_KV_COMPRESSION_ZSTD,
    "the order of the names of kv.compression");

/* The folder is the user's that the role kv runs as, when it is made here. */
static int stores_init_folder(struct master *m, struct err *err)
{
    const char *folder = m->config->kv.persist;
    struct fs_stat st = {0};
    int rc = fs_mkdir(folder, 0700);

    if (rc == 0 && m->set_user)
        rc = fs_set_owner(folder, m->uid, m->gid);
    if (rc == ERR_EXISTS) {
        rc = fs_stat(folder, &st);
        if (rc == 0 && st.kind != FS_DIR)
            rc = ERR_NOTDIR;
    }
    return rc ? err_set(err, rc, "kv.persist: %s: %s", folder, err_text(rc)) : 0;
}

/* Two servers would write over each other's snapshots. The file is the role kv's user's, like the
 * snapshots, so that a server that is started as that user has it, too. */
static int stores_lock_folder(struct master *m, struct err *err)
{
    const char *folder = m->config->kv.persist;
    uint64_t holder = 0, end = clock_mono_ms() + STORES_LOCK_MS;
    struct buf path = {0};
    int rc;

    buf_printf(&path, "%s/.lock", folder);
    do {
        rc = fs_lock(buf_cstr(&path), (uint64_t)process_id(), &m->kv.lock_fd, &holder);
        if (rc != ERR_BUSY || (holder && process_alive((int64_t)holder)))
            break;
        clock_sleep_ms(STORES_LOCK_EVERY_MS);
    } while (clock_mono_ms() < end);
    if (rc == 0 && m->set_user)
        rc = fs_set_owner_fd(m->kv.lock_fd, m->uid, m->gid);
    if (rc == ERR_BUSY && holder)
        (void)err_set(err, rc,
            "kv.persist: %s: another server, process %llu, keeps its snapshots there", folder,
            (unsigned long long)holder);
    else if (rc == ERR_BUSY)
        (void)err_set(err, rc, "kv.persist: %s: another server keeps its snapshots there", folder);
    else if (rc)
        (void)err_set(err, rc, "kv.persist: %s: %s", buf_cstr(&path), err_text(rc));
    buf_fini(&path);
    return rc;
}

int stores_init(struct master *m, struct err *err)
{
    const struct config_kv *kv = &m->config->kv;
    struct sysinfo_memory machine = sysinfo_memory(NULL);
    struct conf_mark mark = conf_mark_of(&m->config->conf, "kv.memory_limit");
    uint64_t limit = kv->memory_limit;
    int rc;

    if (!kv->enabled)
        return 0;
    if (machine.bytes && mark.source == CONF_FROM_DEFAULT)
        limit = MAX(MIN(limit, machine.bytes / STORES_SHARE), (uint64_t)KV_MEMORY_MIN);
    else if (machine.bytes && limit > machine.bytes)
        return err_set(err, ERR_RANGE,
            "%s: kv.memory_limit = %llu: must be between %llu and the %llu bytes of this machine "
            "(%s)",
            mark.where, (unsigned long long)limit, (unsigned long long)KV_MEMORY_MIN,
            (unsigned long long)machine.bytes, sysinfo_source_name(machine.source));
    m->kv_options = (struct kv_options){.memory = (size_t)limit,
        .policy = (enum kv_policy)kv->eviction_policy,
        .compression = {(enum kv_algorithm)kv->compression, (int)kv->compression_level,
            (size_t)kv->compression_min_size}};
    m->kv_config = config_ref(m->config);
    if (!kv->persist)
        return 0;
    rc = stores_init_folder(m, err);
    return rc ? rc : stores_lock_folder(m, err);
}

static int stores_listen_tcp(struct master *m, const char *text, struct err *err)
{
    char got[SOCK_ADDR_TEXT];
    struct sock_addr at;
    int rc = sock_addr_parse(str_c(text), &at);

    if (rc == 0)
        rc = sock_listen(&at, STORES_BACKLOG, &m->kv.tcp);
    if (rc == 0)
        rc = sock_local_addr(m->kv.tcp, &at);
    if (rc)
        return err_set(err, rc, "kv.redis_compat.listen: %s: %s", text,
            rc == ERR_NOTFOUND ? "this machine has no such address" : err_text(rc));
    m->kv.tcp_port = at.port;
    (void)sock_addr_format(&at, got);
    if (!sock_ip_is_loopback(&at) && !m->kv_config->kv.redis.password &&
        !config_is_multi(m->kv_config))
        log_warn("redis_open_to_all", F_CSTR("setting", "kv.redis_compat.listen"),
            F_CSTR("listen", got),
            F_CSTR("hint", "other machines reach the store: set kv.redis_compat.password"));
    log_info("redis_listens", F_CSTR("listen", got));
    return 0;
}

/* Root and the user that PHP runs as may connect. */
static int stores_listen_local(struct master *m, const char *path, struct err *err)
{
    int rc = sock_listen_local(path, 0660, STORES_BACKLOG, &m->kv.local);

    if (rc == 0 && m->set_user)
        rc = fs_set_owner(path, m->uid, m->gid);
    if (rc)
        return err_set(err, rc, "kv.redis_compat.socket: %s: %s", path, err_text(rc));
    log_info("redis_listens", F_CSTR("socket", path));
    return 0;
}

int stores_listen(struct master *m, struct err *err)
{
    const struct config_kv_redis *redis = &m->config->kv.redis;
    int rc = 0;

    if (!m->kv_config || !redis->enabled)
        return 0;
    if (*redis->listen)
        rc = stores_listen_tcp(m, redis->listen, err);
    if (rc == 0 && redis->socket)
        rc = stores_listen_local(m, redis->socket, err);
    return rc;
}

static void stores_leaving_free(struct leaving_store *l)
{
    list_remove(&l->node);
    fs_close(l->fd);
    mem_free(l->name);
    mem_free(l);
}

void stores_fini(struct master *m)
{
    while (!list_empty(&m->kv.leaving))
        stores_leaving_free(CONTAINER_OF(list_first(&m->kv.leaving), struct leaving_store, node));
    if (m->kv.local != SOCK_NONE)
        (void)!fs_unlink(m->kv_config->kv.redis.socket); /* somebody may have removed it */
    sock_close(m->kv.local);
    sock_close(m->kv.tcp);
    fs_close(m->kv.lock_fd);
    config_unref(m->kv_config);
}

static void stores_tell_role(struct site *s)
{
    struct ipc_out out;

    ipc_begin(&out, "site");
    ipc_add(&out, "site", str_c(s->name));
    if (s->kv_state != STORE_READ)
        ipc_add_u64(&out, "load", s->kv_deaths < STORES_READS ? KVSAVE_LOAD : KVSAVE_REFUSE);
    ipc_add_fd(&out, s->kv_fd);
    roles_tell_kv(s->master, &out);
}

static void stores_tell_gone(struct master *m, const char *name, uint64_t number)
{
    struct ipc_out out;

    ipc_begin(&out, "site_gone");
    ipc_add(&out, "site", str_c(name));
    ipc_add_u64(&out, "number", number);
    roles_tell_kv(m, &out);
}

/* To a new role: it is as if the site had been there, and left. */
static void stores_tell_leaving(struct master *m, const struct leaving_store *l)
{
    struct ipc_out out;

    ipc_begin(&out, "site");
    ipc_add(&out, "site", str_c(l->name));
    ipc_add_fd(&out, l->fd);
    roles_tell_kv(m, &out);
    stores_tell_gone(m, l->name, l->number);
}

static void stores_tell_listener(struct master *m, sock_t listener)
{
    struct ipc_out out;

    if (listener == SOCK_NONE)
        return;
    ipc_begin(&out, "listen");
    ipc_add_fd(&out, (int)listener);
    roles_tell_kv(m, &out);
}

void stores_role_ready(struct master *m)
{
    struct buf text = {0};
    struct ipc_out out;

    config_serialize(m->kv_config, &text);
    ipc_begin(&out, "config");
    ipc_add(&out, "text", buf_str(&text));
    roles_tell_kv(m, &out);
    buf_fini(&text);
    /* First: a site of the same name may be there again, and read what is saved now. */
    list_each (it, &m->kv.leaving)
        stores_tell_leaving(m, CONTAINER_OF(it, struct leaving_store, node));
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->kv_fd >= 0)
            stores_tell_role(s);
    }
    stores_tell_listener(m, m->kv.tcp);
    stores_tell_listener(m, m->kv.local);
}

void stores_set_revision(struct site *s, const char *revision)
{
    struct ipc_out out;

    ipc_begin(&out, "revision");
    ipc_add(&out, "site", str_c(s->name));
    ipc_add(&out, "text", str_c(revision));
    roles_tell_kv(s->master, &out);
}

int stores_hand_over(struct site *s, sock_t client)
{
    struct ipc_out out;

    if (!s->master->kv.side.ready)
        return ERR_CLOSED;
    ipc_begin(&out, "client");
    ipc_add(&out, "site", str_c(s->name));
    ipc_add_fd(&out, (int)client);
    roles_tell_kv(s->master, &out);
    return 0;
}

int stores_open(struct site *s, struct err *err)
{
    const struct master *m = s->master;
    int rc;

    if (!m->kv_config)
        return 0;
    if (s->kv_fd >= 0 && s->kv_state == STORE_FAILED) {
        s->kv_state = STORE_UNREAD;
        stores_tell_role(s);
    }
    if (s->kv_fd >= 0)
        return 0;
    rc = kv_store_create(&m->kv_options, &s->kv_fd);
    if (rc)
        return err_set(err, rc, "the key-value store (kv.memory_limit = %zu): %s",
            m->kv_options.memory, err_text(rc));
    s->kv_state = m->kv_config->kv.persist ? STORE_UNREAD : STORE_READ;
    stores_tell_role(s);
    return 0;
}

bool stores_may_close(const struct site *s)
{
    const struct master *m = s->master;

    return s->kv_fd < 0 || !m->kv_config->kv.persist || m->kv.side.ready;
}

void stores_close(struct site *s)
{
    struct master *m = s->master;
    struct leaving_store *l;

    if (s->kv_fd < 0)
        return;
    m->kv.nleft++;
    stores_tell_gone(m, s->name, m->kv.nleft);
    if (m->kv_config->kv.persist && s->kv_state == STORE_READ) {
        l = mem_new(sizeof(*l));
        l->name = mem_dup_str(s->name, strlen(s->name));
        l->fd = s->kv_fd;
        l->number = m->kv.nleft;
        list_push(&m->kv.leaving, &l->node);
    } else {
        fs_close(s->kv_fd);
    }
    s->kv_fd = -1;
}

void stores_on_gone(struct master *m, struct ipc_in *in)
{
    uint64_t number = ipc_get_u64(in, "number");

    list_each_safe (it, &m->kv.leaving) {
        struct leaving_store *l = CONTAINER_OF(it, struct leaving_store, node);

        if (l->number == number)
            stores_leaving_free(l);
    }
}

/* --- snapshots -------------------------------------------------------------------------------- */

bool stores_is_reading(const struct site *s)
{
    return s->kv_fd >= 0 && s->kv_state == STORE_UNREAD;
}

void stores_on_loaded(struct master *m, struct ipc_in *in)
{
    struct site *s = deploy_site_find(m, ipc_get(in, "site"));
    const char *error = ipc_get_c(in, "error");
    struct generation *next;

    if (!s || s->kv_state == STORE_READ)
        return;
    next = s->op.next;
    s->kv_state = *error ? STORE_FAILED : STORE_READ;
    if (*error) {
        deploy_failed(s, "kv.persist: %s", error);
    } else if (next && next->php_version[0]) {
        net_timer_start(s->op.timeout, m->config->deploy.timeout, 0);
        generation_boot(next);
    }
}

void stores_role_gone(struct master *m)
{
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (stores_is_reading(s))
            s->kv_deaths++;
    }
    list_each_safe (it, &m->kv.leaving) {
        struct leaving_store *l = CONTAINER_OF(it, struct leaving_store, node);

        if (++l->deaths < STORES_SAVES)
            continue;
        log_error("kv_store_lost", F_CSTR("site", l->name),
            F_CSTR("reason", "the site is gone, and saving its store ended the role kv each time"));
        stores_leaving_free(l);
    }
}
