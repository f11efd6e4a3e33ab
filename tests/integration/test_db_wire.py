# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The embedded database as its clients see it: who may come in, by which way, what bad packets get;
the mariadb command, PHP's mysqli and PDO from outside and in the site; what the role's death costs."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

import pytest

import ephpm
from mysqlc import DEPRECATE_EOF, MULTI_STATEMENTS, Client, Closed, Refused, scrambled_native, scrambled_sha2

TOLD = """<?php echo json_encode(array_map('getenv', array_combine($n = ['DB_CONNECTION', 'DB_HOST',
'DB_PORT', 'DB_SOCKET', 'DB_NAME', 'DB_DATABASE', 'DB_USER', 'DB_USERNAME', 'DB_PASSWORD',
'DATABASE_URL'], $n)) + ['ini' => [ini_get('mysqli.default_socket'), ini_get('pdo_mysql.default_socket')]]);
"""
MYSQLI = """<?php
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
$m = new mysqli(getenv('DB_HOST'), getenv('DB_USER'), getenv('DB_PASSWORD'), getenv('DB_NAME'));
$m->set_charset('utf8mb4');
$m->query('CREATE TABLE IF NOT EXISTS people (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, '
    . 'name VARCHAR(50), born DATE, weight DOUBLE, note LONGBLOB)');
$m->query('DELETE FROM people');
$s = $m->prepare('INSERT INTO people (name, born, weight, note) VALUES (?, ?, ?, ?)');
$null = null;
$s->bind_param('ssdb', $name, $born, $weight, $null);
[$name, $born, $weight] = ["J\\u{fc}rgen", '1990-02-28', 81.5];
$s->send_long_data(3, "a\\0b");
$s->send_long_data(3, "\\xff");
$s->execute();
$out['inserted'] = [$s->affected_rows, $s->insert_id > 0];
$s = $m->prepare('SELECT id, name, born, weight, note FROM people WHERE name = ?');
$s->bind_param('s', $name);
$s->execute();
$row = $s->get_result()->fetch_assoc();
$out['row'] = [is_int($row['id']), $row['name'], $row['born'], $row['weight'], bin2hex($row['note'])];
$out['ping'] = $m->stat() !== false;
$out['version'] = $m->server_info;
echo json_encode($out);
"""
PDO_ = """<?php
$out = [];
foreach ([true, false] as $emulate) {
    $p = new PDO('mysql:host=localhost;dbname=' . getenv('DB_NAME') . ';charset=utf8mb4', getenv('DB_USER'),
        getenv('DB_PASSWORD'), [PDO::ATTR_EMULATE_PREPARES => $emulate]);
    $p->exec('DROP TABLE IF EXISTS t');
    $p->exec('CREATE TABLE t (id BIGINT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))');
    $s = $p->prepare('INSERT INTO t (v) VALUES (?)');
    foreach (['a', null, "q'uote"] as $v)
        $s->execute([$v]);
    $out[] = [$p->lastInsertId(), $p->query('SELECT v FROM t ORDER BY id')->fetchAll(PDO::FETCH_COLUMN)];
    $p->beginTransaction();
    $p->exec("INSERT INTO t (v) VALUES ('gone')");
    $p->rollBack();
    $s = $p->prepare('SELECT COUNT(*) FROM t WHERE id > ?');
    $s->execute([0]);
    $out[] = $s->fetchColumn();
}
echo json_encode($out);
"""
FILES = {"index.php": "<?php echo 'ok';", "told.php": TOLD, "mysqli.php": MYSQLI, "pdo.php": PDO_}
MIB = 1 << 20


class Database:
    """The server, and what PHP is told of its database."""

    def __init__(self, server, port):
        self.server = server
        self.port = port
        told = json.loads(server.get("/told.php").text)
        self.told = told
        self.path, self.user, self.password = told["DB_SOCKET"], told["DB_USER"], told["DB_PASSWORD"]
        self.name = told["DB_NAME"]

    def client(self, more=0, tcp=False):
        c = Client(("127.0.0.1", self.port) if tcp else self.path)
        c.login(self.user, self.password, self.name, more)
        return c

    def mariadb(self, *args, **more):
        return subprocess.run(
            ["mariadb", "--no-defaults", f"-u{self.user}", *args, self.name], capture_output=True,
            text=True, timeout=60, env={**os.environ, "MYSQL_PWD": self.password}, **more)


def config(**sqlite):
    return {"server": {"metrics": {"enabled": True}}, "db": {"sqlite": {"path": "{dir}/data/shop.db", **sqlite}}}


