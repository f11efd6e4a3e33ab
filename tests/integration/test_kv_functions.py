# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The functions ephpm_kv_...(): what the stub and the page say of them is so; bad input; waiting."""
import json
import re
import shutil
import subprocess
import threading

import pytest

import ephpm
from scripts import snippet

STUB = ephpm.REPOSITORY / "src/php/functions/ephpm.stub.php"
REFLECT = """
$out = [];
foreach (get_defined_functions()['internal'] as $name) {
    if (!str_starts_with($name, 'ephpm_kv_')) continue;
    $f = new ReflectionFunction($name);
    $args = [];
    foreach ($f->getParameters() as $p)
        $args[] = $p->getType() . ' $' . $p->getName()
            . ($p->isDefaultValueAvailable() ? ' = ' . $p->getDefaultValueConstantName() . json_encode($p->getDefaultValue()) : '');
    $types = explode('|', (string) $f->getReturnType()); sort($types);
    $out[$name] = [$args, $types];
}
echo json_encode($out);
"""


@pytest.fixture(scope="module")
def server():
    with ephpm.Server({"php": {"memory_limit": "512M"}}) as s:
        yield s


def run(server, code):
    r = server.get(snippet(server, code))
    assert r.status == 200, r.text
    return json.loads(r.text)


def test_stub_declares_what_there_is(server):
    declared = {}
    for name, args, kind in re.findall(r"(?m)^function (ephpm_kv_\w+)\((.*)\): (\S+) \{\}$",
                                       STUB.read_text()):
        declared[name] = [[a for a in args.split(", ") if a], sorted(kind.split("|"))]
    assert len(declared) >= 18
    assert run(server, REFLECT) == declared


def test_stub_is_php_and_documents_all():
    text = STUB.read_text()
    r = subprocess.run(["php", "-l", STUB], stdout=subprocess.PIPE, text=True, timeout=30)
    assert r.returncode == 0, r.stdout
    for doc, args in re.findall(r"(?s)/\*\*((?:(?!\*/).)*)\*/\nfunction ephpm_kv_\w+\(([^)]*)\)", text):
        assert re.findall(r"@param \S.* (\$\w+)", doc) == re.findall(r"\$\w+", args), doc


def test_page_is_up_to_date():
    r = subprocess.run([ephpm.REPOSITORY / "tools/gen-kv-functions", "--check"],
                       stderr=subprocess.PIPE, text=True, timeout=30)
    assert r.returncode == 0, r.stderr


TRY = """
function attempt(callable $f) {
    try { return $f(); } catch (Throwable $e) { return get_class($e) . ': ' . $e->getMessage(); }
}
"""


def test_sizes_at_the_limit(server):
    assert run(server, TRY + """
        $key = str_repeat('k', 32768); $large = str_repeat('v', 67108864);
        $out = [attempt(fn() => ephpm_kv_set($key, 1)), ephpm_kv_get($key), ephpm_kv_del($key)];
        $out[] = attempt(fn() => ephpm_kv_set('v', $large)); $out[] = ephpm_kv_get('v') === $large;
        foreach (['get', 'exists', 'del', 'incr', 'decr', 'ttl', 'pttl'] as $f)
            $out[] = attempt(fn() => ('ephpm_kv_' . $f)($key . 'k'));
        foreach (['set', 'setnx', 'incr_by', 'decr_by', 'expire'] as $f)
            $out[] = attempt(fn() => ('ephpm_kv_' . $f)($key . 'k', 1));
        $out[] = attempt(fn() => ephpm_kv_wait($key . 'k', 0, 0));
        $out[] = attempt(fn() => ephpm_kv_cas($key . 'k', 1, 2));
        $large .= 'v';
        $out[] = attempt(fn() => ephpm_kv_set('w', $large)); $out[] = attempt(fn() => ephpm_kv_setnx('w', $large));
        $out[] = attempt(fn() => ephpm_kv_cas('w', null, $large)); $out[] = attempt(fn() => ephpm_kv_mset(['w' => $large]));
        $out[] = attempt(fn() => ephpm_kv_set('w', [$large])); $out[] = ephpm_kv_exists('w'); ephpm_kv_del('v');
        echo json_encode($out);
    """) == [True, 1, 1, True, True] + [
        f"ValueError: ephpm_kv_{f}(): Argument #1 ($key) must not be longer than 32768 bytes"
        for f in ("get", "exists", "del", "incr", "decr", "ttl", "pttl", "set", "setnx", "incr_by",
                  "decr_by", "expire", "wait", "cas")] + [
        f"ValueError: ephpm_kv_{f}(): Argument #{n} (${p}) must not be larger than 67108864 bytes"
        for f, n, p in (("set", 2, "value"), ("setnx", 2, "value"), ("cas", 3, "value"),
                        ("mset", 1, "values"), ("set", 2, "value"))] + [False]


