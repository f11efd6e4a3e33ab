/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "php/compat.h"

#include "kv/collections.h"
#include "kv/keys.h"
#include "php/internal.h"
#include "platform/clock.h"

/*
 * The functions ephpm_kv_...() of ephpm.stub.php, on the store that the host gave at startup; there
 * are none without one.
 *
 * Strings, ints and floats are stored as such, arrays and objects as igbinary makes them if that is
 * loaded, anything else as serialize() makes it. PHP code runs only before or after a call of the
 * store (serializers, exceptions, bailouts), never within one.
 */

#define BUFFER_KEPT (1u << 20) /* bytes; a larger buffer is freed after its use */
#define MS_PER_S    1000
#define NS_PER_MS   1000000u
#define NS_PER_S    1000000000u
#define WAIT_MS     200 /* at once, before it is seen whether the request shall end */

static struct buf buffer; /* of values read; its content is used before the next call */

static void buffer_done(void)
{
    if (buffer.cap > BUFFER_KEPT)
        buf_fini(&buffer);
}

static struct str str_of(const zend_string *s)
{
    return str_n(ZSTR_VAL(s), ZSTR_LEN(s));
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A function of the extension igbinary, NULL without that. */
static zend_function *igbinary(const char *name, size_t len)
{
    zend_function *fn = zend_hash_str_find_ptr(CG(function_table), name, len);

    return fn && fn->type == ZEND_INTERNAL_FUNCTION ? fn : NULL;
}

/* What igbinary makes starts with a zero byte, what serialize() makes with a letter. */
static bool is_of_igbinary(struct str bytes)
{
    return bytes.len && bytes.p[0] == '\0';
}

static void pack(zend_function *fn, zval *value, smart_str *out)
{
    zval packed;

    ZVAL_UNDEF(&packed);
    zend_call_known_function(fn, NULL, NULL, &packed, 1, value, NULL);
    if (Z_TYPE(packed) == IS_STRING && is_of_igbinary(str_of(Z_STR(packed))))
        out->s = Z_STR(packed);
    else
        zval_ptr_dtor(&packed);
}

/* null, after a warning, without the extension. */
static void unpack(zend_string *bytes, zval *out)
{
    zend_function *fn = igbinary(ZEND_STRL("igbinary_unserialize"));
    zval packed;

    ZVAL_NULL(out);
    if (!fn) {
        zend_error(E_WARNING, "The value was stored with igbinary, which is not loaded");
        return;
    }
    ZVAL_STR_COPY(&packed, bytes);
    zend_call_known_function(fn, NULL, NULL, out, 1, &packed, NULL);
    zval_ptr_dtor(&packed);
    if (Z_ISUNDEF_P(out) || Z_TYPE_P(out) == IS_FALSE)
        ZVAL_NULL(out);
}

static void serialize(zval *value, smart_str *out)
{
    zend_function *fn = Z_TYPE_P(value) == IS_ARRAY || Z_TYPE_P(value) == IS_OBJECT
                            ? igbinary(ZEND_STRL("igbinary_serialize"))
                            : NULL;
    php_serialize_data_t state;

    if (fn) {
        pack(fn, value, out);
        return;
    }
    PHP_VAR_SERIALIZE_INIT(state);
    php_var_serialize(out, value, &state);
    PHP_VAR_SERIALIZE_DESTROY(state);
    if (out->s)
        smart_str_0(out);
}

/* What v holds borrows from value or *serialized. False: the serializer threw. */
static bool to_store(zval *value, struct kv_value *v, smart_str *serialized)
{
    ZVAL_DEREF(value);
    switch (Z_TYPE_P(value)) {
    case IS_LONG:
        *v = (struct kv_value){.type = KV_INT, .i = Z_LVAL_P(value)};
        return true;
    case IS_DOUBLE:
        *v = (struct kv_value){.type = KV_FLOAT, .f = Z_DVAL_P(value)};
        return true;
    case IS_STRING:
        *v = (struct kv_value){.type = KV_STRING, .bytes = str_of(Z_STR_P(value))};
        return true;
    default:
        break;
    }
    serialize(value, serialized);
    if (EG(exception) || !serialized->s)
        return false;
    *v = (struct kv_value){.type = KV_SERIALIZED, .bytes = str_of(serialized->s)};
    return true;
}

static void unserialize(zend_string *bytes, zval *out)
{
    const unsigned char *p = (const unsigned char *)ZSTR_VAL(bytes);
    php_unserialize_data_t state;
    zval value;

    ZVAL_UNDEF(&value);
    PHP_VAR_UNSERIALIZE_INIT(state);
    if (php_var_unserialize(&value, &p, p + ZSTR_LEN(bytes), &state))
        ZVAL_COPY_DEREF(out, &value);
    else
        ZVAL_NULL(out);
    PHP_VAR_UNSERIALIZE_DESTROY(state);
    zval_ptr_dtor(&value);
}

/* null for bytes that cannot be unserialized, after PHP's own warning. False: memory ran out. */
static bool to_php(const struct kv_value *v, zval *out)
{
    zend_string *copy;

    ZVAL_NULL(out);
    switch (v->type) {
    case KV_INT:
        ZVAL_LONG(out, v->i);
        return true;
    case KV_FLOAT:
        ZVAL_DOUBLE(out, v->f);
        return true;
    case KV_STRING:
    case KV_SERIALIZED:
        break;
    case KV_HASH:
    case KV_LIST:
    case KV_SET:
    case KV_ZSET:
        return true;
    }
    /* The bytes are copied: unserializing may run code that reads another key into the buffer. */
    copy = compat_string(v->bytes.p, v->bytes.len);
    if (!copy)
        return false;
    if (v->type == KV_STRING) {
        ZVAL_STR(out, copy);
        return true;
    }
    if (is_of_igbinary(v->bytes))
        unpack(copy, out);
    else
        unserialize(copy, out);
    zend_string_release(copy);
    return true;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static bool check_key(const zend_string *key, uint32_t arg)
{
    if (ZSTR_LEN(key) <= KV_KEY_MAX)
        return true;
    zend_argument_value_error(arg, "must not be longer than %u bytes", KV_KEY_MAX);
    return false;
}

static bool check_ttl(zend_long ttl, uint32_t arg)
{
    if (ttl >= 0)
        return true;
    zend_argument_value_error(arg, "must be greater than or equal to 0");
    return false;
}

/* Seconds as ms, the largest there are for too many. */
static int64_t to_ms(zend_long seconds)
{
    int64_t ms;

    return __builtin_mul_overflow((int64_t)seconds, MS_PER_S, &ms) ? INT64_MAX : ms;
}

/* What is left to say of a failed write: nothing of memory being full, which is false. */
static void check_value(int r, uint32_t arg)
{
    if (r == ERR_TOOBIG)
        zend_argument_value_error(arg, "must not be larger than %u bytes", KV_VALUE_MAX);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* False: memory ran out. */
static bool get_into(const zend_string *key, zval *out)
{
    struct kv_value v;
    bool done = true;

    ZVAL_NULL(out);
    if (kv_store_get(embed_g.opt.kv, str_of(key), &buffer, &v) == 0)
        done = to_php(&v, out);
    buffer_done();
    return done;
}

static ZEND_FUNCTION(ephpm_kv_get)
{
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    (void)get_into(key, return_value); /* PHP ends the script */
}

static ZEND_FUNCTION(ephpm_kv_exists)
{
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    RETURN_BOOL(kv_store_exists(embed_g.opt.kv, str_of(key)));
}

static ZEND_FUNCTION(ephpm_kv_mget)
{
    HashTable *keys;
    zend_string *name;
    zend_ulong index;
    zval *each;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_ARRAY_HT(keys)
    ZEND_PARSE_PARAMETERS_END();
    array_init_size(return_value, zend_hash_num_elements(keys));
    ZEND_HASH_FOREACH_KEY_VAL(keys, index, name, each)
    {
        zend_string *key, *tmp;
        bool more = false;
        zval value;

        ZVAL_DEREF(each);
        if (Z_TYPE_P(each) != IS_STRING && Z_TYPE_P(each) != IS_LONG) {
            zend_argument_type_error(
                1, "must be an array of strings, %s in it", zend_zval_type_name(each));
            RETURN_THROWS();
        }
        key = zval_get_tmp_string(each, &tmp);
        ZVAL_NULL(&value);
        if (check_key(key, 1))
            more = get_into(key, &value);
        zend_tmp_string_release(tmp);
        if (EG(exception) || !more) {
            zval_ptr_dtor(&value);
            return;
        }
        if (name)
            zend_hash_update(Z_ARRVAL_P(return_value), name, &value);
        else
            zend_hash_index_update(Z_ARRVAL_P(return_value), index, &value);
    }
    ZEND_HASH_FOREACH_END();
}

/* The ttl in ms: -1 without a deadline, -2 without the key. */
static int64_t ttl_of(const zend_string *key)
{
    int64_t ms;

    return kv_store_ttl(embed_g.opt.kv, str_of(key), &ms) == 0 ? ms : -2;
}

static ZEND_FUNCTION(ephpm_kv_ttl)
{
    zend_string *key;
    int64_t ms;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    ms = ttl_of(key);
    RETURN_LONG(ms < 0 ? ms : ms / MS_PER_S + (ms % MS_PER_S != 0));
}

static ZEND_FUNCTION(ephpm_kv_pttl)
{
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    RETURN_LONG(ttl_of(key));
}

struct listing {
    zval *array;
    zend_long left;
};

/* Memory may run out here, which does not return; the store is not in the midst of anything. */
static bool add_key(void *arg, struct str key)
{
    struct listing *l = arg;
    zend_string *copy = compat_string(key.p, key.len);

    if (!copy)
        l->left = 0;
    else if (add_next_index_str(l->array, copy) == SUCCESS)
        l->left--;
    return l->left > 0;
}

static ZEND_FUNCTION(ephpm_kv_keys)
{
    struct listing l = {.array = return_value, .left = 1000};
    zend_string *prefix = zend_empty_string;
    struct buf pattern = {0};
    uint64_t cursor = 0;

    ZEND_PARSE_PARAMETERS_START(0, 2)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR(prefix)
    Z_PARAM_LONG(l.left)
    ZEND_PARSE_PARAMETERS_END();
    if (l.left < 1) {
        zend_argument_value_error(2, "must be greater than 0");
        RETURN_THROWS();
    }
    array_init(return_value);
    if (ZSTR_LEN(prefix) > KV_KEY_MAX) /* no key starts with it */
        return;
    for (size_t i = 0; i < ZSTR_LEN(prefix); i++) {
        buf_add_char(&pattern, '\\');
        buf_add_char(&pattern, ZSTR_VAL(prefix)[i]);
    }
    buf_add_char(&pattern, '*');
    do {
        kv_store_scan(embed_g.opt.kv, &cursor, buf_str(&pattern), 1000, add_key, &l);
    } while (cursor && l.left > 0);
    buf_fini(&pattern);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Sets one key; false when it threw or could not. */
static bool set(const zend_string *key, zval *value, unsigned flags, zend_long ttl, uint32_t arg)
{
    smart_str serialized = {0};
    struct kv_value v;
    int r = ERR_INVAL;

    if (to_store(value, &v, &serialized)) {
        r = kv_store_set(embed_g.opt.kv, str_of(key), &v, flags, to_ms(ttl));
        check_value(r, arg);
    }
    smart_str_free(&serialized);
    return r == 0;
}

static void set_function(INTERNAL_FUNCTION_PARAMETERS, unsigned flags)
{
    zend_string *key;
    zval *value;
    zend_long ttl = 0;

    ZEND_PARSE_PARAMETERS_START(2, 3)
    Z_PARAM_STR(key)
    Z_PARAM_ZVAL(value)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1) || !check_ttl(ttl, 3))
        RETURN_THROWS();
    RETURN_BOOL(set(key, value, flags, ttl, 2));
}

static ZEND_FUNCTION(ephpm_kv_set)
{
    set_function(INTERNAL_FUNCTION_PARAM_PASSTHRU, 0);
}

static ZEND_FUNCTION(ephpm_kv_setnx)
{
    set_function(INTERNAL_FUNCTION_PARAM_PASSTHRU, KV_ONLY_NEW);
}

/* What is being set at once. All of it is PHP's memory: serializers may end the request. */
struct batch {
    struct kv_pair *pairs; /* borrow from items */
    struct item {
        zend_string *key;
        zval value; /* kept, since another one's serializer may change what the array refers to */
        smart_str serialized;
    } *items;
    uint32_t n;
};

/* False: it threw. Takes the key. */
static bool add_pair(struct batch *b, zend_string *key, zval *value, zend_long ttl)
{
    struct item *item = &b->items[b->n];
    struct kv_pair *pair = &b->pairs[b->n++];

    *item = (struct item){.key = key};
    ZVAL_COPY_DEREF(&item->value, value);
    *pair = (struct kv_pair){.key = str_of(key), .ttl = to_ms(ttl)};
    return check_key(key, 1) && to_store(&item->value, &pair->value, &item->serialized);
}

static void batch_free(struct batch *b)
{
    for (uint32_t i = 0; i < b->n; i++) {
        zend_string_release(b->items[i].key);
        zval_ptr_dtor(&b->items[i].value);
        smart_str_free(&b->items[i].serialized);
    }
    efree(b->items);
    efree(b->pairs);
}

static ZEND_FUNCTION(ephpm_kv_mset)
{
    struct batch b = {0};
    HashTable *values;
    zend_long ttl = 0;
    zend_string *name;
    zend_ulong index;
    zval *value;
    uint32_t n;
    int r = 0;

    ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_ARRAY_HT(values)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_ttl(ttl, 2))
        RETURN_THROWS();
    n = zend_hash_num_elements(values);
    b.pairs = safe_emalloc(MAX(n, 1), sizeof(*b.pairs), 0);
    b.items = safe_emalloc(MAX(n, 1), sizeof(*b.items), 0);
    ZEND_HASH_FOREACH_KEY_VAL(values, index, name, value)
    {
        zend_string *key = name ? zend_string_copy(name) : zend_long_to_str((zend_long)index);

        if (!add_pair(&b, key, value, ttl)) {
            r = ERR_INVAL;
            break;
        }
    }
    ZEND_HASH_FOREACH_END();
    if (r == 0) {
        r = kv_store_mset(embed_g.opt.kv, b.pairs, b.n, 0);
        check_value(r, 1);
    }
    batch_free(&b);
    RETURN_BOOL(r == 0);
}

static ZEND_FUNCTION(ephpm_kv_cas)
{
    smart_str of_expected = {0}, of_value = {0};
    struct kv_value expected, v;
    zval *old, *new;
    zend_string *key;
    zend_long ttl = 0;
    int r = ERR_INVAL;

    ZEND_PARSE_PARAMETERS_START(3, 4)
    Z_PARAM_STR(key)
    Z_PARAM_ZVAL(old)
    Z_PARAM_ZVAL(new)
    Z_PARAM_OPTIONAL
    Z_PARAM_LONG(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1) || !check_ttl(ttl, 4))
        RETURN_THROWS();
    if (to_store(old, &expected, &of_expected) && to_store(new, &v, &of_value)) {
        r = kv_store_cas(embed_g.opt.kv, str_of(key), Z_TYPE_P(old) == IS_NULL ? NULL : &expected,
            Z_TYPE_P(new) == IS_NULL ? NULL : &v, to_ms(ttl));
        check_value(r, 3);
    }
    smart_str_free(&of_expected);
    smart_str_free(&of_value);
    RETURN_BOOL(r == 0);
}