@pytest.fixture(scope="module")
def db():
    port = ephpm.free_port()
    with ephpm.Server(config(proxy={"mysql_listen": f"127.0.0.1:{port}", "max_connections": 20}),
                      FILES) as s:
        yield Database(s, port)


def refused(call, *args, **more):
    with pytest.raises(Refused) as e:
        call(*args, **more)
    return e.value.number


# --- what PHP is told -----------------------------------------------------------------------------

def test_php_has_the_account_in_its_environment(db):
    t = db.told
    assert t["DB_CONNECTION"] == "mysql" and t["DB_HOST"] == "localhost" and t["DB_PORT"] == str(db.port)
    assert t["DB_USER"] == t["DB_USERNAME"] == "ephpm" and t["DB_NAME"] == t["DB_DATABASE"] == "shop"
    assert len(t["DB_PASSWORD"]) == 32
    assert t["DATABASE_URL"] == (f"mysql://ephpm:{t['DB_PASSWORD']}@localhost/shop?unix_socket={db.path}"
                                 "&serverVersion=8.0.36&charset=utf8mb4")
    assert t["ini"] == [db.path, db.path]


def test_a_deploy_keeps_the_password(db):
    assert db.server.cli("deploy").returncode == 0
    assert json.loads(db.server.get("/told.php").text)["DB_PASSWORD"] == db.password


def test_what_the_user_set_stays():
    more = {**config(user="me", password="p@ss w/rd"),
            "php": {"env": [["DB_HOST", "elsewhere"]], "values": [["mysqli.default_socket", "/x"]]}}
    with ephpm.Server(more, FILES) as s:
        told = json.loads(s.get("/told.php").text)
        assert told["DB_HOST"] == "elsewhere" and told["ini"][0] == "/x"
        assert told["DB_USER"] == "me" and told["DB_PASSWORD"] == "p@ss w/rd"
        assert told["DATABASE_URL"].startswith("mysql://me:p%40ss%20w/rd@localhost/shop?")
        with Client(told["DB_SOCKET"]) as c:
            c.login("me", "p@ss w/rd", "shop")
            assert c.query("SELECT 1") == [[b"1"]]


# --- the ways in ----------------------------------------------------------------------------------

def test_greeting(db):
    with Client(db.path) as c:
        assert c.version == "8.0.36-ephpm" and c.charset == 45 and c.plugin == "caching_sha2_password"
        assert c.capabilities & 0x8A0 == 0, "TLS, compression or local files are offered"
        assert b"\0" not in c.scramble


@pytest.mark.parametrize("tcp", [False, True])
@pytest.mark.parametrize("plugin", ["mysql_native_password", "caching_sha2_password"])
def test_login_by_either_plugin(db, plugin, tcp):
    with Client(("127.0.0.1", db.port) if tcp else db.path) as c:
        c.login(db.user, db.password, db.name, plugin=plugin)
        assert c.query("SELECT DATABASE()") == [[b"shop"]]


def test_login_is_asked_again_for_a_proof_that_is_known(db):
    with Client(db.path) as c:
        packet = c.login(db.user, db.password, plugin="client_ed25519", proof=b"x" * 64)
        assert packet.startswith(b"\xfecaching_sha2_password\0" + c.scramble)
        c.write(scrambled_sha2(db.password.encode(), c.scramble))
        assert c.read() == b"\x01\x03"
        c.expect_ok()


@pytest.mark.parametrize("user, password, plugin", [
    ("ephpm", "wrong", "mysql_native_password"), ("ephpm", "", "caching_sha2_password"),
    ("root", "x", "mysql_native_password"), ("", "", "caching_sha2_password")])
def test_wrong_logins_are_denied(db, user, password, plugin):
    with Client(db.path) as c:
        assert refused(c.login, user, password, plugin=plugin) == 1045
        assert c.closed()


def test_another_database_is_denied(db):
    with Client(db.path) as c:
        assert refused(c.login, db.user, db.password, "other") in (1044, 1049)


def test_full_proof_in_clear_text_over_the_socket(db):
    with Client(db.path) as c:
        packet = c.login(db.user, db.password, plugin="caching_sha2_password", proof=b"y" * 32)
        assert packet == b"\x01\x04"
        c.write(db.password.encode() + b"\0")
        c.expect_ok()
        assert c.query("SELECT 1") == [[b"1"]]