def test_prefix_is_no_pattern(server):
    assert run(server, """
        foreach (['[a', '[ab', 'a*b', 'a\\\\', 'axb', ''] as $k) ephpm_kv_set("p:$k", 1);
        $out = [];
        foreach (['p:[a', 'p:a*', 'p:a\\\\', 'p:a?', 'p:[^'] as $prefix) {
            $keys = ephpm_kv_keys($prefix); sort($keys); $out[] = $keys;
        }
        echo json_encode([...$out, count(ephpm_kv_keys('p:', 3)), count(ephpm_kv_keys('p:', PHP_INT_MAX))]);
    """) == [["p:[a", "p:[ab"], ["p:a*b"], ["p:a\\"], [], [], 3, 6]


def test_named_arguments(server):
    assert run(server, """
        echo json_encode([ephpm_kv_set(ttl: 9, value: 'v', key: 'named'), ephpm_kv_ttl(key: 'named'),
            ephpm_kv_cas(key: 'named', expected: 'v', value: 2), ephpm_kv_incr_by(delta: 3, key: 'named'),
            ephpm_kv_mget(keys: ['named']), ephpm_kv_mset(values: ['named' => 1], ttl: 5),
            ephpm_kv_keys(limit: 1, prefix: 'named'), ephpm_kv_expire(ttl: 1, key: 'named'),
            ephpm_kv_wait(timeout_ms: 0, last_version: 0, key: 'named')['value']]);
    """) == [True, 9, True, 5, [5], True, ["named"], True, 1]


def test_wait_sees_the_other_worker_at_once(server):
    waits = snippet(server, """
        $v = ephpm_kv_wait('signal', 0, 0)['version']; ephpm_kv_set('waiting', 1);
        $new = ephpm_kv_wait('signal', $v, 50000);
        echo json_encode(hrtime(true) - $new['value']);
    """)
    sets = snippet(server, """
        while (!ephpm_kv_get('waiting')) usleep(1000);
        usleep(200000); ephpm_kv_set('signal', hrtime(true));
    """)
    answer = []
    t = threading.Thread(target=lambda: answer.append(server.get(waits).text))
    t.start()
    server.get(sets)
    t.join()
    assert 0 < int(answer[0]) < 25e9  # ns: it did not sleep until its time was over


def test_wait_takes_no_cpu(server):
    """It sleeps: it is woken a few times a second, not for each look at the key."""
    slept, used, waited = run(server, """
        $slept = fn() => preg_match('/^voluntary_ctxt_switches:\\s+(\\d+)/m',
            file_get_contents('/proc/self/status'), $m) ? (int)$m[1] : -1;
        $cpu = function () { $r = getrusage(); return $r['ru_utime.tv_sec'] + $r['ru_stime.tv_sec']
            + ($r['ru_utime.tv_usec'] + $r['ru_stime.tv_usec']) / 1e6; };
        $v = ephpm_kv_wait('still', 0, 0)['version'];
        $before = $cpu(); $first = $slept(); $t = hrtime(true);
        ephpm_kv_wait('still', $v, 2000);
        $t = (hrtime(true) - $t) / 1e9;
        echo json_encode([$slept() - $first, $cpu() - $before, $t]);
    """)
    assert waited >= 1.99
    assert 1 <= slept <= 20 * waited, "woken too often"
    assert used < waited / 2, "it spins"


def test_wait_ends_when_the_client_goes(server):
    path = snippet(server, """
        register_shutdown_function(function () { ephpm_kv_set('ended', connection_status()); });
        $v = ephpm_kv_wait('never', 0, 0)['version']; ephpm_kv_set('began', 1);
        ephpm_kv_wait('never', $v, 60000); ephpm_kv_set('went on', 1);
    """)
    peek = snippet(server, "echo json_encode(ephpm_kv_mget(['began', 'ended', 'went on']));")
    with server.connect() as c:
        c.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        ephpm.wait_for(lambda: json.loads(server.get(peek).text)[0] == 1)
    ephpm.wait_for(lambda: json.loads(server.get(peek).text)[1] is not None)
    assert json.loads(server.get(peek).text) == [1, 1, None]


def test_wait_ends_with_max_execution_time(server):
    path = snippet(server, """
        set_time_limit(1); $v = ephpm_kv_wait('never', 0, 0)['version'];
        for (;;) ephpm_kv_wait('never', $v, 300);
    """)
    r = server.get(path)
    assert r.status == 500
    assert "Maximum execution time of 1 second exceeded" in server.log()


