/* SPDX-License-Identifier: MIT */
/* SPDX-FileCopyrightText: The ephpm developers */
#include "core/conf.h"

#include <stdio.h>

#include "platform/fs.h"
#include "unit/test.h"

extern const struct test tests_conf[];

struct item {
    const char *path;
    int64_t count;
    const char *secret;
    struct conf_pairs values;
};

struct sample {
    bool flag;
    int tri;
    int64_t count;
    int64_t derived;
    uint64_t size;
    int64_t mb;
    uint64_t idle;
    uint64_t wait;
    const char *name;
    const char *none;
    const char *limit;
    const char *secret;
    int color;
    int onoff;
    double rate;
    struct conf_list list;
    struct conf_pairs pairs;
    struct conf_tables items;
};

static int check_even(const struct conf_row *row, const void *value, struct err *why)
{
    return *(const int64_t *)value % 2 ? err_set(why, ERR_INVAL, "must be even") : 0;
}

#define ROW(key_, member_, kind_, def_, ...)        \
    {.key = (key_),                                 \
        .kind = (kind_),                            \
        .offset = offsetof(struct sample, member_), \
        .def = (def_),                              \
        __VA_ARGS__}

#define ITEM(key_, member_, kind_, ...) \
    {.key = (key_), .kind = (kind_), .offset = offsetof(struct item, member_), __VA_ARGS__}

static const struct conf_row item_rows[] = {
    ITEM("path", path, CONF_STRING, .flags = CONF_REQUIRED | CONF_NOT_EMPTY, .help = "Where."),
    ITEM(
        "count", count, CONF_INT, .def = "4", .max = 100, .check = check_even, .help = "How many."),
    ITEM("secret", secret, CONF_STRING, .flags = CONF_SECRET, .help = "Hush."),
    ITEM("values", values, CONF_PAIRS, .help = "What."),
};
static const struct conf_item items = {item_rows, ARRAY_LEN(item_rows), sizeof(struct item)};

static const struct conf_row rows[] = {
    ROW("a.flag", flag, CONF_BOOL, "true"),
    ROW("a.tri", tri, CONF_TRI, NULL),
    ROW("a.count", count, CONF_INT, "4", .min = 0, .max = 100, .check = check_even),
    ROW("a.derived", derived, CONF_INT, NULL, .min = -1, .max = 1),
    ROW("a.size", size, CONF_SIZE, "\"64K\"", .min = 16, .max = 1 << 30),
    ROW("a.mb", mb, CONF_MB, NULL, .min = 8, .max = 1024),
    ROW("a.t.idle", idle, CONF_DURATION, "30", .min = 0, .max = 86400000),
    ROW("a.t.wait", wait, CONF_DURATION, "500", .flags = CONF_MS),
    {.key = "a.t.other", .alias = "a.t.idle"},
    ROW("b.name", name, CONF_STRING, "\"x\"", .flags = CONF_NOT_EMPTY),
    ROW("b.none", none, CONF_STRING, NULL, .help = "Text | with a bar."),
    ROW("b.limit", limit, CONF_STRING, NULL, .flags = CONF_PHP_SIZE),
    ROW("b.secret", secret, CONF_STRING, NULL, .flags = CONF_SECRET | CONF_RELOADABLE),
    ROW("b.color", color, CONF_ENUM, "\"green\"", .names = "red|green|blue"),
    ROW("b.onoff", onoff, CONF_ENUM, "\"off\"", .names = "off|on"),
    ROW("b.rate", rate, CONF_FLOAT, "0.5", .min = 0, .max = 10),
    ROW("b.list", list, CONF_LIST, "[\"p\"]"),
    ROW("b.pairs", pairs, CONF_PAIRS, "[]"),
    ROW("b.item", items, CONF_TABLES, NULL, .item = &items, .help = "Tables."),
};
static const struct conf_refused refused[] = {{"db.", NULL}, {"b.later", "needs a newer version"}};
static const char *const allowed[] = {"T_FREE", NULL};
static const struct conf_table table = {
    rows, ARRAY_LEN(rows), refused, ARRAY_LEN(refused), "T_", allowed};