def test_full_proof_for_the_key(db):
    """PHP asks for it when it has no TLS: a wrong password gets the right error that way."""
    code = f"""<?php try {{ new PDO('mysql:host=127.0.0.1;port={db.port}', 'ephpm', 'wrong'); }}
    catch (PDOException $e) {{ echo $e->getMessage(); }}"""
    out = subprocess.run([f"php{ephpm.php_minor()}"], input=code, capture_output=True, text=True, timeout=60)
    assert "[1045] Access denied for user 'ephpm'@'localhost' (using password: YES)" in out.stdout


def test_too_many_connections_are_refused(db):
    clients = []
    try:
        for _ in range(20):
            clients.append(db.client())
        assert refused(Client, db.path) == 1040
    finally:
        for c in clients:
            c.socket.close()
    deadline = time.monotonic() + 60
    while True:
        try:
            with db.client() as c:
                assert c.query("SELECT 2") == [[b"2"]]
            break
        except Refused as e:
            assert e.number == 1040 and time.monotonic() < deadline


@pytest.fixture
def certificate():
    """A folder with key.pem and cert.pem, which the server's user can read."""
    with tempfile.TemporaryDirectory(prefix="ephpm-tls-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key.pem", "-out",
             folder / "cert.pem", "-days", "2", "-subj", "/CN=localhost"], capture_output=True)
        assert made.returncode == 0, made
        (folder / "key.pem").chmod(0o644)
        yield folder


def test_tls(certificate):
    port = ephpm.free_port()
    with ephpm.Server(config(proxy={"mysql_listen": f"127.0.0.1:{port}", "tls_cert": str(certificate / "cert.pem"),
                                    "tls_key": str(certificate / "key.pem")}), FILES) as s:
        d = Database(s, port)
        for plugin in ("mysql_native_password", "caching_sha2_password"):
            out = d.mariadb("-h127.0.0.1", f"-P{port}", "--ssl", f"--ssl-ca={certificate}/cert.pem",
                            f"--default-auth={plugin}", "-e", "SELECT 40 + 2; \\s")
            assert out.returncode == 0 and "42" in out.stdout and "Cipher in use" in out.stdout, out
        assert d.mariadb("-h127.0.0.1", f"-P{port}", "-e", "SELECT 1").returncode == 0  # without it


# --- bad packets ----------------------------------------------------------------------------------

def test_wrong_sequence_number(db):
    with db.client() as c:
        c.write(b"\x03SELECT 1", sequence=7)
        c.sequence = 8
        assert refused(c.expect_ok) == 1156
        assert c.closed()


def test_unknown_commands_and_empty_packets(db):
    with db.client() as c:
        for number in (0, 5, 6, 15, 16, 18, 20, 29, 30, 32, 99, 255):
            assert refused(c.command, number, b"x") == 1047
        c.sequence = 0
        c.write(b"")
        assert refused(c.expect_ok) == 1047
        c.command(14)


def test_unknown_statement_handles(db):
    with db.client() as c:
        assert refused(c.command, 23, b"\x63\0\0\0\0\1\0\0\0") == 1243
        assert refused(c.command, 26, b"\x63\0\0\0") == 1243
        assert refused(c.command, 28, b"\x63\0\0\0\1\0\0\0") == 1243
        c.send(25, b"\x63\0\0\0")  # close: no answer
        c.send(24, b"\x63\0\0\0\0\0data")  # long data: likewise
        c.send(25, b"")
        c.command(14)


def test_damaged_executions(db):
    with db.client() as c:
        prepared = c.command(22, b"SELECT ?, ?")
        handle = prepared[1:5]
        for _ in range(3 + 3):
            c.read()
        for rest in (b"", b"\0", b"\0\1", b"\0\1\xfd\0", b"\0\1\xfd\0\xfd\0", b"\0\1\xfd\0\xfd\0\xfe\xff",
                     b"\0\1\x77\0\x77\0\1a\1b", b"\0\1\x0a\0\xfd\0\x05aaaaa\1b"):
            assert refused(c.command, 23, handle + b"\0\1\0\0\0" + rest) == 1835
        handle = c.command(22, b"SELECT ?, ?")[1:5]
        for _ in range(3 + 3):
            c.read()
        assert refused(c.command, 23, handle + b"\0\1\0\0\0\0\0\1a\1b") == 1210  # types never came
        c.command(14)


