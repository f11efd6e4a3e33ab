/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_FUNC_LIST_H
#define EPHPM_DB_FUNC_LIST_H

/*
 * All functions that a handle has after db_func_register(), for translate/ to call.
 *
 * X(name, least, most, flags, text): SQLite knows it as m_<name>; most is -1 for any number; text
 * tells arguments and meaning. Unless the text says otherwise, a NULL argument gives NULL, and
 * arguments are values as db.h says they lie in SQLite, converted to what the function wants by
 * their storage class: INTEGER and REAL are numbers, a TEXT is read as a number by MySQL's prefix
 * rule (as an exact one by the functions that say "exact"), a number becomes text as MySQL prints
 * it (so REAL 1.0 is "1"), a BLOB is its bytes.
 *
 * What a TEXT cannot tell, an argument says:
 *
 *   coll    a collation's name, 'utf8mb4_general_ci'
 *   how     how two values compare: 'i' integers (TEXT: BIGINT UNSIGNED), 'd' exact numbers,
 *           'r' as DOUBLE, 'D' as DATE, 'E' as DATETIME, 'T' as TIME, 'x' bytes, 'j' JSON,
 *           's:utf8mb4_general_ci' text in that collation
 *   types   one letter for each of the arguments that follow it: the letters of `how` (without the
 *           collation), and 'u' BIGINT UNSIGNED, 'f' FLOAT, 'y' YEAR, 'b' boolean (TRUE, FALSE and
 *           comparisons), 'n' not known: by storage class, TEXT is a string
 *   fsp     decimals of a second, 0..6
 *   unit    'MICROSECOND', 'DAY_SECOND', ...
 *
 * Flags: D same answer for the same arguments in all sessions, so that indexes, generated columns
 * and CHECK may call it; S constant within a statement only, reads the session; V has another
 * answer at every call, or an effect; A aggregate; W aggregate that is a window function too.
 * SQLite is told DETERMINISTIC of D and S.
 */

enum db_func_flags {
    DB_FUNC_D = 1,
    DB_FUNC_S = 2,
    DB_FUNC_V = 4,
    DB_FUNC_A = 8,
    DB_FUNC_W = 16,
};

