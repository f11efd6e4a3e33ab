/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_ENGINE_MASTER_H
#define EPHPM_ENGINE_MASTER_H

/*
 * The master role: starts every other process, binds the sockets, holds the control socket, and
 * decides about generations.
 *
 * It runs no PHP and parses no network input but its own control socket's. Every other process is
 * its child: front and prototypes by spawning, workers because they are adopted
 * (process_fork_adopted), so it learns of each death itself and all of them die with it.
 *
 * Reading order: master.c (start, signals, stop), roles.c (the table of roles: front, kv and
 * prototypes, how they are spawned, what their death means), generation.c (generations and their
 * workers), deploy.c (the steps from one generation to the next), jit_auto.c (is the JIT good for a
 * site?) with jit_memory.c (what was found out before), stores.c (the key-value store of each
 * site), databases.c (the database of each site), sites.c (the end of a site), control.c (the
 * control socket), master_metrics.c (figures of processes, generations and OPcache).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "engine/config.h"
#include "engine/ipc.h"
#include "engine/jit_memory.h"
#include "engine/metric_table.h"
#include "engine/pool.h"
#include "engine/shape.h"
#include "kv/store.h"
#include "net/loop.h"
#include "platform/fs.h"
#include "platform/process.h"

struct control;
struct control_client;
struct json_writer;
struct master;
struct site;

/* How this server was started; strings live as long as the master. */
struct master_options {
    enum config_mode mode;
    const char *config_path; /* NULL: none (dev) */
    bool config_explicit;
    const struct config_override *overrides;
    size_t noverrides;
    const char *const *env;
    bool try_next_port; /* dev: a taken port is no error, the next free one is used */
    bool php_inside;    /* this program is PHP, too */
    bool quiet;         /* no banner for people */
};

/* Runs the server; returns the exit code. */
int master_main(const struct master_options *opt);

enum generation_state {
    GEN_BOOTING,  /* prototype is starting PHP */
    GEN_WARMING,  /* PHP is up; compiling, probing */
    GEN_ACTIVE,   /* gets new requests */
    GEN_TRIAL,    /* gets half of them, to be measured against the active one */
    GEN_DRAINING, /* finishes what it has */
    GEN_ENDED     /* waits for its processes to be reaped */
};

/* What a generation is measured as, and what is remembered of that. */
struct jit_known {
    char php[128];
    char jit[32];
    uint64_t stamp;
    bool by_ini; /* the user's ini settings decide about the JIT */
    bool found;
    enum jit_choice choice;
    struct trial_figures figures;
    char reason[192];
};

struct generation {
    struct list node;
    struct master *master;
    struct site *of;
    uint64_t id;
    enum generation_state state;
    char *site;   /* its name */
    char *root;   /* resolved document root */
    bool jit_off; /* started without the JIT after a crash loop */
    int64_t pid;  /* prototype, 0 when reaped */
    sock_t socket;
    struct net_watch *watch;
    struct net_timer *drain;
    struct list workers;
    struct shape shape;
    char php_version[32];
    char vm_kind[16]; /* of its interpreter: HYBRID, CALL, TAILCALL */
    bool vm_has_jit;
    struct jit_known known; /* jit_auto.c */
    char jit_mode[16];
    bool jit;
    bool opcache;
    bool known_to_front;
    int opcache_fd;         /* what was asked of OPcache is written here; -1: nothing was */
    uint64_t opcache_at_ms; /* when it was asked last */
    unsigned wanted;        /* workers that the front asked for while PHP was starting */
    uint64_t started_ms;
};

struct master_worker {
    struct list node;
    struct generation *generation;
    uint64_t id;
    int64_t pid; /* 0: the fork was asked for, no answer yet */
    bool reserve;
    bool asked;        /* for by the front */
    uint64_t asked_us; /* monotonic */
    bool killed;       /* by us, on purpose */
    int channel_fd;    /* until the front has it */
    int socket_fd;
};

enum op_kind { OP_START, OP_DEPLOY, OP_RESET, OP_RELOAD, OP_RECOVER, OP_TRIAL };
enum op_step { OP_NONE, OP_BOOT, OP_SCRIPTS, OP_COMPILE, OP_FIRST_WORKER, OP_PROBE };

