/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "db/translate/internal.h"

/* How long a result's text is. */
enum len_rule {
    LEN_FIXED, /* row.len */
    LEN_FIRST, /* of the first argument, times row.len when that is not 0 */
    LEN_SUM,
    LEN_LONG,   /* nobody knows */
    LEN_SECOND, /* the second argument when it is a literal, else the first's */
    LEN_THIRD,  /* the third, the same */
    LEN_PAD,    /* the second, or nobody knows */
    LEN_TIMES,  /* the first as often as the second says */
    LEN_BYTES,  /* bytes of the first argument, times row.len */
};

enum result {
    R_INT,    /* INT of width len */
    R_BIGINT, /* BIGINT of width len */
    R_UBIGINT,
    R_BOOL,
    R_DOUBLE,
    R_TEXT,     /* in the collation of the text arguments */
    R_ASCII,    /* in the connection's */
    R_BIN_TEXT, /* utf8mb4_bin */
    R_BLOB,
    R_DATE,
    R_TIME,     /* decimals of the first argument */
    R_DATETIME, /* the same */
    R_JSON,
    R_FIRST, /* as the first argument */
};

enum flags {
    F_COLL = 1,      /* the function's first argument is the collation */
    F_TYPES = 2,     /* ... or the types of all arguments */
    F_IMPURE = 4,    /* has another value, or an effect, each time */
    F_NOT_NULL = 8,  /* never NULL */
    F_NULLABLE = 16, /* may be NULL whatever its arguments are */
    F_SESSION = 32,  /* reads the session: the same while a statement runs */
};

/*
 * args: how each argument is wanted, the last letter for all that follow:
 *   v as it lies   s text or bytes   n exact number   i integer   t text, never bytes
 */
struct fn {
    struct str name;
    const char *function;
    int8_t least, most; /* most -1: any number */
    const char *args;
    uint8_t result; /* enum result */
    uint8_t rule;   /* enum len_rule */
    int32_t len;
    uint8_t flags;
};

#define N(text) {text, sizeof(text) - 1}