static ZEND_FUNCTION(ephpm_kv_del)
{
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    RETURN_LONG(kv_store_del(embed_g.opt.kv, str_of(key)) == 0);
}

static ZEND_FUNCTION(ephpm_kv_expire)
{
    zend_string *key;
    zend_long ttl;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(key)
    Z_PARAM_LONG(ttl)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1) || !check_ttl(ttl, 2))
        RETURN_THROWS();
    RETURN_BOOL(kv_store_expire(embed_g.opt.kv, str_of(key), to_ms(ttl)) == 0);
}

static ZEND_FUNCTION(ephpm_kv_flush_all)
{
    ZEND_PARSE_PARAMETERS_NONE();
    kv_store_flush(embed_g.opt.kv);
    RETURN_TRUE;
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static bool check_field(const zend_string *field, uint32_t arg)
{
    if (ZSTR_LEN(field) <= KV_MEMBER_MAX)
        return true;
    zend_argument_value_error(arg, "must not be longer than %u bytes", KV_MEMBER_MAX);
    return false;
}

static ZEND_FUNCTION(ephpm_kv_hset)
{
    smart_str serialized = {0};
    zend_string *key, *field;
    struct kv_item item;
    size_t added;
    zval *value;
    int r = ERR_INVAL;

    ZEND_PARSE_PARAMETERS_START(3, 3)
    Z_PARAM_STR(key)
    Z_PARAM_STR(field)
    Z_PARAM_ZVAL(value)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1) || !check_field(field, 2))
        RETURN_THROWS();
    item = (struct kv_item){.member = str_of(field)};
    if (to_store(value, &item.value, &serialized)) {
        r = kv_hash_set(embed_g.opt.kv, str_of(key), &item, 1, 0, &added);
        check_value(r, 3);
    }
    smart_str_free(&serialized);
    RETURN_BOOL(r == 0);
}