/* The way to a new generation; one at a time per site. */
struct operation {
    enum op_kind kind;
    enum op_step step;
    struct generation *next;
    struct control_client *client; /* NULL: nobody waits for the answer */
    struct config *config;         /* reload: the new one, until it is in force */
    struct net_timer *timeout;
    int list_fd, result_fd;
    size_t url;
    unsigned compiled;
    uint64_t began_ms;
    bool jit_off;
    char *revision;       /* what is deployed, as the client calls it; NULL: it did not say */
    char *revision_known; /* and as it was called when it was measured */
};

enum { MASTER_CRASHES = 1024, MASTER_ORPHANS = 64 };

/* jit_auto.c tells the story. */
enum jit_auto_state {
    JIT_AUTO_OFF,
    JIT_AUTO_WAITING,
    JIT_AUTO_STARTING,
    JIT_AUTO_MEASURING,
    JIT_AUTO_DECIDED,
    JIT_AUTO_UNDECIDED
};

struct jit_auto {
    enum jit_auto_state state;
    struct generation *rival; /* MEASURING: the one without the JIT */
    enum jit_choice choice;   /* DECIDED */
    bool remembered;          /* from an earlier measurement */
    char reason[192];
    struct trial_figures figures;
    struct net_timer *timer;
    unsigned failures;
    uint64_t crashes; /* of the rival's workers */
    uint64_t began_ms;
};

/* A store is used when its snapshot was read, or there is none; then its role has to know. */
enum store_state { STORE_UNREAD, STORE_READ, STORE_FAILED };

/* What is deployed as one: without server.sites_dir there is one, "default". */
struct site {
    struct list node;
    struct master *master;
    char *name;
    unsigned label;            /* value of METRIC_LABEL_SITE */
    char *folder;              /* in sites_dir; NULL: server.document_root */
    int kv_fd;                 /* its store, as long as the site is there; -1: none */
    enum store_state kv_state; /* of what kv.persist keeps */
    unsigned kv_deaths;        /* of the role kv while it read the snapshot */
    char *db_password;         /* of its database's account; NULL: it has none */
    struct generation *active; /* NULL before the first */
    char *revision;            /* of active, as a deploy called it; NULL: not known */
    struct operation op;
    unsigned missed; /* so often in a row its folder was not there */
    bool leaving;    /* its folder is gone: sites.c */
    struct jit_auto jit;
    bool deploy_due;                  /* a Redis client announced a version */
    bool recover_due;                 /* the active generation has no prototype any more */
    unsigned recover_failures;        /* in a row */
    struct net_timer *recover;        /* its next try */
    uint64_t crashes[MASTER_CRASHES]; /* ms, ring */
    size_t ncrashes;
    uint64_t recovered_ms;
};

/* A process without which HTTP goes on, and which is started again when it dies. */
struct master_side {
    struct master *master;
    int role;    /* row of the table in roles.c */
    int64_t pid; /* 0: it does not run */
    sock_t socket;
    struct net_watch *watch;
    bool ready;
    unsigned deaths;
    uint64_t started_ms;
    struct net_timer *restart;
    int (*start)(struct master *m);
    void (*on_message)(struct master *m, struct ipc_in *in);
};

/* The process that does what is neither HTTP nor PHP with the stores: kvrole.h. */
struct master_kv {
    struct master_side side;
    sock_t tcp, local;   /* listeners for Redis clients; SOCK_NONE: none */
    uint16_t tcp_port;   /* as bound */
    int lock_fd;         /* no other server uses the folder of kv.persist; -1: there is none */
    struct list leaving; /* stores of sites that are gone, which the role has yet to save */
    uint64_t nleft;      /* so many have left: their numbers */
};

/* The process that serves the databases: dbrole.h. */
struct master_db {
    struct master_side side;
    struct config *config; /* as the server was started; NULL: there is no database */
    sock_t local, tcp;     /* listeners for its clients; SOCK_NONE: none */
    uint16_t tcp_port;     /* as bound */
    char *socket;          /* path of local */
    struct list jobs;      /* that the role was asked for */
    uint64_t last_job;
};

