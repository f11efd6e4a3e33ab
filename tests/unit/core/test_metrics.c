/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include <pthread.h>
#include <stdio.h>

#include "core/metrics.h"
#include "platform/fs.h"
#include "unit/test.h"

enum { SITES = 4, THREADS = 4, STEPS = 20000 };
enum { LABEL_METHOD, LABEL_SITE };
enum { REQUESTS, DURATION, BODY, LEVEL, PLAIN, COMMANDS, LEVELS };

static const char *const methods[] = {"GET", "POST", "OTHER"};
static const struct metrics_label labels[] = {
    {"method", methods, 3},
    {"site", NULL, SITES},
};
static const uint64_t seconds[] = {5000000, 1000000000, 2500000000};
static const uint64_t bytes[] = {100, 1000000, 2500000, 10000000};
static const struct metrics_family families[] = {
    {"t_requests_total", METRICS_COUNTER, 0, false, 2, {LABEL_SITE, LABEL_METHOD}, NULL, 0,
        "Requests, \"all\" of\nthem \\ counted."},
    {"t_duration_seconds", METRICS_HISTOGRAM, 9, true, 0, {0}, seconds, 3, "How long."},
    {"t_body_bytes", METRICS_HISTOGRAM, 0, false, 1, {LABEL_METHOD}, bytes, 4, "How large."},
    {"t_level", METRICS_GAUGE, 3, false, 1, {LABEL_SITE}, NULL, 0, "A level."},
    {"t_plain_total", METRICS_COUNTER, 6, true, 0, {0}, NULL, 0, "No labels."},
    {"t_commands_total", METRICS_COUNTER, 0, true, 2, {LABEL_SITE, LABEL_METHOD}, NULL, 0, "All."},
    {"t_levels", METRICS_GAUGE, 0, false, 2, {LABEL_METHOD, LABEL_SITE}, NULL, 0, "Levels."},
};
static const struct metrics_schema schema = {labels, 2, families, ARRAY_LEN(families)};

static struct metrics *open_new(int *fd)
{
    struct metrics *m = NULL;

    CHECK_INT(metrics_create(&schema, fd), 0);
    CHECK_INT(metrics_open(&schema, *fd, &m), 0);
    return m;
}

static void close_all(struct metrics *m, int fd)
{
    metrics_close(m);
    fs_close(fd);
}

static bool written(struct metrics *m, enum metrics_format format, const char *text)
{
    struct buf b = {0};
    bool found;

    metrics_write(m, format, &b);
    found = strstr(buf_cstr(&b), text) != NULL;
    if (!found)
        printf("%s\n", buf_cstr(&b));
    buf_fini(&b);
    return found;
}

static void test_metrics_text_is_exact(void)
{
    int fd;
    struct metrics *m = open_new(&fd);

    unsigned site = metrics_claim(m, LABEL_SITE, STR("a\"b\\c\nd"));

    metrics_add(m, REQUESTS, metrics_at(m, REQUESTS, site, 1, 0), 7);
    metrics_add(m, PLAIN, 0, 1500000);
    metrics_observe(m, DURATION, 0, 5000000);
    metrics_observe(m, DURATION, 0, 5000001);
    metrics_observe(m, DURATION, 0, 3000000000);
    metrics_set(m, LEVEL, metrics_at(m, LEVEL, site, 0, 0), -1250);
    CHECK(written(m, METRICS_TEXT,
        "# HELP t_requests_total Requests, \"all\" of\\nthem \\\\ counted.\n"
        "# TYPE t_requests_total counter\n"
        "t_requests_total{site=\"a\\\"b\\\\c\\nd\",method=\"POST\"} 7\n"
        "# HELP t_duration_seconds How long.\n# TYPE t_duration_seconds histogram\n"
        "t_duration_seconds_bucket{le=\"0.005\"} 1\n"
        "t_duration_seconds_bucket{le=\"1.0\"} 2\n"
        "t_duration_seconds_bucket{le=\"2.5\"} 2\n"
        "t_duration_seconds_bucket{le=\"+Inf\"} 3\n"
        "t_duration_seconds_sum 3.010000001\n"
        "t_duration_seconds_count 3\n"
        "# HELP t_level A level.\n"));
    CHECK(written(m, METRICS_TEXT, "t_level{site=\"a\\\"b\\\\c\\nd\"} -1.25\n"));
    CHECK(written(m, METRICS_TEXT, "\nt_plain_total 1.5\n"));
    close_all(m, fd);
}

static void test_metrics_openmetrics_differs_where_it_must(void)
{
    int fd;
    struct metrics *m = open_new(&fd);

    metrics_observe(m, BODY, 1, 2000000);
    metrics_add(m, REQUESTS, metrics_at(m, REQUESTS, SITES, 2, 0), 1);
    CHECK(written(m, METRICS_OPEN,
        "# HELP t_requests Requests, \\\"all\\\" of\\nthem \\\\ counted.\n"
        "# TYPE t_requests counter\n"
        "t_requests_total{site=\"other\",method=\"OTHER\"} 1\n"));
    CHECK(written(m, METRICS_OPEN,
        "t_body_bytes_bucket{method=\"POST\",le=\"100.0\"} 0\n"
        "t_body_bytes_bucket{method=\"POST\",le=\"1e+06\"} 0\n"
        "t_body_bytes_bucket{method=\"POST\",le=\"2.5e+06\"} 1\n"
        "t_body_bytes_bucket{method=\"POST\",le=\"1e+07\"} 1\n"));
    CHECK(written(m, METRICS_OPEN, "t_plain_total 0\n# EOF\n"));
    close_all(m, fd);
}

