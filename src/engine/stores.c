/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <assert.h>

#include "engine/master.h"
#include "platform/sysinfo.h"

/*
 * A site's store is made before its first generation and stays until the server ends, so that what
 * is in it outlives deploys, resets and the death of any other process. All stores are alike, as
 * the server was started: a reload changes none.
 */

enum { STORES_SHARE = 4 }; /* without kv.memory_limit: at most 1/4 of the machine's memory */

static_assert(
    KV_NOEVICTION == 0 && KV_ALLKEYS_LRU == 1 && KV_VOLATILE_LRU == 2 && KV_ALLKEYS_RANDOM == 3,
    "the order of the names of kv.eviction_policy");

int stores_init(struct master *m, struct err *err)
{
    const struct config_kv *kv = &m->config->kv;
    struct sysinfo_memory machine = sysinfo_memory(NULL);
    struct conf_mark mark = conf_mark_of(&m->config->conf, "kv.memory_limit");
    uint64_t limit = kv->memory_limit;

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
    m->kv_options =
        (struct kv_options){.memory = (size_t)limit, .policy = (enum kv_policy)kv->eviction_policy};
    m->kv_config = config_ref(m->config);
    return 0;
}

void stores_fini(struct master *m)
{
    config_unref(m->kv_config);
}

static void stores_tell_role(struct site *s)
{
    struct ipc_out out;

    ipc_begin(&out, "site");
    ipc_add(&out, "site", str_c(s->name));
    ipc_add_fd(&out, s->kv_fd);
    roles_tell_kv(s->master, &out);
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
    list_each (it, &m->sites) {
        struct site *s = CONTAINER_OF(it, struct site, node);

        if (s->kv_fd >= 0)
            stores_tell_role(s);
    }
}

int stores_open(struct site *s, struct err *err)
{
    const struct master *m = s->master;
    int rc;

    if (!m->kv_config || s->kv_fd >= 0)
        return 0;
    rc = kv_store_create(&m->kv_options, &s->kv_fd);
    if (rc)
        return err_set(err, rc, "the key-value store (kv.memory_limit = %zu): %s",
            m->kv_options.memory, err_text(rc));
    stores_tell_role(s);
    return 0;
}
