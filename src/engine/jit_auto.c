/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "core/json.h"
#include "core/log.h"
#include "engine/ini.h"
#include "engine/master.h"
#include "platform/clock.h"
#include "platform/fs.h"
#include "platform/sysinfo.h"

/*
 * php.opcache_jit = "auto":
 *
 *   WAITING     a generation serves, with the JIT as it is without this; until the one before is
 *               gone and no operation runs
 *   STARTING    a second one of the same code is started without the JIT: an OP_TRIAL of deploy.c
 *   MEASURING   the front shares the requests between both (front_trial.c) and says what they cost
 *   DECIDED     the better one serves, the other drains; remembered for the revision
 *   UNDECIDED   the default serves: no time, no memory, no JIT
 *
 * Whatever else happens to the site (a deploy, a reload, a death) ends the measuring, and the
 * rival drains as any generation does; the generation that serves after it is measured anew.
 */
enum {
    JIT_AUTO_LOOK_MS = 250,   /* whether the measuring can begin */
    JIT_AUTO_RETRY_MS = 1000, /* after a rival failed, times the failures */
    JIT_AUTO_TRIES = 3,
    JIT_AUTO_SERVER_MB = 64, /* kept for the server itself, as in shape.c */
    JIT_AUTO_WORKER_MB = 64
};

static const char *const states[] = {
    "off", "waiting", "starting", "measuring", "decided", "undecided"};

/* Only one site in serve: dev has no JIT, and many sites would each need a second OPcache. */
static bool is_wanted(const struct config *cfg)
{
    return cfg->php.opcache_jit == CONFIG_JIT_AUTO && cfg->mode == CONFIG_SERVE &&
           !config_is_multi(cfg);
}

/* --- what is told ----------------------------------------------------------------------------- */

/* What the JIT saves, in per cent of the time without it; less than 0: it costs. */
static double saving(const struct trial_figures *f)
{
    double without = f->cost[TRIAL_WITHOUT];

    return without > 0 ? (without - f->cost[TRIAL_WITH]) * 100 / without : 0;
}

static double rounded(double v)
{
    return (double)(int64_t)(v * 10 + (v < 0 ? -.5 : .5)) / 10;
}

void jit_auto_write(const struct site *s, struct json_writer *w)
{
    const struct jit_auto *j = &s->jit;
    const struct trial_figures *f = &j->figures;

    json_open_object(w);
    json_add_str(w, "site", str_c(s->name));
    json_add_str(w, "state", str_c(states[j->state]));
    if (j->state == JIT_AUTO_DECIDED) {
        json_add_str(w, "jit", str_c(jit_choice_name(j->choice)));
        json_add_bool(w, "remembered", j->remembered);
    }
    if (j->reason[0])
        json_add_str(w, "reason", str_c(j->reason));
    if (j->rival)
        json_add_uint(w, "rival", j->rival->id);
    json_add_float(w, "on_us", rounded(f->cost[TRIAL_WITH] / 1000));
    json_add_float(w, "off_us", rounded(f->cost[TRIAL_WITHOUT] / 1000));
    json_add_float(w, "error_us", rounded(f->error / 1000));
    json_add_float(w, "saves_percent", rounded(saving(f)));
    json_add_uint(w, "on_samples", f->samples[TRIAL_WITH]);
    json_add_uint(w, "off_samples", f->samples[TRIAL_WITHOUT]);
    json_add_uint(w, "kinds", f->kinds);
    json_add_float(w, "covered_percent", rounded(f->covered * 100));
    json_add_uint(w, "requests", f->requests);
    json_add_float(w, "on_warmup_ms", rounded(f->warmup[TRIAL_WITH] / 1e6));
    json_add_float(w, "off_warmup_ms", rounded(f->warmup[TRIAL_WITHOUT] / 1e6));
    json_close_object(w);
}

