/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "core/timefmt.h"
#include "platform/clock.h"
#include "platform/fs.h"

enum {
    LINE_MAX_BYTES =
        4096, /* PIPE_BUF: a pipe takes such a line whole, never mixed with another's */
    VALUE_MAX = 2048,
    REPEAT_SLOTS = 64,
    REPEAT_WINDOW_MS = 1000,
    REPEAT_BURST = 50, /* lines of one event and level in one window */
};

/* Lines of one event in the running window. An event that collides with a live slot is not limited.
 */
struct repeat {
    char event[48];
    enum log_level level;
    uint64_t start_ms;
    uint32_t seen;
    uint32_t held; /* of these, not written */
};

/* The sink: the one mutable global. level is read without the lock. */
static struct {
    pthread_mutex_t lock;
    _Atomic int level;
    int fd;
    enum log_format format;
    bool journal;
    char role[32];
    uint64_t dropped;
    uint32_t held; /* sum over the slots */
    struct repeat repeats[REPEAT_SLOTS];
} sink = {.lock = PTHREAD_MUTEX_INITIALIZER, .level = LOG_INFO, .fd = 2, .role = "ephpm"};

static const char *const level_names[] = {"alert", "error", "warn", "info", "debug", "trace"};
/* Syslog priorities for journald. */
static const char journal_digit[] = {'1', '3', '4', '6', '7', '7'};

/* $JOURNAL_STREAM is "device:inode" of the stream that systemd gave us as standard error. */
static bool is_journal(int fd)
{
    const char *env = getenv("JOURNAL_STREAM");
    struct fs_stat st;
    char own[64];

    if (fd != 2 || !env || fs_fstat(fd, &st) != 0)
        return false;
    (void)snprintf(
        own, sizeof(own), "%llu:%llu", (unsigned long long)st.dev, (unsigned long long)st.ino);
    return strcmp(env, own) == 0;
}

static void copy_role(const char *role)
{
    (void)snprintf(sink.role, sizeof(sink.role), "%s", role);
}

void log_init(const char *role, int fd, enum log_format format, enum log_level level)
{
    bool journal = is_journal(fd);

    pthread_mutex_lock(&sink.lock);
    copy_role(role);
    sink.fd = fd;
    sink.format = format;
    sink.journal = journal;
    sink.dropped = 0;
    sink.held = 0;
    memset(sink.repeats, 0, sizeof(sink.repeats));
    pthread_mutex_unlock(&sink.lock);
    log_set_level(level);
}

void log_set_level(enum log_level level)
{
    /* Relaxed: the level guards no other data. */
    atomic_store_explicit(&sink.level, (int)level, memory_order_relaxed);
}

void log_set_role(const char *role)
{
    pthread_mutex_lock(&sink.lock);
    copy_role(role);
    pthread_mutex_unlock(&sink.lock);
}

enum log_level log_get_level(void)
{
    return (enum log_level)atomic_load_explicit(&sink.level, memory_order_relaxed);
}

int log_level_parse(struct str s, enum log_level *out)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
        if (str_eq(s, str_c(level_names[i]))) {
            *out = (enum log_level)i;
            return 0;
        }
    }
    return ERR_INVAL;
}

const char *log_level_name(enum log_level level)
{
    return (size_t)level < ARRAY_LEN(level_names) ? level_names[level] : "unknown";
}

bool log_enabled(enum log_level level)
{
    return level <= log_get_level();
}

/* C1 control characters (U+0080-U+009F, "\xc2\x80".. in UTF-8) steer terminals as ESC does. */
static bool is_c1(struct str s, size_t i)
{
    return (unsigned char)s.p[i] == 0xc2 && i + 1 < s.len && (unsigned char)s.p[i + 1] < 0xa0;
}

static bool is_plain(struct str s)
{
    if (s.len == 0 || !str_is_utf8(s))
        return false;
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c <= ' ' || c == '"' || c == '\\' || c == '=' || c == 0x7f || is_c1(s, i))
            return false;
    }
    return true;
}

static void add_escaped(struct buf *b, struct str s)
{
    bool utf8 = str_is_utf8(s);

    buf_add_char(b, '"');
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (buf_add_escape(b, (char)c))
            continue;
        if (c < 0x20 || c == 0x7f || (c >= 0x80 && !utf8)) {
            buf_printf(b, "\\x%02x", c);
        } else if (is_c1(s, i)) {
            buf_printf(b, "\\x%02x\\x%02x", c, (unsigned char)s.p[i + 1]);
            i++;
        } else {
            buf_add_char(b, (char)c);
        }
    }
    buf_add_char(b, '"');
}

/* At most VALUE_MAX bytes, cut between characters. */
static struct str cut(struct str s)
{
    size_t n = VALUE_MAX;

