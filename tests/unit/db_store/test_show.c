/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_store/fixture.h"

static void test_show_tables_and_columns(void)
{
    static const struct step steps[] = {
        {"CREATE TABLE users (id INT UNSIGNED NOT NULL AUTO_INCREMENT, email VARCHAR(100) NOT "
         "NULL, "
         "PRIMARY KEY (id), UNIQUE KEY email (email))",
            "ok 0"},
        {"SHOW TABLES LIKE 'us%'", "Tables_in_app (us%)\nusers"},
        {"SHOW FULL TABLES", "Tables_in_app|Table_type\nusers|BASE TABLE"},
        {"DESCRIBE users", "Field|Type|Null|Key|Default|Extra\n"
                           "id|int unsigned|NO|PRI|NULL|auto_increment\n"
                           "email|varchar(100)|NO|UNI|NULL|"},
        {"SHOW COLUMNS FROM users LIKE 'id'",
            "Field|Type|Null|Key|Default|Extra\nid|int unsigned|NO|PRI|NULL|auto_increment"},
        {"SHOW COLUMNS FROM nope", "1146 42S02 Table 'app.nope' doesn't exist"},
        {"SHOW TABLES FROM nope", "1049 42000 Unknown database 'nope'"},
        {"SHOW DATABASES LIKE 'app'", "Database (app)\napp"},
        {"SHOW VARIABLES LIKE 'autocommit'", "Variable_name|Value\nautocommit|ON"},
        {"SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()",
            "TABLE_NAME\nusers"},
        {"SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'app' "
         "AND TABLE_NAME = 'users' ORDER BY ORDINAL_POSITION",
            "COLUMN_NAME|DATA_TYPE\nid|int\nemail|varchar"},
        {"SHOW INDEX FROM users", NULL},
        {"SHOW TABLE STATUS", NULL},
        {"SHOW PROCESSLIST", NULL},
        {"SHOW STATUS LIKE 'Uptime'", NULL},
        {"SHOW ENGINES", NULL},
        {"SHOW COLLATION", NULL},
        {"SHOW CHARACTER SET", NULL},
        {"SHOW GRANTS", NULL},
        {"SHOW PLUGINS", NULL},
        {"SHOW TRIGGERS", NULL},
        {"SHOW ENGINE INNODB STATUS", NULL},
        {"EXPLAIN SELECT * FROM users WHERE id = 1", NULL},
        {"ANALYZE TABLE users", "Table|Op|Msg_type|Msg_text\napp.users|analyze|status|OK"},
        {"CHECK TABLE users, nope", "Table|Op|Msg_type|Msg_text\napp.users|check|status|OK\n"
                                    "app.nope|check|Error|Table 'app.nope' doesn't exist\n"
                                    "app.nope|check|status|Operation failed"},
        {"OPTIMIZE TABLE users",
            "Table|Op|Msg_type|Msg_text\napp.users|optimize|note|Table does not support optimize, "
            "doing recreate + analyze instead\napp.users|optimize|status|OK"},
        {"SHOW CREATE DATABASE app", NULL},
        {NULL, NULL},
    };

    CHECK_ALONE(steps);
}

const struct test tests_show[] = {
    TEST(test_show_tables_and_columns),
    TEST_END,
};
