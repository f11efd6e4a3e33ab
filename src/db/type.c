/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/type.h"

static const struct {
    struct str name;
    uint8_t wire;
} bases[DB_T__COUNT] = {
#define ROW(id, number, text) [DB_T_##id] = {STR(text), number},
    DB_TYPE_LIST(ROW)
#undef ROW
};

struct str db_base_name(enum db_base b)
{
    return bases[b].name;
}

uint8_t db_base_wire(enum db_base b)
{
    return bases[b].wire;
}

uint32_t db_base_bytes(enum db_base b)
{
    switch (b) {
    case DB_T_TINYTEXT:
    case DB_T_TINYBLOB:
        return 255;
    case DB_T_TEXT:
    case DB_T_BLOB:
        return 65535;
    case DB_T_MEDIUMTEXT:
    case DB_T_MEDIUMBLOB:
        return 16777215;
    default:
        return UINT32_MAX;
    }
}
