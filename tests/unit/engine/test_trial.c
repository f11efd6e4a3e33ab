/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/trial.h"

#include "unit/test.h"

/* Costs with some noise and a long tail, as on a machine that has other things to do. */
static uint64_t noise = 1;

static uint64_t cost(uint64_t ns)
{
    noise = noise * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    ns += ns * (noise >> 33) / (UINT64_C(10) << 31); /* up to 10 % more */
    return (noise >> 20) % 50 == 0 ? ns * 5 : ns;
}

struct load {
    uint64_t kind;
    uint64_t with, without; /* ns */
    unsigned count;         /* of one round */
};

/* Sends rounds of a mix, each side on two workers, and gives the figures. */
static struct trial_figures run(struct trial *t, const struct load *mix, size_t n, unsigned rounds)
{
    struct trial_figures f;
    uint64_t worker = 0;

    for (unsigned r = 0; r < rounds; r++) {
        for (size_t i = 0; i < n; i++) {
            for (unsigned k = 0; k < mix[i].count; k++) {
                enum trial_side side;
                uint64_t tag = trial_route(t, mix[i].kind, &side);

                CHECK(tag != 0);
                trial_add(t, tag, side, 1 + (worker++ / 2) % 2 + 2 * side,
                    cost(side == TRIAL_WITH ? mix[i].with : mix[i].without));
            }
        }
    }
    trial_judge(t, &f);
    return f;
}

static void test_trial_kind_leaves_names_out(void)
{
    static const struct {
        const char *a, *b, *query_a, *query_b;
        bool same;
    } rows[] = {
        {"/post/17", "/post/18", "", "", true},
        {"/post/my-first-post", "/post/my-second-one", "", "", true},
        {"/2024/05/01/", "/2023/11/30/", "", "", true},
        {"/post/17", "/page/17", "", "", false},
        {"/post/17", "/post/17/edit", "", "", false},
        {"/news", "/about", "", "", false},
        {"/", "/", "p=17", "p=18&x=1", true},
        {"/", "/", "p=17", "s=17", false},
        {"/", "/", "", "p=1", false},
        {"/api/3f2a9c11", "/api/77aa0b9d", "", "", true},
        {"/a/b/c/d/e/f/g/h", "/a/b/c/d/e/x/y/z", "", "", true},
    };
    struct str get = STR("GET"), php = STR("/srv/index.php");

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        test_row(rows[i].b);
        CHECK_INT(trial_kind(get, php, str_c(rows[i].a), str_c(rows[i].query_a)) ==
                      trial_kind(get, php, str_c(rows[i].b), str_c(rows[i].query_b)),
            rows[i].same);
    }
    test_row(NULL);
    CHECK(
        trial_kind(get, php, STR("/"), STR("")) != trial_kind(STR("POST"), php, STR("/"), STR("")));
    CHECK(trial_kind(get, php, STR("/"), STR("")) !=
          trial_kind(get, STR("/srv/admin.php"), STR("/"), STR("")));
}

static void test_trial_route_gives_one_of_each_pair_to_each_side(void)
{
    struct trial *t = trial_new(1, 7);
    unsigned firsts[2] = {0};

    for (unsigned i = 0; i < 1000; i++) {
        for (uint64_t kind = 1; kind <= 3; kind++) {
            static enum trial_side first[4];
            enum trial_side side;

            (void)trial_route(t, kind, &side);
            if (i % 2 == 0)
                first[kind] = side;
            else
                CHECK(side != first[kind]);
            firsts[side] += i % 2 == 0;
        }
    }
    /* and neither side is always the first */
    CHECK(firsts[0] > 600 && firsts[1] > 600);
    trial_free(t);
}