struct master {
    const struct master_options *opt;
    struct config *config;
    struct net_loop *loop;
    char exe[4096];
    char php_exe[4096];
    char listen_text[128];
    sock_t listener;
    sock_t metrics_listener; /* server.metrics.listen; SOCK_NONE: none */
    struct metrics *metrics;
    int metrics_fd;
    uint64_t ended_cpu_ns[METRIC_ROLE_COUNT]; /* of the processes that were reaped */
    uint64_t sampled_ms;                      /* when all others were looked at last */
    struct control *control;
    int bell;
    /* front */
    int64_t front_pid;
    sock_t front;
    struct net_watch *front_watch;
    bool front_ready;
    bool front_listens;
    unsigned front_deaths;
    uint64_t front_started_ms;
    struct net_timer *front_restart;
    /* generations */
    struct list generations; /* newest last */
    struct list sites;
    struct fs_stat sites_dir; /* the folder, when it was known to be right */
    struct net_timer *sites_timer;
    uint64_t next_generation;
    uint64_t next_worker;
    /* key-value stores, as configured when the server started */
    struct config *kv_config; /* NULL: there are none */
    struct kv_options kv_options;
    struct master_kv kv;
    struct master_db db;
    struct process_status orphans[MASTER_ORPHANS]; /* ring: reaped before they were announced */
    size_t norphans;                               /* ever */
    /* who we run as */
    bool set_user;
    uint32_t uid, gid;
    bool has_guard;
    uint32_t guard_uid; /* real user of the front: of nobody */
    char user[64];
    /* signals, end */
    struct net_signal *signals[8];
    size_t nsignals;
    struct net_timer *stop_timer;
    struct net_timer *watchdog;
    bool reload_due; /* SIGHUP came while a site was at something else */
    bool stopping;
    bool front_idle;
    bool announced; /* READY=1 was said */
    bool told_sessions;
    char *pid_path; /* what was written; NULL: none */
    int exit_code;
};

/* roles.c */
int roles_start_front(struct master *m) MUST_CHECK;
int roles_start_prototype(struct master *m, struct generation *g) MUST_CHECK;
/* Timer callback; arg is the master. */
void roles_restart_front(void *arg);
void roles_front_gone(struct master *m, const struct process_status *st);
/* A message to the front; dropped when there is none (its successor is told everything again). */
void roles_tell_front(struct master *m, struct ipc_out *out);
void roles_send_config(struct master *m);
void roles_send_listener(struct master *m);
/* Starts the roles kv and db, where there are stores and databases; which: the one that failed. */
int roles_start_sides(struct master *m, const char **which) MUST_CHECK;
void roles_kv_gone(struct master *m, const struct process_status *st);
void roles_db_gone(struct master *m, const struct process_status *st);
void roles_tell_kv(struct master *m, struct ipc_out *out);
void roles_tell_db(struct master *m, struct ipc_out *out);
/* Tells both to end. */
void roles_close_sides(struct master *m);
/* A site that the front asked for cannot be started. */
void roles_tell_site_failed(struct site *s, const char *why);

/* generation.c */
/* Appends the folder of the master's own, for what outlives it; made if need be. */
int generation_base_dir(struct buf *out) MUST_CHECK;
struct generation *generation_new(struct site *s, const char *root, bool jit_off);
struct generation *generation_find(struct master *m, uint64_t id);
void generation_hello(struct generation *g, struct ipc_in *in);
/* The prototype says hello, and the site's store is ready: whichever comes last. */
void generation_boot(struct generation *g);
void generation_tell_front(struct generation *g);
/* asked: the front counts on it. */
void generation_fork(struct generation *g, bool reserve, bool asked);
void generation_forked(struct generation *g, struct ipc_in *in);
void generation_fork_failed(struct generation *g, struct ipc_in *in);
/* Finishes what it has, within the drain time; then it ends. */
void generation_drain(struct generation *g);
/* The front says that nothing of it is left. */
void generation_drained(struct generation *g);
/* Ends it at once: its processes are killed. */
void generation_end(struct generation *g);
/* A child was reaped: true when it belonged to a generation. */
bool generation_reaped(struct master *m, const struct process_status *st);
void generation_signal_worker(struct master *m, uint64_t worker, enum pool_signal how);
void generation_kill_workers(struct generation *g);
/* Frees the ended ones whose processes are gone; runs before the loop sleeps. */
void generation_sweep(struct master *m);
/* Frees all of them, at the master's end. */
void generation_free_all(struct master *m);

