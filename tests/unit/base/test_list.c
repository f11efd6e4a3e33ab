/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "base/list.h"

#include "unit/test.h"

extern const struct test tests_list[];

struct list_item {
    char name;
    struct list link;
};

static void list_spell(struct list *head, char *out)
{
    list_each (it, head)
        *out++ = CONTAINER_OF(it, struct list_item, link)->name;
    *out = '\0';
}

static void test_list_keeps_order(void)
{
    struct list_item a = {.name = 'a'}, b = {.name = 'b'}, c = {.name = 'c'};
    struct list head;
    char text[8];

    list_init(&head);
    CHECK(list_empty(&head));
    CHECK(list_first(&head) == NULL);
    CHECK(list_pop(&head) == NULL);
    list_push(&head, &b.link);
    list_push(&head, &c.link);
    list_push_front(&head, &a.link);
    list_spell(&head, text);
    CHECK_STR(str_c(text), "abc");
    list_remove(&b.link);
    list_remove(&b.link); /* twice is fine */
    list_spell(&head, text);
    CHECK_STR(str_c(text), "ac");
    CHECK(list_pop(&head) == &a.link);
    CHECK(list_first(&head) == &c.link);
    CHECK(list_pop(&head) == &c.link);
    CHECK(list_empty(&head));
}

static void test_list_each_safe_allows_removal(void)
{
    struct list_item items[4] = {{.name = 'a'}, {.name = 'b'}, {.name = 'c'}, {.name = 'd'}};
    struct list head;
    char text[8];

    list_init(&head);
    for (size_t i = 0; i < ARRAY_LEN(items); i++)
        list_push(&head, &items[i].link);
    list_each_safe (it, &head)
        if (CONTAINER_OF(it, struct list_item, link)->name % 2)
            list_remove(it);
    list_spell(&head, text);
    CHECK_STR(str_c(text), "bd");
}

const struct test tests_list[] = {
    TEST(test_list_keeps_order),
    TEST(test_list_each_safe_allows_removal),
    TEST_END,
};