static void test_trial_judge_finds_the_better_side(void)
{
    static const struct {
        const char *name;
        struct load mix[3];
        enum trial_verdict want;
    } rows[] = {
        {"a loop", {{1, 1000000, 3000000, 1}}, TRIAL_BEST_WITH},
        {"a tiny page", {{1, 42000, 30000, 1}}, TRIAL_BEST_WITHOUT},
        {"five per cent", {{1, 1000000, 1050000, 1}}, TRIAL_BEST_WITH},
        /* By itself the mean of all requests says the same for both; shares decide. */
        {"many small ones lose, few large ones gain",
            {{1, 42000, 30000, 20}, {2, 2000000, 3000000, 1}}, TRIAL_BEST_WITH},
        {"many small ones lose more", {{1, 42000, 30000, 60}, {2, 2500000, 3000000, 1}},
            TRIAL_BEST_WITHOUT},
        {"no difference", {{1, 1000000, 1000000, 1}}, TRIAL_OPEN},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trial *t = trial_new(1, i);
        struct trial_figures f;
        size_t n = rows[i].mix[1].kind ? 2 : 1;

        test_row(rows[i].name);
        f = run(t, rows[i].mix, n, 1500);
        if (rows[i].want == TRIAL_OPEN)
            CHECK(f.verdict == TRIAL_OPEN || f.verdict == TRIAL_SAME);
        else
            CHECK_INT(f.verdict, rows[i].want);
        CHECK_INT(f.kinds, n);
        CHECK(f.covered > .99 && f.error > 0);
        trial_free(t);
    }
    test_row(NULL);
}

static void test_trial_judge_says_what_is_the_same(void)
{
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    for (unsigned i = 0; i < 4000; i++) {
        enum trial_side side;
        uint64_t tag = trial_route(t, 1, &side);

        trial_add(t, tag, side, 1 + side, 100000 + i % 7);
    }
    trial_judge(t, &f);
    CHECK_INT(f.verdict, TRIAL_SAME);
    trial_free(t);
}

static void test_trial_judge_is_seldom_sure_of_nothing(void)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < 300; i++) {
        struct trial *t = trial_new(1, i);
        const struct load mix[] = {{1, 200000, 200000, 3}, {2, 900000, 900000, 1}};
        enum trial_verdict v = TRIAL_OPEN;

        for (unsigned look = 0; look < 10; look++) {
            v = run(t, mix, 2, 100).verdict;
            wrong += v == TRIAL_BEST_WITH || v == TRIAL_BEST_WITHOUT;
        }
        trial_free(t);
    }
    CHECK(wrong < 15); /* of 3000 looks */
}

static void test_trial_judge_needs_enough(void)
{
    const struct load mix[] = {{1, 1000000, 3000000, 1}};
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    trial_judge(t, &f);
    CHECK_INT(f.verdict, TRIAL_OPEN);
    CHECK_INT(f.requests, 0);
    f = run(t, mix, 1, 200); /* 50 per worker: nothing is warm */
    CHECK_INT(f.verdict, TRIAL_OPEN);
    CHECK_INT(f.kinds, 0);
    CHECK_INT(f.requests, 200);
    trial_free(t);
}

/* Rare kinds share a series, and are compared by it. */
static void test_trial_judge_compares_rare_kinds_together(void)
{
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    for (unsigned i = 0; i < 20000; i++) {
        enum trial_side side;
        uint64_t tag = trial_route(t, 1000 + i % 4000, &side);

        trial_add(t, tag, side, 1 + side, cost(side == TRIAL_WITH ? 1000000 : 2000000));
    }
    trial_judge(t, &f);
    CHECK_INT(f.verdict, TRIAL_BEST_WITH);
    CHECK_INT(f.kinds, 1);
    trial_free(t);
}

/* A kind that comes often keeps its place among very many that do not. */
static void test_trial_kinds_that_are_common_stay(void)
{
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    for (unsigned i = 0; i < 20000; i++) {
        enum trial_side side;
        uint64_t tag = trial_route(t, i % 2 ? 7 : 1000 + i, &side);

        trial_add(t, tag, side, 1 + side, cost(1000000));
    }
    trial_judge(t, &f);
    CHECK(f.kinds >= 2 && f.covered > .9);
    trial_free(t);
}

