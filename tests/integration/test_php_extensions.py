# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""The distribution's extensions by name, what is said of those that do not fit, and a debugger's
session with Xdebug."""
import base64
import json
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import xml.etree.ElementTree

import pytest

import ephpm

VERSION = re.search(r"PHP (\d+\.\d+)", subprocess.check_output([ephpm.EPHPM_PHP, "--version"],
                                                               text=True)).group(1)
PHP_CONFIG = shutil.which(f"php-config{VERSION}") or shutil.which("php-config")
TELL = """<?php echo json_encode([get_loaded_extensions(), get_loaded_extensions(true),
    error_get_last()]);"""
# Only what is named is loaded: no ini file of the distribution is read.
ALONE = {"ini_scan_dir": "", "workers": 1, "workers_min": 1}


def folder():
    return pathlib.Path(subprocess.check_output([PHP_CONFIG, "--extension-dir"], text=True).strip())


def inside(name):
    """Is it a part of this PHP, as most are of one that sdk/build made?"""
    out = subprocess.run([ephpm.EPHPM_PHP, "-n", "-m"], capture_output=True, text=True, check=True).stdout
    return name in out.split()


def need(*names):
    for name in names:
        if not (folder() / f"{name}.so").exists():
            pytest.skip(f"php{VERSION}-{name} is missing")


def loaded(s):
    modules, zend, error = json.loads(s.get("/t.php").text)
    assert error is None
    assert len(modules) == len(set(modules))
    return [m.lower() for m in modules], zend


def test_extensions_by_name(serve):
    need("redis", "igbinary", "apcu", "imagick", "xdebug", "opcache")
    s = serve({"php": {**ALONE, "extensions": ["opcache", "igbinary", "redis", "apcu", "imagick.so",
                                               "xdebug", str(folder() / "ctype.so")]}},
              {"t.php": TELL, "use.php": "<?php apcu_store('a', 5); echo json_encode([apcu_fetch('a'),"
                                         "(new Imagick)->getVersion()['versionString'] !== '', "
                                         "class_exists('Redis'), igbinary_unserialize("
                                         "igbinary_serialize([1])), xdebug_info('mode')]);"})
    modules, zend = loaded(s)
    assert {"igbinary", "redis", "apcu", "imagick", "ctype"} <= set(modules)
    assert {"Xdebug", "Zend OPcache"} <= set(zend)
    assert "mbstring" not in modules or inside("mbstring")
    assert json.loads(s.get("/use.php").text) == [5, True, True, [1], ["develop"]]
    assert not s.log_lines("already")


def test_extensions_that_ini_files_load_already_are_harmless(serve):
    need("apcu", "opcache", "ctype")
    s = ephpm.Server(start=False)
    ini = s.dir / "conf.d"
    ini.mkdir()
    (ini / "10-a.ini").write_text("; extension=redis\nzend_extension=opcache.so\n[PHP]\n"
                                  'extension = "apcu" ; cache\n')
    (s.dir / "php.ini").write_text(f"extension={folder()}/ctype.so\n")
    s.write("t.php", TELL)
    s.write_config({"php": {**ALONE, "ini_scan_dir": str(ini), "ini_file": "{dir}/php.ini",
                            "extensions": ["opcache", "apcu", "ctype", "apcu.so",
                                           str(folder() / "apcu.so")]}})
    try:
        s.start()
        modules, zend = loaded(s)
        assert {"apcu", "ctype"} <= set(modules) and "Zend OPcache" in zend and "redis" not in modules
        assert "already" not in s.log() and "an ini file loads" not in s.log()
        # The same module from somewhere else is left out, and that is told.
        shutil.copy(folder() / "apcu.so", s.dir / "apcu.so")
        s.write_config({"php": {**ALONE, "ini_scan_dir": str(ini), "extensions": [f"{s.dir}/apcu.so"]}})
        assert s.cli("reload").returncode == 0
        s.wait_log(f"an ini file loads {folder()}/apcu.so, so {s.dir}/apcu.so is not")
    finally:
        s.__exit__(None)


def test_the_distributions_own_ini_files_count_as_well(serve):
    """Debian enables what is installed; naming it again is no warning."""
    s = serve({}, {"t.php": TELL})
    names = [n for n in ("mbstring", "ctype", "apcu", "redis") if n in loaded(s)[0]]
    if not names:
        pytest.skip("no extension is enabled")
    s = serve({"php": {"extensions": [*names, "opcache"]}}, {"t.php": TELL})
    assert set(names) <= set(loaded(s)[0])
    assert "already" not in s.log()


def test_apcu_is_shared_by_the_workers_of_a_generation(serve):
    need("apcu")
    s = serve({"php": {"workers": 4, "workers_min": 4, "extensions": ["apcu"]}},
              {"t.php": "<?php apcu_inc('n'); while (apcu_fetch('n') < 4) usleep(2000); echo getmypid();",
               "n.php": "<?php echo apcu_fetch('n');"})
    open_ = [s.connect() for _ in range(4)]
    for c in open_:
        c.send(b"GET /t.php HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert len({c.read_response().text for c in open_}) == 4
    for c in open_:
        c.close()
    assert s.get("/n.php").text == "4"


@pytest.mark.parametrize("values", [{"opcache.enable": "0"}, {"opcache.enable": "1"},
                                    {"opcache.preload": "{root}/preload.inc", "opcache.preload_user": "www-data"}])
def test_current_directory_is_the_scripts_with_and_without_opcache(serve, values):
    s = serve({"php": {"workers": 1, "workers_min": 1, "values": values}}, {
        "preload.inc": "<?php class Preloaded { const X = 'yes'; }",
        "a/x.php": "<?php echo getcwd(), ' ', file_get_contents('./data'), ' ', include 'part.inc', ' ', "
                   "class_exists('Preloaded', false) ? 'pre' : ''; chdir('/');",
        "a/data": "data", "a/part.inc": "<?php return 'part';", "b/x.php": "<?php echo getcwd();"})
    want = "pre" if "opcache.preload" in values else ""
    for _ in range(3):
        assert s.get("/a/x.php").text == f"{s.root}/a data part {want}"
        assert s.get("/b/x.php").text == f"{s.root}/b"


MODULE = """
#include "php.h"
#include "zend_extensions.h"
static zend_module_entry entry = {STANDARD_MODULE_HEADER, "fake", NULL, NULL, NULL, NULL, NULL, NULL,
    "1", STANDARD_MODULE_PROPERTIES};