/* Conversions: CAST, implicit conversions, and values on their way into a column. */
#define DB_FUNC_LIST_CAST(X)                                                                       \
    X(text, 1, 1, D, "x as MySQL prints it (REAL 1.0 is '1'); TEXT stays, BLOB becomes TEXT")      \
    X(float_text, 1, 1, D, "a FLOAT as text, of single precision")                                 \
    X(double, 1, 1, D, "number of x, as DOUBLE; warning 1292 for text that is not one")            \
    X(dec, 1, 1, D, "number of x as DECIMAL (TEXT); REAL gets the digits that it prints with")     \
    X(int, 1, 1, D,                                                                                \
        "x as integer, rounded; beyond 2^63-1 digits. For LIMIT, lengths and the like")            \
    X(bool, 1, 1, D, "1 or 0: is the number of x not zero?")                                       \
    X(unsigned, 1, 1, D, "an integer seen as BIGINT UNSIGNED: negative ones become digits")        \
    X(date_num, 1, 1, D, "DATE or DATETIME as number: 20240131, 20240131100000, DECIMAL with fsp") \
    X(time_num, 1, 1, D, "TIME as number: 101500")                                                 \
    X(as_date, 1, 1, D, "for comparing with a DATE: x as its text; error 1525 if it is none")      \
    X(as_datetime, 2, 2, D, "x, fsp: for comparing with DATETIME(fsp); more decimals stay if any") \
    X(as_time, 2, 2, S, "x, fsp: for comparing with TIME(fsp)")                                    \
    X(cast_signed, 1, 1, D,                                                                        \
        "CAST(x AS SIGNED): text is cut (a DECIMAL is rounded: m_cast_signed(m_int(x))), "         \
        "above 2^63-1 it wraps")                                                                   \
    X(cast_unsigned, 1, 1, D, "CAST(x AS UNSIGNED)")                                               \
    X(cast_decimal, 3, 3, D, "x, p, s: CAST(x AS DECIMAL(p,s))")                                   \
    X(cast_double, 1, 1, D, "CAST(x AS DOUBLE)")                                                   \
    X(cast_float, 1, 1, D, "CAST(x AS FLOAT)")                                                     \
    X(cast_char, 2, 2, D, "x, n: CAST(x AS CHAR(n)), n -1 without a length")                       \
    X(cast_binary, 2, 2, D, "x, n: CAST(x AS BINARY(n)) as BLOB, padded; n -1 without a length")   \
    X(cast_date, 1, 1, D, "CAST(x AS DATE); NULL and warning 1292 if it is none")                  \
    X(cast_datetime, 2, 2, D, "x, fsp")                                                            \
    X(cast_time, 2, 2, D, "x, fsp")                                                                \
    X(cast_year, 1, 1, D, "CAST(x AS YEAR)")                                                       \
    X(cast_json, 2, 2, D, "types, x: CAST(x AS JSON): text is parsed, others become their JSON")   \
    X(convert, 2, 2, D,                                                                            \
        "x, 'charset': CONVERT(x USING charset); 'binary' gives a BLOB, a BLOB is "                \
        "read as bytes of that charset")                                                           \
    X(ts_local, 1, 1, S, "a TIMESTAMP as it lies (UTC) in the session's time zone")                \
    X(ts_utc, 1, 1, S, "the other way round")                                                      \
    X(row, 1, 1, V,                                                                                \
        "number of the row that is stored: m_row(1) for its first column counts one "              \
        "up, m_row(0) tells it again. Where a number is known, write that instead")                \
    X(auto, 1, 2, V,                                                                               \
        "x, 'name' for the auto column: NULL or 0 (that one by sql_mode) gives NULL "              \
        "so that SQLite numbers the row (with 'name': the callback next_auto gives the number); "  \
        "counts both ways in the context")                                                         \
    X(matched, 0, 1, V, "counts a row that UPDATE found; 1, or its argument")                      \
    X(st_int, 6, 6, S, "x, bits (8 16 24 32 64), unsigned (0 1), 'column', row, flags")            \
    X(st_bit, 5, 5, S, "x, n, 'column', row, flags")                                               \
    X(st_decimal, 7, 7, S, "x, p, s, unsigned, 'column', row, flags")                              \
    X(st_float, 7, 7, S, "x, m, d (-1 -1 without), unsigned, 'column', row, flags")                \
    X(st_double, 7, 7, S, "x, m, d (-1 -1 without), unsigned, 'column', row, flags")               \
    X(st_char, 6, 6, S, "x, n, 'charset', 'column', row, flags: CHAR(n), trailing spaces go")      \
    X(st_varchar, 6, 6, S, "x, n, 'charset', 'column', row, flags")                                \
    X(st_text, 6, 6, S, "x, most bytes, 'charset', 'column', row, flags: the TEXT family")         \
    X(st_binary, 5, 5, S, "x, n, 'column', row, flags: BINARY(n), padded with zero bytes")         \
    X(st_varbinary, 5, 5, S, "x, n, 'column', row, flags")                                         \
    X(st_blob, 5, 5, S, "x, most bytes, 'column', row, flags: the BLOB family")                    \
    X(st_date, 4, 4, S, "x, 'column', row, flags")                                                 \
    X(st_datetime, 5, 5, S, "x, fsp, 'column', row, flags")                                        \
    X(st_timestamp, 5, 5, S, "x, fsp, 'column', row, flags: x is local, what is stored is UTC")    \
    X(st_time, 5, 5, S, "x, fsp, 'column', row, flags")                                            \
    X(st_year, 4, 4, S, "x, 'column', row, flags")                                                 \
    X(st_enum, 6, 6, S,                                                                            \
        "x, 'a,b\\\\,c' (, and \\ in members escaped by \\), coll, 'column', row, "                \
        "flags: x is a member's text or, as number, its index")                                    \
    X(st_set, 6, 6, S, "the same for SET; a number is the bits")                                   \
    X(st_json, 4, 4, S, "x, 'column', row, flags: checked and in MySQL's normal form")             \
    X(enum_index, 2, 2, D, "x, members: the index of an ENUM's text (0: '')")                      \
    X(set_bits, 2, 2, D, "x, members: the bits of a SET's text")

