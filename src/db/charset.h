/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_CHARSET_H
#define EPHPM_DB_CHARSET_H

/*
 * Character sets and collations by name and by the protocol's number. Text lies in SQLite as UTF-8
 * whatever its character set; the set decides lengths in bytes and which collations fit.
 */

#include "base/attr.h"
#include "base/str.h"

/* X(number, name, charset, bytes of a character at most, default of its charset, PAD SPACE) */
#define DB_COLLATION_LIST(X)                                  \
    X(45, "utf8mb4_general_ci", "utf8mb4", 4, 0, 1)           \
    X(46, "utf8mb4_bin", "utf8mb4", 4, 0, 1)                  \
    X(224, "utf8mb4_unicode_ci", "utf8mb4", 4, 0, 1)          \
    X(246, "utf8mb4_unicode_520_ci", "utf8mb4", 4, 0, 1)      \
    X(255, "utf8mb4_0900_ai_ci", "utf8mb4", 4, 1, 0)          \
    X(278, "utf8mb4_0900_as_cs", "utf8mb4", 4, 0, 0)          \
    X(305, "utf8mb4_0900_as_ci", "utf8mb4", 4, 0, 0)          \
    X(309, "utf8mb4_0900_bin", "utf8mb4", 4, 0, 0)            \
    X(225, "utf8mb4_icelandic_ci", "utf8mb4", 4, 0, 1)        \
    X(226, "utf8mb4_latvian_ci", "utf8mb4", 4, 0, 1)          \
    X(227, "utf8mb4_romanian_ci", "utf8mb4", 4, 0, 1)         \
    X(228, "utf8mb4_slovenian_ci", "utf8mb4", 4, 0, 1)        \
    X(229, "utf8mb4_polish_ci", "utf8mb4", 4, 0, 1)           \
    X(230, "utf8mb4_estonian_ci", "utf8mb4", 4, 0, 1)         \
    X(231, "utf8mb4_spanish_ci", "utf8mb4", 4, 0, 1)          \
    X(232, "utf8mb4_swedish_ci", "utf8mb4", 4, 0, 1)          \
    X(233, "utf8mb4_turkish_ci", "utf8mb4", 4, 0, 1)          \
    X(234, "utf8mb4_czech_ci", "utf8mb4", 4, 0, 1)            \
    X(235, "utf8mb4_danish_ci", "utf8mb4", 4, 0, 1)           \
    X(236, "utf8mb4_lithuanian_ci", "utf8mb4", 4, 0, 1)       \
    X(237, "utf8mb4_slovak_ci", "utf8mb4", 4, 0, 1)           \
    X(238, "utf8mb4_spanish2_ci", "utf8mb4", 4, 0, 1)         \
    X(239, "utf8mb4_roman_ci", "utf8mb4", 4, 0, 1)            \
    X(240, "utf8mb4_persian_ci", "utf8mb4", 4, 0, 1)          \
    X(241, "utf8mb4_esperanto_ci", "utf8mb4", 4, 0, 1)        \
    X(242, "utf8mb4_hungarian_ci", "utf8mb4", 4, 0, 1)        \
    X(243, "utf8mb4_sinhala_ci", "utf8mb4", 4, 0, 1)          \
    X(244, "utf8mb4_german2_ci", "utf8mb4", 4, 0, 1)          \
    X(245, "utf8mb4_croatian_ci", "utf8mb4", 4, 0, 1)         \
    X(247, "utf8mb4_vietnamese_ci", "utf8mb4", 4, 0, 1)       \
    X(33, "utf8mb3_general_ci", "utf8mb3", 3, 1, 1)           \
    X(83, "utf8mb3_bin", "utf8mb3", 3, 0, 1)                  \
    X(192, "utf8mb3_unicode_ci", "utf8mb3", 3, 0, 1)          \
    X(214, "utf8mb3_unicode_520_ci", "utf8mb3", 3, 0, 1)      \
    X(223, "utf8mb3_general_mysql500_ci", "utf8mb3", 3, 0, 1) \
    X(8, "latin1_swedish_ci", "latin1", 1, 1, 1)              \
    X(5, "latin1_german1_ci", "latin1", 1, 0, 1)              \
    X(31, "latin1_german2_ci", "latin1", 1, 0, 1)             \
    X(15, "latin1_danish_ci", "latin1", 1, 0, 1)              \
    X(94, "latin1_spanish_ci", "latin1", 1, 0, 1)             \
    X(48, "latin1_general_ci", "latin1", 1, 0, 1)             \
    X(49, "latin1_general_cs", "latin1", 1, 0, 1)             \
    X(47, "latin1_bin", "latin1", 1, 0, 1)                    \
    X(11, "ascii_general_ci", "ascii", 1, 1, 1)               \
    X(65, "ascii_bin", "ascii", 1, 0, 1)                      \
    X(63, "binary", "binary", 1, 1, 0)

struct db_collation {
    uint16_t number;
    struct str name;
    struct str charset;
    uint8_t max_bytes; /* of a character */
    bool is_default;   /* of its charset */
    bool pads;         /* trailing spaces do not count in comparisons */
};

/* All; static. */
const struct db_collation *db_collations(uint32_t *n);
/* By name in any case ("utf8_..." is utf8mb3's); NULL: unknown. */
const struct db_collation *db_collation_find(struct str name);
const struct db_collation *db_collation_number(uint32_t number);
/* The default one of a charset ("utf8" is utf8mb3), or NULL when there is no such charset. */
const struct db_collation *db_charset_default(struct str charset);

#endif