void jit_auto_tell_front(struct site *s)
{
    struct buf json = {0};
    struct json_writer w = JSON_WRITER(&json);
    struct ipc_out out;

    if (s->jit.state != JIT_AUTO_OFF)
        jit_auto_write(s, &w);
    ipc_begin(&out, "jit_auto");
    ipc_add(&out, "site", str_c(s->name));
    ipc_add(&out, "json", buf_str(&json));
    roles_tell_front(s->master, &out);
    buf_fini(&json);
}

PRINTF_LIKE(3, 4)
static void set_state(struct site *s, enum jit_auto_state state, const char *fmt, ...)
{
    struct jit_auto *j = &s->jit;
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(j->reason, sizeof(j->reason), fmt, ap); /* a cut text is still the text */
    va_end(ap);
    j->state = state;
    j->rival = state == JIT_AUTO_MEASURING ? j->rival : NULL;
    net_timer_stop(j->timer);
    jit_auto_tell_front(s);
}

static void wait_for(struct site *s, uint64_t ms)
{
    set_state(s, JIT_AUTO_WAITING, "%s", "");
    net_timer_start(s->jit.timer, ms, 0);
}

static void log_figures(const struct site *s, const char *event)
{
    const struct jit_auto *j = &s->jit;
    const struct trial_figures *f = &j->figures;

    log_info(event, F_CSTR("site", s->name), F_UINT("generation", s->active ? s->active->id : 0),
        F_CSTR("state", states[j->state]),
        F_CSTR("jit", j->state == JIT_AUTO_DECIDED ? jit_choice_name(j->choice) : "default"),
        F_CSTR("reason", j->reason), F_FLOAT("on_us", rounded(f->cost[TRIAL_WITH] / 1000)),
        F_FLOAT("off_us", rounded(f->cost[TRIAL_WITHOUT] / 1000)),
        F_FLOAT("error_us", rounded(f->error / 1000)), F_FLOAT("saves_percent", rounded(saving(f))),
        F_UINT("on_samples", f->samples[TRIAL_WITH]),
        F_UINT("off_samples", f->samples[TRIAL_WITHOUT]), F_UINT("kinds", f->kinds),
        F_FLOAT("covered_percent", rounded(f->covered * 100)), F_UINT("requests", f->requests),
        F_FLOAT("on_warmup_ms", rounded(f->warmup[TRIAL_WITH] / 1e6)),
        F_FLOAT("off_warmup_ms", rounded(f->warmup[TRIAL_WITHOUT] / 1e6)),
        F_UINT("took_ms", j->began_ms ? clock_mono_ms() - j->began_ms : 0),
        F_BOOL("remembered", j->remembered));
}

/* It will not be measured, for a reason that an operator may want to change. */
PRINTF_LIKE(2, 3)
static void give_up(struct site *s, const char *fmt, ...)
{
    char text[sizeof(s->jit.reason)];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* as above */
    va_end(ap);
    set_state(s, JIT_AUTO_UNDECIDED, "%s", text);
    log_warn("jit_auto_not_measured", F_CSTR("site", s->name), F_CSTR("setting", "php.opcache_jit"),
        F_CSTR("reason", text), F_CSTR("jit", s->active ? s->active->jit_mode : "off"));
}

/* --- memory of earlier measurements ------------------------------------------------------------
 */

static int memory_path(const struct config *cfg, struct buf *out)
{
    int rc = 0;

    if (cfg->php.opcache_jit_auto_file) {
        buf_add_str(out, str_c(cfg->php.opcache_jit_auto_file));
    } else {
        rc = generation_base_dir(out);
        buf_add_lit(out, "/jit-auto.json");
    }
    return rc;
}

static uint64_t mix_file(uint64_t h, const char *path)
{
    struct fs_stat st;

    if (fs_stat(path, &st))
        return h;
    h = (h ^ st.ino) * UINT64_C(1099511628211);
    h = (h ^ (uint64_t)st.mtime_ns) * UINT64_C(1099511628211);
    return (h ^ st.size) * UINT64_C(1099511628211);
}

