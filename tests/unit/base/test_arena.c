/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/arena.h"

#include <stdalign.h>

#include "unit/test.h"

extern const struct test tests_arena[];

static void test_arena_new_is_zeroed_and_aligned(void)
{
    struct arena a = {0};

    for (size_t n = 0; n < 300; n++) {
        unsigned char *p = arena_new(&a, n), sum = 0;

        CHECK_INT((uintptr_t)p % alignof(max_align_t), 0);
        for (size_t i = 0; i < n; i++)
            sum |= p[i];
        CHECK_INT(sum, 0);
        memset(p, 0xff, n);
        memset(arena_bytes(&a, 1), 0xff, 1); /* makes the next one start unaligned */
    }
    arena_fini(&a);
}

static void test_arena_blocks_never_move(void)
{
    struct arena a;
    struct str first;
    char *big;

    arena_init(&a);
    first = arena_str(&a, STR("first"));
    for (int i = 0; i < 1000; i++)
        memset(arena_bytes(&a, 100), 'x', 100);
    big = arena_bytes(&a, 1 << 20);
    memset(big, 'y', 1 << 20);
    CHECK_STR(first, "first");
    CHECK_INT(first.p[5], 0);
    CHECK(arena_used(&a) >= 100000 + (1 << 20));
    arena_fini(&a);
    CHECK_INT(arena_used(&a), 0);
}

static void test_arena_reset_makes_memory_usable_again(void)
{
    struct arena a = {0};
    char *before = arena_bytes(&a, 10);

    memset(arena_bytes(&a, 100000), 'x', 100000);
    arena_reset(&a);
    CHECK_INT(arena_used(&a), 0);
    CHECK(arena_bytes(&a, 10) == before);
    /* What was used before comes zeroed again. */
    memset(before, 'z', 10);
    arena_reset(&a);
    CHECK_INT(((char *)arena_new(&a, 10))[3], 0);
    arena_fini(&a);
    arena_reset(&a); /* an empty one */
    CHECK_INT(arena_used(&a), 0);
}

static void test_arena_printf_formats(void)
{
    struct arena a = {0};
    struct str s = arena_printf(&a, "%s-%d", "x", 42), e = arena_printf(&a, "%s", "");
    struct str big = arena_printf(&a, "%05000d", 7);

    CHECK_STR(s, "x-42");
    CHECK_INT(s.p[s.len], 0);
    CHECK_INT(e.len, 0);
    CHECK_INT(big.len, 5000);
    CHECK_INT(big.p[4999], '7');
    CHECK_STR(arena_str(&a, STR_NONE), "");
    arena_fini(&a);
}

struct arena_trail {
    char order[8];
    size_t n;
};

struct arena_mark {
    struct arena_trail *trail;
    char name;
};

static void arena_leave_mark(void *arg)
{
    struct arena_mark *m = arg;

    m->trail->order[m->trail->n++] = m->name;
}

static void test_arena_defer_runs_newest_first_and_once(void)
{
    struct arena_trail trail = {0};
    struct arena_mark a_ = {&trail, 'a'}, b = {&trail, 'b'}, c = {&trail, 'c'};
    struct arena a = {0};

    arena_defer(&a, arena_leave_mark, &a_);
    arena_defer(&a, arena_leave_mark, &b);
    arena_reset(&a);
    CHECK_STR(str_n(trail.order, trail.n), "ba");
    arena_defer(&a, arena_leave_mark, &c);
    arena_fini(&a);
    CHECK_STR(str_n(trail.order, trail.n), "bac");
    arena_fini(&a);
    CHECK_INT(trail.n, 3);
}

const struct test tests_arena[] = {
    TEST(test_arena_new_is_zeroed_and_aligned),
    TEST(test_arena_blocks_never_move),
    TEST(test_arena_reset_makes_memory_usable_again),
    TEST(test_arena_printf_formats),
    TEST(test_arena_defer_runs_newest_first_and_once),
    TEST_END,
};