static const struct fn functions[] = {
    /* text */
    {N("ASCII"), "m_ascii", 1, 1, "s", R_INT, LEN_FIXED, 3, 0},
    {N("BIN"), "m_bin", 1, 1, "n", R_ASCII, LEN_FIXED, 64, F_NULLABLE},
    {N("BIT_LENGTH"), "m_bit_length", 1, 1, "s", R_INT, LEN_FIXED, 11, 0},
    {N("CHAR_LENGTH"), "m_char_length", 1, 1, "s", R_INT, LEN_FIXED, 10, 0},
    {N("CHARACTER_LENGTH"), "m_char_length", 1, 1, "s", R_INT, LEN_FIXED, 10, 0},
    {N("CONCAT_WS"), "m_concat_ws", 2, -1, "s", R_TEXT, LEN_SUM, 0, 0},
    {N("EXPORT_SET"), "m_export_set", 3, 5, "nsssi", R_TEXT, LEN_LONG, 0, 0},
    {N("FIND_IN_SET"), "m_find_in_set", 2, 2, "s", R_INT, LEN_FIXED, 3, F_COLL},
    {N("FROM_BASE64"), "m_from_base64", 1, 1, "s", R_BLOB, LEN_FIRST, 0, F_NULLABLE},
    {N("INSERT"), "m_insert", 4, 4, "siis", R_TEXT, LEN_SUM, 0, 0},
    {N("LCASE"), "m_lower", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("LEFT"), "m_left", 2, 2, "si", R_TEXT, LEN_SECOND, 0, 0},
    {N("LENGTH"), "m_length", 1, 1, "s", R_INT, LEN_FIXED, 10, 0},
    {N("LOAD_FILE"), "m_load_file", 1, 1, "s", R_BLOB, LEN_LONG, 0, F_NULLABLE},
    {N("LOCATE"), "m_locate", 2, 3, "ssi", R_INT, LEN_FIXED, 11, F_COLL},
    {N("LOWER"), "m_lower", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("LPAD"), "m_lpad", 2, 3, "sis", R_TEXT, LEN_PAD, 0, F_NULLABLE},
    {N("LTRIM"), "m_ltrim", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("MAKE_SET"), "m_make_set", 2, -1, "is", R_TEXT, LEN_SUM, 0, 0},
    {N("MID"), "m_substring", 2, 3, "si", R_TEXT, LEN_THIRD, 0, 0},
    {N("OCT"), "m_oct", 1, 1, "n", R_ASCII, LEN_FIXED, 64, F_NULLABLE},
    {N("OCTET_LENGTH"), "m_length", 1, 1, "s", R_INT, LEN_FIXED, 10, 0},
    {N("ORD"), "m_ord", 1, 1, "s", R_BIGINT, LEN_FIXED, 21, 0},
    {N("POSITION"), "m_locate", 2, 2, "s", R_INT, LEN_FIXED, 11, F_COLL},
    {N("QUOTE"), "m_quote", 1, 1, "s", R_TEXT, LEN_FIRST, 2, 0},
    {N("REGEXP_INSTR"), "m_regexp_instr", 2, 6, "ssiiis", R_INT, LEN_FIXED, 11, F_COLL},
    {N("REGEXP_LIKE"), "m_regexp_like", 2, 3, "s", R_BOOL, LEN_FIXED, 1, F_COLL},
    {N("REGEXP_REPLACE"), "m_regexp_replace", 3, 6, "sssiis", R_TEXT, LEN_LONG, 0,
        F_COLL | F_NULLABLE},
    {N("REGEXP_SUBSTR"), "m_regexp_substr", 2, 5, "ssiis", R_TEXT, LEN_FIRST, 0,
        F_COLL | F_NULLABLE},
    {N("REPEAT"), "m_repeat", 2, 2, "si", R_TEXT, LEN_TIMES, 0, F_NULLABLE},
    {N("REPLACE"), "m_replace", 3, 3, "s", R_TEXT, LEN_LONG, 0, 0},
    {N("REVERSE"), "m_reverse", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("RIGHT"), "m_right", 2, 2, "si", R_TEXT, LEN_SECOND, 0, 0},
    {N("RPAD"), "m_rpad", 2, 3, "sis", R_TEXT, LEN_PAD, 0, F_NULLABLE},
    {N("RTRIM"), "m_rtrim", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("SOUNDEX"), "m_soundex", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("SPACE"), "m_space", 1, 1, "i", R_ASCII, LEN_LONG, 0, F_NULLABLE},
    {N("STRCMP"), "m_strcmp", 2, 2, "s", R_INT, LEN_FIXED, 2, F_COLL},
    {N("SUBSTR"), "m_substring", 2, 3, "si", R_TEXT, LEN_THIRD, 0, 0},
    {N("SUBSTRING"), "m_substring", 2, 3, "si", R_TEXT, LEN_THIRD, 0, 0},
    {N("SUBSTRING_INDEX"), "m_substring_index", 3, 3, "ssi", R_TEXT, LEN_FIRST, 0, 0},
    {N("TO_BASE64"), "m_to_base64", 1, 1, "s", R_ASCII, LEN_BYTES, 2, F_NULLABLE},
    {N("UCASE"), "m_upper", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("UNHEX"), "m_unhex", 1, 1, "s", R_BLOB, LEN_BYTES, 1, F_NULLABLE},
    {N("UPPER"), "m_upper", 1, 1, "s", R_TEXT, LEN_FIRST, 0, 0},
    {N("WEIGHT_STRING"), "m_weight_string", 1, 1, "s", R_BLOB, LEN_BYTES, 4, F_COLL | F_NULLABLE},
    /* numbers */
    {N("ACOS"), "m_acos", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("ASIN"), "m_asin", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("ATAN"), "m_atan", 1, 2, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("ATAN2"), "m_atan2", 2, 2, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("BIT_COUNT"), "m_bit_count", 1, 1, "n", R_BIGINT, LEN_FIXED, 2, 0},
    {N("CONV"), "m_conv", 3, 3, "sii", R_ASCII, LEN_FIXED, 64, F_NULLABLE},
    {N("COS"), "m_cos", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("COT"), "m_cot", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("CRC32"), "m_crc32", 1, 1, "s", R_UBIGINT, LEN_FIXED, 10, 0},
    {N("DEGREES"), "m_degrees", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("EXP"), "m_exp", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("INTERVAL"), "m_interval", 2, -1, "n", R_INT, LEN_FIXED, 2, F_NOT_NULL},
    {N("LN"), "m_ln", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("LOG"), "m_log", 1, 2, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("LOG10"), "m_log10", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("LOG2"), "m_log2", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("PI"), "m_pi", 0, 0, "v", R_DOUBLE, LEN_FIXED, 8, 0},
    {N("POW"), "m_pow", 2, 2, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("POWER"), "m_pow", 2, 2, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("RADIANS"), "m_radians", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("RAND"), "m_rand", 0, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_IMPURE | F_NOT_NULL},
    {N("SIGN"), "m_sign", 1, 1, "n", R_INT, LEN_FIXED, 2, 0},
    {N("SIN"), "m_sin", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    {N("SQRT"), "m_sqrt", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, F_NULLABLE},
    {N("TAN"), "m_tan", 1, 1, "n", R_DOUBLE, LEN_FIXED, 23, 0},
    /* dates */
    {N("ADDTIME"), "m_addtime", 2, 2, "v", R_FIRST, LEN_FIXED, 0, F_NULLABLE},
    {N("CONVERT_TZ"), "m_convert_tz", 3, 3, "v", R_DATETIME, LEN_FIXED, 0, F_NULLABLE},
    {N("CURDATE"), "m_curdate", 0, 0, "v", R_DATE, LEN_FIXED, 0, F_NOT_NULL | F_SESSION},
    {N("CURRENT_DATE"), "m_curdate", 0, 0, "v", R_DATE, LEN_FIXED, 0, F_NOT_NULL | F_SESSION},
    {N("DATE"), "m_date", 1, 1, "v", R_DATE, LEN_FIXED, 0, F_NULLABLE},
    {N("DATEDIFF"), "m_datediff", 2, 2, "v", R_INT, LEN_FIXED, 7, F_NULLABLE},
    {N("DATE_FORMAT"), "m_date_format", 2, 2, "vs", R_ASCII, LEN_FIXED, 240, F_NULLABLE},
    {N("DAY"), "m_dayofmonth", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("DAYNAME"), "m_dayname", 1, 1, "v", R_ASCII, LEN_FIXED, 9, F_NULLABLE},
    {N("DAYOFMONTH"), "m_dayofmonth", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("DAYOFWEEK"), "m_dayofweek", 1, 1, "v", R_INT, LEN_FIXED, 1, F_NULLABLE},
    {N("DAYOFYEAR"), "m_dayofyear", 1, 1, "v", R_INT, LEN_FIXED, 3, F_NULLABLE},
    {N("FROM_DAYS"), "m_from_days", 1, 1, "n", R_DATE, LEN_FIXED, 0, F_NULLABLE},
    {N("GET_FORMAT"), "m_get_format", 2, 2, "s", R_ASCII, LEN_FIXED, 17, F_NULLABLE},
    {N("HOUR"), "m_hour", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("LAST_DAY"), "m_last_day", 1, 1, "v", R_DATE, LEN_FIXED, 0, F_NULLABLE},
    {N("MAKEDATE"), "m_makedate", 2, 2, "i", R_DATE, LEN_FIXED, 0, F_NULLABLE},
    {N("MICROSECOND"), "m_microsecond", 1, 1, "v", R_INT, LEN_FIXED, 6, F_NULLABLE},
    {N("MINUTE"), "m_minute", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("MONTH"), "m_month", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("MONTHNAME"), "m_monthname", 1, 1, "v", R_ASCII, LEN_FIXED, 9, F_NULLABLE},
    {N("PERIOD_ADD"), "m_period_add", 2, 2, "i", R_INT, LEN_FIXED, 6, 0},
    {N("PERIOD_DIFF"), "m_period_diff", 2, 2, "i", R_INT, LEN_FIXED, 6, 0},
    {N("QUARTER"), "m_quarter", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("SECOND"), "m_second", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("SUBTIME"), "m_subtime", 2, 2, "v", R_FIRST, LEN_FIXED, 0, F_NULLABLE},
    {N("TIME"), "m_time", 1, 1, "v", R_TIME, LEN_FIXED, 0, F_NULLABLE},
    {N("TIMEDIFF"), "m_timediff", 2, 2, "v", R_TIME, LEN_FIXED, 0, F_NULLABLE},
    {N("TIMESTAMP"), "m_timestamp", 1, 2, "v", R_DATETIME, LEN_FIXED, 0, F_NULLABLE},
    {N("TIME_FORMAT"), "m_time_format", 2, 2, "vs", R_ASCII, LEN_FIXED, 240, F_NULLABLE},
    {N("TIME_TO_SEC"), "m_time_to_sec", 1, 1, "v", R_BIGINT, LEN_FIXED, 17, F_NULLABLE},
    {N("TO_DAYS"), "m_to_days", 1, 1, "v", R_INT, LEN_FIXED, 6, F_NULLABLE},
    {N("TO_SECONDS"), "m_to_seconds", 1, 1, "v", R_BIGINT, LEN_FIXED, 12, F_NULLABLE},
    {N("UTC_DATE"), "m_utc_date", 0, 0, "v", R_DATE, LEN_FIXED, 0, F_NOT_NULL | F_SESSION},
    {N("WEEK"), "m_week", 1, 2, "vi", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("WEEKDAY"), "m_weekday", 1, 1, "v", R_INT, LEN_FIXED, 1, F_NULLABLE},
    {N("WEEKOFYEAR"), "m_weekofyear", 1, 1, "v", R_INT, LEN_FIXED, 2, F_NULLABLE},
    {N("YEAR"), "m_year", 1, 1, "v", R_INT, LEN_FIXED, 4, F_NULLABLE},
    {N("YEARWEEK"), "m_yearweek", 1, 2, "vi", R_INT, LEN_FIXED, 6, F_NULLABLE},
    /* JSON */
    {N("JSON_ARRAY"), "m_json_array", 0, -1, "v", R_JSON, LEN_LONG, 0, F_TYPES | F_NOT_NULL},
    {N("JSON_ARRAY_APPEND"), "m_json_array_append", 3, -1, "v", R_JSON, LEN_LONG, 0,
        F_TYPES | F_NULLABLE},
    {N("JSON_ARRAY_INSERT"), "m_json_array_insert", 3, -1, "v", R_JSON, LEN_LONG, 0,
        F_TYPES | F_NULLABLE},
    {N("JSON_CONTAINS"), "m_json_contains", 2, 3, "v", R_BOOL, LEN_FIXED, 1, F_NULLABLE},
    {N("JSON_CONTAINS_PATH"), "m_json_contains_path", 3, -1, "v", R_BOOL, LEN_FIXED, 1, F_NULLABLE},
    {N("JSON_DEPTH"), "m_json_depth", 1, 1, "v", R_INT, LEN_FIXED, 10, F_NULLABLE},
    {N("JSON_EXTRACT"), "m_json_extract", 2, -1, "v", R_JSON, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_INSERT"), "m_json_insert", 3, -1, "v", R_JSON, LEN_LONG, 0, F_TYPES | F_NULLABLE},
    {N("JSON_KEYS"), "m_json_keys", 1, 2, "v", R_JSON, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_LENGTH"), "m_json_length", 1, 2, "v", R_INT, LEN_FIXED, 10, F_NULLABLE},
    {N("JSON_MERGE"), "m_json_merge_preserve", 2, -1, "v", R_JSON, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_MERGE_PATCH"), "m_json_merge_patch", 2, -1, "v", R_JSON, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_MERGE_PRESERVE"), "m_json_merge_preserve", 2, -1, "v", R_JSON, LEN_LONG, 0,
        F_NULLABLE},
    {N("JSON_OBJECT"), "m_json_object", 0, -1, "v", R_JSON, LEN_LONG, 0, F_TYPES | F_NOT_NULL},
    {N("JSON_OVERLAPS"), "m_json_overlaps", 2, 2, "v", R_BOOL, LEN_FIXED, 1, F_NULLABLE},
    {N("JSON_PRETTY"), "m_json_pretty", 1, 1, "v", R_BIN_TEXT, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_QUOTE"), "m_json_quote", 1, 1, "s", R_BIN_TEXT, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_REMOVE"), "m_json_remove", 2, -1, "v", R_JSON, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_REPLACE"), "m_json_replace", 3, -1, "v", R_JSON, LEN_LONG, 0, F_TYPES | F_NULLABLE},
    {N("JSON_SEARCH"), "m_json_search", 3, -1, "v", R_JSON, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_SET"), "m_json_set", 3, -1, "v", R_JSON, LEN_LONG, 0, F_TYPES | F_NULLABLE},
    {N("JSON_STORAGE_SIZE"), "m_json_storage_size", 1, 1, "v", R_INT, LEN_FIXED, 10, F_NULLABLE},
    {N("JSON_TYPE"), "m_json_type", 1, 1, "v", R_BIN_TEXT, LEN_FIXED, 17, F_NULLABLE},
    {N("JSON_UNQUOTE"), "m_json_unquote", 1, 1, "v", R_BIN_TEXT, LEN_LONG, 0, F_NULLABLE},
    {N("JSON_VALID"), "m_json_valid", 1, 1, "v", R_BOOL, LEN_FIXED, 1, F_NULLABLE},
    {N("JSON_VALUE"), "m_json_value", 2, 2, "v", R_BIN_TEXT, LEN_FIXED, 512, F_NULLABLE},
    /* what the session knows, and the rest */
    {N("AES_DECRYPT"), "m_aes_decrypt", 2, 3, "s", R_BLOB, LEN_BYTES, 1, F_NULLABLE},
    {N("AES_ENCRYPT"), "m_aes_encrypt", 2, 3, "s", R_BLOB, LEN_BYTES, 2, F_NULLABLE},
    {N("BENCHMARK"), "m_benchmark", 2, 2, "v", R_INT, LEN_FIXED, 1, F_IMPURE},
    {N("BIN_TO_UUID"), "m_bin_to_uuid", 1, 2, "v", R_ASCII, LEN_FIXED, 36, F_NULLABLE},
    {N("CONNECTION_ID"), "m_connection_id", 0, 0, "v", R_UBIGINT, LEN_FIXED, 10,
        F_NOT_NULL | F_SESSION},
    {N("CURRENT_ROLE"), "m_current_role", 0, 0, "v", R_ASCII, LEN_FIXED, 128, F_SESSION},
    {N("CURRENT_USER"), "m_current_user", 0, 0, "v", R_ASCII, LEN_FIXED, 384, F_SESSION},
    {N("DATABASE"), "m_database", 0, 0, "v", R_ASCII, LEN_FIXED, 64, F_SESSION | F_NULLABLE},
    {N("FOUND_ROWS"), "m_found_rows", 0, 0, "v", R_BIGINT, LEN_FIXED, 21, F_NOT_NULL | F_SESSION},
    {N("GET_LOCK"), "m_get_lock", 2, 2, "v", R_INT, LEN_FIXED, 1, F_IMPURE | F_NULLABLE},
    {N("INET6_ATON"), "m_inet6_aton", 1, 1, "v", R_BLOB, LEN_FIXED, 16, F_NULLABLE},
    {N("INET6_NTOA"), "m_inet6_ntoa", 1, 1, "v", R_ASCII, LEN_FIXED, 39, F_NULLABLE},
    {N("INET_ATON"), "m_inet_aton", 1, 1, "v", R_UBIGINT, LEN_FIXED, 21, F_NULLABLE},
    {N("INET_NTOA"), "m_inet_ntoa", 1, 1, "n", R_ASCII, LEN_FIXED, 31, F_NULLABLE},
    {N("IS_FREE_LOCK"), "m_is_free_lock", 1, 1, "v", R_INT, LEN_FIXED, 1, F_IMPURE | F_NULLABLE},
    {N("IS_IPV4"), "m_is_ipv4", 1, 1, "v", R_BOOL, LEN_FIXED, 1, F_NOT_NULL},
    {N("IS_IPV4_COMPAT"), "m_is_ipv4_compat", 1, 1, "v", R_BOOL, LEN_FIXED, 1, F_NOT_NULL},
    {N("IS_IPV4_MAPPED"), "m_is_ipv4_mapped", 1, 1, "v", R_BOOL, LEN_FIXED, 1, F_NOT_NULL},
    {N("IS_IPV6"), "m_is_ipv6", 1, 1, "v", R_BOOL, LEN_FIXED, 1, F_NOT_NULL},
    {N("IS_USED_LOCK"), "m_is_used_lock", 1, 1, "v", R_UBIGINT, LEN_FIXED, 10,
        F_IMPURE | F_NULLABLE},
    {N("IS_UUID"), "m_is_uuid", 1, 1, "v", R_BOOL, LEN_FIXED, 1, F_NULLABLE},
    {N("MD5"), "m_md5", 1, 1, "s", R_ASCII, LEN_FIXED, 32, 0},
    {N("PASSWORD"), "m_password", 1, 1, "s", R_ASCII, LEN_FIXED, 41, 0},
    {N("RANDOM_BYTES"), "m_random_bytes", 1, 1, "i", R_BLOB, LEN_FIXED, 1024, F_IMPURE},
    {N("RELEASE_ALL_LOCKS"), "m_release_all_locks", 0, 0, "v", R_INT, LEN_FIXED, 10, F_IMPURE},
    {N("RELEASE_LOCK"), "m_release_lock", 1, 1, "v", R_INT, LEN_FIXED, 1, F_IMPURE | F_NULLABLE},
    {N("ROW_COUNT"), "m_row_count", 0, 0, "v", R_BIGINT, LEN_FIXED, 21, F_NOT_NULL | F_SESSION},
    {N("SCHEMA"), "m_database", 0, 0, "v", R_ASCII, LEN_FIXED, 64, F_SESSION | F_NULLABLE},
    {N("SESSION_USER"), "m_user", 0, 0, "v", R_ASCII, LEN_FIXED, 384, F_SESSION},
    {N("SHA"), "m_sha1", 1, 1, "s", R_ASCII, LEN_FIXED, 40, 0},
    {N("SHA1"), "m_sha1", 1, 1, "s", R_ASCII, LEN_FIXED, 40, 0},
    {N("SHA2"), "m_sha2", 2, 2, "si", R_ASCII, LEN_FIXED, 128, F_NULLABLE},
    {N("SLEEP"), "m_sleep", 1, 1, "n", R_INT, LEN_FIXED, 1, F_IMPURE},
    {N("SYSTEM_USER"), "m_user", 0, 0, "v", R_ASCII, LEN_FIXED, 384, F_SESSION},
    {N("USER"), "m_user", 0, 0, "v", R_ASCII, LEN_FIXED, 384, F_SESSION},
    {N("UUID"), "m_uuid", 0, 0, "v", R_ASCII, LEN_FIXED, 36, F_IMPURE | F_NOT_NULL},
    {N("UUID_SHORT"), "m_uuid_short", 0, 0, "v", R_UBIGINT, LEN_FIXED, 20, F_IMPURE | F_NOT_NULL},
    {N("UUID_TO_BIN"), "m_uuid_to_bin", 1, 2, "v", R_BLOB, LEN_FIXED, 16, F_NULLABLE},
    {N("VERSION"), "m_version", 0, 0, "v", R_ASCII, LEN_FIXED, 26, F_SESSION | F_NOT_NULL},
};

int bad_count(struct tr *t, struct str name)
{
    return db_error_set(t->e, DB_E_BAD_PARAM_COUNT_NATIVE, zstr(t, name));
}

static char arg_kind(const struct fn *f, uint32_t i)
{
    size_t n = strlen(f->args);

    return f->args[MIN((size_t)i, n - 1)];
}

static struct str arg_sql(struct tr *t, struct val *v, char kind)
{
    struct ty ty;

    switch (kind) {
    case 's':
        /* a literal in hexadecimal is bytes, other texts are texts */
        return db_base_is_binary(v->t.base) ? val_sql(t, v) : val_text(t, v);
    case 't':
        return val_text(t, v);
    case 'n':
        return val_num(t, v, &ty);
    case 'i':
        return val_int(t, v);
    default:
        return val_sql(t, v);
    }
}

static int64_t bytes_of(const struct val *v)
{
    return ty_chars(&v->t) * (db_base_is_text(v->t.base) && v->t.coll ? v->t.coll->max_bytes : 1);
}

/* The argument when it is a literal, else much. */
static int64_t literal_or(const struct val *v, uint32_t n, uint32_t i)
{
    if (i < n && v[i].lit && v[i].lit->kind == SQL_INT)
        return (int64_t)MIN(v[i].lit->u, (uint64_t)1073741823);
    return 1073741823;
}

static int64_t text_len(const struct fn *f, const struct val *v, uint32_t n)
{
    int64_t len = 0;

    switch (f->rule) {
    case LEN_FIXED:
        return f->len;
    case LEN_FIRST:
        return n ? ty_chars(&v[0].t) * (f->len ? f->len : 1) : 0;
    case LEN_BYTES:
        return n ? bytes_of(&v[0]) * f->len : 0;
    case LEN_SECOND:
    case LEN_THIRD:
        return MIN(ty_chars(&v[0].t), literal_or(v, n, f->rule == LEN_THIRD ? 2 : 1));
    case LEN_PAD:
        return literal_or(v, n, 1);
    case LEN_TIMES:
        len = literal_or(v, n, 1);
        return len > 1000000 ? len : len * ty_chars(&v[0].t);
    case LEN_SUM:
        for (uint32_t i = 0; i < n; i++)
            len += ty_chars(&v[i].t);
        return len;
    default:
        return 1073741823;
    }
}

/* The collation of all text arguments. */
static int collation_of(struct tr *t, const struct fn *f, struct val *v, uint32_t n,
    const struct db_collation **coll, uint8_t *coer)
{
    bool any = false;
    int rc;

    *coll = t->coll;
    *coer = COER_LITERAL;
    for (uint32_t i = 0; i < n; i++) {
        struct ty sum;

        if (arg_kind(f, i) != 's')
            continue;
        if (!any) {
            *coll = ty_is_string(&v[i].t) ? v[i].t.coll : t->coll;
            *coer = v[i].t.coer;
            any = true;
            continue;
        }
        sum = ty_text(*coll, 1, *coer);
        if ((rc = ty_collate(t, &sum, &v[i].t, zstr(t, f->name), coll, coer)))
            return rc;
    }
    return 0;
}

static struct ty temporal_result(const struct val *v, uint32_t n, enum db_base base)
{
    int fsp = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (db_base_is_temporal(v[i].t.base))
            fsp = MAX(fsp, v[i].t.dec);
    }
    return ty_temporal(base, fsp);
}

static struct ty result_of(struct tr *t, const struct fn *f, struct val *v, uint32_t n,
    const struct db_collation *coll, uint8_t coer)
{
    struct ty ty;

    switch (f->result) {
    case R_INT:
        ty = ty_int(f->len, 31);
        ty.base = DB_T_INT;
        return ty;
    case R_BIGINT:
    case R_UBIGINT:
        ty = ty_int(f->len, 63);
        ty.base = DB_T_BIGINT;
        ty.uns = f->result == R_UBIGINT;
        return ty;
    case R_BOOL:
        return ty_bool();
    case R_DOUBLE:
        ty = ty_double();
        ty.len = f->len;
        if (f->len == 8)
            ty.dec = 6;
        return ty;
    case R_TEXT:
        return ty_text(coll, text_len(f, v, n), coer);
    case R_BIN_TEXT:
        return ty_text(db_collation_number(46), text_len(f, v, n), COER_IMPLICIT);
    case R_ASCII:
        return ty_text(
            t->coll, text_len(f, v, n), f->flags & F_SESSION ? COER_SYSTEM : COER_LITERAL);
    case R_BLOB:
        return ty_binary(text_len(f, v, n));
    case R_DATE:
        return ty_temporal(DB_T_DATE, 0);
    case R_TIME:
        return temporal_result(v, n, DB_T_TIME);
    case R_DATETIME:
        return temporal_result(v, n, DB_T_DATETIME);
    case R_JSON:
        return (struct ty){.base = DB_T_JSON,
            .len = 4294967295,
            .coll = db_collation_number(46),
            .coer = COER_IMPLICIT};
    default:
        return ty_is_string(&v[0].t) ? ty_text(t->coll, 26, COER_LITERAL) : v[0].t;
    }
}

static struct str types_of(struct tr *t, const struct val *v, uint32_t n)
{
    char *p = arena_bytes(t->arena, n + 1);

    for (uint32_t i = 0; i < n; i++)
        p[i] = (char)ty_how(&v[i].t);
    return cat(t, "'$'", str_n(p, n));
}

static int call_row(struct tr *t, const struct fn *f, struct val *v, uint32_t n, struct val *out)
{
    const struct db_collation *coll;
    struct sb b = {0};
    uint8_t coer;
    bool not_null = !(f->flags & F_NULLABLE);
    struct ty ty;
    int rc;

    if ((rc = collation_of(t, f, v, n, &coll, &coer)))
        return rc;
    *out = (struct val){.constant = !(f->flags & F_IMPURE), .impure = f->flags & F_IMPURE};
    sb_cat(t, &b, "$(", str_c(f->function));
    if (f->flags & F_COLL)
        sb_cat(t, &b, "'$'$", coll ? coll->name : STR("binary"), n ? STR(",") : STR_NONE);
    if (f->flags & F_TYPES)
        sb_cat(t, &b, "$$", types_of(t, v, n), n ? STR(",") : STR_NONE);
    for (uint32_t i = 0; i < n; i++) {
        val_mix(out, &v[i]);
        not_null &= v[i].t.not_null;
        sb_cat(t, &b, "$$", i ? STR(",") : STR_NONE, arg_sql(t, &v[i], arg_kind(f, i)));
    }
    sb_lit(t, &b, ")");
    ty = result_of(t, f, v, n, coll, coer);
    ty.not_null = not_null || (f->flags & F_NOT_NULL);
    val_set(out, ty, sb_str(&b), PREC_ATOM);
    return 0;
}

static const struct fn *find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
        if (str_ieq(functions[i].name, name))
            return &functions[i];
    }
    return NULL;
}

int val_call(struct tr *t, struct scope *s, const struct sql_expr *e, struct val *out)
{
    const struct fn *f;
    struct val *v;
    bool known = false;
    int rc;

    if ((rc = val_aggregate(t, s, e, &known, out)) || known)
        return rc;
    if ((rc = val_special(t, s, e, &known, out)) || known)
        return rc;
    if (!(f = find(e->name)))
        return db_error_set(t->e, DB_E_NO_SUCH_PROCEDURE, "FUNCTION",
            zstr(t, e->schema.len          ? cat(t, "$.$", e->schema, e->name)
                    : t->env->database.len ? cat(t, "$.$", t->env->database, e->name)
                                           : e->name));
    if ((int)e->list.n < f->least || (f->most >= 0 && (int)e->list.n > f->most))
        return bad_count(t, e->name);
    if (e->list.n > 100)
        return too_deep(t);
    v = arena_new(t->arena, sizeof(*v) * MAX(e->list.n, 1));
    for (uint32_t i = 0; i < e->list.n; i++) {
        if ((rc = val_of1(t, s, e->list.v[i], &v[i])))
            return rc;
    }
    return call_row(t, f, v, e->list.n, out);
}