/* flags of m_st_*, added up */
enum db_store_flags {
    DB_ST_NOT_NULL = 1, /* NULL is error 1048 (or the type's zero and a warning, see MULTI) */
    DB_ST_IGNORE = 2,   /* INSERT IGNORE ...: errors become warnings */
    DB_ST_MULTI = 4,    /* more than one row, or UPDATE: NULL for NOT NULL is the type's zero and a
                           warning when sql_mode is not strict */
    DB_ST_TYPED_JSON = 8, /* m_st_json: x is of type JSON, not text to be parsed */
    DB_ST_NUMBER = 16,    /* m_st_json: TEXT is a DECIMAL */
    DB_ST_AUTO = 32,      /* auto column: NULL stays NULL */
};

/* Arithmetic, comparison, pattern matching. "exact": TEXT is DECIMAL or BIGINT UNSIGNED; wrap
 * strings in m_double(), dates in m_date_num(). */
#define DB_FUNC_LIST_OPERATOR(X)                                                                  \
    X(add, 2, 2, D,                                                                               \
        "exact a+b: integers as BIGINT (1690), with a TEXT as DECIMAL, with a REAL as "           \
        "DOUBLE")                                                                                 \
    X(sub, 2, 2, D, "a-b")                                                                        \
    X(mul, 2, 2, D, "a*b")                                                                        \
    X(neg, 1, 1, D, "-a")                                                                         \
    X(uadd, 2, 2, D, "a+b when an operand is BIGINT UNSIGNED: the result is, or error 1690")      \
    X(usub, 2, 2, S, "a-b the same; signed with NO_UNSIGNED_SUBTRACTION")                         \
    X(umul, 2, 2, D, "a*b the same")                                                              \
    X(div, 2, 2, S,                                                                               \
        "exact a/b: DECIMAL (TEXT) with div_precision_increment more decimals than a, "           \
        "or DOUBLE; by zero NULL, or an error as sql_mode says in statements that write")         \
    X(intdiv, 2, 2, S, "a DIV b")                                                                 \
    X(mod, 2, 2, S, "a % b; also MOD(a,b)")                                                       \
    X(band, 2, 2, D, "a & b, as BIGINT UNSIGNED")                                                 \
    X(bor, 2, 2, D, "a | b")                                                                      \
    X(bxor, 2, 2, D, "a ^ b")                                                                     \
    X(bnot, 1, 1, D, "~a")                                                                        \
    X(shl, 2, 2, D, "a << b")                                                                     \
    X(shr, 2, 2, D, "a >> b")                                                                     \
    X(cmp, 3, 3, D, "a, b, how: -1, 0 or 1")                                                      \
    X(eq, 3, 3, D, "a, b, how: a = b")                                                            \
    X(ne, 3, 3, D, "")                                                                            \
    X(lt, 3, 3, D, "")                                                                            \
    X(le, 3, 3, D, "")                                                                            \
    X(gt, 3, 3, D, "")                                                                            \
    X(ge, 3, 3, D, "")                                                                            \
    X(nseq, 3, 3, D, "a <=> b")                                                                   \
    X(greatest, 3, -1, D, "how, x ...: the greatest, as it is")                                   \
    X(least, 3, -1, D, "how, x ...")                                                              \
    X(strcmp, 3, 3, D, "coll, a, b")                                                              \
    X(like, 4, 4, D, "pattern, text, escape ('' none), coll")                                     \
    X(regexp, 3, 3, D, "coll, text, pattern: text REGEXP pattern")                                \
    X(regexp_like, 3, 4, D, "coll, text, pattern[, match type]")                                  \
    X(regexp_instr, 3, 7, D, "coll, text, pattern[, pos, occurrence, return option, match type]") \
    X(regexp_substr, 3, 6, D, "coll, text, pattern[, pos, occurrence, match type]")               \
    X(regexp_replace, 4, 7, D, "coll, text, pattern, with[, pos, occurrence, match type]")        \
    X(sounds_like, 2, 2, D, "a SOUNDS LIKE b")                                                    \
    X(prefix, 2, 2, D, "x, n: the first n characters (bytes of a BLOB): an index part c(n)")      \
    X(key, 2, 2, D, "x, coll: bytes that are equal for equal texts and sort like them")           \
    X(match, 2, -1, S, "'words', text ...: MATCH (text ...) AGAINST ('words'): a relevance")      \
    X(match_boolean, 2, -1, S, "the same IN BOOLEAN MODE")