def test_installed_files_are_complete():
    """What the packages carry of php/ is what is there."""
    listed = (ephpm.REPOSITORY / "cmake/package.cmake").read_text()
    assert "install(DIRECTORY php DESTINATION share/ephpm COMPONENT main)" in listed
    assert shutil.which("php")
    for file in (ephpm.REPOSITORY / "php").rglob("*.php"):
        r = subprocess.run(["php", "-l", file], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, timeout=30)
        assert r.returncode == 0, r.stdout


IGBINARY = """
class Point { public $x = 1; function __serialize(): array { return [$this->x]; }
    function __unserialize(array $d): void { $this->x = $d[0] + ephpm_kv_incr('seen'); } }
$a = ['n' => [1, 2.5, true, null], 's' => str_repeat('x', 100)]; $a['ref'] = &$a['s'];
ephpm_kv_flush_all();
$out = [ephpm_kv_set('a', $a), ephpm_kv_get('a') == $a];
ephpm_kv_mset(['p' => new Point, 'b' => true]);
$out[] = ephpm_kv_get('p')->x; $out[] = ephpm_kv_get('b');
$out[] = ephpm_kv_cas('a', $a, [1]); $out[] = ephpm_kv_get('a');
try { ephpm_kv_set('c', [fn() => 1]); } catch (Exception $e) { $out[] = $e->getMessage(); }
$out[] = ephpm_kv_exists('c');
echo json_encode([extension_loaded('igbinary'), $out]);
"""


@pytest.mark.parametrize("loaded", [True, False])
def test_arrays_and_objects_by_igbinary_when_it_is_loaded(loaded):
    if loaded and not list(ephpm.pathlib.Path("/usr/lib/php").glob("*/igbinary.so")):
        pytest.skip("php-igbinary is not installed")
    redis = {"enabled": True, "listen": "127.0.0.1:0", "socket": "{dir}/redis.sock"}
    config = {"php": {"ini_scan_dir": "", "extensions": ["igbinary"] if loaded else []},
              "kv": {"redis_compat": redis}}
    with ephpm.Server(config) as s:
        was, out = run(s, IGBINARY)
        assert was is loaded
        assert out == [True, True, 2, True, True, [1], "Serialization of 'Closure' is not allowed", False]
        raw = subprocess.run(["redis-cli", "-s", s.dir / "redis.sock", "--no-raw", "get", "a"],
                             stdout=subprocess.PIPE, text=True, timeout=20).stdout
        assert raw.startswith('"\\x00\\x00\\x00' if loaded else '"a:1:{'), raw


MEMORY_FILES = {
    "fill.php": """<?php
        ini_set('memory_limit', '512M');
        ephpm_kv_set('big', str_repeat('x', 60 << 20));
        ephpm_kv_set('array', array_fill(0, 1000000, 'abc'));
        for ($i = 0; $i < 20; $i++) ephpm_kv_hset('hash', "f$i", str_repeat('x', 1 << 20));
        for ($i = 0; $i < 20000; $i++) ephpm_kv_set(str_repeat('k', 1000) . $i, 1);
        session_id('large'); session_start(); $_SESSION['a'] = str_repeat('x', 30 << 20);
        echo 'filled';""",
    "read.php": """<?php
        ini_set('memory_limit', '12M');
        register_shutdown_function(function () {
            echo ' end ', ephpm_kv_exists('big') ? 'there' : 'gone';
        });
        session_id('large');
        $array = array_fill(0, 300000, 'abc');
        match ($_GET['f']) {
            'get' => ephpm_kv_get('big'),
            'get array' => ephpm_kv_get('array'),
            'mget' => ephpm_kv_mget(['none', 'big', 'big', 'big']),
            'hget' => ephpm_kv_hgetall('hash'),
            'wait' => ephpm_kv_wait('big', 0, 1),
            'keys' => ephpm_kv_keys('k', 100000),
            'set' => ephpm_kv_set('new', [$array, $array, $array, $array]),
            'session' => session_start(),
        };
        echo 'not reached';""",
    "pid.php": "<?php echo getmypid();",
    "session.php": "<?php session_id('large'); session_start(); echo strlen($_SESSION['a']);",
}


def test_memory_limit_while_reading_ends_the_script_and_not_the_worker():
    with ephpm.Server({"kv": {"memory_limit": "256MB"},
                       "php": {"memory_limit": "128M", "workers": 1, "workers_min": 1}},
                      MEMORY_FILES) as s:
        assert s.get("/fill.php").text == "filled"
        pid = s.get("/pid.php").text
        for f in "get", "get array", "mget", "hget", "wait", "keys", "set", "session":
            r = s.get("/read.php?f=" + f.replace(" ", "%20"))
            assert (f, r.status) == (f, 500) and r.text == " end there", (f, r.text)
            assert s.get("/pid.php").text == pid, f
        assert s.get("/session.php").text == str(30 << 20)  # it was not overwritten
        assert len(s.log_lines("Allowed memory size of 12582912 bytes exhausted")) == 8