struct fixture {
    struct arena arena;
    struct sample s;
    struct conf c;
    struct err err;
};

static void setup(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    arena_init(&f->arena);
    conf_init(&f->c, &table, &f->s, &f->arena);
}

static void teardown(struct fixture *f)
{
    arena_fini(&f->arena);
}

static void test_conf_defaults_come_from_rows(void)
{
    struct fixture f;

    setup(&f);
    CHECK(f.s.flag);
    CHECK_INT(f.s.tri, -1);
    CHECK_INT(f.s.count, 4);
    CHECK(f.s.derived == CONF_AUTO);
    CHECK_INT(f.s.size, 65536);
    CHECK(f.s.mb == CONF_AUTO);
    CHECK_INT(f.s.idle, 30000);
    CHECK_INT(f.s.wait, 500);
    CHECK_STR(str_c(f.s.name), "x");
    CHECK(f.s.none == NULL);
    CHECK_INT(f.s.color, 1);
    CHECK_INT(f.s.list.n, 1);
    CHECK_STR(str_c(f.s.list.v[0]), "p");
    CHECK_INT(f.s.pairs.n, 0);
    CHECK(!conf_is_set(&f.c, "a.flag"));
    CHECK(!conf_is_set(&f.c, "no.such"));
    teardown(&f);
}