static void test_trial_warmup_is_counted_apart(void)
{
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    for (unsigned i = 0; i < 1000; i++) {
        enum trial_side side;
        uint64_t tag = trial_route(t, 1, &side);

        /* Compiling makes the first 200 requests cost ten times as much. */
        trial_add(t, tag, side, 1 + side, side == TRIAL_WITH && i < 200 ? 1000000 : 100000);
    }
    trial_judge(t, &f);
    CHECK(f.cost[TRIAL_WITH] > 99000 && f.cost[TRIAL_WITH] < 101000);
    CHECK(f.warmup[TRIAL_WITH] > 80e6 && f.warmup[TRIAL_WITH] < 100e6);
    CHECK(f.warmup[TRIAL_WITHOUT] < 1e6);
    trial_free(t);
}

static void test_trial_add_ignores_tags_of_others(void)
{
    struct trial *old = trial_new(1, 1), *t = trial_new(2, 1);
    struct trial_figures f;
    enum trial_side side;
    uint64_t tag = trial_route(old, 1, &side), first;

    for (unsigned i = 0; i < 1000; i++)
        trial_add(t, tag, side, 1, 1000);
    trial_add(t, 0, side, 1, 1000);
    trial_add(t, UINT64_C(2) << 32 | 0xff, side, 1, 1000);
    /* The kind's place went to another one. */
    first = trial_route(t, 1, &side);
    for (unsigned i = 0; i < 200; i++)
        (void)trial_route(t, 100 + i, &side);
    for (unsigned i = 0; i < 1000; i++)
        trial_add(t, first, TRIAL_WITH, 1, 1000);
    trial_judge(t, &f);
    CHECK_INT(f.samples[TRIAL_WITH] + f.samples[TRIAL_WITHOUT], 0);
    trial_free(old);
    trial_free(t);
}

/* Workers that end after few requests never see a kind often enough by themselves. */
static void test_trial_with_short_lived_workers_decides(void)
{
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    for (unsigned i = 0; i < 6000; i++) {
        enum trial_side side;
        uint64_t tag = trial_route(t, 1, &side);

        trial_add(t, tag, side, 1 + i / 40 * 2 + side, cost(side == TRIAL_WITH ? 100000 : 50000));
    }
    trial_judge(t, &f);
    CHECK_INT(f.verdict, TRIAL_BEST_WITHOUT);
    trial_free(t);
}

/* All of a large pool at work in turn: none is forgotten between two of its requests. */
static void test_trial_with_many_workers_decides(void)
{
    struct trial *t = trial_new(1, 1);
    struct trial_figures f;

    for (unsigned i = 0; i < 6000; i++) {
        enum trial_side side;
        uint64_t tag = trial_route(t, 1, &side);

        trial_add(
            t, tag, side, 1 + i / 2 % 100 * 2 + side, cost(side == TRIAL_WITH ? 100000 : 50000));
    }
    trial_judge(t, &f);
    CHECK_INT(f.verdict, TRIAL_BEST_WITHOUT);
    trial_free(t);
}

const struct test tests_trial[] = {
    TEST(test_trial_kind_leaves_names_out),
    TEST(test_trial_route_gives_one_of_each_pair_to_each_side),
    TEST(test_trial_judge_finds_the_better_side),
    TEST(test_trial_judge_says_what_is_the_same),
    TEST(test_trial_judge_is_seldom_sure_of_nothing),
    TEST(test_trial_judge_needs_enough),
    TEST(test_trial_judge_compares_rare_kinds_together),
    TEST(test_trial_kinds_that_are_common_stay),
    TEST(test_trial_warmup_is_counted_apart),
    TEST(test_trial_add_ignores_tags_of_others),
    TEST(test_trial_with_short_lived_workers_decides),
    TEST(test_trial_with_many_workers_decides),
    TEST_END,
};
