/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "platform/shm.h"

#include "platform/fs.h"
#include "unit/test.h"

extern const struct test tests_shm[];

static void test_shm_two_mappings_share(void)
{
    enum { SIZE = 1 << 20 };
    void *a = NULL, *b = NULL;
    unsigned char sum = 0;
    int fd = -1;

    CHECK_INT(shm_create("ephpm-test", SIZE, &fd), 0);
    CHECK_INT(shm_map(fd, SIZE, &a), 0);
    CHECK_INT(shm_map(fd, SIZE, &b), 0);
    CHECK(a != b);
    for (size_t i = 0; i < SIZE; i++)
        sum |= ((unsigned char *)a)[i];
    CHECK_INT(sum, 0);
    memcpy((char *)a + 4096, "shared", 7);
    CHECK_STR(str_c((char *)b + 4096), "shared");
    fs_close(fd); /* the mappings stay */
    CHECK_STR(str_c((char *)b + 4096), "shared");
    shm_unmap(a, SIZE);
    shm_unmap(b, SIZE);
    shm_unmap(NULL, SIZE);
}

static void test_shm_map_checks_the_size(void)
{
    void *p = NULL;
    int fd = -1;

    CHECK_INT(shm_create("ephpm-test", 0, &fd), ERR_INVAL);
    CHECK_INT(fd, -1);
    CHECK_INT(shm_create("ephpm-test", 65536, &fd), 0);
    CHECK_INT(shm_map(fd, 65537 + 65536, &p), ERR_INVAL);
    CHECK_INT(shm_map(fd, 0, &p), ERR_INVAL);
    CHECK(p == NULL);
    CHECK(shm_map(-1, 65536, &p) < 0);
    fs_close(fd);
}

const struct test tests_shm[] = {
    TEST(test_shm_two_mappings_share),
    TEST(test_shm_map_checks_the_size),
    TEST_END,
};