/* What each kind takes: the value printed again. */
static void test_conf_values_are_read_and_printed(void)
{
    static const struct {
        const char *text, *key, *want;
    } cases[] = {
        {"[a]\nflag=false", "a.flag", "false"},
        {"[a]\ntri=true", "a.tri", "true"},
        {"[a]\ntri='auto'", "a.tri", "\"auto\""},
        {"[a]\ncount=100", "a.count", "100"},
        {"[a]\nderived=-1", "a.derived", "-1"},
        {"[a]\nderived='auto'", "a.derived", "\"auto\""},
        {"[a]\nsize=16", "a.size", "16"},
        {"[a]\nsize='64MB'", "a.size", "67108864"},
        {"[a]\nsize='1gib'", "a.size", "1073741824"},
        {"[a]\nsize='10485760'", "a.size", "10485760"},
        {"[a]\nmb=128", "a.mb", "128"},
        {"[a]\nmb='1G'", "a.mb", "1024"},
        {"[a]\nmb='64'", "a.mb", "64"},
        {"[a]\nmb='auto'", "a.mb", "\"auto\""},
        {"[a.t]\nidle=5", "a.t.idle", "5"},
        {"[a.t]\nidle='5'", "a.t.idle", "5"},
        {"[a.t]\nidle='5m'", "a.t.idle", "300"},
        {"[a.t]\nidle='1500ms'", "a.t.idle", "\"1500ms\""},
        {"[a.t]\nidle=0.25", "a.t.idle", "\"250ms\""},
        {"[a.t]\nwait=7", "a.t.wait", "7"},
        {"[a.t]\nwait='2s'", "a.t.wait", "2000"},
        {"[a.t]\nother=9", "a.t.idle", "9"},
        {"[b]\nname='a\\b\"c'", "b.name", "\"a\\\\b\\\"c\""},
        {"[b]\nlimit=-1", "b.limit", "\"-1\""},
        {"[b]\nlimit='256M'", "b.limit", "\"256M\""},
        {"[b]\nlimit='auto'", "b.limit", "\"auto\""},
        {"[b]\ncolor='blue'", "b.color", "\"blue\""},
        {"[b]\nonoff='on'", "b.onoff", "\"on\""},
        {"[b]\nonoff=true", "b.onoff", "\"on\""},
        {"[b]\nrate=2", "b.rate", "2"},
        {"[b]\nrate=1.5", "b.rate", "1.5"},
        {"[b]\nlist=[]", "b.list", "[]"},
        {"[b]\nlist=['a,b', \"\"]", "b.list", "[\"a,b\", \"\"]"},
        {"[b]\npairs=[['k','v'],['n',1],['y',true]]", "b.pairs",
            "[[\"k\", \"v\"], [\"n\", \"1\"], [\"y\", \"1\"]]"},
        {"[b]\npairs={k='v', 'a.b'=2}", "b.pairs", "[[\"k\", \"v\"], [\"a.b\", \"2\"]]"},
        {"[b.pairs]\nk='v'\na.b='c'\na.c.d=3", "b.pairs",
            "[[\"k\", \"v\"], [\"a.b\", \"c\"], [\"a.c.d\", \"3\"]]"},
        {"[b.pairs]\nk='v'\n'a.b'='c'", "b.pairs", "[[\"k\", \"v\"], [\"a.b\", \"c\"]]"},
        {"a.t.idle=3", "a.t.idle", "3"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;
        struct buf b = {0};

        test_row(cases[i].text);
        setup(&f);
        if (conf_read_text(&f.c, "t", str_c(cases[i].text), &f.err) != 0)
            test_fail(__FILE__, __LINE__, "%s", f.err.text);
        conf_format(&f.c, (size_t)conf_find(&table, str_c(cases[i].key)), &b);
        CHECK_STR(buf_str(&b), cases[i].want);
        CHECK(conf_is_set(&f.c, cases[i].key));
        buf_fini(&b);
        teardown(&f);
    }
    test_row(NULL);
}

static void test_conf_bad_values_are_named(void)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"[a]\nflag=1", "t:2:1: a.flag = 1: must be true or false"},
        {"[a]\nflag='true'", "t:2:1: a.flag = \"true\": must be true or false"},
        {"[a]\ntri='maybe'", "t:2:1: a.tri = \"maybe\": must be true, false or \"auto\""},
        {"[a]\ncount='4'", "t:2:1: a.count = \"4\": must be a whole number"},
        {"[a]\ncount=4.0", "t:2:1: a.count = 4: must be a whole number"},
        {"[a]\ncount='auto'", "t:2:1: a.count = \"auto\": must be a whole number"},
        {"[a]\ncount=-2", "t:2:1: a.count = -2: must not be negative"},
        {"[a]\ncount=102", "t:2:1: a.count = 102: must be at most 100"},
        {"[a]\ncount=3", "t:2:1: a.count = 3: must be even"},
        {"[a]\nderived=-2", "t:2:1: a.derived = -2: must be at least -1"},
        {"[a]\nsize=-5", "t:2:1: a.size = -5: must not be negative"},
        {"[a]\nsize='-5M'", "t:2:1: a.size = \"-5M\": must not be negative"},
        {"[a]\nsize='5X'", "a.size = \"5X\": must be a size, as in 1048576 or \"1MB\""},
        {"[a]\nsize=''", "a.size = \"\": must be a size"},
        {"[a]\nsize='1.5M'", "a.size = \"1.5M\": must be a size"},
        {"[a]\nsize=true", "a.size = true: must be a size"},
        {"[a]\nsize='99999999999999T'", "is too large"},
        {"[a]\nsize='9999999999999999999999'", "is too large"},
        {"[a]\nsize=15", "a.size = 15: must be at least 16 bytes"},
        {"[a]\nsize='2G'", "a.size = \"2G\": must be at most 1073741824 bytes"},
        {"[a]\nmb='1000K'", "must be megabytes, as in 128 or \"128M\""},
        {"[a]\nmb=4", "a.mb = 4: must be at least 8"},
        {"[a.t]\nidle=-1", "t:2:1: a.t.idle = -1: must not be negative"},
        {"[a.t]\nidle='1w'", "must be a time, as in 30 (seconds) or \"1500ms\""},
        {"[a.t]\nidle='s'", "must be a time"},
        {"[a.t]\nidle=nan", "must be a time"},
        {"[a.t]\nidle=inf", "must be a time"},
        {"[a.t]\nidle='2d'", "must be at most 86400000 ms"},
        {"[a.t]\nidle=9223372036854775807", "is too large"},
        {"[a.t]\nwait='x'", "must be a time, as in 500 (milliseconds)"},
        {"[a.t]\nidle=1\nother=2", "t:3:1: a.t.idle is set twice: a.t.idle and a.t.other"},
        {"[b]\nname=1", "t:2:1: b.name = 1: must be a string in quotes"},
        {"[b]\nname=''", "b.name = \"\": must not be empty"},
        {"[b]\nname=\"a\\u0000b\"", "must not hold a NUL character"},
        {"[b]\nname=1979-05-27", "b.name = 1979-05-27: must be a string"},
        {"[b]\nlimit='1 M'", "must be a size as PHP writes it"},
        {"[b]\nlimit='12MB'", "must be a size as PHP writes it"},
        {"[b]\ncolor='Red'", "b.color = \"Red\": must be one of \"red\", \"green\", \"blue\""},
        {"[b]\ncolor=true", "b.color = true: must be one of"},
        {"[b]\nrate='1'", "b.rate = \"1\": must be a number"},
        {"[b]\nrate=nan", "must be a number"},
        {"[b]\nrate=-0.1", "must be from 0 to 10"},
        {"[b]\nlist='a'", "must be a list of strings, as in"},
        {"[b]\nlist=['a', 1]", "item 2 is no string"},
        {"[b]\nlist=[\"\\u0000\"]", "NUL"},
        {"[b]\npairs=['a','b']", "must be pairs of strings"},
        {"[b]\npairs=[['a']]", "item 1 is not one"},
        {"[b]\npairs=[['a','b','c']]", "item 1 is not one"},
        {"[b]\npairs=[['','b']]", "must not be empty"},
        {"[b]\npairs={a={b=[1]}}", "must be pairs of strings"},
        {"[b]\nsecret=5", "b.secret = ***: must be a string"},
        {"[a]\nflaq=true", "t:2:1: unknown key a.flaq (did you mean a.flag?)"},
        {"[b]\nidle=1", "t:2:1: unknown key b.idle (did you mean a.t.idle?)"},
        {"[b]\nqwertyuiop=1", "t:2:1: unknown key b.qwertyuiop"},
        {"x=1", "t:1:1: unknown key x"},
        {"'a.flag'=true", "t:1:1: unknown key a.flag"},
        {"[bb]\nname='x'", "t:1:2: unknown section bb (did you mean b?)"},
        {"[a.tt]", "t:1:4: unknown section a.tt (did you mean a.t?)"},
        {"[[b]]", "t:1:3: b is a section: write [b]"},
        {"a=1", "t:1:1: a is a section: write [a]"},
        {"[db.mysql]\nurl='x'", "t:1:2: db: not available in this version"},
        {"[[db]]", "db: not available in this version"},
        {"[b]\nlater=1", "t:2:1: b.later: needs a newer version"},
        {"[a\n", "t:1:3: ']' is expected"},
        {"[a]\nflag=true\nflag=true", "t:3:1: \"flag\" is set twice (first in line 2)"},
        {"[a]\nflag='\xff'", "t:2:7: the byte 0xff is not UTF-8 text"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct fixture f;

        test_row(cases[i].text);
        setup(&f);
        CHECK(conf_read_text(&f.c, "t", str_c(cases[i].text), &f.err) < 0);
        CHECK(f.err.code < 0);
        CHECK(f.err.line > 0 && f.err.col > 0);
        if (!strstr(f.err.text, cases[i].want))
            test_fail(__FILE__, __LINE__, "the message is: %s", f.err.text);
        teardown(&f);
    }
    test_row(NULL);
}

