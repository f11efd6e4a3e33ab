/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "tables.h"

void tables_make(struct fixture *f)
{
    fixture_table(f, "t",
        "id int unsigned/na;i int;b bigint;u bigint unsigned;d decimal(10,2);r double;"
        "s varchar(50);c char(10);x text;dt datetime;da date;ti time;ts timestamp;"
        "e enum('small','medium','large');st set('a','b','c');j json;bin varbinary(20);y year;"
        "bi bit(4)",
        "PRIMARY(id);KEY i(i);KEY s(s);KEY d(d);KEY dt(dt);KEY da(da);KEY u(u);KEY ts(ts)");
    fixture_table(f, "p", "id int/na;t_id int unsigned;name varchar(30)/n;n int/n=5",
        "PRIMARY(id);UNIQUE name(name);KEY t_id(t_id)");
    fixture_table(f, "pair", "a int/n;b varchar(20)/n;v int/n=0;w int;up datetime/u",
        "PRIMARY(a,b);KEY v(v)");
    fixture_table(f, "wp_posts",
        "ID bigint(20) unsigned/na;post_author bigint(20) unsigned/n=0;"
        "post_date datetime/n=0000-00-00 00:00:00;post_content longtext/n;post_title text/n;"
        "post_status varchar(20)/n=publish;post_name varchar(200)/n=;post_parent bigint(20) "
        "unsigned/n=0;menu_order int(11)/n=0;post_type varchar(20)/n=post;comment_count "
        "bigint(20)/n=0",
        "PRIMARY(ID);KEY post_name(post_name(191));KEY "
        "type_status_date(post_type,post_status,post_date,ID);KEY post_parent(post_parent);KEY "
        "post_author(post_author)");
    fixture_table(f, "wp_postmeta",
        "meta_id bigint(20) unsigned/na;post_id bigint(20) unsigned/n=0;meta_key "
        "varchar(255);meta_value longtext",
        "PRIMARY(meta_id);KEY post_id(post_id);KEY meta_key(meta_key(191))");
    fixture_table(f, "wp_options",
        "option_id bigint(20) unsigned/na;option_name varchar(191)/n=;option_value "
        "longtext/n;autoload varchar(20)/n=yes",
        "PRIMARY(option_id);UNIQUE option_name(option_name);KEY autoload(autoload)");
    fixture_table(f, "wp_term_relationships",
        "object_id bigint(20) unsigned/n=0;term_taxonomy_id bigint(20) unsigned/n=0;term_order "
        "int(11)/n=0",
        "PRIMARY(object_id,term_taxonomy_id);KEY term_taxonomy_id(term_taxonomy_id)");
}