/* Other code at the same place shows in this, mostly; a deploy says so by itself. */
static uint64_t stamp_of(const struct generation *g, const struct config *cfg)
{
    uint64_t h = mix_file(UINT64_C(14695981039346656037), g->root);
    struct buf path = {0};

    for (size_t i = 0; i < cfg->server.index_files.n; i++) {
        buf_clear(&path);
        buf_printf(&path, "%s/%s", g->root, cfg->server.index_files.v[i]);
        h = mix_file(h, buf_cstr(&path));
    }
    buf_fini(&path);
    return h & INT64_MAX; /* JSON has no larger integers */
}

static void describe(struct generation *g, const struct config *cfg)
{
    struct fs_stat st = {0};

    (void)!fs_stat(g->master->php_exe, &st); /* it runs; without a date it is known by its name */
    (void)snprintf(g->known.php, sizeof(g->known.php), "%s %s %llu %lld", g->php_version,
        g->vm_kind, (unsigned long long)st.size, (long long)st.mtime_ns);
    (void)snprintf(g->known.jit, sizeof(g->known.jit), "%s %lld",
        g->shape.jit == CONFIG_JIT_TRACING ? "tracing" : "function",
        (long long)g->shape.jit_buffer_mb);
    g->known.stamp = stamp_of(g, cfg);
}

static struct jit_record record_of(const struct generation *g, const char *revision)
{
    return (struct jit_record){.site = str_c(g->site),
        .root = str_c(g->root),
        .revision = revision ? str_c(revision) : STR_NONE,
        .stamp = g->known.stamp,
        .php = str_c(g->known.php),
        .jit = str_c(g->known.jit)};
}

static void recall(struct generation *g, const struct config *cfg)
{
    struct site *s = g->of;
    bool same = s->op.kind == OP_RELOAD || s->op.kind == OP_RECOVER;
    const char *revision = s->op.revision ? s->op.revision : same ? s->revision : NULL;
    struct jit_record like = record_of(g, revision), *v;
    const struct jit_record *r = NULL;
    struct arena a = {0};
    struct buf path = {0};
    struct err err = {0};
    size_t n;
    int rc = memory_path(cfg, &path);

    if (rc)
        (void)err_set(&err, rc, "%s", err_text(rc));
    else
        rc = jit_memory_load(&a, buf_cstr(&path), &v, &n, &err);
    if (rc)
        log_warn(
            "jit_auto_file_failed", F_CSTR("path", buf_cstr(&path)), F_CSTR("error", err.text));
    else
        r = jit_memory_find(v, n, &like);
    if (r) {
        g->known.found = true;
        g->known.choice = r->choice;
        g->known.figures = r->figures;
        (void)snprintf(g->known.reason, sizeof(g->known.reason), STR_F, STR_A(r->reason));
        if (r->revision.p && !revision)
            s->op.revision_known = mem_dup_str(r->revision.p, r->revision.len);
    }
    buf_fini(&path);
    arena_fini(&a);
}

/* Keeps what was decided for the revision that serves. */
static void keep(struct site *s)
{
    const struct jit_auto *j = &s->jit;
    struct jit_record r = record_of(s->active, s->revision);
    struct buf path = {0};
    struct err err = {0};
    int rc = memory_path(s->master->config, &path);

    r.choice = j->choice;
    r.reason = str_c(j->reason);
    r.figures = j->figures;
    r.wall_us = clock_wall_us();
    if (rc)
        (void)err_set(&err, rc, "%s", err_text(rc));
    else
        rc = jit_memory_keep(buf_cstr(&path), &r, &err);
    if (rc)
        log_warn("jit_auto_file_failed", F_CSTR("path", buf_cstr(&path)), F_CSTR("error", err.text),
            F_CSTR("effect", "this revision will be measured again after a restart"));
    buf_fini(&path);
}