static void test_conf_files_fail_clearly(void)
{
    struct fixture f;
    struct buf big = {0};
    char dir[256], path[300];

    CHECK_INT(fs_getcwd(dir, sizeof(dir)), 0);
    (void)snprintf(path, sizeof(path), "%s/test_conf_%d.toml", dir, 1);
    setup(&f);
    CHECK_INT(conf_read_file(&f.c, "/nowhere/x.toml", &f.err), ERR_NOTFOUND);
    CHECK(strstr(f.err.text, "/nowhere/x.toml: cannot be read") != NULL);
    CHECK_INT(conf_read_file(&f.c, dir, &f.err), ERR_ISDIR);
    CHECK(strstr(f.err.text, "is a directory") != NULL);
    memset(buf_reserve(&big, 2 << 20), '\n', 2 << 20);
    big.len = 2 << 20;
    CHECK_INT(fs_write_file(path, big.p, big.len, 0600), 0);
    CHECK_INT(conf_read_file(&f.c, path, &f.err), ERR_TOOBIG);
    CHECK(strstr(f.err.text, "larger than") != NULL);
    CHECK_INT(fs_write_file(path, "[a]\ncount = 8\n", 14, 0600), 0);
    CHECK_INT(conf_read_file(&f.c, path, &f.err), 0);
    CHECK_INT(f.s.count, 8);
    CHECK_INT(fs_unlink(path), 0);
    buf_fini(&big);
    teardown(&f);
}

