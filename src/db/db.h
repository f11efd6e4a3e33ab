/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_DB_H
#define EPHPM_DB_DB_H

/*
 * The embedded database: SQLite files that speak MySQL. A process of its own, the role db, serves
 * the MySQL protocol on a Unix socket (and on TCP when asked); applications keep pdo_mysql and
 * mysqli.
 *
 * Parts, in reading order; each is a component that sees only those before it:
 *
 *   type.h, error.h, value.h, catalog.h   what all parts speak of: types, errors, values, tables
 *   sql/        text to tree: lexer, parser (ast.h is the tree), printer, digests. Pure.
 *   func/       MySQL's functions, operators, collations and conversions as C functions of SQLite
 *   translate/  tree to SQLite's text: names resolved against the catalog, every expression
 *               typed, everything whose meaning differs replaced by a call of func/. Pure.
 *   ddl/        definitions: a table of the catalog made of CREATE and ALTER, SQLite's text for it,
 *               SHOW CREATE TABLE. Pure.
 *   store/      files, handles, the writer queue, transactions, sessions, the catalog,
 *               SHOW and information_schema, statistics
 *   mysql/      the wire: packets, authentication, connections
 *
 * How a statement goes: mysql/ has a packet, session.h takes its text; sql/ parses it whole or
 * answers 1064; translate/ makes SQLite's text, the parameters and the result's columns of it;
 * store/ borrows a handle, waits for its turn to write if it writes, runs it and gives rows to the
 * sink, which is the wire again.
 *
 * How values of MySQL lie in SQLite (the contract between translate/, func/ and store/):
 *
 *   TINYINT..BIGINT, BIT    INTEGER; BIT(n) is a number here and bytes on the wire. What is above
 *                           2^63-1 can be computed with (it is TEXT of digits then, with the
 *                           static type BIGINT UNSIGNED), but not stored (error 1264).
 *   DECIMAL(p,s)            TEXT, exactly s decimals, no leading zeros, no "-0": "-0.50" "12.00".
 *                           Columns have COLLATE my_decimal, which compares as numbers.
 *                           Literals with a point (1.5) are DECIMAL too, as in MySQL.
 *   FLOAT, DOUBLE           REAL
 *   YEAR                    INTEGER (0 or 1901..2155)
 *   DATE                    TEXT "2024-01-31", "0000-00-00" is allowed
 *   DATETIME(f)             TEXT "2024-01-31 10:00:00" and exactly f decimals after a point if f >
 * 0 TIMESTAMP(f)            the same, in UTC TIME(f)                 TEXT "-838:59:59.000000", at
 * least two digits of hours. Columns have COLLATE my_time. CHAR, VARCHAR, TEXT     TEXT in UTF-8,
 * COLLATE with MySQL's name of the collation ENUM, SET               TEXT as CHAR ('a,c' in
 * declaration order for SET) JSON                    TEXT as MySQL prints it: "{"a": 1, "b": [1,
 * 2]}" (a space after , and :, keys ordered by length, then bytes) BINARY, BLOB            BLOB
 *
 * An error raised inside a function of SQLite is sqlite3_result_error() with the text made by
 * db_error_pack(); store/ takes it apart again (db_error_unpack()).
 */

#endif
