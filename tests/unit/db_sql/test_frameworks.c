/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"
#include "unit/test.h"

static void test_statements_of_frameworks(void)
{
    static const struct dump_row rows[] = {
        {"insert into `flights` (`departure`, `price`) values (?, ?), (?, ?) as "
         "laravel_upsert_alias on duplicate key update `price` = `laravel_upsert_alias`.`price`",
            "(insert flights (departure price) (row ?0 ?1) (row ?2 ?3) as laravel_upsert_alias "
            "(on-duplicate price=laravel_upsert_alias.price))"},
        {"insert into `users` (`email`) values (?) on duplicate key update `email` = "
         "values(`email`)",
            "(insert users (email) (row ?0) (on-duplicate email=(values email)))"},
        {"insert ignore into `users` (`email`) values (?)",
            "(insert ignore users (email) (row ?0))"},
        {"select exists(select * from `users` where `id` = ?) as `exists`",
            "(select (exists (select * from users where (= id ?0))):exists)"},
        {"select * from (select *, row_number() over (partition by `posts`.`user_id` order by "
         "`created_at` desc) as `laravel_row` from `posts`) as `laravel_table` where `laravel_row` "
         "<= 3 order by `laravel_row`",
            "(select * from (select * (row_number (over (partition posts.user_id) (order "
            "created_at desc))):laravel_row from posts):laravel_table where (<= laravel_row 3)) "
            "(order laravel_row)"},
        {"select `laravel_table`.*, @laravel_group := `user_id` as `g` from (select @laravel_row "
         ":= 0, @laravel_group := 0) as `laravel_vars`, (select * from `posts`) as `laravel_table` "
         "having `laravel_row` <= 2",
            "(select laravel_table.* (assign user_id laravel_group):g from (, (select (assign 0 "
            "laravel_row) (assign 0 laravel_group)):laravel_vars (select * from "
            "posts):laravel_table) having (<= laravel_row 2))"},
        {"select * from `jobs` where `queue` = ? and ((`reserved_at` is null and `available_at` <= "
         "?) or (`reserved_at` <= ?)) order by `id` asc limit 1 for update skip locked",
            "(select * from jobs where (and (= queue ?0) (or (and (is null reserved_at) (<= "
            "available_at ?1)) (<= reserved_at ?2)))) (order id) limit 1 for-update skip"},
        {"select * from `users` where json_contains(`options`, ?, '$.\"languages\"') and "
         "ifnull(json_contains_path(`options`, 'one', '$.\"a\"'), 0) and json_length(`o`, "
         "'$.\"l\"') > ?",
            "(select * from users where (and (and (json_contains options ?0 '$.\"languages\"') "
            "(ifnull (json_contains_path options 'one' '$.\"a\"') 0)) (> (json_length o '$.\"l\"') "
            "?1)))"},
        {"select * from `users` where json_unquote(json_extract(`options`, '$.\"a\".\"b\"')) = ? "
         "and json_extract(`o`, '$.\"c\"') = false",
            "(select * from users where (and (= (json_unquote (json_extract options "
            "'$.\"a\".\"b\"')) ?0) (= (json_extract o '$.\"c\"') false)))"},
        {"update `users` set `options` = json_set(`options`, '$.\"a\"', ?), `meta` = "
         "json_set(`meta`, '$.\"b\"', cast(? as json)) where `id` = ?",
            "(update users (set options=(json_set options '$.\"a\"' ?0) meta=(json_set meta "
            "'$.\"b\"' (cast ?1 json))) where (= id ?2))"},
        {"select * from `users` where `name` like binary ? and match (`bio`) against (? in boolean "
         "mode) and `a` <=> ?",
            "(select * from users where (and (and (like name (binary ?0)) (match boolean ?1 bio)) "
            "(<=> a ?2)))"},
        {"delete `posts` from `posts` inner join `users` on `users`.`id` = `posts`.`user_id` where "
         "`users`.`id` = ?",
            "(delete posts from (join posts users (= users.id posts.user_id)) where (= users.id "
            "?0))"},
        {"update `users` inner join `posts` on `users`.`id` = `posts`.`user_id` set "
         "`users`.`votes` = `users`.`votes` + 1 where `posts`.`id` = ?",
            "(update (join users posts (= users.id posts.user_id)) (set users.votes=(+ users.votes "
            "1)) where (= posts.id ?0))"},
        {"select * from `users` order by RAND('5')", "(select * from users) (order (RAND '5'))"},
        {"alter table `users` add `email` varchar(255) character set latin1 collate "
         "'latin1_swedish_ci' not null default 'x' comment 'it\\'s' after `name`, add unique "
         "`users_email_unique`(`email`)",
            "(alter-table users (add (email varchar(255) charset latin1 collate latin1_swedish_ci "
            "not-null default 'x' comment 'it's') after name) (add-key (unique users_email_unique "
            "(email))))"},
        {"alter table `posts` add constraint `posts_user_id_foreign` foreign key (`user_id`) "
         "references `users` (`id`) on delete cascade",
            "(alter-table posts (add-fk (fk posts_user_id_foreign (user_id) -> users(id) "
            "delete-cascade)))"},
        {"alter table `users` add index `i`(`a`, `b`) using hash, algorithm=instant",
            "(alter-table users (add-key (index i (a b) using HASH)) (nothing))"},
        {"alter table `users` add `full` varchar(9) as (concat(`a`, ' ', `b`)) stored invisible",
            "(alter-table users (add (full varchar(9) invisible stored (concat a ' ' b))))"},
        {"create table `users` (`id` bigint unsigned not null auto_increment primary key, `email` "
         "varchar(255) not null, `remember_token` varchar(100) null, `created_at` timestamp null, "
         "`deleted_at` datetime(3) null default CURRENT_TIMESTAMP(3) on update "
         "CURRENT_TIMESTAMP(3)) default character set utf8mb4 collate 'utf8mb4_unicode_ci' engine "
         "= InnoDB",
            "(create-table users (id bigint unsigned not-null auto primary) (email varchar(255) "
            "not-null) (remember_token varchar(100) null) (created_at timestamp null) (deleted_at "
            "datetime(.3) null default (CURRENT_TIMESTAMP 3) on-update) CHARSET=utf8mb4 "
            "COLLATE=utf8mb4_unicode_ci ENGINE=InnoDB)"},
        {"select table_name as `name`, (data_length + index_length) as `size`, table_comment as "
         "`comment` from information_schema.tables where table_schema = 'laravel' and table_type "
         "in ('BASE TABLE', 'SYSTEM VERSIONED') order by table_name",
            "(select table_name:name (+ data_length index_length):size table_comment:comment from "
            "information_schema.tables where (and (= table_schema 'laravel') (in table_type 'BASE "
            "TABLE' 'SYSTEM VERSIONED'))) (order table_name)"},
        {"select index_name as `name`, group_concat(column_name order by seq_in_index) as "
         "`columns`, index_type as `type`, not non_unique as `unique` from "
         "information_schema.statistics where table_schema = schema() and table_name = 'users' "
         "group by index_name, index_type, non_unique",
            "(select index_name:name (group_concat column_name (order seq_in_index)','):columns "
            "index_type:type (not non_unique):unique from information_schema.statistics where (and "
            "(= table_schema (schema)) (= table_name 'users')) (group index_name index_type "
            "non_unique))"},
        {"set names 'utf8mb4' collate 'utf8mb4_unicode_ci', session "
         "sql_mode='ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES'",
            "(set (names utf8mb4 utf8mb4_unicode_ci) (session system sql_mode "
            "'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES'))"},
        {"drop table `a`,`b`", "(drop-table a b)"},
        {"SET FOREIGN_KEY_CHECKS=0;", "(set (system FOREIGN_KEY_CHECKS 0))"},
        {"SAVEPOINT trans2", "(savepoint trans2)"},
        {"ROLLBACK TO SAVEPOINT trans2", "(rollback-to trans2)"},
        {"SELECT DISTINCT k.`CONSTRAINT_NAME`, k.`COLUMN_NAME`, k.`REFERENCED_TABLE_NAME`, "
         "k.`REFERENCED_COLUMN_NAME` /*!50116 , c.UPDATE_RULE, c.DELETE_RULE */ FROM "
         "information_schema.key_column_usage k /*!50116 INNER JOIN "
         "information_schema.referential_constraints c ON c.CONSTRAINT_NAME = k.CONSTRAINT_NAME "
         "AND c.TABLE_NAME = 't' */ WHERE k.TABLE_SCHEMA = 'd' /*!50116 AND c.CONSTRAINT_SCHEMA = "
         "'d' */ AND k.`REFERENCED_COLUMN_NAME` is not NULL",
            "(select distinct k.CONSTRAINT_NAME k.COLUMN_NAME k.REFERENCED_TABLE_NAME "
            "k.REFERENCED_COLUMN_NAME c.UPDATE_RULE c.DELETE_RULE from (join "
            "information_schema.key_column_usage:k information_schema.referential_constraints:c "
            "(and (= c.CONSTRAINT_NAME k.CONSTRAINT_NAME) (= c.TABLE_NAME 't'))) where (and (and "
            "(= k.TABLE_SCHEMA 'd') (= c.CONSTRAINT_SCHEMA 'd')) (not-is null "
            "k.REFERENCED_COLUMN_NAME)))"},
        {"SELECT t.ENGINE, ccsa.CHARACTER_SET_NAME FROM information_schema.TABLES t INNER JOIN "
         "information_schema.COLLATION_CHARACTER_SET_APPLICABILITY ccsa ON ccsa.COLLATION_NAME = "
         "t.TABLE_COLLATION WHERE CONVERT(t.TABLE_NAME USING binary) = 'x'",
            "(select t.ENGINE ccsa.CHARACTER_SET_NAME from (join information_schema.TABLES:t "
            "information_schema.COLLATION_CHARACTER_SET_APPLICABILITY:ccsa (= ccsa.COLLATION_NAME "
            "t.TABLE_COLLATION)) where (= (convert t.TABLE_NAME using binary) 'x'))"},
        {"SELECT u0_.id AS id_0, COUNT(u0_.id) AS sclr_1 FROM user u0_ LEFT JOIN post p1_ ON "
         "u0_.id = p1_.user_id AND (p1_.type IN ('a')) GROUP BY u0_.id HAVING sclr_1 > 0 ORDER BY "
         "u0_.name ASC LIMIT 18446744073709551615 OFFSET 5",
            "(select u0_.id:id_0 (COUNT u0_.id):sclr_1 from (left user:u0_ post:p1_ (and (= u0_.id "
            "p1_.user_id) (in p1_.type 'a'))) (group u0_.id) having (> sclr_1 0)) (order u0_.name) "
            "limit 18446744073709551615 offset 5"},
        {"CREATE TABLE messenger_messages (id BIGINT AUTO_INCREMENT NOT NULL, body LONGTEXT NOT "
         "NULL, queue_name VARCHAR(190) NOT NULL, created_at DATETIME NOT NULL COMMENT "
         "'(DC2Type:datetime_immutable)', INDEX IDX_75EA56E0FB7336F0 (queue_name), PRIMARY "
         "KEY(id)) DEFAULT CHARACTER SET utf8mb4 COLLATE `utf8mb4_unicode_ci` ENGINE = InnoDB",
            "(create-table messenger_messages (id bigint not-null auto) (body longtext not-null) "
            "(queue_name varchar(190) not-null) (created_at datetime not-null comment "
            "'(DC2Type:datetime_immutable)') (index IDX_75EA56E0FB7336F0 (queue_name)) (primary "
            "(id)) CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci ENGINE=InnoDB)"},
        {"ALTER TABLE post ADD CONSTRAINT FK_1 FOREIGN KEY (user_id) REFERENCES user (id), DROP "
         "INDEX uniq, CHANGE title title VARCHAR(9) DEFAULT NULL, RENAME INDEX a TO b",
            "(alter-table post (add-fk (fk FK_1 (user_id) -> user(id))) (drop-key uniq) (change "
            "title (title varchar(9) default null)) (rename-key a to b))"},
        {"CREATE TABLE sessions (sess_id VARBINARY(128) NOT NULL PRIMARY KEY, sess_data BLOB NOT "
         "NULL, sess_lifetime INTEGER UNSIGNED NOT NULL, sess_time INTEGER UNSIGNED NOT NULL, "
         "INDEX sess_lifetime_idx (sess_lifetime)) COLLATE utf8mb4_bin, ENGINE = InnoDB",
            "(create-table sessions (sess_id varbinary(128) not-null primary) (sess_data blob "
            "not-null) (sess_lifetime int unsigned not-null) (sess_time int unsigned not-null) "
            "(index sess_lifetime_idx (sess_lifetime)) COLLATE=utf8mb4_bin ENGINE=InnoDB)"},
        {"INSERT INTO sessions (sess_id, sess_data) VALUES (:id, :data)",
            "! 1064 near ':id, :data)' at line 1"},
        {"DO RELEASE_LOCK(?)", "(do (RELEASE_LOCK ?0))"},
        {"SELECT SQL_CALC_FOUND_ROWS  wp_posts.ID FROM wp_posts  LEFT JOIN wp_term_relationships "
         "ON (wp_posts.ID = wp_term_relationships.object_id) WHERE 1=1  AND ( "
         "wp_term_relationships.term_taxonomy_id IN (1) ) AND ((wp_posts.post_type = 'post' AND "
         "(wp_posts.post_status = 'publish'))) GROUP BY wp_posts.ID ORDER BY "
         "FIELD(wp_posts.ID,3,1,2), CAST(mt1.meta_value AS DECIMAL(10,2)) DESC LIMIT 0, 10",
            "(select calc wp_posts.ID from (left wp_posts wp_term_relationships (= wp_posts.ID "
            "wp_term_relationships.object_id)) where (and (and (= 1 1) (in "
            "wp_term_relationships.term_taxonomy_id 1)) (and (= wp_posts.post_type 'post') (= "
            "wp_posts.post_status 'publish'))) (group wp_posts.ID)) (order (FIELD wp_posts.ID 3 1 "
            "2) (cast mt1.meta_value decimal(10,2)) desc) limit 10 offset 0"},
        {"SELECT YEAR(post_date) AS `year`, MONTH(post_date) AS `month`, count(ID) as posts FROM "
         "wp_posts  WHERE post_type = 'post' AND WEEK( post_date, 1 ) = 3 AND DATE_FORMAT( "
         "post_date, '%H.%i%s' ) <= 3.0405 GROUP BY YEAR(post_date), MONTH(post_date) ORDER BY "
         "post_date DESC",
            "(select (YEAR post_date):year (MONTH post_date):month (count ID):posts from wp_posts "
            "where (and (and (= post_type 'post') (= (WEEK post_date 1) 3)) (<= (DATE_FORMAT "
            "post_date '%H.%i%s') 3.0405d)) (group (YEAR post_date) (MONTH post_date))) (order "
            "post_date desc)"},
        {"SHOW FULL COLUMNS FROM `wp_options`", "(show columns full wp_options)"},
        {"SHOW TABLES LIKE 'wp\\\\_options'", "(show tables like 'wp\\5c_options')"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

extern const struct test tests_frameworks[];
const struct test tests_frameworks[] = {TEST(test_statements_of_frameworks), TEST_END};