static void test_conf_env_is_read(void)
{
    static const char *const env[] = {"PATH=/bin", "T_A__FLAG=false", "T_A__COUNT=6",
        "T_A__SIZE=1M", "T_A__T__IDLE=1500ms", "T_B__NAME=true", "T_B__COLOR=red", "T_B__RATE=1.5",
        "T_B__LIST=[\"a\",\"b\"]", "T_B__PAIRS={\"k\":\"v\",\"n\":2}", "T_FREE=1", "T_A__TRI=true",
        "T_A__DERIVED=auto", "T_A__MB=128M", "NOEQUALS", NULL};
    struct fixture f;

    setup(&f);
    if (conf_read_env(&f.c, env, &f.err) != 0)
        test_fail(__FILE__, __LINE__, "%s", f.err.text);
    CHECK(!f.s.flag);
    CHECK_INT(f.s.count, 6);
    CHECK_INT(f.s.size, 1 << 20);
    CHECK_INT(f.s.idle, 1500);
    CHECK_STR(str_c(f.s.name), "true");
    CHECK_INT(f.s.color, 0);
    CHECK(f.s.rate == 1.5);
    CHECK_INT(f.s.list.n, 2);
    CHECK_INT(f.s.pairs.n, 2);
    CHECK_STR(str_c(f.s.pairs.v[1].value), "2");
    CHECK_INT(f.s.tri, 1);
    CHECK_INT(f.s.mb, 128);
    CHECK_STR(str_c(conf_mark_of(&f.c, "a.flag").where), "T_A__FLAG");
    CHECK_INT(conf_mark_of(&f.c, "a.flag").source, CONF_FROM_ENV);
    teardown(&f);
}