static ZEND_FUNCTION(ephpm_kv_hget)
{
    zend_string *key, *field;
    struct kv_value v;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(key)
    Z_PARAM_STR(field)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1) || !check_field(field, 2))
        RETURN_THROWS();
    if (kv_hash_get(embed_g.opt.kv, str_of(key), str_of(field), &buffer, &v) == 0)
        (void)to_php(&v, return_value); /* PHP ends the script */
    buffer_done();
}

static ZEND_FUNCTION(ephpm_kv_hdel)
{
    zend_string *key, *field;
    struct str member;
    size_t removed = 0;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(key)
    Z_PARAM_STR(field)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1) || !check_field(field, 2))
        RETURN_THROWS();
    member = str_of(field);
    if (kv_coll_rem(embed_g.opt.kv, str_of(key), KV_HASH, &member, 1, &removed) != 0)
        removed = 0;
    RETURN_LONG((zend_long)removed);
}

/* Unserializing may run code that uses the buffer: the values are made from a copy. */
static ZEND_FUNCTION(ephpm_kv_hgetall)
{
    struct kv_items items = {0};
    struct kv_item item;
    zend_string *key, *copy, *member;
    bool more;
    zval value;
    int r;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    array_init(return_value);
    items.bytes = buffer;
    r = kv_coll_all(embed_g.opt.kv, str_of(key), KV_HASH, &items);
    buffer = items.bytes;
    if (r) {
        buffer_done();
        return;
    }
    copy = compat_string(buffer.p ? buffer.p : "", buffer.len);
    buffer_done();
    if (!copy)
        return;
    items.bytes = (struct buf){.p = ZSTR_VAL(copy), .len = ZSTR_LEN(copy)};
    for (more = true; more && !EG(exception) && kv_items_next(&items, &item);) {
        more = to_php(&item.value, &value);
        member = compat_string(item.member.p, item.member.len);
        if (!member)
            break;
        zend_symtable_update(Z_ARRVAL_P(return_value), member, &value);
        zend_string_release(member);
    }
    zend_string_release(copy);
}