static void test_metrics_zeros_are_shown_for_names_that_exist(void)
{
    int fd;
    struct metrics *m = open_new(&fd);
    struct buf b = {0};

    metrics_write(m, METRICS_TEXT, &b);
    CHECK(!strstr(buf_cstr(&b), "t_commands_total"));
    CHECK(!strstr(buf_cstr(&b), "t_requests_total"));
    CHECK(!strstr(buf_cstr(&b), "t_level"));
    (void)metrics_claim(m, LABEL_SITE, STR("x"));
    CHECK(written(m, METRICS_TEXT,
        "t_commands_total{site=\"x\",method=\"GET\"} 0\n"
        "t_commands_total{site=\"x\",method=\"POST\"} 0\n"
        "t_commands_total{site=\"x\",method=\"OTHER\"} 0\n"));
    buf_clear(&b);
    metrics_write(m, METRICS_TEXT, &b);
    CHECK(!strstr(buf_cstr(&b), "site=\"other\""));
    buf_fini(&b);
    close_all(m, fd);
}

static void test_metrics_names_are_bounded(void)
{
    int fd;
    struct metrics *m = open_new(&fd);
    struct buf before = {0}, after = {0};
    char name[METRICS_NAME_MAX + 20];

    for (int i = 0; i < SITES; i++) {
        (void)snprintf(name, sizeof(name), "site %d", i);
        CHECK_INT(metrics_claim(m, LABEL_SITE, str_c(name)), i);
        CHECK_INT(metrics_claim(m, LABEL_SITE, str_c(name)), i);
    }
    metrics_add(m, COMMANDS, metrics_at(m, COMMANDS, SITES, 0, 0), 1);
    metrics_write(m, METRICS_TEXT, &before);
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(name, sizeof(name), "more %d", i);
        CHECK_INT(metrics_claim(m, LABEL_SITE, str_c(name)), SITES);
    }
    metrics_write(m, METRICS_TEXT, &after);
    CHECK(str_eq(buf_str(&before), buf_str(&after)));
    CHECK_INT(metrics_claim(m, LABEL_SITE, STR_NONE), SITES);
    buf_fini(&before);
    buf_fini(&after);
    close_all(m, fd);
}

static void test_metrics_long_name_is_cut(void)
{
    int fd;
    struct metrics *m = open_new(&fd);
    char name[200], text[METRICS_NAME_MAX + 1];
    unsigned place;

    memset(name, 'n', sizeof(name));
    place = metrics_claim(m, LABEL_SITE, str_n(name, sizeof(name)));
    CHECK_INT(strlen(metrics_value_name(m, LABEL_SITE, place, text)), METRICS_NAME_MAX);
    place = metrics_claim(m, LABEL_SITE, STR("bad \xff byte"));
    metrics_set(m, LEVEL, place, 1);
    CHECK(written(m, METRICS_TEXT, "{site=\"bad ? byte\"} 0.001\n"));
    close_all(m, fd);
}

static void test_metrics_values_survive_a_second_opening(void)
{
    int fd;
    struct metrics *m = open_new(&fd), *again = NULL;

    metrics_add(m, PLAIN, 0, 3);
    metrics_raise(m, PLAIN, 0, 10);
    metrics_raise(m, PLAIN, 0, 5);
    CHECK_INT(metrics_claim(m, LABEL_SITE, STR("s")), 0);
    metrics_close(m);
    CHECK_INT(metrics_open(&schema, fd, &again), 0);
    CHECK_INT(metrics_get(again, PLAIN, 0), 10);
    CHECK_INT(metrics_claim(again, LABEL_SITE, STR("s")), 0);
    metrics_set(again, LEVEL, 0, 1);
    metrics_clear(again, LEVEL, 0);
    CHECK_INT(metrics_word(again, LEVEL, 0, 0), 0);
    close_all(again, fd);
}