#ifdef ZEND
zend_extension_version_info extension_version_info = {ZEND, ZEND_EXTENSION_BUILD_ID};
zend_extension zend_extension_entry = {"fake", "1", "", "", ""};
#endif
#ifdef NONE
int nothing;
#else
zend_module_entry *get_module(void)
{
#ifdef API
    entry.zend_api = API;
#endif
#ifdef BUILD
    entry.build_id = BUILD;
#endif
    return &entry;
}
#endif
"""


def build(tmp_path, *flags, code=MODULE, name="fake"):
    """A shared library from C code against PHP's headers."""
    if not PHP_CONFIG or not shutil.which("gcc"):
        pytest.skip("no php-config or no gcc")
    source, out = tmp_path / f"{name}.c", tmp_path / f"{name}.so"
    source.write_text(code)
    includes = subprocess.check_output([PHP_CONFIG, "--includes"], text=True).split()
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", *flags, *includes, "-o", out, source], check=True)
    return out


def refused(extension, **more):
    """What the server says when it does not start with this extension."""
    s = ephpm.Server({"php": {**ALONE, "extensions": [str(extension)]}}, start=False, **more)
    try:
        with pytest.raises(AssertionError, match="the server exited with 1"):
            s.start()
        return s.log()
    finally:
        s.kill()
        shutil.rmtree(s.dir)


def api():
    text = subprocess.check_output(["gcc", "-E", "-dM", "-include", "Zend/zend_modules.h", *(
        subprocess.check_output([PHP_CONFIG, "--includes"], text=True).split()), "-xc", "/dev/null"],
        text=True)
    return re.search(r"ZEND_MODULE_API_NO (\d+)", text).group(1)


def test_extension_of_another_php_is_refused_by_number(tmp_path):
    log = refused(build(tmp_path, "-DAPI=20190902"))
    assert re.search(rf'php\.extensions: \\?".*fake\.so\\?".*module API 20190902.* needs {api()}', log)


@pytest.mark.parametrize("flags, says", [
    (["-DZEND=320190902"], r"Zend extension API 320190902.* needs 4\d{8}"),
    (['-DBUILD="API20220829,TS"'], r"built for API20220829,TS, and PHP .* needs API\d+,NTS"),
    (["-DNONE"], "is a library, but no PHP extension"),
])
def test_library_that_does_not_fit_is_refused(tmp_path, flags, says):
    assert re.search(says, refused(build(tmp_path, *flags)))


def test_extension_that_is_built_into_php_may_be_named(serve):
    s = serve({"php": {"workers": 1, "workers_min": 1, "extensions": ["json", "SPL", "json.so"]}})
    s.write("x.php", "<?php echo json_encode(extension_loaded('json'));")
    assert s.get("/x.php").text == "true"
    assert "php_message" not in s.log()
    assert "there is no file /opt/json.so" in refused("/opt/json.so")


def test_extension_that_is_missing_names_the_file():
    log = refused("nosuch")
    assert f"there is no file {folder()}/nosuch.so" in log and "php.extensions" in log
    assert "there is no file /opt/x.so" in refused("/opt/x.so")
    assert "a name with a quote" in refused("/opt/x'y.so")


def test_file_that_is_no_library_is_refused(tmp_path):
    fake = tmp_path / "text.so"
    for data in b"this is text", b"", b"\x7fELF" + b"\0" * 100:
        fake.write_bytes(data)
        log = refused(fake)
        assert re.search(r"text\.so cannot be loaded: \S", log), log


def test_extension_that_needs_another_one_is_refused_with_phps_reason():
    need("mysqlnd", "mysqli")
    if inside("mysqli"):
        pytest.skip("it is inside, with what it needs")
    log = refused("mysqli")
    assert re.search(r'PHP did not load \S*/mysqli\.so: .*mysqli', log), log