def test_a_packet_larger_than_allowed(db):
    with db.client() as c:
        size = int(c.query("SELECT @@max_allowed_packet")[0][0])
        assert size >= 16 * MIB
    with db.client() as c:
        # Only headers are sent: the size alone is refused, before the memory is taken.
        sent, number = 0, 0
        with pytest.raises((Refused, Closed, BrokenPipeError, ConnectionResetError)) as e:
            while sent <= size + 32 * MIB:
                c.raw(b"\xff\xff\xff" + bytes([number & 255]) + b"\x03" * 0xFFFFFF)
                sent += 0xFFFFFF
                number += 1
            c.any_number = True
            c.expect_ok()
        if isinstance(e.value, Refused):
            assert e.value.number == 1153
    with db.client() as c:
        c.command(14)


def test_values_beyond_16_mib(db):
    with db.client() as c:
        text = "x" * (17 * MIB)
        assert c.query(f"SELECT LENGTH('{text}')") == [[b"%d" % len(text)]]
        assert c.query(f"SELECT REPEAT('ab', {9 * MIB})") == [[b"ab" * (9 * MIB)]]


def test_garbage_does_no_harm(db):
    for n in range(60):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(db.path)
            try:
                s.recv(200)
                s.sendall(os.urandom(1 + 41 * n))
                s.shutdown(socket.SHUT_WR)
                while s.recv(4096):
                    pass
            except OSError:
                pass
    for n in range(60):
        with db.client() as c:
            body = bytes([(n * 7) % 34]) + os.urandom(n * 3)
            c.send(body[0], body[1:])
            c.socket.shutdown(socket.SHUT_WR)
            try:
                while c.socket.recv(4096):
                    pass
            except OSError:
                pass
    with db.client() as c:
        assert c.query("SELECT 1") == [[b"1"]]


# --- commands -------------------------------------------------------------------------------------

@pytest.mark.parametrize("more", [0, DEPRECATE_EOF])
def test_results_in_both_layouts(db, more):
    with db.client(more | MULTI_STATEMENTS) as c:
        assert c.query("SELECT 1, NULL, 'x' UNION ALL SELECT 2, 'y', ''") == \
            [[b"1", None, b"x"], [b"2", b"y", b""]]
        assert c.query("SELECT 1 FROM (SELECT 1) t WHERE 1 = 0") == []
        assert c.rows(c.command(3, b"SELECT 5; SELECT 6")) == [[b"5"]]
        assert c.rows(c.read()) == [[b"6"]]


def test_statements_are_one_unless_asked_for(db):
    with db.client() as c:
        assert refused(c.query, "SELECT 1; SELECT 2") == 1064
        c.command(27, b"\0\0")
        assert c.rows(c.command(3, b"SELECT 5; SELECT 6")) == [[b"5"]]
        assert c.rows(c.read()) == [[b"6"]]


def test_reset_and_change_of_user(db):
    with db.client() as c:
        c.query("SET @x = 5")
        c.command(31)
        assert c.query("SELECT @x") == [[None]]
        c.query("SET @x = 6")
        proof = scrambled_native(db.password.encode(), c.scramble)
        c.command(17, db.user.encode() + b"\0\x14" + proof + db.name.encode() + b"\0\x2d\0mysql_native_password\0")
        assert c.query("SELECT @x, DATABASE()") == [[None, b"shop"]]
        assert c.command(17, b"eve\0\0shop\0\x2d\0mysql_native_password\0")[0] == 0xFE  # asks for a proof
        c.write(b"")
        assert refused(c.expect_ok) == 1045
        assert c.closed()


def test_kill(db):
    with db.client() as a, db.client() as b:
        b.send(3, b"SELECT SLEEP(90)")
        deadline = time.monotonic() + 60
        while not any(r[0] == b"%d" % b.id and b"SLEEP" in (r[7] or b"") for r in a.query("SHOW PROCESSLIST")):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        a.query(f"KILL {b.id}")
        begin = time.monotonic()
        try:
            b.rows(b.read())
        except (Refused, Closed):
            pass
        assert time.monotonic() - begin < 45
        assert refused(a.command, 12, b"\xff\xff\xff\x7f") == 1094


# --- real clients ---------------------------------------------------------------------------------

@pytest.mark.parametrize("way", ["socket", "tcp"])
def test_mariadb_command(db, way):
    where = ["-S", db.path] if way == "socket" else ["-h127.0.0.1", f"-P{db.port}"]
    out = db.mariadb(*where, "-B", "-e", "SELECT 1 + 1 AS two, 'ö' AS o; SHOW WARNINGS; SELECT USER()")
    assert out.returncode == 0 and out.stdout == "two\to\n2\tö\nUSER()\nephpm@localhost\n", out