static void test_conf_env_errors_are_named(void)
{
    static const struct {
        const char *var, *want;
    } cases[] = {
        {"T_A__FLAG=yes", "T_A__FLAG: a.flag = \"yes\": must be true or false"},
        {"T_A__FLAG=", "T_A__FLAG: a.flag = \"\": must be true or false"},
        {"T_A__COUNT=x", "T_A__COUNT: a.count = \"x\": must be a whole number"},
        {"T_A__COUNT=-4", "must not be negative"},
        {"T_B__LIST=a,b", "T_B__LIST: b.list = \"a,b\": must be a JSON list"},
        {"T_B__LIST=[\"a\"", "must be a JSON list"},
        {"T_B__LIST=[null]", "null is not a value here"},
        {"T_B__LIST=[1]", "item 1 is no string"},
        {"T_B__NAME=\xff", "is not UTF-8 text"},
        {"T_B__SECRET=\xff", "T_B__SECRET: b.secret = ***"},
        {"T_A__FLAQ=true", "T_A__FLAQ: unknown variable (did you mean T_A__FLAG?)"},
        {"T_QQQQQQQ=1", "T_QQQQQQQ: unknown variable: there is no key qqqqqqq"},
        {"T_DB__MYSQL__URL=x", "T_DB__MYSQL__URL: db.mysql.url: not available in this version"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *env[] = {cases[i].var, NULL};
        struct fixture f;

        test_row(cases[i].var);
        setup(&f);
        CHECK(conf_read_env(&f.c, env, &f.err) < 0);
        if (!strstr(f.err.text, cases[i].want))
            test_fail(__FILE__, __LINE__, "the message is: %s", f.err.text);
        teardown(&f);
    }
    test_row(NULL);
}

static void test_conf_later_sources_win(void)
{
    static const char *const env[] = {"T_A__COUNT=6", "T_A__T__OTHER=7", NULL};
    struct fixture f;

    setup(&f);
    CHECK_INT(conf_read_text(&f.c, "t", STR("[a]\ncount=2\nflag=false\n[a.t]\nidle=1"), &f.err), 0);
    CHECK_INT(conf_read_env(&f.c, env, &f.err), 0);
    CHECK_INT(conf_set(&f.c, "a.count", "8", CONF_FROM_CLI, "--count", &f.err), 0);
    CHECK_INT(conf_set(&f.c, "a.count", "10", CONF_FROM_CLI, "--count", &f.err), 0);
    CHECK_INT(f.s.count, 10);
    CHECK_INT(f.s.idle, 7000);
    CHECK(!f.s.flag);
    CHECK_INT(conf_mark_of(&f.c, "a.count").source, CONF_FROM_CLI);
    CHECK_INT(conf_mark_of(&f.c, "a.t.other").source, CONF_FROM_ENV);
    CHECK_STR(str_c(conf_mark_of(&f.c, "a.flag").where), "t:3:1");
    CHECK_INT(conf_set(&f.c, "a.count", "x", CONF_FROM_CLI, "--count", &f.err), ERR_INVAL);
    CHECK_STR(str_c(f.err.text), "--count: a.count = \"x\": must be a whole number");
    CHECK_INT(conf_set(&f.c, "a.cuont", "1", CONF_FROM_CLI, "-o", &f.err), ERR_INVAL);
    CHECK_STR(str_c(f.err.text), "-o: unknown key a.cuont (did you mean a.count?)");
    CHECK_INT(conf_set(&f.c, "db.x", "1", CONF_FROM_CLI, "-o", &f.err), ERR_UNSUPPORTED);
    teardown(&f);
}

static const char everything[] =
    "[a]\nflag=false\ntri=false\ncount=8\nderived=0\nsize='1M'\nmb=64\n[a.t]\nidle='90s'\nwait=9\n"
    "[b]\nname=\"\\\"q\\\"\\n\\t\\\\\xc3\xa9\\u007f\"\nnone=''\nlimit='1G'\nsecret='s3cret'\n"
    "color='red'\nonoff=true\nrate=0.1\nlist=['a','b c']\npairs=[['k','v']]\n";

static void test_conf_dump_shows_sources_and_hides_secrets(void)
{
    struct fixture f, g;
    struct buf b = {0};

    setup(&f);
    setup(&g);
    CHECK_INT(conf_read_text(&f.c, "t", str_c(everything), &f.err), 0);
    conf_dump(&f.c, &b);
    CHECK(strstr(buf_cstr(&b), "\nidle = 90  # file, t:9:1\n") != NULL);
    CHECK(strstr(buf_cstr(&b), "secret = \"***\"  # file") != NULL);
    CHECK(strstr(buf_cstr(&b), "s3cret") == NULL);
    /* A dump is a file that can be read again. */
    if (conf_read_text(&g.c, "dump", buf_str(&b), &g.err) != 0)
        test_fail(__FILE__, __LINE__, "%s\n%s", g.err.text, buf_cstr(&b));
    CHECK_STR(str_c(g.s.name), f.s.name);
    buf_clear(&b);
    teardown(&f);
    setup(&f);
    conf_dump(&f.c, &b);
    CHECK(strstr(buf_cstr(&b), "# tri is not set: default\n") != NULL);
    CHECK(strstr(buf_cstr(&b), "count = 4  # default\n") != NULL);
    buf_fini(&b);
    teardown(&f);
    teardown(&g);
}

static void test_conf_serialize_round_trip(void)
{
    struct fixture f, g;
    struct buf a = {0}, b = {0};

    setup(&f);
    setup(&g);
    CHECK_INT(conf_read_text(&f.c, "dir with space/\"t\"", str_c(everything), &f.err), 0);
    CHECK_INT(conf_set(&f.c, "a.count", "10", CONF_FROM_CLI, "--count", &f.err), 0);
    conf_serialize(&f.c, &a);
    if (conf_deserialize(&g.c, buf_str(&a), &g.err) != 0)
        test_fail(__FILE__, __LINE__, "%s", g.err.text);
    conf_serialize(&g.c, &b);
    CHECK_STR(buf_str(&b), buf_cstr(&a));
    CHECK_STR(str_c(g.s.name), f.s.name);
    CHECK_STR(str_c(g.s.secret), "s3cret");
    CHECK(g.s.rate == f.s.rate);
    CHECK_INT(g.s.count, 10);
    CHECK_INT(conf_mark_of(&g.c, "a.count").source, CONF_FROM_CLI);
    CHECK_INT(conf_deserialize(&g.c, STR("junk"), &g.err), ERR_INVAL);
    CHECK_INT(conf_deserialize(&g.c, STR("[1, \"x\", \"a.none\", 1]"), &g.err), ERR_CORRUPT);
    CHECK_INT(conf_deserialize(&g.c, STR("[9, \"x\", \"a.count\", 2]"), &g.err), ERR_CORRUPT);
    CHECK_INT(conf_deserialize(&g.c, STR("[1, \"x\"]"), &g.err), ERR_CORRUPT);
    buf_fini(&a);
    buf_fini(&b);
    teardown(&f);
    teardown(&g);
}

static const char two_tables[] = "[b]\nname = 'n'\n[[b.item]]\npath = '/a'\ncount = 8\n"
                                 "[b.item.values]\nx.y = 1\nz = 'q\"'\n"
                                 "[[b.item]]\nsecret = 'hush'\npath = '/b'\n";

static void check_tables(const struct conf_tables *t)
{
    const struct item *v = t->v;

    CHECK_INT(t->n, 2);
    CHECK_STR(str_c(v[0].path), "/a");
    CHECK_INT(v[0].count, 8);
    CHECK(v[0].secret == NULL);
    CHECK_INT(v[0].values.n, 2);
    CHECK_STR(str_c(v[0].values.v[0].key), "x.y");
    CHECK_STR(str_c(v[0].values.v[1].value), "q\"");
    CHECK_STR(str_c(v[1].path), "/b");
    CHECK_INT(v[1].count, 4);
    CHECK_STR(str_c(v[1].secret), "hush");
}

static void test_conf_tables_are_read_from_every_source(void)
{
    static const char *const env[] = {
        "T_B__ITEM=[{\"path\": \"/a\", \"count\": 8, \"values\": {\"x.y\": \"1\", \"z\": "
        "\"q\\\"\"}}, {\"path\": \"/b\", \"secret\": \"hush\"}]",
        NULL};
    struct fixture f, g;
    struct buf text = {0}, dump = {0};

    setup(&f);
    setup(&g);
    CHECK_INT(conf_read_text(&f.c, "t", str_c(two_tables), &f.err), 0);
    check_tables(&f.s.items);
    conf_serialize(&f.c, &text);
    CHECK_INT(conf_deserialize(&g.c, buf_str(&text), &g.err), 0);
    check_tables(&g.s.items);
    conf_dump(&f.c, &dump);
    CHECK(strstr(buf_cstr(&dump), "item = [{path = \"/a\", count = 8, values = ") != NULL);
    CHECK(strstr(buf_cstr(&dump), "secret = \"***\"") != NULL);
    CHECK(strstr(buf_cstr(&dump), "hush") == NULL);
    teardown(&g);
    setup(&g);
    if (conf_read_env(&g.c, env, &g.err) != 0)
        test_fail(__FILE__, __LINE__, "%s", g.err.text);
    check_tables(&g.s.items);
    buf_fini(&text);
    buf_fini(&dump);
    teardown(&f);
    teardown(&g);
}

static void test_conf_tables_name_what_is_wrong_and_where(void)
{
    static const struct {
        const char *text, *says;
        int line;
    } cases[] = {
        {"[[b.item]]\npath = '/a'\n[[b.item]]\ncount = 2\n", "table 2 (line 3): path is missing",
            3},
        {"[[b.item]]\npath = '/a'\ncuont = 2\n", "unknown key cuont (did you mean count?)", 3},
        {"[[b.item]]\npath = '/a'\ncount = 3\n", "count: must be even", 3},
        {"[[b.item]]\npath = ''\n", "path: must not be empty", 2},
        {"[[b.item]]\npath = '/a'\nvalues = [1]\n", "values: must be pairs", 3},
        {"[b]\nitem = 1\n", "must be a list of tables: write [[b.item]]", 2},
        {"[b]\nitem = [1]\n", "table 1 (line 2): is no table", 2},
        {"[b.item]\npath = '/a'\n", "must be a list of tables", 1},
    };
    struct fixture f;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        test_row(cases[i].text);
        setup(&f);
        CHECK_INT(conf_read_text(&f.c, "t", str_c(cases[i].text), &f.err), ERR_INVAL);
        CHECK(strstr(f.err.text, cases[i].says) != NULL);
        CHECK(strstr(f.err.text, "b.item") != NULL);
        CHECK_INT(f.err.line, cases[i].line);
        teardown(&f);
    }
    test_row(NULL);
}