#define DB_FUNC_LIST_STRING(X)                                                                    \
    X(concat, 1, -1, D, "BLOB if one of them is")                                                 \
    X(concat_ws, 2, -1, D, "separator, x ...: NULLs are left out")                                \
    X(length, 1, 1, D, "bytes")                                                                   \
    X(char_length, 1, 1, D, "characters")                                                         \
    X(bit_length, 1, 1, D, "")                                                                    \
    X(substring, 2, 3, D, "x, pos[, len]: SUBSTR, MID too")                                       \
    X(substring_index, 3, 3, D, "")                                                               \
    X(left, 2, 2, D, "")                                                                          \
    X(right, 2, 2, D, "")                                                                         \
    X(lpad, 2, 3, D, "")                                                                          \
    X(rpad, 2, 3, D, "")                                                                          \
    X(locate, 3, 4, D, "coll, needle, text[, pos]: LOCATE and POSITION; INSTR with them swapped") \
    X(field, 3, -1, D, "how, x, y ...: 0 when x is NULL")                                         \
    X(find_in_set, 3, 3, D, "coll, x, set")                                                       \
    X(elt, 2, -1, D, "n, x ...")                                                                  \
    X(interval, 2, -1, D, "n, x ...: -1 when n is NULL")                                          \
    X(replace, 3, 3, D, "")                                                                       \
    X(reverse, 1, 1, D, "")                                                                       \
    X(repeat, 2, 2, D, "")                                                                        \
    X(space, 1, 1, D, "")                                                                         \
    X(trim, 1, 3, D, "x[, remove[, 'both' 'leading' 'trailing']]")                                \
    X(ltrim, 1, 1, D, "")                                                                         \
    X(rtrim, 1, 1, D, "")                                                                         \
    X(upper, 1, 1, D, "UCASE too")                                                                \
    X(lower, 1, 1, D, "LCASE too")                                                                \
    X(ascii, 1, 1, D, "")                                                                         \
    X(ord, 1, 1, D, "")                                                                           \
    X(char, 2, -1, D, "'charset' ('' gives a BLOB), n ...: CHAR(n ... USING charset)")            \
    X(hex, 1, 1, D,                                                                               \
        "INTEGER and digits of the class TEXT differ: a number beyond 2^63-1 is "                 \
        "m_hex_num()")                                                                            \
    X(hex_num, 1, 1, D, "HEX() of any number: REAL, DECIMAL, BIGINT UNSIGNED")                    \
    X(unhex, 1, 1, D, "a BLOB")                                                                   \
    X(format, 2, 3, D, "exact x, decimals[, locale]")                                             \
    X(insert, 4, 4, D, "")                                                                        \
    X(quote, 1, 1, D, "'NULL' for NULL")                                                          \
    X(soundex, 1, 1, D, "")                                                                       \
    X(to_base64, 1, 1, D, "")                                                                     \
    X(from_base64, 1, 1, D, "a BLOB")                                                             \
    X(weight_string, 2, 4, D, "coll, x[, 'char' 'binary', n]")                                    \
    X(make_set, 2, -1, D, "")                                                                     \
    X(export_set, 3, 5, D, "")                                                                    \
    X(bin, 1, 1, D, "")                                                                           \
    X(oct, 1, 1, D, "")                                                                           \
    X(load_file, 1, 1, S, "NULL")