/* ---- counting -------------------------------------------------------------------------------- */

/* The sum, or false: the value is no integer, or the sum does not fit. */
static void add(const zend_string *key, zend_long by, zval *return_value)
{
    int64_t sum;

    if (!check_key(key, 1))
        RETURN_THROWS();
    if (kv_store_incr(embed_g.opt.kv, str_of(key), by, &sum) != 0)
        RETURN_FALSE;
    RETURN_LONG(sum);
}

static void count_function(INTERNAL_FUNCTION_PARAMETERS, zend_long by)
{
    zend_string *key;

    ZEND_PARSE_PARAMETERS_START(1, 1)
    Z_PARAM_STR(key)
    ZEND_PARSE_PARAMETERS_END();
    add(key, by, return_value);
}

static ZEND_FUNCTION(ephpm_kv_incr)
{
    count_function(INTERNAL_FUNCTION_PARAM_PASSTHRU, 1);
}

static ZEND_FUNCTION(ephpm_kv_decr)
{
    count_function(INTERNAL_FUNCTION_PARAM_PASSTHRU, -1);
}

static ZEND_FUNCTION(ephpm_kv_incr_by)
{
    zend_string *key;
    zend_long by;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(key)
    Z_PARAM_LONG(by)
    ZEND_PARSE_PARAMETERS_END();
    add(key, by, return_value);
}