/* --- before a generation boots -----------------------------------------------------------------
 */

static void switch_off(struct generation *g, const char *reason)
{
    g->shape.jit = CONFIG_JIT_DISABLE;
    g->shape.jit_buffer_mb = 0;
    g->shape.jit_reason = reason;
}

void jit_auto_choose(struct generation *g, const struct config *cfg)
{
    struct site *s = g->of;
    const struct operation *op = &s->op;
    struct ini_site site = {0};
    bool in_place;

    if (!is_wanted(cfg) || s->op.next != g || g->shape.jit == CONFIG_JIT_DISABLE)
        return;
    describe(g, cfg);
    site.own = config_php_site(cfg, g->site);
    g->known.by_ini = ini_sets_jit(cfg, &site);
    if (g->known.by_ini)
        return;
    if (op->kind == OP_TRIAL) {
        switch_off(g, "measured against the JIT");
        return;
    }
    /* Other code at the same place, as far as anybody says. */
    in_place = op->kind == OP_RESET || (op->kind == OP_DEPLOY && !op->revision && s->active &&
                                           strcmp(s->active->root, g->root) == 0);
    if (!in_place)
        recall(g, cfg);
    if (g->known.found && g->known.choice == JIT_OFF)
        switch_off(g, "measured before: this revision is better off without it");
}

/* --- the way to a decision ----------------------------------------------------------------------
 */

void jit_auto_on_switch(struct site *s)
{
    struct generation *g = s->active;
    struct jit_auto *j = &s->jit;

    j->figures = (struct trial_figures){0};
    j->failures = j->crashes = 0;
    j->began_ms = 0;
    j->remembered = false;
    if (!is_wanted(s->master->config)) {
        set_state(s, JIT_AUTO_OFF, "%s", "");
    } else if (g->jit_off) {
        j->choice = JIT_OFF;
        set_state(s, JIT_AUTO_DECIDED, "%s", "workers crashed in a loop with it");
    } else if (g->known.found) {
        j->choice = g->known.choice;
        j->figures = g->known.figures;
        j->remembered = true;
        set_state(s, JIT_AUTO_DECIDED, "%s", g->known.reason);
        log_figures(s, "jit_auto");
    } else if (g->known.by_ini) {
        give_up(s, "opcache.jit or opcache.jit_buffer_size of the ini settings decides");
    } else if (!g->jit) {
        give_up(s, "there is no JIT to measure: %s",
            g->shape.jit == CONFIG_JIT_DISABLE || !g->shape.jit_buffer_mb
                ? g->shape.jit_reason
                : "OPcache or an extension keeps it off");
    } else {
        wait_for(s, JIT_AUTO_LOOK_MS);
    }
}

static uint64_t used_mb(const struct generation *g)
{
    struct sysinfo_usage u;
    uint64_t bytes = 0;

    if (g->pid && sysinfo_usage(g->pid, &u) == 0)
        bytes += u.proportional;
    list_each (it, (struct list *)(uintptr_t)&g->workers) {
        int64_t pid = CONTAINER_OF(it, struct master_worker, node)->pid;

        if (pid && sysinfo_usage(pid, &u) == 0)
            bytes += u.proportional;
    }
    return bytes >> 20;
}

/* Two generations, each with what it has reserved, or uses already, must fit into the budget. */
static bool has_room(struct site *s)
{
    const struct shape *shape = &s->active->shape;
    uint64_t budget = shape->memory.bytes >> 20;
    uint64_t one = (uint64_t)(shape->opcache_mb + shape->jit_buffer_mb + JIT_AUTO_WORKER_MB);
    uint64_t need = JIT_AUTO_SERVER_MB + one + MAX(one, used_mb(s->active));

    if (!budget || shape->opcache_mb < 0 || need <= budget)
        return true;
    give_up(s,
        "a second generation needs more memory than there is: %llu MB for both, %llu MB in all "
        "(php.opcache_memory_consumption = %lld)",
        (unsigned long long)need, (unsigned long long)budget, (long long)shape->opcache_mb);
    return false;
}

