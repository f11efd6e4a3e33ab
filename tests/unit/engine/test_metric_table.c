/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "engine/metric_table.h"
#include "unit/test.h"

static bool is_name(const char *s)
{
    return s && s[0] && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")];
}

/* What OpenMetrics calls a family. */
static struct str family_name(const struct metrics_family *f)
{
    struct str s = str_c(f->name);

    if (f->type == METRICS_COUNTER)
        s.len -= strlen("_total");
    return s;
}

static void test_metric_table_rows_are_complete(void)
{
    for (unsigned i = 0; i < METRIC_LABEL_COUNT; i++) {
        const struct metrics_label *l = &metric_schema.labels[i];

        CHECK(is_name(l->name) && l->room > 0);
        for (unsigned j = 0; l->values && j < l->room; j++)
            CHECK(l->values[j] && *l->values[j]);
    }
    for (unsigned i = 0; i < METRIC_COUNT; i++) {
        const struct metrics_family *f = &metric_schema.families[i];
        struct str help = str_c(f->help);

        test_row(f->name);
        CHECK(is_name(f->name) && str_starts(str_c(f->name), STR("ephpm_")));
        CHECK(help.len && str_chr(STR(".,;"), help.p[help.len - 1]) == 0);
        CHECK_INT(str_ends(str_c(f->name), STR("_total")), f->type == METRICS_COUNTER);
        CHECK(f->type == METRICS_HISTOGRAM ? f->nbounds > 0 : f->nbounds == 0);
        for (unsigned j = 1; j < f->nbounds; j++)
            CHECK(f->bounds[j - 1] < f->bounds[j]);
        for (unsigned j = 0; j < f->nlabels; j++)
            for (unsigned k = 0; k < j; k++)
                CHECK(strcmp(metric_schema.labels[f->labels[j]].name,
                          metric_schema.labels[f->labels[k]].name) != 0);
        for (unsigned j = 0; j < i; j++)
            CHECK(!str_eq(family_name(f), family_name(&metric_schema.families[j])));
    }
    test_row(NULL);
}

static void test_metric_table_rare_values_share_a_place(void)
{
    static const char *const methods[] = {"", "get", "GETX", "BREW", "CONNECT"};
    static const int statuses[] = {-1, 0, 100, 299, 418, 599, 600, 999, 100000};
    const struct metrics_label *status = &metric_schema.labels[METRIC_LABEL_STATUS];
    const struct metrics_label *method = &metric_schema.labels[METRIC_LABEL_METHOD];

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        CHECK_STR(str_c(method->values[metric_method(str_c(methods[i]))]), "OTHER");
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        CHECK_STR(str_c(status->values[metric_status(statuses[i])]), "other");
    CHECK_STR(str_c(method->values[metric_method(STR("DELETE"))]), "DELETE");
    CHECK_STR(str_c(status->values[metric_status(404)]), "404");
    CHECK_STR(str_c(status->values[metric_status(507)]), "507");
    CHECK_INT(metric_signal("SIGRTMIN"), 0);
    CHECK_STR(str_c(metric_schema.labels[METRIC_LABEL_SIGNAL].values[metric_signal(NULL)]), "none");
}

const struct test tests_metric_table[] = {
    TEST(test_metric_table_rows_are_complete),
    TEST(test_metric_table_rare_values_share_a_place),
    TEST_END,
};