static ZEND_FUNCTION(ephpm_kv_decr_by)
{
    zend_string *key;
    zend_long by;

    ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_STR(key)
    Z_PARAM_LONG(by)
    ZEND_PARSE_PARAMETERS_END();
    if (by == ZEND_LONG_MIN)
        RETURN_FALSE;
    add(key, -by, return_value);
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* A signal may mean that the request shall end; the engine looks at that when we return. */
static bool shall_stop(void)
{
    return zend_atomic_bool_load_ex(&EG(vm_interrupt));
}

/* PHP's own limit counts CPU time, and waiting takes none. For a script that waits again and again
 * it would be no limit, so waiting counts as if it did. */
static void count_waiting(uint64_t ns)
{
    embed_g.waited_ns += ns;
    if (EG(timeout_seconds) <= 0 || embed_g.waited_ns / NS_PER_S < (uint64_t)EG(timeout_seconds))
        return;
    embed_g.waited_ns = 0;
    embed_timer_expire();
}

/* Waits in pieces, so that a client that has gone, or the limit of execution time, ends it. */
static int wait_until(
    struct str key, uint64_t last, uint64_t end, struct kv_value *v, uint64_t *version)
{
    uint64_t now = clock_mono_ns(), before;
    int r, left;

    do {
        before = now;
        left = before < end ? (int)MIN((end - before) / NS_PER_MS + 1, (uint64_t)WAIT_MS) : 0;
        r = kv_store_wait(embed_g.opt.kv, key, last, left, &buffer, v, version);
        if (r != ERR_TIMEOUT && r != ERR_INTR)
            return r;
        now = clock_mono_ns();
        count_waiting(now - before);
        embed_output_check_client();
    } while (now < end && !shall_stop());
    return r;
}

static ZEND_FUNCTION(ephpm_kv_wait)
{
    zend_string *key;
    zend_long last, timeout;
    uint64_t version, end;
    struct kv_value v;
    zval value;
    int r;

    ZEND_PARSE_PARAMETERS_START(3, 3)
    Z_PARAM_STR(key)
    Z_PARAM_LONG(last)
    Z_PARAM_LONG(timeout)
    ZEND_PARSE_PARAMETERS_END();
    if (!check_key(key, 1))
        RETURN_THROWS();
    end = clock_mono_ns() + (uint64_t)MAX(0, MIN(timeout, INT32_MAX)) * NS_PER_MS;
    r = wait_until(str_of(key), (uint64_t)MAX(last, 0), end, &v, &version);
    if (r != 0 && r != ERR_NOTFOUND)
        RETURN_FALSE;
    ZVAL_NULL(&value);
    if (r == 0)
        (void)to_php(&v, &value); /* PHP ends the script */
    buffer_done();
    array_init(return_value);
    add_assoc_zval(return_value, "value", &value);
    add_assoc_long(return_value, "version", (zend_long)version);
}

/* ---- registration ---------------------------------------------------------------------------- */

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_get, 0, 1, IS_MIXED, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_set, 0, 2, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_cas, 0, 3, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, expected, IS_MIXED, 0)
ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_long, 0, 1, IS_LONG, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_exists, 0, 1, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_count, 0, 1, MAY_BE_LONG | MAY_BE_FALSE)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_count_by, 0, 2, MAY_BE_LONG | MAY_BE_FALSE)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, delta, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_expire, 0, 2, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, ttl, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_mget, 0, 1, IS_ARRAY, 0)
ZEND_ARG_TYPE_INFO(0, keys, IS_ARRAY, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_mset, 0, 1, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, values, IS_ARRAY, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, ttl, IS_LONG, 0, "0")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_keys, 0, 0, IS_ARRAY, 0)
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, prefix, IS_STRING, 0, "\"\"")
ZEND_ARG_TYPE_INFO_WITH_DEFAULT_VALUE(0, limit, IS_LONG, 0, "1000")
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_hset, 0, 3, _IS_BOOL, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, field, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, value, IS_MIXED, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_hget, 0, 2, IS_MIXED, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, field, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_hdel, 0, 2, IS_LONG, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, field, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_hgetall, 0, 1, IS_ARRAY, 0)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_MASK_EX(arginfo_wait, 0, 3, MAY_BE_ARRAY | MAY_BE_FALSE)
ZEND_ARG_TYPE_INFO(0, key, IS_STRING, 0)
ZEND_ARG_TYPE_INFO(0, last_version, IS_LONG, 0)
ZEND_ARG_TYPE_INFO(0, timeout_ms, IS_LONG, 0)
ZEND_END_ARG_INFO()