static bool is_draining(struct site *s)
{
    list_each (it, &s->master->generations) {
        const struct generation *g = CONTAINER_OF(it, struct generation, node);

        if (g->of == s && g != s->active)
            return true;
    }
    return false;
}

static void failed_once(struct site *s, const char *why)
{
    struct jit_auto *j = &s->jit;

    j->failures++;
    if (j->failures >= JIT_AUTO_TRIES) {
        give_up(s, "the generation without the JIT failed %u times: %s", j->failures, why);
        return;
    }
    log_info("jit_auto_interrupted", F_CSTR("site", s->name), F_CSTR("reason", why));
    wait_for(s, (uint64_t)JIT_AUTO_RETRY_MS * j->failures);
}

static void start_rival(struct site *s)
{
    struct err err = {0};

    if (s->op.step != OP_NONE || is_draining(s) || !s->master->front_ready || s->recover_due) {
        wait_for(s, JIT_AUTO_LOOK_MS);
        return;
    }
    if (!has_room(s))
        return;
    set_state(s, JIT_AUTO_STARTING, "%s", "");
    if (deploy_begin(s, OP_TRIAL, NULL, &err) && s->jit.state == JIT_AUTO_STARTING)
        failed_once(s, err.text); /* else it said so by jit_auto_on_failed() */
}

void jit_auto_on_failed(struct site *s, const char *why)
{
    if (s->jit.state == JIT_AUTO_STARTING && !s->master->stopping)
        failed_once(s, why);
}

void jit_auto_on_jit(struct site *s)
{
    give_up(s, "PHP has the JIT on whatever it is told");
    deploy_failed(s, "%s", s->jit.reason);
}

void jit_auto_on_ready(struct site *s, struct generation *rival)
{
    struct jit_auto *j = &s->jit;
    uint64_t limit = s->master->config->php.opcache_jit_auto;
    struct ipc_out out;

    j->rival = rival;
    j->figures = (struct trial_figures){0};
    j->crashes = 0;
    j->began_ms = clock_mono_ms();
    ipc_begin(&out, "trial");
    ipc_add_u64(&out, "generation", rival->id);
    roles_tell_front(s->master, &out);
    set_state(s, JIT_AUTO_MEASURING, "%s", "");
    log_info("jit_auto_began", F_CSTR("site", s->name), F_UINT("generation", s->active->id),
        F_CSTR("jit", s->active->jit_mode), F_UINT("rival", rival->id), F_UINT("limit_ms", limit));
    net_timer_start(j->timer, limit, 0);
}

/* Whoever is not needed any more drains; the JIT is as the choice says. */
PRINTF_LIKE(3, 4)
static void decide(struct site *s, enum jit_choice choice, const char *fmt, ...)
{
    struct jit_auto *j = &s->jit;
    struct generation *rival = j->rival;
    char text[sizeof(j->reason)];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, ap); /* as above */
    va_end(ap);
    j->choice = choice;
    j->remembered = false;
    set_state(s, JIT_AUTO_DECIDED, "%s", text);
    if (choice == JIT_OFF)
        deploy_promote(s, rival);
    else
        generation_drain(rival);
    log_figures(s, "jit_auto");
    master_metrics_jit(s);
    keep(s);
}

static void time_is_over(struct site *s)
{
    struct generation *rival = s->jit.rival;

    set_state(s, JIT_AUTO_UNDECIDED,
        "php.opcache_jit_auto_secs is over after %llu requests, of which %llu and %llu are warm",
        (unsigned long long)s->jit.figures.requests,
        (unsigned long long)s->jit.figures.samples[TRIAL_WITH],
        (unsigned long long)s->jit.figures.samples[TRIAL_WITHOUT]);
    generation_drain(rival);
    log_figures(s, "jit_auto");
    master_metrics_jit(s);
}