/* deploy.c */
/* folder NULL: server.document_root. */
struct site *deploy_site_add(struct master *m, const char *name, const char *folder);
struct site *deploy_site_find(struct master *m, struct str name);
/* No generation of it may be left. */
void deploy_site_free(struct site *s);
/* Begins; the answer goes to client when there is one. ERR_BUSY with err when another runs. */
int deploy_begin(
    struct site *s, enum op_kind kind, struct control_client *client, struct err *err) MUST_CHECK;
/* Names what the operation that was begun deploys. */
void deploy_set_revision(struct site *s, struct str revision);
/* Begins the deploys that were announced, where no operation runs: versions that come during one
 * are one deploy after it. Before the loop sleeps. */
void deploy_announced(struct master *m);
/* The running generation's prototype ended: without it nothing can be forked or listed. */
void deploy_prototype_lost(struct site *s);
/* Timer callback; arg is the site. */
void deploy_recover(void *arg);
void deploy_fini(struct master *m);
void deploy_front_ready(struct site *s);
void deploy_booted(struct site *s, struct generation *g);
void deploy_scripts(struct site *s, struct ipc_in *in);
void deploy_compiled(struct site *s, struct ipc_in *in);
void deploy_worker(struct site *s, struct generation *g);
void deploy_probed(struct generation *g, struct ipc_in *in);
/* The new generation (or what it needs) failed. */
void deploy_failed(struct site *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
void deploy_client_gone(struct master *m, struct control_client *c);
/* A worker crashed; may begin a recovery. */
void deploy_count_crash(struct site *s, struct generation *g);
/* Does an operation run that a new one has to wait for? */
bool deploy_is_busy(const struct site *s);
/* The generation that is measured becomes the active one; the one before drains. */
void deploy_promote(struct site *s, struct generation *g);

/* jit_auto.c */
/* Before a generation boots: without the JIT, if that was measured, or shall be. */
void jit_auto_choose(struct generation *g, const struct config *cfg);
/* Another generation is active. */
void jit_auto_on_switch(struct site *s);
/* The OP_TRIAL failed, or its generation is ready. */
void jit_auto_on_failed(struct site *s, const char *why);
void jit_auto_on_ready(struct site *s, struct generation *rival);
/* It has booted with the JIT on all the same. */
void jit_auto_on_jit(struct site *s);
/* From the front; g is the rival. */
void jit_auto_on_figures(struct generation *g, struct ipc_in *in);
/* Timer callback; arg is the site. */
void jit_auto_on_timer(void *arg);
/* Something that goes first: measuring ends, and begins again when it is over. */
void jit_auto_interrupt(struct site *s, const char *why);
/* The rival cannot go on. */
void jit_auto_rival_lost(struct site *s, const char *why);
/* A worker of the rival crashed. */
void jit_auto_count_crash(struct site *s);
/* Workers of the active generation crash. True: another one serves. */
bool jit_auto_on_crash_loop(struct site *s);
/* The server stops. */
void jit_auto_stop(struct site *s);
void jit_auto_write(const struct site *s, struct json_writer *w);
void jit_auto_tell_front(struct site *s);

/* stores.c */
/* Decides what stores are like, before any is made. */
int stores_init(struct master *m, struct err *err) MUST_CHECK;
/* Binds what Redis clients connect to. */
int stores_listen(struct master *m, struct err *err) MUST_CHECK;
/* A client of the control socket becomes a client of the site's store; the descriptor stays the
 * caller's. ERR_CLOSED: no role kv runs. */
int stores_hand_over(struct site *s, sock_t client) MUST_CHECK;
/* Keeps it in the site's store. */
void stores_set_revision(struct site *s, const char *revision);
void stores_fini(struct master *m);
/* Makes the site's store unless it is there, or the server has none. */
int stores_open(struct site *s, struct err *err) MUST_CHECK;
/* Is the snapshot of its store being read? No worker starts before that. */
bool stores_is_reading(const struct site *s);
/* The role kv has read it, or could not. */
void stores_on_loaded(struct master *m, struct ipc_in *in);
/* The role kv ended. */
void stores_role_gone(struct master *m);
/* A new kv role: it is told all that it needs. */
void stores_role_ready(struct master *m);

/* May the site's store be closed now? The role kv, which saves it, may be on its way. */
bool stores_may_close(const struct site *s);
/* The role kv has saved the store of a site that is gone. */
void stores_on_gone(struct master *m, struct ipc_in *in);
/* The site goes: its store is saved and freed. */
void stores_close(struct site *s);

/* databases.c */
/* Decides what databases there are, and binds what their clients connect to. */
int databases_init(struct master *m, struct err *err) MUST_CHECK;
void databases_fini(struct master *m);
/* Before the site's first generation: its account and its file. */
void databases_open(struct site *s);
/* The site goes. Its file stays. */
void databases_close(struct site *s);
/* Name of the site's database, and of its user. */
void databases_name(const struct site *s, struct buf *out);
const char *databases_user(const struct site *s);
/* A new db role: it is told all that it needs. */
void databases_role_ready(struct master *m);
void databases_role_gone(struct master *m);
/* How the role is, for those who ask the front whether the server is ready. */
void databases_tell_front(struct master *m);
/* For the control socket: how a client of the site's database logs in, as the command's answer. */
void databases_tell_account(struct site *s, struct control_client *c);
/* The role is asked for a backup to path, or, NULL, for a check; client gets the answer. */
void databases_ask(struct site *s, struct control_client *c, const char *path);
void databases_on_done(struct master *m, struct ipc_in *in);
void databases_client_gone(struct master *m, struct control_client *c);

/* sites.c */
void sites_init(struct master *m);
/* The configuration is read again: sites whose folders are gone begin to leave. */
void sites_reloaded(struct master *m);
/* Goes on with those that leave; before the loop sleeps. */
void sites_sweep(struct master *m);

/* control.c */
int control_open(struct master *m, struct control **out, struct err *err) MUST_CHECK;
void control_close(struct control *c); /* NULL is fine */
const char *control_path(const struct control *c);
/* A line of progress, and the last line. The client is closed after the last one. */
void control_progress(struct control_client *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
void control_done(struct control_client *c, bool ok, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The server ended: those who asked for it are told. */
void control_stopped(struct control *c);
/* The last line with another key than "message", whose value is JSON. */
void control_done_json(struct control_client *c, const char *key, struct str json);
/* The parts of a status came: that of the kv role, then the db role's, then the front's. STR_NONE:
 * there is none. */
void control_kv_status(struct control *c, struct str kv_json);
void control_db_status(struct control *c, struct str db_json);
void control_status(struct control *c, struct str front_json);

/* master_metrics.c */
int master_metrics_open(struct master *m) MUST_CHECK;
void master_metrics_close(struct master *m);
/* Sets all that only the master knows; the front asked for it. */
void master_metrics_sample(struct master *m);
/* The role kv has set its own: the role db is next. */
void master_metrics_kv_sampled(struct master *m);
/* The last who was asked has set them: tells the front. */
void master_metrics_sampled(struct master *m);
/* A process of that role was reaped. */
void master_metrics_reaped(
    struct master *m, enum metric_role role, const struct process_status *st);
/* An operation of a site is over. */
void master_metrics_deployed(const struct site *s, bool ok);
/* Measuring the JIT is over. */
void master_metrics_jit(const struct site *s);
/* The prototype has written what was asked of OPcache. */
void master_metrics_opcache(struct generation *g, struct ipc_in *in);

/* master.c */
void master_stop(struct master *m, const char *why);
/* The server serves for the first time. */
void master_announce(struct master *m, struct generation *g);
/* With sites_dir: before any site is there. */
void master_announce_sites(struct master *m);
/* A reload while no site runs. */
int master_apply_config(struct master *m, struct err *err) MUST_CHECK;
int master_load_config(struct master *m, struct config **out, struct err *err) MUST_CHECK;

#endif