/* What is gone is no longer shown, and comes back when it is set again. */
static void test_metrics_gauges_of_a_value_are_cleared(void)
{
    int fd;
    struct metrics *m = open_new(&fd);
    unsigned a = metrics_claim(m, LABEL_SITE, STR("a")), b = metrics_claim(m, LABEL_SITE, STR("b"));

    metrics_set(m, LEVEL, a, 1);
    metrics_set(m, LEVEL, b, 2);
    metrics_set(m, LEVEL, SITES, 3); /* other */
    metrics_set(m, LEVELS, metrics_at(m, LEVELS, 2, a, 0), 4);
    metrics_set(m, LEVELS, metrics_at(m, LEVELS, 2, b, 0), 5);
    metrics_add(m, REQUESTS, metrics_at(m, REQUESTS, a, 1, 0), 6);
    metrics_clear_value(m, LABEL_SITE, a);
    metrics_clear_value(m, LABEL_SITE, SITES);
    CHECK_INT(metrics_word(m, LEVEL, a, 0), 0);
    CHECK_INT(metrics_word(m, LEVEL, b, 0), 1);
    CHECK_INT(metrics_word(m, LEVEL, SITES, 0), 1);
    CHECK_INT(metrics_word(m, LEVELS, metrics_at(m, LEVELS, 2, a, 0), 0), 0);
    CHECK_INT(metrics_word(m, LEVELS, metrics_at(m, LEVELS, 2, b, 0), 0), 1);
    CHECK_INT(metrics_get(m, REQUESTS, metrics_at(m, REQUESTS, a, 1, 0)), 6);
    metrics_set(m, LEVEL, a, 7);
    CHECK_INT(metrics_word(m, LEVEL, a, 0), 1);
    close_all(m, fd);
}

static void test_metrics_other_schema_is_refused(void)
{
    static const struct metrics_label other_labels[] = {{"method", methods, 3}, {"vhost", NULL, 4}};
    struct metrics_family changed[ARRAY_LEN(families)];
    const struct metrics_schema names = {other_labels, 2, families, ARRAY_LEN(families)};
    const struct metrics_schema fewer = {labels, 2, families, ARRAY_LEN(families) - 1};
    const struct metrics_schema unit = {labels, 2, changed, ARRAY_LEN(families)};
    struct metrics *m = NULL;
    int fd;

    memcpy(changed, families, sizeof(changed));
    changed[PLAIN].decimals = 3;
    CHECK_INT(metrics_create(&schema, &fd), 0);
    CHECK_INT(metrics_open(&names, fd, &m), ERR_VERSION);
    CHECK_INT(metrics_open(&fewer, fd, &m), ERR_VERSION);
    CHECK_INT(metrics_open(&unit, fd, &m), ERR_VERSION);
    CHECK(m == NULL);
    fs_close(fd);
}

/* --- threads ---------------------------------------------------------------------------------- */

static void *hammer(void *arg)
{
    struct metrics *m = NULL;
    char name[16];

    CHECK_INT(metrics_open(&schema, *(int *)arg, &m), 0);
    for (int i = 0; i < STEPS; i++) {
        unsigned site;

        (void)snprintf(name, sizeof(name), "s%d", i % 3);
        site = metrics_claim(m, LABEL_SITE, str_c(name));
        metrics_add(m, REQUESTS, metrics_at(m, REQUESTS, site, 0, 0), 1);
        metrics_observe(m, DURATION, 0, 1);
        metrics_set(m, LEVEL, site, i);
        metrics_raise(m, PLAIN, 0, (uint64_t)i);
    }
    metrics_close(m);
    return NULL;
}

static void test_metrics_threads_lose_nothing(void)
{
    int fd;
    struct metrics *m = open_new(&fd);
    pthread_t t[THREADS];
    uint64_t requests = 0;

    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_create(&t[i], NULL, hammer, &fd), 0);
    for (int i = 0; i < 20; i++) {
        struct buf b = {0};

        metrics_write(m, METRICS_OPEN, &b);
        CHECK(str_ends(buf_str(&b), STR("# EOF\n")));
        buf_fini(&b);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_INT(pthread_join(t[i], NULL), 0);
    for (unsigned i = 0; i <= SITES; i++)
        requests += metrics_get(m, REQUESTS, metrics_at(m, REQUESTS, i, 0, 0));
    CHECK_INT(requests, THREADS * STEPS);
    CHECK_INT(metrics_get(m, DURATION, 0), THREADS * STEPS);
    CHECK_INT(metrics_word(m, DURATION, 0, 4), THREADS * STEPS);
    CHECK_INT(metrics_get(m, PLAIN, 0), STEPS - 1);
    CHECK_INT(metrics_claim(m, LABEL_SITE, STR("fourth")), 3); /* no name was claimed twice */
    close_all(m, fd);
}

static void test_metrics_reference_names_all(void)
{
    struct buf b = {0};

    metrics_reference(&schema, &b);
    CHECK(strstr(buf_cstr(&b),
        "| `t_body_bytes` | histogram | `method` | How large. Buckets: 100 1000000 2500000 "
        "10000000. |\n"));
    buf_fini(&b);
}

const struct test tests_metrics[] = {
    TEST(test_metrics_text_is_exact),
    TEST(test_metrics_openmetrics_differs_where_it_must),
    TEST(test_metrics_zeros_are_shown_for_names_that_exist),
    TEST(test_metrics_names_are_bounded),
    TEST(test_metrics_long_name_is_cut),
    TEST(test_metrics_values_survive_a_second_opening),
    TEST(test_metrics_gauges_of_a_value_are_cleared),
    TEST(test_metrics_other_schema_is_refused),
    TEST(test_metrics_threads_lose_nothing),
    TEST(test_metrics_reference_names_all),
    TEST_END,
};