@pytest.mark.parametrize("script, check", [
    ("mysqli.php", lambda o: o == {
        "inserted": [1, True], "row": [True, "Jürgen", "1990-02-28", 81.5, "610062ff"], "ping": True,
        "version": "8.0.36-ephpm"}),
    ("pdo.php", lambda o: o == [["3", ["a", None, "q'uote"]], 3, ["3", ["a", None, "q'uote"]], 3])])
@pytest.mark.parametrize("where", ["site", "cli"])
def test_php(db, script, check, where):
    if where == "site":
        text = db.server.get("/" + script).text
    else:
        names = ("DB_HOST", "DB_USER", "DB_PASSWORD", "DB_NAME")
        text = subprocess.run(
            [f"php{ephpm.php_minor()}", "-d", f"mysqli.default_socket={db.path}", "-d",
             f"pdo_mysql.default_socket={db.path}"], input=FILES[script], capture_output=True, text=True,
            timeout=60, env={**os.environ, **{n: db.told[n] for n in names}}).stdout
    assert check(json.loads(text)), text


# --- the role -------------------------------------------------------------------------------------

def test_the_role_comes_back_on_the_same_socket(db):
    pid = db.server.status()["db"]["pid"]
    with db.client() as c:
        c.query("CREATE TABLE IF NOT EXISTS kept (n INT)")
        c.query("DELETE FROM kept")
        c.query("INSERT INTO kept VALUES (7)")
        os.kill(pid, signal.SIGKILL)
        assert c.closed()
    with db.client() as c:  # waits in the socket's queue until there is one
        assert c.query("SELECT n FROM kept") == [[b"7"]]
    assert db.server.status()["db"]["pid"] != pid
    assert 'role_died role=db' in db.server.log()


def test_metrics_and_status(db):
    with db.client() as c:
        c.query("SELECT 1")
        assert refused(c.query, "SELECT * FROM nowhere") == 1146
        text = db.server.get("/metrics").text
        assert "ephpm_db_connections_active " in text
        assert 'ephpm_db_statements_total{kind="select"}' in text
        assert 'ephpm_db_errors_total{kind="select"}' in text
        assert 'ephpm_query_total{digest="' in text
    out = db.server.cli("status")
    assert "database shop of default" in out.stdout, out
    assert '"database":"serving"' in db.server.get("/_ephpm/ready?verbose").text


def test_stopping_ends_clients_soon():
    with ephpm.Server(config(), FILES) as s:
        d = Database(s, 0)
        idle, busy = d.client(), d.client()
        busy.send(3, b"SELECT SLEEP(90)")
        time.sleep(0.3)
        begin = time.monotonic()
        s.stop()
        assert time.monotonic() - begin < 45
        assert idle.closed()
        try:
            busy.rows(busy.read())
        except (Refused, Closed) as e:
            assert isinstance(e, Closed) or e.number in (1053, 1317)
        idle.socket.close()
        busy.socket.close()


def test_each_site_has_its_own_database():
    sites = {f"sites/{name}/{file}": text for name in ("one.test", "two.test") for file, text in FILES.items()}
    more = {"server": {"sites_dir": "{root}/sites"}, "db": {"sqlite": {"dir": "{dir}/data"}}}
    with ephpm.Server(more, sites) as s:
        told = {h: json.loads(s.get("/told.php", headers={"Host": h}).text) for h in ("one.test", "two.test")}
        one, two = told["one.test"], told["two.test"]
        assert one["DB_NAME"] == "one_test" and one["DB_USER"] == "one.test"
        assert one["DB_PASSWORD"] != two["DB_PASSWORD"] and one["DB_SOCKET"] == two["DB_SOCKET"]
        with Client(one["DB_SOCKET"]) as c:
            c.login("one.test", one["DB_PASSWORD"], "one_test")
            c.query("CREATE TABLE only (n INT)")
        with Client(one["DB_SOCKET"]) as c:
            assert refused(c.login, "two.test", two["DB_PASSWORD"], "one_test") in (1044, 1049)
        with Client(one["DB_SOCKET"]) as c:
            assert refused(c.login, "two.test", one["DB_PASSWORD"], "two_test") == 1045
        with Client(one["DB_SOCKET"]) as c:
            c.login("two.test", two["DB_PASSWORD"], "two_test")
            assert refused(c.query, "SELECT * FROM only") == 1146
            assert refused(c.query, "SELECT * FROM one_test.only") in (1044, 1049, 1142, 1146)


# --- commands of ephpm ----------------------------------------------------------------------------

