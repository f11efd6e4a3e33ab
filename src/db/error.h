/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#ifndef EPHPM_DB_ERROR_H
#define EPHPM_DB_ERROR_H

/*
 * Errors and warnings as MySQL numbers and words them; applications look at all three of number,
 * SQLSTATE and text. One list; whoever needs another one adds a row.
 */

#include <stdarg.h>

#include "base/attr.h"
#include "base/str.h"

/* X(name, number, SQLSTATE, format) */
#define DB_ERROR_LIST(X)                                                                           \
    X(TOO_MANY_CONNECTIONS, 1040, "08004", "Too many connections")                                 \
    X(HANDSHAKE, 1043, "08S01", "Bad handshake")                                                   \
    X(DB_ACCESS, 1044, "42000", "Access denied for user '%s'@'%s' to database '%s'")               \
    X(ACCESS, 1045, "28000", "Access denied for user '%s'@'%s' (using password: %s)")              \
    X(NO_DB, 1046, "3D000", "No database selected")                                                \
    X(UNKNOWN_COMMAND, 1047, "08S01", "Unknown command")                                           \
    X(BAD_NULL, 1048, "23000", "Column '%s' cannot be null")                                       \
    X(BAD_DB, 1049, "42000", "Unknown database '%s'")                                              \
    X(TABLE_EXISTS, 1050, "42S01", "Table '%s' already exists")                                    \
    X(BAD_TABLE, 1051, "42S02", "Unknown table '%s'")                                              \
    X(NON_UNIQ, 1052, "23000", "Column '%s' in %s is ambiguous")                                   \
    X(SHUTDOWN, 1053, "08S01", "Server shutdown in progress")                                      \
    X(BAD_FIELD, 1054, "42S22", "Unknown column '%s' in '%s'")                                     \
    X(DUP_FIELD, 1060, "42S21", "Duplicate column name '%s'")                                      \
    X(DUP_KEYNAME, 1061, "42000", "Duplicate key name '%s'")                                       \
    X(DUP_ENTRY, 1062, "23000", "Duplicate entry '%s' for key '%s'")                               \
    X(PARSE, 1064, "42000", "%s near '%s' at line %d")                                             \
    X(EMPTY_QUERY, 1065, "42000", "Query was empty")                                               \
    X(NONUNIQ_TABLE, 1066, "42000", "Not unique table/alias: '%s'")                                \
    X(INVALID_DEFAULT, 1067, "42000", "Invalid default value for '%s'")                            \
    X(MULTIPLE_PRI_KEY, 1068, "42000", "Multiple primary key defined")                             \
    X(KEY_COLUMN, 1072, "42000", "Key column '%s' doesn't exist in table")                         \
    X(TOO_BIG_FIELD, 1074, "42000",                                                                \
        "Column length too big for column '%s' (max = %d); use BLOB or TEXT instead")              \
    X(WRONG_AUTO_KEY, 1075, "42000",                                                               \
        "Incorrect table definition; there can be only one auto column and it must be defined "    \
        "as a key")                                                                                \
    X(FILE_EXISTS, 1086, "HY000", "File '%s' already exists")                                      \
    X(CANT_REMOVE_ALL, 1090, "42000",                                                              \
        "You can't delete all columns with ALTER TABLE; use DROP TABLE instead")                   \
    X(CANT_DROP, 1091, "42000", "Can't DROP '%s'; check that column/key exists")                   \
    X(NO_SUCH_THREAD, 1094, "HY000", "Unknown thread id: %llu")                                    \
    X(NO_TABLES, 1096, "HY000", "No tables used")                                                  \
    X(BLOB_DEFAULT, 1101, "42000",                                                                 \
        "BLOB, TEXT, GEOMETRY or JSON column '%s' can't have a default value")                     \
    X(WRONG_DB_NAME, 1102, "42000", "Incorrect database name '%s'")                                \
    X(WRONG_TABLE_NAME, 1103, "42000", "Incorrect table name '%s'")                                \
    X(UNKNOWN, 1105, "HY000", "%s")                                                                \
    X(UNKNOWN_TABLE, 1109, "42S02", "Unknown table '%s' in %s")                                    \
    X(FIELD_TWICE, 1110, "42000", "Column '%s' specified twice")                                   \
    X(INVALID_GROUP_FUNC, 1111, "HY000", "Invalid use of group function")                          \
    X(NO_COLUMNS, 1113, "42000", "A table must have at least 1 column")                            \
    X(TABLE_FULL, 1114, "HY000", "The table '%s' is full")                                         \
    X(UNKNOWN_CHARSET, 1115, "42000", "Unknown character set: '%s'")                               \
    X(MIX_OF_GROUP, 1140, "42000",                                                                 \
        "In aggregated query without GROUP BY, expression #%d of SELECT list contains "            \
        "nonaggregated column '%s'; this is incompatible with sql_mode=only_full_group_by")        \
    X(COLUMN_COUNT, 1136, "21S01", "Column count doesn't match value count at row %d")             \
    X(NO_SUCH_TABLE, 1146, "42S02", "Table '%s.%s' doesn't exist")                                 \
    X(SYNTAX, 1149, "42000",                                                                       \
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL "   \
        "server version for the right syntax to use")                                              \
    X(PACKET_TOO_LARGE, 1153, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes")      \
    X(PACKETS_ORDER, 1156, "08S01", "Got packets out of order")                                    \
    X(WRONG_COLUMN_NAME, 1166, "42000", "Incorrect column name '%s'")                              \
    X(BLOB_KEY, 1170, "42000",                                                                     \
        "BLOB/TEXT column '%s' used in key specification without a key length")                    \
    X(KEY_NOT_FOUND, 1176, "42000", "Key '%s' doesn't exist in table '%s'")                        \
    X(UNKNOWN_VARIABLE, 1193, "HY000", "Unknown system variable '%s'")                             \
    X(LOCK_WAIT_TIMEOUT, 1205, "HY000", "Lock wait timeout exceeded; try restarting transaction")  \
    X(DEADLOCK, 1213, "40001",                                                                     \
        "Deadlock found when trying to get lock; try restarting transaction")                      \
    X(CANNOT_ADD_FOREIGN, 1215, "HY000", "Cannot add foreign key constraint")                      \
    X(WRONG_NUMBER_OF_COLUMNS, 1222, "21000",                                                      \
        "The used SELECT statements have a different number of columns")                           \
    X(SPECIFIC_ACCESS, 1227, "42000",                                                              \
        "Access denied; you need (at least one of) the %s privilege(s) for this operation")        \
    X(LOCAL_VARIABLE, 1228, "HY000",                                                               \
        "Variable '%s' is a SESSION variable and can't be used with SET GLOBAL")                   \
    X(GLOBAL_VARIABLE, 1229, "HY000",                                                              \
        "Variable '%s' is a GLOBAL variable and should be set with SET GLOBAL")                    \
    X(WRONG_VALUE_FOR_VAR, 1231, "42000", "Variable '%s' can't be set to the value of '%s'")       \
    X(WRONG_TYPE_FOR_VAR, 1232, "42000", "Incorrect argument type to variable '%s'")               \
    X(NOT_SUPPORTED_YET, 1235, "42000", "This version of ephpm doesn't yet support '%s'")          \
    X(READ_ONLY_VARIABLE, 1238, "HY000", "Variable '%s' is a %s variable")                         \
    X(WRONG_FK_DEF, 1239, "42000", "Incorrect foreign key definition for '%s': %s")                \
    X(OPERAND_COLUMNS, 1241, "21000", "Operand should contain %d column(s)")                       \
    X(SUBQUERY_ROWS, 1242, "21000", "Subquery returns more than 1 row")                            \
    X(UNKNOWN_STMT, 1243, "HY000", "Unknown prepared statement handler (%s) given to %s")          \
    X(DERIVED_ALIAS, 1248, "42000", "Every derived table must have its own alias")                 \
    X(OUT_OF_RANGE, 1264, "22003", "Out of range value for column '%s' at row %lld")               \
    X(TRUNCATED, 1265, "01000", "Data truncated for column '%s' at row %lld")                      \
    X(NO_SUCH_USER_VAR, 1269, "HY000", "Can't set '%s'")                                           \
    X(COLLATION_MIX, 1267, "HY000",                                                                \
        "Illegal mix of collations (%s,%s) and (%s,%s) for operation '%s'")                        \
    X(UNKNOWN_COLLATION, 1273, "HY000", "Unknown collation: '%s'")                                 \
    X(COLLATION_CHARSET, 1253, "42000", "COLLATION '%s' is not valid for CHARACTER SET '%s'")      \
    X(WARN_DEPRECATED, 1287, "HY000", "'%s' is deprecated and will be removed")                    \
    X(OPTION_PREVENTS, 1290, "HY000",                                                              \
        "The server is running with the %s option so it cannot execute this statement")            \
    X(TRUNCATED_WRONG, 1292, "22007", "Truncated incorrect %s value: '%s'")                        \
    X(INCORRECT_VALUE, 1292, "22007", "Incorrect %s value: '%s' for column '%s' at row %lld")      \
    X(TZ, 1298, "HY000", "Unknown or incorrect time zone: '%s'")                                   \
    X(INVALID_CHARACTER, 1300, "HY000", "Invalid %s character string: '%s'")                       \
    X(NO_SUCH_PROCEDURE, 1305, "42000", "%s %s does not exist")                                    \
    X(QUERY_INTERRUPTED, 1317, "70100", "Query execution was interrupted")                         \
    X(VIEW_WRONG, 1347, "HY000", "'%s.%s' is not %s")                                              \
    X(NO_DEFAULT, 1364, "HY000", "Field '%s' doesn't have a default value")                        \
    X(DIVISION_BY_ZERO, 1365, "22012", "Division by 0")                                            \
    X(WRONG_VALUE, 1366, "HY000", "Incorrect %s value: '%s' for column '%s' at row %lld")          \
    X(ILLEGAL_VALUE, 1367, "22007", "Illegal %s '%s' value found during parsing")                  \
    X(BAD_PARAM_COUNT_NATIVE, 1582, "42000",                                                       \
        "Incorrect parameter count in the call to native function '%s'")                           \
    X(INVALID_GROUP_POSITION, 1056, "42000", "Can't group on '%s'")                                \
    X(WRONG_ARGUMENTS, 1210, "HY000", "Incorrect arguments to %s")                                 \
    X(MALFORMED_PACKET, 1835, "HY000", "Malformed communication packet.")                          \
    X(STMT_HAS_NO_OPEN_CURSOR, 1421, "HY000", "The statement (%u) has no open cursor.")            \
    X(MAX_PREPARED_STMT_COUNT, 1461, "42000",                                                      \
        "Can't create more than max_prepared_stmt_count statements (current value: %u)")           \
    X(CANT_CREATE_THREAD, 1135, "HY000", "Can't create a new thread (errno %d)")                   \
    X(DATA_TOO_LONG, 1406, "22001", "Data too long for column '%s' at row %lld")                   \
    X(TOO_BIG_SCALE, 1425, "42000", "Too big scale %d specified for column '%s'. Maximum is %d.")  \
    X(TOO_BIG_PRECISION, 1426, "42000", "Too-big precision %d specified for '%s'. Maximum is %d.") \
    X(M_BIGGER_THAN_D, 1427, "42000",                                                              \
        "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '%s').")              \
    X(TOO_BIG_DISPLAY, 1439, "42000", "Display width out of range for column '%s' (max = %d)")     \
    X(ROW_IS_REFERENCED, 1451, "23000",                                                            \
        "Cannot delete or update a parent row: a foreign key constraint fails (%s)")               \
    X(NO_REFERENCED_ROW, 1452, "23000",                                                            \
        "Cannot add or update a child row: a foreign key constraint fails (%s)")                   \
    X(BAD_ROW_COUNT, 1390, "HY000", "Prepared statement contains too many placeholders")           \
    X(UPDATE_USED, 1093, "HY000", "You can't specify target table '%s' for update in FROM clause") \
    X(FUNC_INEXISTENT, 1630, "42000",                                                              \
        "FUNCTION %s does not exist. Check the 'Function Name Parsing and Resolution' section "    \
        "in the Reference Manual")                                                                 \
    X(DATA_OUT_OF_RANGE, 1690, "22003", "%s value is out of range in '%s'")                        \
    X(QUERY_TIMEOUT, 3024, "HY000",                                                                \
        "Query execution was interrupted, maximum statement execution time exceeded")              \
    X(INVALID_JSON, 3140, "22032",                                                                 \
        "Invalid JSON text: \"%s\" at position %llu in value for column '%s'.")                    \
    X(INVALID_JSON_ARG, 3141, "22032",                                                             \
        "Invalid JSON text in argument %d to function %s: \"%s\" at position %llu.")               \
    X(INVALID_JSON_PATH, 3143, "42000",                                                            \
        "Invalid JSON path expression. The error is around character position %llu.")              \
    X(CHECK_VIOLATED, 3819, "HY000", "Check constraint '%s' is violated.")                         \
    X(GENERATED_COLUMN, 3105, "HY000",                                                             \
        "The value specified for generated column '%s' in table '%s' is not allowed.")             \
    X(INVALID_REGEXP, 3685, "HY000", "Illegal argument to a regular expression: %s")               \
    X(READ_ONLY, 1792, "25006", "Cannot execute statement in a READ ONLY transaction.")            \
    X(TX_IN_PROGRESS, 1568, "25001",                                                               \
        "Transaction characteristics can't be changed while a transaction is in progress")         \
    X(NO_SUCH_SAVEPOINT, 1305, "42000", "SAVEPOINT %s does not exist")                             \
    X(DISK_FULL, 1021, "HY000", "Disk full (%s); waiting for someone to free some space...")       \
    X(READ_ONLY_FILE, 1036, "HY000", "Table '%s' is read only")                                    \
    X(OPEN_FILE, 1016, "HY000", "Can't open file: '%s'")                                           \
    X(CRASHED, 1194, "HY000", "Table '%s' is marked as crashed and should be repaired")            \
    X(DB_CREATE_EXISTS, 1007, "HY000", "Can't create database '%s'; database exists")              \
    X(DB_DROP_EXISTS, 1008, "HY000", "Can't drop database '%s'; database doesn't exist")           \
    X(KILL_DENIED, 1095, "HY000", "You are not owner of thread %llu")                              \
    X(TABLE_NOT_LOCKED, 1100, "HY000", "Table '%s' was not locked with LOCK TABLES")               \
    X(TOO_MANY_ROWS, 1172, "42000", "Result consisted of more than one row")                       \
    X(STACK_OVERRUN, 1436, "HY000",                                                                \
        "Thread stack overrun:  the statement is nested deeper than is followed")                  \
    X(NO_SUCH_WINDOW, 3579, "HY000", "Window name '%s' is not defined.")                           \
    X(WRONG_USAGE, 1221, "HY000", "Incorrect usage of %s and %s")                                  \
    X(VIEW_COLUMNS, 1353, "HY000",                                                                 \
        "In definition of view, derived table or common table expression, SELECT list and column " \
        "names list have different column counts")                                                 \
    X(NO_DATA, 1329, "02000", "No data - zero rows fetched, selected, or processed")               \
    X(TRUNCATE_FK, 1701, "42000",                                                                  \
        "Cannot truncate a table referenced in a foreign key constraint (%s)")                     \
    X(LOCK_NOWAIT, 3572, "HY000",                                                                  \
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.")  \
    X(DROP_PARENT, 3730, "HY000",                                                                  \
        "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.")       \
    X(TOO_LONG_IDENT, 1059, "42000", "Identifier name '%s' is too long")                           \
    X(WRONG_FIELD_SPEC, 1063, "42000", "Incorrect column specifier for column '%s'")               \
    X(TOO_MANY_KEYS, 1069, "42000", "Too many keys specified; max %d keys allowed")                \
    X(TOO_MANY_KEY_PARTS, 1070, "42000", "Too many key parts specified; max %d parts allowed")     \
    X(TOO_LONG_KEY, 1071, "42000", "Specified key was too long; max key length is %d bytes")       \
    X(WRONG_SUB_KEY, 1089, "HY000",                                                                \
        "Incorrect prefix key; the used key part isn't a string, the used length is longer than "  \
        "the key part, or the storage engine doesn't support unique prefix keys")                  \
    X(TOO_BIG_SET, 1097, "HY000", "Too many strings for column %s and SET")                        \
    X(TOO_MANY_FIELDS, 1117, "HY000", "Too many columns")                                          \
    X(PRIMARY_CANT_HAVE_NULL, 1171, "42000",                                                       \
        "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE "      \
        "instead")                                                                                 \
    X(WRONG_NAME_FOR_INDEX, 1280, "42000", "Incorrect index name '%s'")                            \
    X(BAD_FT_COLUMN, 1283, "HY000", "Column '%s' cannot be part of FULLTEXT index")                \
    X(UNKNOWN_ENGINE, 1286, "42000", "Unknown storage engine '%s'")                                \
    X(DUPLICATED_VALUE, 1291, "HY000", "Column '%s' has duplicated value '%s' in %s")              \
    X(INVALID_ON_UPDATE, 1294, "HY000", "Invalid ON UPDATE clause for '%s' column")                \
    X(DROP_INDEX_FK, 1553, "HY000", "Cannot drop index '%s': needed in a foreign key constraint")  \
    X(TOO_LONG_TABLE_COMMENT, 1628, "HY000", "Comment for table '%s' is too long (max = %lu)")     \
    X(TOO_LONG_FIELD_COMMENT, 1629, "HY000", "Comment for field '%s' is too long (max = %lu)")     \
    X(TOO_LONG_INDEX_COMMENT, 1688, "HY000", "Comment for index '%s' is too long (max = %lu)")     \
    X(YEAR_LENGTH, 1818, "HY000", "Supports only YEAR or YEAR(4) column.")                         \
    X(FK_NO_INDEX_PARENT, 1822, "HY000",                                                           \
        "Failed to add the foreign key constraint. Missing index for constraint '%s' in the "      \
        "referenced table '%s'")                                                                   \
    X(FK_OPEN_PARENT, 1824, "HY000", "Failed to open the referenced table '%s'")                   \
    X(FK_DUP_NAME, 1826, "HY000", "Duplicate foreign key constraint name '%s'")                    \
    X(FK_COLUMN_DROP, 1828, "HY000",                                                               \
        "Cannot drop column '%s': needed in a foreign key constraint '%s'")                        \
    X(FK_COLUMN_DROP_CHILD, 1829, "HY000",                                                         \
        "Cannot drop column '%s': needed in a foreign key constraint '%s' of table '%s'")          \
    X(FK_NOT_NULL, 1830, "HY000",                                                                  \
        "Column '%s' cannot be NOT NULL: needed in a foreign key constraint '%s' SET NULL")        \
    X(INVALID_FIELD_SIZE, 3013, "HY000", "Invalid size for column '%s'.")                          \
    X(VIRTUAL_PRIMARY, 3106, "HY000",                                                              \
        "'Defining a virtual generated column as primary key' is not supported for generated "     \
        "columns.")                                                                                \
    X(GENERATED_NON_PRIOR, 3107, "HY000",                                                          \
        "Generated column can refer only to generated columns defined prior to it.")               \
    X(GENERATED_DEPENDENCY, 3108, "HY000", "Column '%s' has a generated column dependency.")       \
    X(GENERATED_REFERS_AUTO, 3109, "HY000",                                                        \
        "Generated column '%s' cannot refer to auto-increment column.")                            \
    X(JSON_KEY, 3152, "42000",                                                                     \
        "JSON column '%s' supports indexing only via generated columns on a specified JSON path.") \
    X(FK_VIRTUAL, 3733, "HY000",                                                                   \
        "Foreign key '%s' uses virtual column '%s' which is not supported.")                       \
    X(FK_NO_COLUMN_PARENT, 3734, "HY000",                                                          \
        "Failed to add the foreign key constraint. Missing column '%s' for constraint '%s' in "    \
        "the referenced table '%s'")                                                               \
    X(FUNCTIONAL_PRIMARY, 3756, "HY000", "The primary key cannot be a functional index")           \
    X(DEFAULT_REFERS_AUTO, 3771, "HY000",                                                          \
        "Default value expression of column '%s' cannot refer to an auto-increment column.")       \
    X(FK_INCOMPATIBLE, 3780, "HY000",                                                              \
        "Referencing column '%s' and referenced column '%s' in foreign key constraint '%s' are "   \
        "incompatible.")                                                                           \
    X(COLUMN_CHECK_OTHER, 3813, "HY000", "Column check constraint '%s' references other column.")  \
    X(CHECK_AUTO, 3818, "HY000",                                                                   \
        "Check constraint '%s' cannot refer to an auto-increment column.")                         \
    X(CHECK_UNKNOWN_COLUMN, 3820, "HY000",                                                         \
        "Check constraint '%s' refers to non-existing column '%s'.")                               \
    X(CHECK_NOT_FOUND, 3821, "HY000", "Check constraint '%s' is not found in the table.")          \
    X(DUP_CHECK_NAME, 3822, "HY000", "Duplicate check constraint name '%s'.")                      \
    X(FUNCTIONAL_DEPENDENCY, 3837, "HY000",                                                        \
        "Column '%s' has a functional index dependency and cannot be dropped or renamed.")         \
    X(NO_CONSTRAINT, 3940, "HY000", "Constraint '%s' does not exist.")                             \
    X(CHECK_COLUMN, 3959, "HY000",                                                                 \
        "Check constraint '%s' uses column '%s', hence column cannot be dropped or renamed.")      \
    X(NO_VISIBLE_COLUMN, 4028, "HY000", "A table must have at least one visible column.")          \
    X(FK_NO_UNIQUE_PARENT, 6125, "HY000",                                                          \
        "Failed to add the foreign key constraint. Missing unique key for constraint '%s' in the " \
        "referenced table '%s'")                                                                   \
    X(CUT_GROUP_CONCAT, 1260, "HY000", "Row %d was cut by GROUP_CONCAT()")                         \
    X(ALLOWED_PACKET, 1301, "HY000",                                                               \
        "Result of %s() was larger than max_allowed_packet (%llu) - truncated")                    \
    X(WRONG_VALUE_FOR_TYPE, 1411, "HY000", "Incorrect %s value: '%s' for function %s")             \
    X(DATETIME_OVERFLOW, 1441, "22008", "Datetime function: %s field overflow")                    \
    X(WRONG_VALUE_ONLY, 1525, "HY000", "Incorrect %s value: '%s'")                                 \
    X(LOG_ARGUMENT, 3020, "2201E", "Invalid argument for logarithm")                               \
    X(LOCK_NAME, 3057, "42000", "Incorrect user-level lock name '%s'.")                            \
    X(JSON_CHARSET, 3144, "22032",                                                                 \
        "Cannot create a JSON value from a string with CHARACTER SET "                             \
        "'%s'.")                                                                                   \
    X(JSON_TYPE, 3146, "22032",                                                                    \
        "Invalid data type for JSON data in argument %d to function %s; a JSON string or JSON "    \
        "type is required.")                                                                       \
    X(JSON_WILDCARD, 3149, "42000",                                                                \
        "In this situation, path expressions may not contain the * and ** tokens or an array "     \
        "range.")                                                                                  \
    X(JSON_ONE_OR_ALL, 3154, "42000",                                                              \
        "The oneOrAll argument to %s may take these values: 'one' "                                \
        "or 'all'.")                                                                               \
    X(JSON_DEPTH, 3157, "22032", "The JSON document exceeds the maximum depth.")                   \
    X(JSON_NULL_KEY, 3158, "22032", "JSON documents may not contain NULL member names.")           \
    X(JSON_VACUOUS, 3153, "42000", "The path expression '$' is not allowed in this context.")      \
    X(JSON_ARRAY_CELL, 3165, "42000", "A path expression is not a path to a cell in an array.")    \
    X(WRONG_UUID, 1411, "HY000", "Incorrect string value: '%s' for function %s")                   \
    X(OUT_OF_MEMORY, 1037, "HY001", "Out of memory; restart server and try again")

enum db_error_name {
    DB_E_NONE,
#define DB_ERROR_ENUM(name, number, state, format) DB_E_##name,
    DB_ERROR_LIST(DB_ERROR_ENUM)
#undef DB_ERROR_ENUM
};

/* An error that is on its way to the client; lives in the caller's memory. */
struct db_error {
    int number; /* 0: none */
    char state[6];
    char text[512]; /* with a NUL, cut between characters when longer */
};

/* Fills e with the row's number and state and its format applied; returns ERR_INVAL, so that a
 * function can return what it calls. */
int db_error_set(struct db_error *e, enum db_error_name name, ...);
void db_error_vset(struct db_error *e, enum db_error_name name, va_list args);
/* The same with a text of one's own for the number and state of the row. */
int db_error_text(struct db_error *e, enum db_error_name name, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The error as one text for sqlite3_result_error(); into out, with a NUL. */
void db_error_pack(const struct db_error *e, char out[600]);
/* Takes such a text apart; false when it is not one. */
bool db_error_unpack(const char *text, struct db_error *e);

#endif