def test_extension_that_fits_is_loaded_from_a_path(tmp_path, serve):
    s = serve({"php": {**ALONE, "extensions": [str(build(tmp_path))]}}, {"t.php": TELL})
    assert "fake" in loaded(s)[0]


SLOW = """
#include "php.h"
#include <unistd.h>
static PHP_MINIT_FUNCTION(slow) { sleep(3); return SUCCESS; }
static zend_module_entry entry = {STANDARD_MODULE_HEADER, "slow", NULL, PHP_MINIT(slow), NULL, NULL, NULL,
    NULL, "1", STANDARD_MODULE_PROPERTIES};
zend_module_entry *get_module(void) { return &entry; }
"""


def test_site_that_is_slow_to_start_does_not_refuse_its_first_request(tmp_path, serve):
    """The one worker that is on its way is waited for, also by a client of this machine."""
    s = serve({"server": {"sites_dir": "{root}/sites"},
               "php": {**ALONE, "extensions": [str(build(tmp_path, code=SLOW, name="slow"))]}},
              {"sites/a/t.php": TELL})
    r = s.get("/t.php", {"Host": "a"})
    assert r.status == 200 and "slow" in json.loads(r.text)[0]
    assert "prototype is gone" not in s.log()


def test_reload_with_an_extension_that_is_missing_keeps_the_old_generation(serve):
    s = serve({"php": ALONE}, {"t.php": TELL})
    s.write_config({"php": {**ALONE, "extensions": ["nosuch"]}})
    done = s.cli("reload")
    assert done.returncode == 1 and "nosuch.so" in done.stderr
    assert "core" in loaded(s)[0]


# --- a debugger ----------------------------------------------------------------------------------

class Debugger:
    """The IDE's side of DBGp: listens, and talks to one session."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(60)
        self.port, self.id, self.data = self.listener.getsockname()[1], 0, b""

    def accept(self):
        self.sock, _ = self.listener.accept()
        self.sock.settimeout(60)
        return self.read()

    def read(self):
        while self.data.count(b"\0") < 2:
            part = self.sock.recv(65536)
            assert part, f"the session ended: {self.data!r}"
            self.data += part
        length, text, self.data = self.data.split(b"\0", 2)
        assert int(length) == len(text)
        return xml.etree.ElementTree.fromstring(text)

    def ask(self, command, *args):
        self.id += 1
        self.sock.sendall(" ".join([command, "-i", str(self.id), *args]).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("transaction_id") == str(self.id):
                return answer

    def close(self):
        self.listener.close()
        if hasattr(self, "sock"):
            self.sock.close()


DEBUGGED = """<?php
function add($a, $b) {
    $sum = $a + $b;
    return $sum;
}
$name = $_GET['name'];
$total = add(2, 40);
echo "$name $total";
"""


def test_step_debugging_with_xdebug(serve):
    need("xdebug")
    ide, got = Debugger(), []
    ns = "{urn:debugger_protocol_v1}"
    s = serve({"php": {"extensions": ["xdebug"], "workers": 2, "workers_min": 1, "values": {
        "xdebug.mode": "debug", "xdebug.start_with_request": "trigger",
        "xdebug.client_host": "127.0.0.1", "xdebug.client_port": str(ide.port)}}},
        {"debugged.php": DEBUGGED, "other.php": "<?php echo 'other';"}, mode="dev")

    def browse():
        with s.connect(timeout=60) as c:
            got.append(c.request("GET", "/debugged.php?name=world&XDEBUG_TRIGGER=1",
                                 {"Connection": "close"}).text)

    thread = threading.Thread(target=browse)
    try:
        # Without the trigger nobody is called.
        assert s.get("/debugged.php?name=calm").text == "calm 42"
        thread.start()
        uri = ide.accept().get("fileuri")
        assert uri == f"file://{s.root}/debugged.php"
        assert ide.ask("breakpoint_set", "-t", "line", "-f", uri, "-n", "4").get("id")
        stop = ide.ask("run")
        assert stop.get("status") == "break"
        assert stop[0].get("lineno") == "4" and stop[0].get("filename") == uri
        stack = ide.ask("stack_get").findall(f"{ns}stack")
        assert [(f.get("where"), f.get("lineno")) for f in stack] == [("add", "4"), ("{main}", "7")]
        assert ide.ask("property_get", "-n", "$sum")[0].text == "42"
        name = ide.ask("property_get", "-n", "$name", "-d", "1")[0]
        assert base64.b64decode(name.text) == b"world"
        assert ide.ask("property_set", "-n", "$sum", "-t", "int", "--", "NDM=").get("success") == "1"
        # Another request is served while this one is held.
        assert s.get("/other.php").text == "other"
        assert ide.ask("step_out")[0].get("lineno") in ("7", "8")
        assert ide.ask("run").get("status") == "stopping"
        ide.sock.close()
        thread.join(90)
        assert got == ["world 43"]
        assert s.get("/debugged.php?name=again").text == "again 42"
    finally:
        ide.close()
        thread.join(90)