#define DB_FUNC_LIST_NUMBER(X)                                                                 \
    X(abs, 1, 1, D, "exact, like ceil, floor, round, truncate and sign")                       \
    X(ceil, 1, 1, D, "CEILING")                                                                \
    X(floor, 1, 1, D, "")                                                                      \
    X(round, 1, 2, D, "x[, decimals]; DECIMAL stays DECIMAL")                                  \
    X(truncate, 2, 2, D, "")                                                                   \
    X(sign, 1, 1, D, "")                                                                       \
    X(pow, 2, 2, D, "POWER; 1690 beyond DOUBLE")                                               \
    X(sqrt, 1, 1, D, "")                                                                       \
    X(exp, 1, 1, D, "")                                                                        \
    X(ln, 1, 1, D, "")                                                                         \
    X(log, 1, 2, D, "ln x, or base, x")                                                        \
    X(log2, 1, 1, D, "")                                                                       \
    X(log10, 1, 1, D, "")                                                                      \
    X(pi, 0, 0, D, "")                                                                         \
    X(sin, 1, 1, D, "")                                                                        \
    X(cos, 1, 1, D, "")                                                                        \
    X(tan, 1, 1, D, "")                                                                        \
    X(cot, 1, 1, D, "")                                                                        \
    X(asin, 1, 1, D, "")                                                                       \
    X(acos, 1, 1, D, "")                                                                       \
    X(atan, 1, 2, D, "")                                                                       \
    X(atan2, 2, 2, D, "")                                                                      \
    X(degrees, 1, 1, D, "")                                                                    \
    X(radians, 1, 1, D, "")                                                                    \
    X(rand, 0, 1, V, "RAND() or RAND(seed): a seed starts a row of its own in each statement") \
    X(crc32, 1, 1, D, "")                                                                      \
    X(conv, 3, 3, D, "")                                                                       \
    X(bit_count, 1, 1, D, "")

#define DB_FUNC_LIST_DATE(X)                                                                 \
    X(now, 0, 1, S, "[fsp]: CURRENT_TIMESTAMP, LOCALTIME")                                   \
    X(sysdate, 0, 1, V, "")                                                                  \
    X(curdate, 0, 0, S, "")                                                                  \
    X(curtime, 0, 1, S, "")                                                                  \
    X(utc_date, 0, 0, S, "")                                                                 \
    X(utc_time, 0, 1, S, "")                                                                 \
    X(utc_timestamp, 0, 1, S, "")                                                            \
    X(unix_timestamp, 0, 1, S, "DECIMAL with the decimals of x, else integer")               \
    X(from_unixtime, 1, 2, S, "exact x[, format]")                                           \
    X(date, 1, 1, D, "")                                                                     \
    X(time, 1, 1, D, "")                                                                     \
    X(timestamp, 1, 2, D, "x[, time]")                                                       \
    X(year, 1, 1, D, "")                                                                     \
    X(quarter, 1, 1, D, "")                                                                  \
    X(month, 1, 1, D, "")                                                                    \
    X(week, 1, 2, S, "x[, mode]")                                                            \
    X(weekofyear, 1, 1, D, "")                                                               \
    X(yearweek, 1, 2, S, "")                                                                 \
    X(weekday, 1, 1, D, "")                                                                  \
    X(dayofweek, 1, 1, D, "")                                                                \
    X(dayofmonth, 1, 1, D, "DAY too")                                                        \
    X(dayofyear, 1, 1, D, "")                                                                \
    X(hour, 1, 1, D, "")                                                                     \
    X(minute, 1, 1, D, "")                                                                   \
    X(second, 1, 1, D, "")                                                                   \
    X(microsecond, 1, 1, D, "")                                                              \
    X(monthname, 1, 1, D, "")                                                                \
    X(dayname, 1, 1, D, "")                                                                  \
    X(last_day, 1, 1, D, "")                                                                 \
    X(makedate, 2, 2, D, "")                                                                 \
    X(maketime, 3, 3, D, "")                                                                 \
    X(date_add, 3, 4, D,                                                                     \
        "x, interval (rounded but for SECOND), unit[, type 'D' 'E' 'T' of x, "               \
        "else by its text]: also "                                                           \
        "ADDDATE, x + INTERVAL")                                                             \
    X(date_sub, 3, 4, D, "")                                                                 \
    X(timestampadd, 3, 3, D, "unit, interval, x")                                            \
    X(timestampdiff, 3, 3, D, "unit, a, b")                                                  \
    X(datediff, 2, 2, D, "")                                                                 \
    X(timediff, 2, 2, D, "")                                                                 \
    X(addtime, 2, 2, D, "")                                                                  \
    X(subtime, 2, 2, D, "")                                                                  \
    X(period_add, 2, 2, D, "")                                                               \
    X(period_diff, 2, 2, D, "")                                                              \
    X(date_format, 2, 2, D, "")                                                              \
    X(time_format, 2, 2, D, "")                                                              \
    X(get_format, 2, 2, D, "'DATE', 'EUR'")                                                  \
    X(str_to_date, 2, 2, S, "the type follows from the format: DATE, TIME or DATETIME(0 6)") \
    X(extract, 2, 2, D, "unit, x")                                                           \
    X(convert_tz, 3, 3, S, "")                                                               \
    X(sec_to_time, 1, 1, D, "exact")                                                         \
    X(time_to_sec, 1, 1, D, "")                                                              \
    X(to_days, 1, 1, D, "")                                                                  \
    X(to_seconds, 1, 1, D, "")                                                               \
    X(from_days, 1, 1, D, "")