DUMP = """-- a dump
DROP TABLE IF EXISTS imported;
CREATE TABLE imported (id INT NOT NULL AUTO_INCREMENT, a VARCHAR(30) DEFAULT NULL, b BLOB, d DECIMAL(8,2),
  PRIMARY KEY (id), KEY a (a));
/*!40000 ALTER TABLE imported DISABLE KEYS */;
INSERT INTO imported VALUES (1,'semi;colon',NULL,1.50),(2,'it''s \\'quoted\\'',0x00FF,-2.00),(9,NULL,'',NULL);
"""


def test_import_export_and_back(db, tmp_path):
    (tmp_path / "in.sql").write_text(DUMP)
    out = db.server.cli("db", "import", str(tmp_path / "in.sql"))
    assert out.returncode == 0 and "0 errors" in out.stderr, out
    out = db.server.cli("db", "export", str(tmp_path / "out.sql"))
    assert out.returncode == 0, out
    text = (tmp_path / "out.sql").read_text()
    assert "CREATE TABLE `imported`" in text and text.endswith("-- complete\n")
    with db.client() as c:
        before = c.query("SELECT id, a, HEX(b), d FROM imported ORDER BY id")
        assert len(before) == 3 and before[1][1] == b"it's 'quoted'"
        c.query("DROP TABLE imported")
    out = db.server.cli("db", "import", str(tmp_path / "out.sql"))
    assert out.returncode == 0, out
    with db.client() as c:
        assert c.query("SELECT id, a, HEX(b), d FROM imported ORDER BY id") == before


def test_dump_by_mariadb_dump_and_back(db, tmp_path):
    (tmp_path / "in.sql").write_text(DUMP)
    assert db.server.cli("db", "import", str(tmp_path / "in.sql")).returncode == 0
    out = subprocess.run(
        ["mariadb-dump", "--no-defaults", "--no-tablespaces", f"-u{db.user}", "-S", db.path, db.name, "imported"],
        capture_output=True, timeout=60, env={**os.environ, "MYSQL_PWD": db.password})
    assert out.returncode == 0 and b"INSERT INTO `imported`" in out.stdout, out
    (tmp_path / "out.sql").write_bytes(out.stdout)
    with db.client() as c:
        before = c.query("SELECT id, a, HEX(b), d FROM imported ORDER BY id")
        c.query("DELETE FROM imported")
        done = db.server.cli("db", "import", str(tmp_path / "out.sql"))
        assert done.returncode == 0, done
        assert c.query("SELECT id, a, HEX(b), d FROM imported ORDER BY id") == before


def test_import_says_where_it_fails(db, tmp_path):
    (tmp_path / "bad.sql").write_text("SELECT 1;\n\nSELECT nothing FROM nowhere;\nSELECT 2;\n")
    out = db.server.cli("db", "import", str(tmp_path / "bad.sql"))
    assert out.returncode == 1 and "bad.sql line 3: error 1146: Table 'shop.nowhere' doesn't exist" in out.stderr
    assert "1 statements, 1 errors" in out.stderr
    out = db.server.cli("db", "import", "--force", str(tmp_path / "bad.sql"))
    assert out.returncode == 1 and "2 statements, 1 errors" in out.stderr


def test_backup_and_check(db):
    folder = pathlib.Path(db.path).parent / "backups"
    folder.mkdir(mode=0o777, exist_ok=True)
    folder.chmod(0o777)
    with db.client() as c:
        c.query("CREATE TABLE IF NOT EXISTS kept (n INT)")
    out = db.server.cli("db", "backup", str(folder / "a.db"))
    assert out.returncode == 0 and (folder / "a.db").stat().st_size > 0, out
    assert db.server.cli("db", "backup", str(folder / "a.db")).returncode == 1  # it is there
    out = db.server.cli("db", "check")
    assert out.returncode == 0 and out.stdout == "the database is sound\n", out


def test_shell_reads_statements(db):
    out = subprocess.run([ephpm.EPHPM, "db", "shell", "-c", db.server.config_path], text=True,
                         input="SELECT 1 AS one,\n 'a;b' AS two; SELECT 3;", capture_output=True, timeout=60,
                         env=db.server.env)
    assert out.returncode == 0 and out.stdout == "one\ttwo\n1\ta;b\n3\n3\n", out


def test_commands_without_a_database():
    with ephpm.Server({}, FILES) as s:
        out = s.cli("db", "check")
        assert out.returncode == 1 and "there is no database: set db.sqlite.path" in out.stderr