static void test_conf_reference_has_every_key(void)
{
    struct buf b = {0};

    conf_reference(&table, &b);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char cell[64];

        if (rows[i].kind == CONF_TABLES)
            continue;
        (void)snprintf(cell, sizeof(cell), "| `%s` |", strrchr(rows[i].key, '.') + 1);
        test_row(cell);
        CHECK(strstr(buf_cstr(&b), cell) != NULL);
    }
    test_row(NULL);
    CHECK(strstr(buf_cstr(&b), "## [a.t]") != NULL);
    CHECK(strstr(buf_cstr(&b), "## [[b.item]]\n\nTables. A change needs a restart.") != NULL);
    CHECK(strstr(buf_cstr(&b), "| `count` | integer, 0 to 100 | How many. |") != NULL);
    CHECK(strstr(buf_cstr(&b), "Text \\| with a bar.") != NULL);
    CHECK(strstr(buf_cstr(&b), "Another name of `a.t.idle`") != NULL);
    buf_fini(&b);
}

const struct test tests_conf[] = {
    TEST(test_conf_defaults_come_from_rows),
    TEST(test_conf_values_are_read_and_printed),
    TEST(test_conf_bad_values_are_named),
    TEST(test_conf_files_fail_clearly),
    TEST(test_conf_env_is_read),
    TEST(test_conf_env_errors_are_named),
    TEST(test_conf_later_sources_win),
    TEST(test_conf_dump_shows_sources_and_hides_secrets),
    TEST(test_conf_serialize_round_trip),
    TEST(test_conf_tables_are_read_from_every_source),
    TEST(test_conf_tables_name_what_is_wrong_and_where),
    TEST(test_conf_reference_has_every_key),
    TEST_END,
};
