/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "unit/db_sql/dump.h"
#include "unit/test.h"

static void test_tables_are_defined(void)
{
    static const struct dump_row rows[] = {
        {"create table t (a int)", "(create-table t (a int))"},
        {"create temporary table if not exists db.t (a int, b int)",
            "(create-table temporary if-not-exists db.t (a int) (b int))"},
        {"create or replace table t (a int)", "(create-table or-replace t (a int))"},
        {"CREATE TABLE wp_options ( option_id bigint(20) unsigned NOT NULL auto_increment, "
         "option_name varchar(191) NOT NULL default '', option_value longtext NOT NULL, autoload "
         "varchar(20) NOT NULL default 'yes', PRIMARY KEY (option_id), UNIQUE KEY option_name "
         "(option_name), KEY autoload (autoload) ) DEFAULT CHARACTER SET utf8mb4 COLLATE "
         "utf8mb4_unicode_520_ci",
            "(create-table wp_options (option_id bigint(20) unsigned not-null auto) (option_name "
            "varchar(191) not-null default '') (option_value longtext not-null) (autoload "
            "varchar(20) not-null default 'yes') (primary (option_id)) (unique option_name "
            "(option_name)) (index autoload (autoload)) CHARSET=utf8mb4 "
            "COLLATE=utf8mb4_unicode_520_ci)"},
        {"CREATE TABLE wp_posts (post_date datetime NOT NULL default '0000-00-00 00:00:00', "
         "post_content longtext NOT NULL, KEY type_status_date "
         "(post_type,post_status,post_date,ID), KEY meta_key (meta_key(191)))",
            "(create-table wp_posts (post_date datetime not-null default '0000-00-00 00:00:00') "
            "(post_content longtext not-null) (index type_status_date (post_type post_status "
            "post_date ID)) (index meta_key (meta_key:191)))"},
        {"CREATE TABLE `t` (`id` int(11) NOT NULL AUTO_INCREMENT, PRIMARY KEY (`id`)) "
         "ENGINE=InnoDB AUTO_INCREMENT=12 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci "
         "COMMENT='x' ROW_FORMAT=DYNAMIC",
            "(create-table t (id int(11) not-null auto) (primary (id)) ENGINE=InnoDB "
            "AUTO_INCREMENT=12 CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT=x "
            "ROW_FORMAT=DYNAMIC)"},
        {"create table t (a tinyint(1), b smallint unsigned, c mediumint zerofill, d int4, e int8 "
         "signed, f integer(5), g bool, h boolean, i int1, j middleint, k int2)",
            "(create-table t (a tinyint(1)) (b smallint unsigned) (c mediumint unsigned zerofill) "
            "(d int) (e bigint) (f int(5)) (g tinyint(1)) (h tinyint(1)) (i tinyint) (j mediumint) "
            "(k smallint))"},
        {"create table t (a decimal, b decimal(5), c decimal(10,2) unsigned, d dec(3,1), e "
         "numeric, f fixed(4), g float, h float(10), i float(30), j float(7,3), k double, l double "
         "precision, m double(9,2), n real, o float4, p float8)",
            "(create-table t (a decimal(10,0)) (b decimal(5,0)) (c decimal(10,2) unsigned) (d "
            "decimal(3,1)) (e decimal(10,0)) (f decimal(4,0)) (g float) (h float) (i double) (j "
            "float(7,3)) (k double) (l double) (m double(9,2)) (n double) (o float) (p double))"},
        {"create table t (a bit, b bit(8), c year, d year(4), e date, f time, g time(3), h "
         "datetime, i datetime(6), j timestamp, k timestamp(2))",
            "(create-table t (a bit(1)) (b bit(8)) (c year) (d year) (e date) (f time) (g "
            "time(.3)) (h datetime) (i datetime(.6)) (j timestamp) (k timestamp(.2)))"},
        {"create table t (a char, b char(10), c varchar(20), d character varying(5), e varchar(20) "
         "character set latin1 collate latin1_bin, f char(3) charset utf8, g nchar(5), h national "
         "varchar(6), i nvarchar(7), j national char varying(8), k char(4) byte, l char(4) ascii, "
         "m varchar(5) binary, n varchar(6) charset binary)",
            "(create-table t (a char(1)) (b char(10)) (c varchar(20)) (d varchar(5)) (e "
            "varchar(20) charset latin1 collate latin1_bin) (f char(3) charset utf8mb3) (g char(5) "
            "charset utf8mb3) (h varchar(6) charset utf8mb3) (i varchar(7) charset utf8mb3) (j "
            "varchar(8) charset utf8mb3) (k binary(4)) (l char(4) charset latin1) (m varchar(5) "
            "collate _bin) (n varbinary(6)))"},
        {"create table t (a tinytext, b text, c mediumtext, d longtext, e text(10), f text(100), g "
         "text(20000), h text(5000000), i long, j long varchar, k text character set utf8mb4, l "
         "text charset binary)",
            "(create-table t (a tinytext) (b text) (c mediumtext) (d longtext) (e tinytext) (f "
            "text) (g mediumtext) (h longtext) (i mediumtext) (j mediumtext) (k text charset "
            "utf8mb4) (l blob))"},
        {"create table t (a binary, b binary(16), c varbinary(20), d tinyblob, e blob, f "
         "mediumblob, g longblob, h blob(100), i blob(70000), j long varbinary)",
            "(create-table t (a binary(1)) (b binary(16)) (c varbinary(20)) (d tinyblob) (e blob) "
            "(f mediumblob) (g longblob) (h tinyblob) (i mediumblob) (j mediumblob))"},
        {"create table t (a enum('x','y'), b set('a','b') not null, c enum('it''s') character set "
         "latin1, d json, e serial, f point, g geometry not null srid 4326)",
            "(create-table t (a enum:'x','y') (b set:'a','b' not-null) (c enum:'it\\27s' charset "
            "latin1) (d json) (e bigint unsigned serial not-null auto unique) (f geometry) (g "
            "geometry not-null))"},
        {"create table t (a int null, b int not null default 1, c int default null, d int default "
         "-1, e varchar(3) default 'x' collate utf8mb4_bin, f int default (1 + 2), g double "
         "default 1.5e3, h bit(1) default b'1', i char(1) default _latin1'x', j bool default true)",
            "(create-table t (a int null) (b int not-null default 1) (c int default null) (d int "
            "default (neg 1)) (e varchar(3) collate utf8mb4_bin default 'x') (f int default-expr "
            "(+ 1 2)) (g double default 1.5e3) (h bit(1) default b#01) (i char(1) default "
            "_latin1'x') (j tinyint(1) default true))"},
        {"create table t (a timestamp default current_timestamp, b timestamp not null default "
         "now() on update now(), c datetime(3) default current_timestamp(3) on update "
         "current_timestamp(3), d datetime default localtime, e timestamp null default null on "
         "update current_timestamp())",
            "(create-table t (a timestamp default (CURRENT_TIMESTAMP)) (b timestamp not-null "
            "default (CURRENT_TIMESTAMP) on-update) (c datetime(.3) default (CURRENT_TIMESTAMP 3) "
            "on-update) (d datetime default (CURRENT_TIMESTAMP)) (e timestamp null default null "
            "on-update))"},
        {"create table t (a char(36) default (uuid()), b char(36) default uuid(), c date default "
         "(curdate()))",
            "(create-table t (a char(36) default-expr (uuid)) (b char(36) default-expr (uuid)) (c "
            "date default-expr (curdate)))"},
        {"create table t (a int auto_increment primary key, b int unique, c int unique key, d int "
         "key comment 'c', e int invisible, f int visible, g int auto_increment unique)",
            "(create-table t (a int auto primary) (b int unique) (c int unique) (d int primary "
            "comment 'c') (e int invisible) (f int) (g int auto unique))"},
        {"create table t (a int, b int generated always as (a + 1) virtual, c int as (a * 2) "
         "stored not null, d int as (a) persistent unique, e varchar(9) generated always as "
         "(concat(a, 'x')))",
            "(create-table t (a int) (b int virtual (+ a 1)) (c int not-null stored (* a 2)) (d "
            "int unique stored a) (e varchar(9) virtual (concat a 'x')))"},
        {"create table t (a int check (a > 0), b int constraint c check (b < 1) not enforced, "
         "constraint d check (a <> b), check (a), constraint check (b) enforced)",
            "(create-table t (a int (check (> a 0))) (b int (check c (< b 1) not-enforced)) (check "
            "d (<> a b)) (check a) (check b))"},
        {"create table t (a int references u (b), c int references u(d) on delete cascade on "
         "update set null)",
            "(create-table t (a int (fk -> u(b))) (c int (fk -> u(d) delete-cascade "
            "update-set-null)))"},
        {"create table t (a int, foreign key (a) references u (b), constraint fk foreign key ix "
         "(a, b) references db.u (c, d) match full on update no action on delete set default, "
         "constraint foreign key (a) references u (b) on delete restrict)",
            "(create-table t (a int) (fk (a) -> u(b)) (fk fk index ix (a b) -> db.u(c d) "
            "delete-set-default update-no-action) (fk (a) -> u(b) delete-restrict))"},
        {"create table t (a int, key (a), index i (a desc, b asc), unique u (a), unique key (a), "
         "unique index v using hash (a), key k using btree (a) comment 'c' key_block_size = 8, "
         "fulltext (a), fulltext key f (a, b) with parser ngram, spatial index s (a), constraint c "
         "unique (a), constraint p primary key (a, b), key x ((a + 1)), key y ((lower(b)) desc), "
         "key z (a) invisible)",
            "(create-table t (a int) (index (a)) (index i (a desc b)) (unique u (a)) (unique (a)) "
            "(unique v (a) using HASH) (index k (a) using BTREE comment c) (fulltext (a)) "
            "(fulltext f (a b)) (spatial s (a)) (unique constraint c (a)) (primary constraint p (a "
            "b)) (index x ((+ a 1))) (index y ((lower b) desc)) (index z (a) invisible))"},
        {"create table t (a int column_format fixed storage memory, b int comment '')",
            "(create-table t (a int) (b int comment ''))"},
        {"create table t like u", "(create-table t like u)"},
        {"create table t (like db.u)", "(create-table t like db.u)"},
        {"create table if not exists t like u", "(create-table if-not-exists t like u)"},
        {"create table t select 1", "(create-table t as (select 1))"},
        {"create table t as select a from u", "(create-table t as (select a from u))"},
        {"create table t (a int) ignore select 1 a",
            "(create-table t (a int) ignore as (select 1:a))"},
        {"create table t (primary key (a)) replace as select 1 a",
            "(create-table t (primary (a)) replace as (select 1:a))"},
        {"create table t (select 1)", "(create-table t as (select 1))"},
        {"create table t engine=memory as select 1",
            "(create-table t ENGINE=memory as (select 1))"},
        {"create table t (a int) as table u", "(create-table t (a int) as (table u))"},
        {"create table t (a int) as with c as (select 1) select * from c",
            "(create-table t (a int) as with c=(select 1) (select * from c))"},
        {"create table t (a int) engine innodb, charset = utf8, collate binary, comment 'it''s', "
         "auto_increment 5, max_rows=10 pack_keys default insert_method=last union=(a,b) data "
         "directory='/x' row_format=compressed key_block_size=8 stats_persistent=0 page_checksum=1",
            "(create-table t (a int) ENGINE=innodb CHARSET=utf8mb3 COLLATE=binary COMMENT=it's "
            "AUTO_INCREMENT=5 MAX_ROWS=10 PACK_KEYS=default INSERT_METHOD=last UNION=(a,b) DATA "
            "DIRECTORY=/x ROW_FORMAT=compressed KEY_BLOCK_SIZE=8 STATS_PERSISTENT=0 "
            "PAGE_CHECKSUM=1)"},
        {"create table t (a int) default character set = 'latin1' default collate = 'latin1_bin' "
         "checksum=1 delay_key_write=1",
            "(create-table t (a int) CHARSET=latin1 COLLATE=latin1_bin CHECKSUM=1 "
            "DELAY_KEY_WRITE=1)"},
        {"create table t (a int) COLLATE utf8mb4_bin, ENGINE = InnoDB",
            "(create-table t (a int) COLLATE=utf8mb4_bin ENGINE=InnoDB)"},
        {"create table t (a int) engine=innodb partition by range (a) (partition p0 values less "
         "than (10), partition p1 values less than maxvalue)",
            "(create-table t (a int) ENGINE=innodb [partition by range (a) (partition p0 values "
            "less than (10), partition p1 values less than maxvalue)])"},
        {"create table t (a int) partition by hash (a) partitions 4 as select 1",
            "(create-table t (a int) [partition by hash (a) partitions 4] as (select 1))"},
        {"create table sessions (id varbinary(128) not null primary key, data blob not null, "
         "lifetime int unsigned not null, index idx (lifetime)) collate utf8mb4_bin, engine = "
         "innodb",
            "(create-table sessions (id varbinary(128) not-null primary) (data blob not-null) "
            "(lifetime int unsigned not-null) (index idx (lifetime)) COLLATE=utf8mb4_bin "
            "ENGINE=innodb)"},
        {"create table t (`select` int, `from` int, date date, time time, key_ int, status "
         "enum('a'), comment text, type int, user int)",
            "(create-table t (select int) (from int) (date date) (time time) (key_ int) (status "
            "enum:'a') (comment text) (type int) (user int))"},
        {"create table t (a int) type=myisam", "(create-table t (a int) ENGINE=myisam)"},
        {"create table t (a datetime default '0000-00-00 00:00:00' not null, b int(10) unsigned "
         "zerofill)",
            "(create-table t (a datetime not-null default '0000-00-00 00:00:00') (b int(10) "
            "unsigned zerofill))"},
        {"create table t (a uuid not null, b inet6 default '::1', c blob compressed, d date "
         "default cast(a as date), e char(3) character set latin1 collate default)",
            "(create-table t (a char(36) charset ascii not-null) (b varchar(39) charset ascii "
            "default '::1') (c blob) (d date default-expr (cast a date)) (e char(3) charset "
            "latin1))"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_tables_are_altered(void)
{
    static const struct dump_row rows[] = {
        {"alter table t add a int", "(alter-table t (add (a int)))"},
        {"alter table t add column a int not null default 1 first, add b int after c",
            "(alter-table t (add (a int not-null default 1) first) (add (b int) after c))"},
        {"alter table t add (a int, b int, key (a))",
            "(alter-table t (add (a int)) (add (b int)) (add-key (index (a))))"},
        {"alter table t add column if not exists a int, add index if not exists i (a), drop column "
         "if exists b, drop index if exists j",
            "(alter-table t (add if-exists (a int)) (add-key if-exists (index i (a))) (drop "
            "if-exists b) (drop-key if-exists j))"},
        {"alter table t drop a, drop column b, drop c restrict",
            "(alter-table t (drop a) (drop b) (drop c))"},
        {"alter table t modify a bigint(20) unsigned not null, modify column b text after a, "
         "modify if exists c int first",
            "(alter-table t (modify a (a bigint(20) unsigned not-null)) (modify b (b text) after "
            "a) (modify if-exists c (c int) first))"},
        {"alter table t change a b int, change column c c varchar(10) default 'x' first",
            "(alter-table t (change a (b int)) (change c (c varchar(10) default 'x') first))"},
        {"alter table t alter a set default 1, alter column b drop default, alter column c set "
         "default (uuid()), alter d set default null",
            "(alter-table t (set-default a 1) (drop-default b) (set-default c (uuid)) (set-default "
            "d null))"},
        {"alter table t rename to u", "(alter-table t (rename u))"},
        {"alter table t rename u", "(alter-table t (rename u))"},
        {"alter table t rename as db.u, rename = v", "(alter-table t (rename db.u) (rename v))"},
        {"alter table t rename column a to b, rename index i to j, rename key k to l",
            "(alter-table t (rename-column a to b) (rename-key i to j) (rename-key k to l))"},
        {"alter table t add index i (a), add key (a, b), add unique u (a), add unique index (b), "
         "add primary key (a), add fulltext index f (a), add constraint c unique key (a)",
            "(alter-table t (add-key (index i (a))) (add-key (index (a b))) (add-key (unique u "
            "(a))) (add-key (unique (b))) (add-key (primary (a))) (add-key (fulltext f (a))) "
            "(add-key (unique constraint c (a))))"},
        {"alter table t drop index i, drop key k, drop primary key, drop foreign key f, drop check "
         "c, drop constraint d",
            "(alter-table t (drop-key i) (drop-key k) (drop-primary) (drop-fk f) (drop-check c) "
            "(drop-constraint d))"},
        {"alter table t add constraint fk foreign key (a) references u (b) on delete cascade on "
         "update cascade, add foreign key (c) references v (d)",
            "(alter-table t (add-fk (fk fk (a) -> u(b) delete-cascade update-cascade)) (add-fk (fk "
            "(c) -> v(d))))"},
        {"alter table t add constraint c check (a > 1), add check (b)",
            "(alter-table t (add-check (check c (> a 1))) (add-check (check b)))"},
        {"alter table t engine=innodb, comment = 'x', auto_increment = 10",
            "(alter-table t (options ENGINE=innodb) (options COMMENT=x) (options "
            "AUTO_INCREMENT=10))"},
        {"alter table t auto_increment=5 comment 'y'",
            "(alter-table t (options AUTO_INCREMENT=5 COMMENT=y))"},
        {"alter table t default character set utf8mb4 collate utf8mb4_bin",
            "(alter-table t (options CHARSET=utf8mb4 COLLATE=utf8mb4_bin))"},
        {"alter table t convert to character set utf8mb4 collate utf8mb4_unicode_ci, convert to "
         "charset latin1",
            "(alter-table t (convert CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci) (convert "
            "CHARSET=latin1))"},
        {"alter table t convert to character set default",
            "(alter-table t (convert CHARSET=default))"},
        {"alter table t enable keys", "(alter-table t (nothing))"},
        {"alter table t disable keys, algorithm=instant, lock=none, algorithm inplace, lock "
         "default",
            "(alter-table t (nothing) (nothing) (nothing) (nothing) (nothing))"},
        {"alter table t order by a, b desc", "(alter-table t (order))"},
        {"alter table t force", "(alter-table t (nothing))"},
        {"alter table t alter index i invisible, alter index j visible, alter key k not ignored, "
         "alter index l ignored",
            "(alter-table t (key-visible i) (key-visible j yes) (key-visible k yes) (key-visible "
            "l))"},
        {"alter ignore table t add a int", "(alter-table t (add (a int)))"},
        {"alter online table t add a int", "(alter-table t (add (a int)))"},
        {"alter table if exists t add a int", "(alter-table t (add (a int)))"},
        {"alter table t", "(alter-table t)"},
        {"alter table t add partition (partition p values less than (3)), drop partition q",
            "(alter-table t (nothing))"},
        {"alter table t partition by hash (a) partitions 3", "(alter-table t (nothing))"},
        {"alter table t remove partitioning", "(alter-table t (nothing))"},
        {"alter table t truncate partition p0, coalesce partition 2", "(alter-table t (nothing))"},
        {"alter table t analyze partition all", "(alter-table t (nothing))"},
        {"alter table db.t add column `x y` enum('a','b') character set latin1 not null default "
         "'a' comment 'c' after `z`",
            "(alter-table db.t (add (x y enum:'a','b' charset latin1 not-null default 'a' comment "
            "'c') after z))"},
        {"alter table wp_posts ADD COLUMN post_x varchar(20) NOT NULL DEFAULT '', ADD KEY k "
         "(post_x(10))",
            "(alter-table wp_posts (add (post_x varchar(20) not-null default '')) (add-key (index "
            "k (post_x:10))))"},
        {"alter table t alter c set invisible", "(refused ALTER COLUMN ... SET INVISIBLE)"},
        {"alter table t discard tablespace", "(refused ALTER TABLE ... TABLESPACE)"},
        {"/*!40000 ALTER TABLE `t` DISABLE KEYS */;", "(alter-table t (nothing))"},
        {"alter table messenger_messages add index idx_1 (queue_name, available_at, delivered_at, "
         "id)",
            "(alter-table messenger_messages (add-key (index idx_1 (queue_name available_at "
            "delivered_at id))))"},
        {"alter table t rename constraint a to b", "! 1064 near 'constraint a to b' at line 1"},
        {"alter table t with validation, without validation",
            "(alter-table t (nothing) (nothing))"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_other_things_are_defined(void)
{
    static const struct dump_row rows[] = {
        {"create index i on t (a)", "(create-index t (index i (a)))"},
        {"create unique index i on db.t (a(10) desc, b)",
            "(create-index db.t (unique i (a:10 desc b)))"},
        {"create fulltext index i on t (a) comment 'x' algorithm=inplace lock=none",
            "(create-index t (fulltext i (a) comment x))"},
        {"create spatial index s on t (g)", "(create-index t (spatial s (g)))"},
        {"create index if not exists i using btree on t (a)",
            "(create-index if-not-exists t (index i (a) using BTREE))"},
        {"create index i on t ((a + 1)) using hash",
            "(create-index t (index i ((+ a 1)) using HASH))"},
        {"drop index i on t", "(drop-index i t)"},
        {"drop index `PRIMARY` on t", "(drop-index PRIMARY t)"},
        {"drop index if exists i on db.t algorithm = copy", "(drop-index if-exists i db.t)"},
        {"drop index primary on t", "(drop-index primary t)"},
        {"create view v as select 1", "(create-view v as (select 1) [select 1])"},
        {"create or replace view v (a, b) as select 1, 2",
            "(create-view or-replace v(a b) as (select 1 2) [select 1, 2])"},
        {"create algorithm=undefined definer=`root`@`localhost` sql security definer view v as "
         "select a from t with check option",
            "(create-view v as (select a from t) [select a from t] check CASCADED)"},
        {"create definer=current_user() sql security invoker view db.v as (select 1) union select "
         "2 with local check option",
            "(create-view db.v as (union [(select 1)] (select 2)) [(select 1) union select 2] "
            "check LOCAL)"},
        {"create definer = root@'%' view v as select 1 with cascaded check option",
            "(create-view v as (select 1) [select 1] check CASCADED)"},
        {"create view if not exists v as with c as (select 1) select * from c",
            "(create-view if-not-exists v as with c=(select 1) (select * from c) [with c as "
            "(select 1) select * from c])"},
        {"/*!50001 CREATE ALGORITHM=UNDEFINED */ /*!50013 DEFINER=`root`@`localhost` SQL SECURITY "
         "DEFINER */ /*!50001 VIEW `v` AS select `t`.`a` AS `a` from `t` */",
            "(create-view v as (select t.a:a from t) [select `t`.`a` AS `a` from `t`])"},
        {"alter view v as select 2", "(create-view or-replace v as (select 2) [select 2])"},
        {"alter algorithm=merge view v (a) as select 2",
            "(create-view or-replace v(a) as (select 2) [select 2])"},
        {"drop view v", "(drop-view v)"},
        {"drop view if exists v, db.w cascade", "(drop-view if-exists v db.w)"},
        {"drop table t", "(drop-table t)"},
        {"drop table if exists t, db.u, v", "(drop-table if-exists t db.u v)"},
        {"drop tables a, b restrict", "(drop-table a b)"},
        {"drop temporary table t", "(drop-table temporary t)"},
        {"truncate t", "(truncate t)"},
        {"truncate table db.t", "(truncate db.t)"},
        {"rename table a to b", "(rename a->b)"},
        {"rename table a to db.b, c to d", "(rename a->db.b c->d)"},
        {"rename tables a to b", "(rename a->b)"},
        {"create database d", "(create-database d)"},
        {"create schema if not exists d default character set utf8mb4 collate utf8mb4_bin",
            "(create-database if d CHARSET=utf8mb4 COLLATE=utf8mb4_bin)"},
        {"create database d charset=latin1 encryption='N'",
            "(create-database d CHARSET=latin1 ENCRYPTION=N)"},
        {"create database /*!32312 if not exists*/ `d` /*!40100 default character set utf8mb4 */",
            "(create-database if d CHARSET=utf8mb4)"},
        {"alter database d character set utf8", "(alter-database d CHARSET=utf8mb3)"},
        {"alter schema collate = utf8mb4_bin", "(alter-database  COLLATE=utf8mb4_bin)"},
        {"drop database d", "(drop-database d)"},
        {"drop schema if exists d", "(drop-database if d)"},
        {"create procedure p() begin select 1; select 2; end", "(refused CREATE PROCEDURE)"},
        {"create definer=`a`@`b` procedure p(in x int) select 1; select 2",
            "(refused CREATE PROCEDURE)"},
        {"create function f() returns int return 1", "(refused CREATE FUNCTION)"},
        {"create trigger tr before insert on t for each row set new.a = 1",
            "(refused CREATE TRIGGER)"},
        {"create event e on schedule every 1 day do select 1", "(refused CREATE EVENT)"},
        {"create or replace function f() returns int begin return 1; end",
            "(refused CREATE FUNCTION)"},
        {"create server s foreign data wrapper mysql options (host 'x')",
            "(refused CREATE SERVER)"},
        {"create tablespace x add datafile 'y'", "(refused CREATE TABLESPACE)"},
        {"create sequence s", "(refused CREATE SEQUENCE)"},
        {"create temporary sequence s", "(refused CREATE SEQUENCE)"},
        {"drop procedure p", "(refused DROP PROCEDURE)"},
        {"drop procedure if exists p", "(refused DROP PROCEDURE if-exists)"},
        {"drop function if exists f; select 1", "(refused DROP FUNCTION if-exists) ; select 1"},
        {"drop trigger tr", "(refused DROP TRIGGER)"},
        {"drop event if exists e", "(refused DROP EVENT if-exists)"},
        {"drop sequence s", "(refused DROP SEQUENCE)"},
        {"alter procedure p comment 'x'", "(refused ALTER PROCEDURE)"},
        {"alter event e disable", "(refused ALTER EVENT)"},
        {"create user 'a'@'b' identified by 'c'", "(account)"},
        {"create user if not exists a@localhost; select 1", "(account) ; select 1"},
        {"create role r", "(account)"},
        {"alter user a@b identified by 'x'", "(account)"},
        {"drop user a@b, c@d", "(account)"},
        {"drop role r", "(account)"},
        {"rename user a@b to c@d", "(account)"},
        {"alter instance rotate innodb master key", "(refused ALTER INSTANCE)"},
        {"create aggregate function f returns string soname 'x'", "(refused CREATE FUNCTION)"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

static void test_bad_definitions_are_refused(void)
{
    static const struct dump_row rows[] = {
        {"create table t", "! 1113 A table must have at least 1 column"},
        {"create table t ()", "! 1064 near ')' at line 1"},
        {"create table t (a)", "! 1064 near ')' at line 1"},
        {"create table t (a int,)", "! 1064 near ')' at line 1"},
        {"create table t (a int b int)", "! 1064 near 'b int)' at line 1"},
        {"create table t (a varchar)", "! 1064 near ')' at line 1"},
        {"create table t (a int default)", "! 1064 near ')' at line 1"},
        {"create table t (a int default a)", "! 1064 near 'a)' at line 1"},
        {"create table t (a int default b + 1)", "! 1064 near 'b + 1)' at line 1"},
        {"create table t (a int not)", "! 1064 near ')' at line 1"},
        {"create table t (key)", "! 1064 near ')' at line 1"},
        {"create table t (primary key)", "! 1064 near ')' at line 1"},
        {"create table t (primary key a)", "! 1064 near ')' at line 1"},
        {"create table t (a int, foreign key (a))", "! 1064 near ')' at line 1"},
        {"create table t (a int on update 1)", "! 1064 near '1)' at line 1"},
        {"create table t (a enum())", "! 1064 near '))' at line 1"},
        {"create table t (a decimal(1,2,3))", "! 1064 near '3))' at line 1"},
        {"create table t (a int) engine", "! 1064 near '' at line 1"},
        {"create table t (a int) foo", "! 1064 near 'foo' at line 1"},
        {"create table t (a int) union=1", "! 1064 near '1' at line 1"},
        {"create table (a int)", "! 1064 near '(a int)' at line 1"},
        {"create table t (a int as a)", "! 1064 near 'a)' at line 1"},
        {"create table t (a int comment x)", "! 1064 near 'x)' at line 1"},
        {"create table t (a foo)", "! 1064 near 'foo)' at line 1"},
        {"create table t (a int references)", "! 1064 near ')' at line 1"},
        {"create table t (a int, constraint x)", "! 1064 near ')' at line 1"},
        {"create table t (a int) with system versioning", "(refused system-versioned tables)"},
        {"create foo", "! 1064 near 'foo' at line 1"},
        {"create", "! 1064 near '' at line 1"},
        {"create index on t (a)", "! 1064 near 'on t (a)' at line 1"},
        {"create index i on t", "! 1064 near '' at line 1"},
        {"create view v", "! 1064 near '' at line 1"},
        {"create view v as update t set a = 1", "! 1064 near 'update t set a = 1' at line 1"},
        {"drop", "! 1064 near '' at line 1"},
        {"drop table", "! 1064 near '' at line 1"},
        {"drop table t u", "! 1064 near 'u' at line 1"},
        {"drop index i", "! 1064 near '' at line 1"},
        {"alter table", "! 1064 near '' at line 1"},
        {"alter table t add", "! 1064 near '' at line 1"},
        {"alter table t add column", "! 1064 near '' at line 1"},
        {"alter table t drop", "! 1064 near '' at line 1"},
        {"alter table t foo", "! 1064 near 'foo' at line 1"},
        {"alter table t modify a", "! 1064 near '' at line 1"},
        {"alter table t change a int", "! 1064 near 'int' at line 1"},
        {"alter table t rename column a b", "! 1064 near 'b' at line 1"},
        {"alter table t add (a int", "! 1064 near '' at line 1"},
        {"alter table t alter a set default", "! 1064 near '' at line 1"},
        {"alter table t alter a set default b", "! 1064 near 'b' at line 1"},
        {"alter table t add index", "! 1064 near '' at line 1"},
        {"alter table t convert to character", "! 1064 near 'character' at line 1"},
        {"truncate", "! 1064 near '' at line 1"},
        {"rename table a", "! 1064 near '' at line 1"},
        {"rename table a b", "! 1064 near 'b' at line 1"},
        {"create database", "! 1064 near '' at line 1"},
        {"drop database", "! 1064 near '' at line 1"},
    };

    dump_check(rows, ARRAY_LEN(rows), 0);
}

extern const struct test tests_define[];
const struct test tests_define[] = {TEST(test_tables_are_defined), TEST(test_tables_are_altered),
    TEST(test_other_things_are_defined), TEST(test_bad_definitions_are_refused), TEST_END};