void jit_auto_on_timer(void *arg)
{
    struct site *s = arg;

    if (s->master->stopping || !s->active)
        return;
    if (s->jit.state == JIT_AUTO_WAITING)
        start_rival(s);
    else if (s->jit.state == JIT_AUTO_MEASURING)
        time_is_over(s);
}

void jit_auto_on_figures(struct generation *g, struct ipc_in *in)
{
    struct site *s = g->of;
    struct jit_auto *j = &s->jit;
    struct trial_figures *f = &j->figures;

    if (j->state != JIT_AUTO_MEASURING || j->rival != g)
        return;
    *f = (struct trial_figures){
        .verdict = (enum trial_verdict)ipc_get_u64(in, "verdict"),
        .cost = {(double)ipc_get_u64(in, "with"), (double)ipc_get_u64(in, "without")},
        .error = (double)ipc_get_u64(in, "error"),
        .warmup = {(double)ipc_get_u64(in, "warmup_with"),
            (double)ipc_get_u64(in, "warmup_without")},
        .samples = {ipc_get_u64(in, "samples_with"), ipc_get_u64(in, "samples_without")},
        .requests = ipc_get_u64(in, "requests"),
        .kinds = (unsigned)ipc_get_u64(in, "kinds"),
        .covered = (double)ipc_get_u64(in, "covered") / 1000,
    };
    if (f->verdict == TRIAL_BEST_WITH)
        decide(s, JIT_ON, "requests take %.1f %% less CPU time with it", rounded(saving(f)));
    else if (f->verdict == TRIAL_BEST_WITHOUT)
        decide(s, JIT_OFF, "requests take %.1f %% more CPU time with it", rounded(-saving(f)));
    else if (f->verdict == TRIAL_SAME)
        decide(s, JIT_AS_DEFAULT, "it makes no difference of one per cent");
    else
        jit_auto_tell_front(s);
}

/* --- what ends it early --------------------------------------------------------------------------
 */

void jit_auto_interrupt(struct site *s, const char *why)
{
    struct jit_auto *j = &s->jit;
    struct generation *rival = j->rival;

    if (j->state == JIT_AUTO_MEASURING)
        log_info("jit_auto_interrupted", F_CSTR("site", s->name), F_CSTR("reason", why));
    else if (j->state != JIT_AUTO_STARTING && j->state != JIT_AUTO_WAITING)
        return;
    wait_for(s, JIT_AUTO_LOOK_MS); /* first: what ends now is no failure */
    if (s->op.step != OP_NONE && s->op.kind == OP_TRIAL)
        deploy_failed(s, "%s", why);
    if (rival)
        generation_drain(rival);
}

void jit_auto_rival_lost(struct site *s, const char *why)
{
    struct generation *rival = s->jit.rival;

    failed_once(s, why);
    generation_drain(rival); /* its workers finish what they have */
}

void jit_auto_count_crash(struct site *s)
{
    struct generation *rival = s->jit.rival;

    if (++s->jit.crashes < (uint64_t)s->master->config->php.crash_loop_count)
        return;
    give_up(s, "workers of the generation without the JIT crash, too");
    generation_drain(rival);
}

bool jit_auto_on_crash_loop(struct site *s)
{
    struct jit_auto *j = &s->jit;

    if (!is_wanted(s->master->config) || !s->active->jit)
        return false;
    if (j->state == JIT_AUTO_MEASURING) {
        decide(s, JIT_OFF, "workers crashed in a loop with it");
        return true;
    }
    jit_auto_interrupt(s, "a crash loop");
    j->choice = JIT_OFF;
    set_state(s, JIT_AUTO_DECIDED, "workers crashed in a loop with it");
    keep(s);
    return false;
}

void jit_auto_stop(struct site *s)
{
    set_state(s, JIT_AUTO_OFF, "%s", "");
}