/* JSON. Arguments that are documents are JSON or text that is parsed; those that are values come
 * after `types`. */
#define DB_FUNC_LIST_JSON(X)                                                                    \
    X(json_extract, 2, -1, D, "doc, path ...: also doc->path")                                  \
    X(json_unquote, 1, 1, D, "doc->>path is m_json_unquote(m_json_extract(doc, path))")         \
    X(json_quote, 1, 1, D, "")                                                                  \
    X(json_array, 1, -1, D, "types, value ...: no NULL for NULLs")                              \
    X(json_object, 1, -1, D, "types, key, value ...")                                           \
    X(json_set, 4, -1, D, "types (of doc, path, value, path, value ...), doc, path, value ...") \
    X(json_insert, 4, -1, D, "the same")                                                        \
    X(json_replace, 4, -1, D, "the same")                                                       \
    X(json_array_append, 4, -1, D, "the same")                                                  \
    X(json_array_insert, 4, -1, D, "the same")                                                  \
    X(json_remove, 2, -1, D, "doc, path ...")                                                   \
    X(json_contains, 2, 3, D, "doc, candidate[, path]")                                         \
    X(json_contains_path, 3, -1, D, "doc, 'one' 'all', path ...")                               \
    X(json_overlaps, 2, 2, D, "")                                                               \
    X(json_length, 1, 2, D, "")                                                                 \
    X(json_depth, 1, 1, D, "")                                                                  \
    X(json_type, 1, 1, D, "")                                                                   \
    X(json_valid, 1, 1, D, "")                                                                  \
    X(json_keys, 1, 2, D, "")                                                                   \
    X(json_search, 3, -1, D, "doc, 'one' 'all', text[, escape[, path ...]]")                    \
    X(json_merge_patch, 2, -1, D, "")                                                           \
    X(json_merge_preserve, 2, -1, D, "JSON_MERGE too")                                          \
    X(json_value, 2, 2, D, "doc, path: unquoted; objects and arrays give NULL")                 \
    X(json_pretty, 1, 1, D, "")                                                                 \
    X(json_storage_size, 1, 1, D, "")                                                           \
    X(member_of, 3, 3, D, "types (of value, doc), value, doc")                                  \
    X(json_num, 1, 1, D, "a JSON value as number, for arithmetic and comparison with numbers")