ZEND_BEGIN_ARG_WITH_RETURN_TYPE_INFO_EX(arginfo_flush_all, 0, 0, _IS_BOOL, 0)
ZEND_END_ARG_INFO()

/* clang-format off: takes the rows for one expression */
static const zend_function_entry functions[] = {ZEND_FE(ephpm_kv_hset, arginfo_hset) ZEND_FE(
    ephpm_kv_hget, arginfo_hget) ZEND_FE(ephpm_kv_hdel, arginfo_hdel) ZEND_FE(ephpm_kv_hgetall,
    arginfo_hgetall) ZEND_FE(ephpm_kv_get, arginfo_get) ZEND_FE(ephpm_kv_set, arginfo_set)
        ZEND_FE(ephpm_kv_setnx, arginfo_set) ZEND_FE(ephpm_kv_del, arginfo_long)
            ZEND_FE(ephpm_kv_exists, arginfo_exists) ZEND_FE(ephpm_kv_incr, arginfo_count) ZEND_FE(
                ephpm_kv_decr, arginfo_count) ZEND_FE(ephpm_kv_incr_by, arginfo_count_by)
                ZEND_FE(ephpm_kv_decr_by, arginfo_count_by) ZEND_FE(ephpm_kv_expire, arginfo_expire)
                    ZEND_FE(ephpm_kv_ttl, arginfo_long) ZEND_FE(ephpm_kv_pttl, arginfo_long)
                        ZEND_FE(ephpm_kv_mget, arginfo_mget) ZEND_FE(ephpm_kv_mset, arginfo_mset)
                            ZEND_FE(ephpm_kv_cas, arginfo_cas) ZEND_FE(ephpm_kv_keys, arginfo_keys)
                                ZEND_FE(ephpm_kv_wait, arginfo_wait)
                                    ZEND_FE(ephpm_kv_flush_all, arginfo_flush_all) ZEND_FE_END};
/* clang-format on */

bool embed_kv_register(void)
{
    return !embed_g.opt.kv ||
           zend_register_functions(NULL, functions, NULL, MODULE_PERSISTENT) == SUCCESS;
}

void embed_kv_after_fork(void)
{
    if (embed_g.opt.kv)
        kv_store_after_fork(embed_g.opt.kv);
}
