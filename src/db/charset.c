/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/charset.h"

static const struct db_collation rows[] = {
#define ROW(number, name, charset, bytes, is_default, pads) \
    {number, {name, sizeof(name) - 1}, {charset, sizeof(charset) - 1}, bytes, is_default, pads},
    DB_COLLATION_LIST(ROW)
#undef ROW
};

const struct db_collation *db_collations(uint32_t *n)
{
    *n = ARRAY_LEN(rows);
    return rows;
}

/* "utf8_x" is the old name of "utf8mb3_x" */
static bool same_name(struct str old, struct str name)
{
    if (str_ieq(old, name))
        return true;
    return str_istarts(old, STR("utf8_")) && str_starts(name, STR("utf8mb3_")) &&
           str_ieq(str_sub(old, 5, old.len), str_sub(name, 8, name.len));
}

const struct db_collation *db_collation_find(struct str name)
{
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (same_name(name, rows[i].name))
            return &rows[i];
    }
    return NULL;
}

const struct db_collation *db_collation_number(uint32_t number)
{
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].number == number)
            return &rows[i];
    }
    return NULL;
}

const struct db_collation *db_charset_default(struct str charset)
{
    if (str_ieq(charset, STR("utf8")))
        charset = STR("utf8mb3");
    for (uint32_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].is_default && str_ieq(charset, rows[i].charset))
            return &rows[i];
    }
    return NULL;
}