#define DB_FUNC_LIST_INFO(X)                                                              \
    X(version, 0, 0, S, "")                                                               \
    X(database, 0, 0, S, "SCHEMA; may be NULL")                                           \
    X(user, 0, 0, S, "SESSION_USER, SYSTEM_USER: 'name@host'")                            \
    X(current_user, 0, 0, S, "")                                                          \
    X(current_role, 0, 0, S, "'NONE'")                                                    \
    X(connection_id, 0, 0, S, "")                                                         \
    X(last_insert_id, 0, 1, V, "with an argument: remembers it and returns it")           \
    X(row_count, 0, 0, S, "")                                                             \
    X(found_rows, 0, 0, S, "")                                                            \
    X(charset, 1, 1, D, "of a charset that the translator knows: '' is by storage class") \
    X(benchmark, 2, 2, V, "n, x: 0, without doing it again")                              \
    X(sleep, 1, 1, V, "")                                                                 \
    X(uuid, 0, 0, V, "")                                                                  \
    X(uuid_short, 0, 0, V, "")                                                            \
    X(uuid_to_bin, 1, 2, D, "")                                                           \
    X(bin_to_uuid, 1, 2, D, "")                                                           \
    X(is_uuid, 1, 1, D, "")                                                               \
    X(md5, 1, 1, D, "")                                                                   \
    X(sha1, 1, 1, D, "SHA too")                                                           \
    X(sha2, 2, 2, D, "")                                                                  \
    X(password, 1, 1, D, "")                                                              \
    X(aes_encrypt, 2, 3, S, "aes-128-ecb")                                                \
    X(aes_decrypt, 2, 3, S, "")                                                           \
    X(random_bytes, 1, 1, V, "")                                                          \
    X(inet_aton, 1, 1, D, "")                                                             \
    X(inet_ntoa, 1, 1, D, "")                                                             \
    X(inet6_aton, 1, 1, D, "a BLOB")                                                      \
    X(inet6_ntoa, 1, 1, D, "")                                                            \
    X(is_ipv4, 1, 1, D, "")                                                               \
    X(is_ipv6, 1, 1, D, "")                                                               \
    X(is_ipv4_compat, 1, 1, D, "")                                                        \
    X(is_ipv4_mapped, 1, 1, D, "")                                                        \
    X(get_lock, 2, 2, V, "")                                                              \
    X(release_lock, 1, 1, V, "")                                                          \
    X(release_all_locks, 0, 0, V, "")                                                     \
    X(is_free_lock, 1, 1, V, "")                                                          \
    X(is_used_lock, 1, 1, V, "")                                                          \
    X(user_var, 1, 1, V, "'name': the value of @name")                                    \
    X(set_var, 3, 3, V, "types, 'name', x: @name := x (types has the letter of x only)")  \
    X(error, 1, -1, V, "number, 'SQLSTATE', 'text': raises that error when evaluated")    \
    X(name_const, 2, 2, D, "")                                                            \
    X(any_value, 1, 1, D, "")

#define DB_FUNC_LIST_AGGREGATE(X)                                                                 \
    X(sum, 1, 1, W, "exact: DECIMAL (TEXT) for integers and DECIMAL, else DOUBLE")                \
    X(avg, 1, 1, W, "the same with div_precision_increment more decimals")                        \
    X(bit_and, 1, 1, W, "BIGINT UNSIGNED; of no rows 18446744073709551615")                       \
    X(bit_or, 1, 1, W, "")                                                                        \
    X(bit_xor, 1, 1, W, "")                                                                       \
    X(stddev, 1, 1, W, "STD, STDDEV_POP")                                                         \
    X(stddev_samp, 1, 1, W, "")                                                                   \
    X(variance, 1, 1, W, "VAR_POP")                                                               \
    X(var_samp, 1, 1, W, "")                                                                      \
    X(group_concat, 4, -1, A,                                                                     \
        "text (NULLs are left out; several expressions: m_concat of them), "                      \
        "separator, distinct (0 1), coll of text[, key, 'a' or 'd' followed by how] ...: sorted " \
        "by the keys; cut at group_concat_max_len with warning 1260. Example: "                   \
        "m_group_concat(\"n\", ',', 1, 'utf8mb4_bin', \"id\", 'di')")                             \
    X(count_distinct, 1, -1, A,                                                                   \
        "COUNT(DISTINCT a, b): rows without NULLs that differ; wrap text "                        \
        "in m_key() with its collation")                                                          \
    X(json_arrayagg, 2, 2, A, "types, value")                                                     \
    X(json_objectagg, 3, 3, A, "types (of both), key, value")

#define DB_FUNC_LIST(X)      \
    DB_FUNC_LIST_CAST(X)     \
    DB_FUNC_LIST_OPERATOR(X) \
    DB_FUNC_LIST_STRING(X)   \
    DB_FUNC_LIST_NUMBER(X)   \
    DB_FUNC_LIST_DATE(X)     \
    DB_FUNC_LIST_JSON(X)     \
    DB_FUNC_LIST_INFO(X)     \
    DB_FUNC_LIST_AGGREGATE(X)

#endif
