/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/catalog.h"

int32_t db_cat_column_find(const struct db_cat_table *t, struct str name)
{
    for (uint32_t i = 0; i < t->n_columns; i++) {
        if (str_ieq(t->columns[i].name, name))
            return (int32_t)i;
    }
    return -1;
}

const struct db_cat_key *db_cat_key_find(const struct db_cat_table *t, struct str name)
{
    for (uint32_t i = 0; i < t->n_keys; i++) {
        if (str_ieq(t->keys[i].name, name))
            return &t->keys[i];
    }
    return NULL;
}
