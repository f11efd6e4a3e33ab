/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/clock.h"

#include "platform/random.h"
#include "platform/wake.h"
#include "unit/test.h"

extern const struct test tests_clock[];

static void test_clock_mono_moves_forward(void)
{
    uint64_t a = clock_mono_ns(), ms = clock_mono_ms(), b;
    _Atomic uint32_t word = 0;

    CHECK_INT(wake_wait(&word, 0, 60), ERR_TIMEOUT);
    b = clock_mono_ns();
    CHECK(b - a >= 45 * 1000000u);       /* timers of some systems are coarse */
    CHECK(b - a < 1000 * 1000000000ull); /* the unit is right */
    CHECK(clock_mono_ms() >= ms + 30);
    /* Both count from the same start. */
    a = clock_mono_ns();
    ms = clock_mono_ms();
    b = clock_mono_ns();
    CHECK(ms + 50 >= a / 1000000 && ms <= b / 1000000 + 50);
}

static void test_clock_wall_is_after_2024(void)
{
    CHECK(clock_wall_us() > 1704067200ull * 1000000);
    CHECK(clock_wall_us() < 7258118400ull * 1000000); /* 2200: not nanoseconds */
}

static void test_clock_cpu_counts_work_alone(void)
{
    uint64_t a = clock_cpu_ns(), wall = clock_mono_ns(), b;
    volatile unsigned x = 0;

    clock_sleep_ms(60);
    b = clock_cpu_ns();
    CHECK(b - a < 40 * 1000000u);
    for (unsigned i = 0; i < 1u << 20 || clock_mono_ns() - wall < 100000000u; i++)
        x += i;
    CHECK(clock_cpu_ns() > b);
}

static void test_random_differs(void)
{
    unsigned char a[300] = {0}, b[300] = {0};
    size_t zeros = 0;

    random_bytes(a, sizeof(a));
    random_bytes(b, sizeof(b));
    random_bytes(NULL, 0);
    CHECK(memcmp(a, b, sizeof(a)) != 0);
    for (size_t i = 0; i < sizeof(a); i++)
        zeros += a[i] == 0;
    CHECK(zeros < 30);
    CHECK(random_u64() != random_u64());
}

const struct test tests_clock[] = {
    TEST(test_clock_mono_moves_forward),
    TEST(test_clock_wall_is_after_2024),
    TEST(test_clock_cpu_counts_work_alone),
    TEST(test_random_differs),
    TEST_END,
};