    if (s.len <= n)
        return s;
    while (n > VALUE_MAX - 4 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
        n--;
    return str_n(s.p, n);
}

static void add_value(struct buf *b, const struct log_field *f, bool json)
{
    switch (f->kind) {
    case LOG_KIND_INT:
        buf_printf(b, "%lld", (long long)f->i);
        break;
    case LOG_KIND_UINT:
        buf_add_u64(b, f->u);
        break;
    case LOG_KIND_FLOAT:
        /* JSON has no word for infinities and not-a-number. */
        if (f->f - f->f != 0)
            buf_add_lit(b, "null");
        else
            buf_printf(b, "%.6g", f->f);
        break;
    case LOG_KIND_BOOL:
        buf_add_str(b, f->u ? str_c("true") : str_c("false"));
        break;
    case LOG_KIND_STR:
    case LOG_KIND_END:
        if (json)
            buf_add_json(b, cut(f->s));
        else if (is_plain(cut(f->s)))
            buf_add_str(b, cut(f->s));
        else
            add_escaped(b, cut(f->s));
        break;
    }
}

static bool is_absent(const struct log_field *f)
{
    return f->kind == LOG_KIND_STR && !f->s.p;
}

static void add_head(struct buf *b, enum log_level level, const char *event)
{
    char when[TIMEFMT_MAX];

    timefmt_iso_ms(clock_wall_us(), when);
    if (sink.journal)
        buf_printf(b, "<%c>", journal_digit[level]);
    if (sink.format == LOG_JSON) {
        buf_printf(b, "{\"time\":\"%s\",\"level\":\"%s\",\"role\":", when, level_names[level]);
        buf_add_json(b, str_c(sink.role));
        buf_add_lit(b, ",\"event\":");
        buf_add_json(b, str_c(event));
    } else {
        buf_printf(b, "%s %s %s: %s", when, level_names[level], sink.role, event);
    }
}

static void add_field(struct buf *b, const struct log_field *f)
{
    bool json = sink.format == LOG_JSON;

    if (is_absent(f))
        return;
    if (json) {
        buf_add_char(b, ',');
        buf_add_json(b, str_c(f->key));
        buf_add_char(b, ':');
    } else {
        buf_printf(b, " %s=", f->key);
    }
    add_value(b, f, json);
}

/* Writes one line. Fields that would make it too long are left out, and the line says so. */
static void write_line(
    enum log_level level, const char *event, const struct log_field *fields, uint64_t repeated)
{
    struct buf b = {0};
    bool was_cut = false;

    add_head(&b, level, event);
    for (const struct log_field *f = fields; f && f->kind != LOG_KIND_END; f++) {
        size_t before = b.len;

        add_field(&b, f);
        if (b.len > LINE_MAX_BYTES - 128) {
            b.len = before;
            was_cut = true;
        }
    }
    if (was_cut)
        add_field(&b, &F_BOOL("cut", true));
    if (repeated)
        add_field(&b, &F_UINT("repeated", repeated));
    if (sink.dropped)
        add_field(&b, &F_UINT("dropped_lines", sink.dropped));
    if (sink.format == LOG_JSON)
        buf_add_char(&b, '}');
    buf_add_char(&b, '\n');
    if (fs_write_ready(sink.fd) && fs_write(sink.fd, b.p, b.len) == 0)
        sink.dropped = 0;
    else
        sink.dropped++;
    buf_fini(&b);
}

static struct repeat *repeat_slot(enum log_level level, const char *event)
{
    uint32_t h = 2166136261u ^ (uint32_t)level;

    for (const char *p = event; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    return &sink.repeats[h % REPEAT_SLOTS];
}

/* Ends a slot's window; *held is what it kept back. */
static void repeat_close(struct repeat *r, uint64_t *held)
{
    *held = r->held;
    sink.held -= r->held;
    r->held = 0;
    r->seen = 0;
}

/* Reports bursts that ended without another line of the same event. */
static void flush_repeats(uint64_t now, const struct repeat *except)
{
    for (size_t i = 0; sink.held && i < REPEAT_SLOTS; i++) {
        struct repeat *r = &sink.repeats[i];
        uint64_t held;

        if (r == except || !r->held || now - r->start_ms < REPEAT_WINDOW_MS)
            continue;
        repeat_close(r, &held);
        write_line(r->level, r->event, NULL, held);
    }
}

/* May this line be written now? *held counts lines kept back before it. alert always may. */
static bool repeat_pass(enum log_level level, const char *event, uint64_t *held)
{
    struct repeat *r = repeat_slot(level, event);
    uint64_t now = clock_mono_ms();
    bool same = r->level == level && strncmp(r->event, event, sizeof(r->event) - 1) == 0;

    *held = 0;
    if (sink.held)
        flush_repeats(now, same ? r : NULL);
    if (level == LOG_ALERT || level >= LOG_DEBUG)
        return true;
    if (!same && r->seen && now - r->start_ms < REPEAT_WINDOW_MS)
        return true;
    if (!same || !r->seen || now - r->start_ms >= REPEAT_WINDOW_MS) {
        repeat_close(r, held);
        (void)snprintf(r->event, sizeof(r->event), "%s", event);
        r->level = level;
        r->start_ms = now;
    }
    if (++r->seen <= REPEAT_BURST)
        return true;
    r->held++;
    sink.held++;
    return false;
}

void log_emit(enum log_level level, const char *event, const struct log_field *fields)
{
    uint64_t held;

    pthread_mutex_lock(&sink.lock);
    if (repeat_pass(level, event, &held))
        write_line(level, event, fields, held);
    pthread_mutex_unlock(&sink.lock);
}
