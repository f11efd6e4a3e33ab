/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_MYSQL_VALUE_H
#define EPHPM_DB_MYSQL_VALUE_H

/*
 * Values on the wire: rows of both protocols, as their columns were announced, and the parameters
 * of prepared statements. Pure.
 *
 * A row is written as the column's type says, whatever kind the value has: a number that is text is
 * read as one, a date that cannot be read goes as the zero date. So a client that trusts the
 * announcement never reads past the end of a value.
 */

#include "base/arena.h"
#include "db/mysql/packet.h"
#include "db/value.h"

/* Appends the payload of a row of the text protocol (COM_QUERY). */
void mysql_put_text_row(
    struct buf *b, const struct db_column *columns, const struct db_value *values, uint32_t n);
/* The same of the binary protocol (COM_STMT_EXECUTE, COM_STMT_FETCH). */
void mysql_put_binary_row(
    struct buf *b, const struct db_column *columns, const struct db_value *values, uint32_t n);

/* Bytes of BIT(bits): big-endian, (bits + 7) / 8 of them. */
size_t mysql_bit_bytes(uint64_t v, int bits, char out[8]);

/* What a client says of a parameter's type: the protocol's number, and whether it has a sign. */
struct mysql_param_type {
    uint8_t wire;
    bool is_unsigned;
};

/* A parameter that came before, by COM_STMT_SEND_LONG_DATA. */
struct mysql_long_data {
    bool given;
    struct buf bytes;
};

/*
 * Reads what follows the iteration count in COM_STMT_EXECUTE: the bitmap of NULLs, the types when
 * they are sent (kept in types for the next time), and the values. Parameters that long[] has are
 * not in the packet. Strings are borrowed from it; dates are made in the arena. ERR_PROTO: the
 * packet is wrong; ERR_INVAL: types were never sent.
 */
struct mysql_params {
    uint32_t n;
    struct mysql_param_type *types;
    bool have_types;
    const struct mysql_long_data *long_data; /* n of them, or NULL */
};
int mysql_parse_params(struct mysql_params *p, struct mysql_reader *r, struct arena *arena,
    struct db_value *out) MUST_CHECK;

#endif
