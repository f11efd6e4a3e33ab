/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/map.h"

#include "unit/test.h"

extern const struct test tests_map[];

static int map_values[2000];

static struct str map_key(int i, char space[16])
{
    return str_n(space, (size_t)snprintf(space, 16, "key-%d", i));
}

static void test_map_set_get_del(void)
{
    struct map m;
    int one, two;

    map_init(&m, 42);
    CHECK(map_get(&m, STR("a")) == NULL);
    CHECK(map_del(&m, STR("a")) == NULL);
    CHECK(map_set(&m, STR("a"), &one) == NULL);
    CHECK(map_set(&m, STR("a"), &two) == &one);
    CHECK_INT(m.count, 1);
    CHECK(map_get(&m, STR("a")) == &two);
    CHECK(map_get(&m, STR("A")) == NULL);
    CHECK(map_del(&m, STR("a")) == &two);
    CHECK_INT(m.count, 0);
    CHECK(map_get(&m, STR("a")) == NULL);
    map_fini(&m);
}

static void test_map_takes_empty_and_binary_keys(void)
{
    struct map m;
    int e, z, zz;

    map_init(&m, 1);
    CHECK(map_set(&m, STR_NONE, &e) == NULL);
    CHECK(map_set(&m, str_n("\0", 1), &z) == NULL);
    CHECK(map_set(&m, str_n("\0\0", 2), &zz) == NULL);
    CHECK_INT(m.count, 3);
    CHECK(map_get(&m, STR("")) == &e);
    CHECK(map_get(&m, str_n("\0", 1)) == &z);
    CHECK(map_get(&m, str_n("\0\0", 2)) == &zz);
    map_fini(&m);
}

static void test_map_owns_its_keys(void)
{
    struct map m;
    char key[] = "abc";
    int v;

    map_init(&m, 1);
    CHECK(map_set(&m, str_c(key), &v) == NULL);
    key[0] = 'x';
    CHECK(map_get(&m, STR("abc")) == &v);
    map_fini(&m);
}

/* Many keys come and go, so that tables grow and deleted slots are used again. */
static void test_map_survives_churn(void)
{
    const int n = (int)ARRAY_LEN(map_values);
    struct map m;
    char k[16];

    map_init(&m, 7);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < n; i++)
            CHECK(map_set(&m, map_key(i, k), &map_values[i]) == NULL);
        CHECK_INT(m.count, n);
        for (int i = 0; i < n; i++)
            CHECK(map_get(&m, map_key(i, k)) == &map_values[i]);
        for (int i = 0; i < n; i++)
            CHECK(map_del(&m, map_key(i, k)) == &map_values[i]);
        CHECK_INT(m.count, 0);
    }
    CHECK(m.cap <= 8192);
    map_fini(&m);
}

static void test_map_next_delivers_each_once(void)
{
    enum { N = 500 };
    struct map m;
    struct str key;
    void *value;
    size_t it = 0, seen = 0;
    char k[16];

    map_init(&m, 9);
    memset(map_values, 0, sizeof(map_values));
    for (int i = 0; i < N; i++)
        CHECK(map_set(&m, map_key(i, k), &map_values[i]) == NULL);
    while (map_next(&m, &it, &key, &value)) {
        CHECK(str_starts(key, STR("key-")));
        ++*(int *)value;
        CHECK(map_del(&m, key) == value); /* allowed for the key just delivered */
        seen++;
    }
    CHECK_INT(seen, N);
    CHECK_INT(m.count, 0);
    for (int i = 0; i < N; i++)
        CHECK_INT(map_values[i], 1);
    map_fini(&m);
}

const struct test tests_map[] = {
    TEST(test_map_set_get_del),
    TEST(test_map_takes_empty_and_binary_keys),
    TEST(test_map_owns_its_keys),
    TEST(test_map_survives_churn),
    TEST(test_map_next_delivers_each_once),
    TEST_END,
};
