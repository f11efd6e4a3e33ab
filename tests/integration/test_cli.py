# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""`ephpm php` and ephpm-php are the stock php command: same output, same errors, same exit codes.

Most of it is a table of command lines that run with both in the same folder. What cannot be
compared so (signals, a process that starts PHP_BINARY, links) has tests of its own below.
"""
import os
import re
import shutil
import signal
import subprocess

import pytest

import ephpm

# As for servers: extensions leave memory behind when a process ends.
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=0")
VERSION = subprocess.run([ephpm.EPHPM_PHP, "-n", "-r", "echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION;"],
                         capture_output=True, text=True, check=True).stdout
STOCK = shutil.which(f"php{VERSION}")

pytestmark = pytest.mark.skipif(not STOCK, reason=f"php{VERSION}-cli is not installed")

FILES = {
    "hello.php": "<?php echo 'hello ', implode(',', $argv), ' ', $argc, \"\\n\";",
    "shebang.php": "#!/usr/bin/env php\n<?php echo 'a', __LINE__, __FILE__, \"\\n\";",
    "bad.php": "<?php\nfoo(",
    "throws.php": "<?php\nfunction f() { throw new Exception('boom'); }\nf();",
    "fatal.php": "<?php echo 'before'; nosuch();",
    "exit.php": "<?php register_shutdown_function(function () { echo 'end'; exit(7); }); exit(3);",
    "source.php": "<?php\n/* comment */\nfunction  a( $b )\n{\n    return $b + 1; // one\n}\n?>\nHTML\n",
    "dir/server.php": "<?php foreach (['PHP_SELF', 'SCRIPT_NAME', 'SCRIPT_FILENAME', 'argc', 'argv',"
                      " 'PATH_TRANSLATED', 'DOCUMENT_ROOT'] as $k) var_dump($_SERVER[$k]);"
                      " var_dump(getcwd(), __DIR__);",
    "settings.php": "<?php foreach (['display_errors', 'html_errors', 'implicit_flush',"
                    " 'output_buffering', 'max_execution_time', 'max_input_time',"
                    " 'register_argc_argv', 'memory_limit'] as $k) var_dump($k, ini_get($k));"
                    " var_dump(php_ini_loaded_file(), php_ini_scanned_files(), PHP_CONFIG_FILE_PATH,"
                    " PHP_CONFIG_FILE_SCAN_DIR, PHP_EXTENSION_DIR, PHP_SAPI, php_sapi_name());",
    "world.php": "<?php $c = get_defined_constants(); unset($c['PHP_BINARY']); ksort($c);"
                 " foreach ($c as $k => $v) echo $k, '=', is_resource($v) ? 'resource' :"
                 " json_encode($v), \"\\n\";"
                 " print_r(get_defined_functions()['internal']); print_r(get_declared_classes());"
                 " print_r(get_loaded_extensions()); print_r(stream_get_wrappers());"
                 " print_r(ini_get_all(null, false));",
    "handles.php": "<?php var_dump(STDIN, STDOUT, STDERR, stream_get_meta_data(STDOUT)['mode']);"
                   " fwrite(STDERR, \"err\\n\"); fwrite(STDOUT, \"out\\n\");"
                   " register_shutdown_function(function () { fwrite(STDERR, \"late\\n\"); });"
                   " class D { function __destruct() { fwrite(STDOUT, \"last\\n\"); } } $d = new D;",
    "php.ini": "memory_limit = 77M\n[foo]\nfoo.bar = baz\n",
    "bad.ini": "a = ${b\n(((\n",
    "scan/x.ini": "foo.scanned = yes\n",
}

# Arguments, and what comes on standard input.
LINES = [
    ("-v", ""), ("--version", ""), ("-m", ""), ("-n -m", ""), ("--modules", ""),
    ("--ini", ""), ("-n --ini", ""), ("-n -v", ""),
    ("--rf strlen", ""), ("--rf nosuch", ""), ("--rf Exception::getMessage", ""),
    ("--rc ArrayObject", ""), ("--rc nosuch", ""), ("--rclass Exception", ""),
    ("--re hash", ""), ("--re nosuch", ""), ("--rz nosuch", ""), ("--ri hash", ""),
    ("--ri main", ""), ("--ri nosuch", ""), ("--rextinfo date", ""),
    # files
    ("hello.php", ""), ("hello.php a -b --c", ""), ("hello.php -- a", ""), ("-f hello.php x", ""),
    ("-f hello.php -- -x", ""), ("--file hello.php", ""), ("-- hello.php", "<?php print_r($argv);"),
    ("-q -C -e hello.php", ""), ("-H hello.php secret", ""), ("shebang.php", ""), ("bad.php", ""),
    ("throws.php", ""), ("fatal.php", ""), ("exit.php", ""), ("dir/server.php a", ""),
    ("settings.php", ""), ("-n settings.php", ""), ("world.php", ""), ("-n world.php", ""),
    ("handles.php", ""), ("missing.php", ""), ("dir", ""), ("-f dir", ""), ("-", "<?php echo 1;"),
    # code
    ("-r|echo 1;", ""), ("-recho(1);", ""), ("--run|echo 1;", ""), ("-r|print_r($argv);|a|-b", ""),
    ("-r|print_r($argv);|--|-a", ""), ("-r|exit(3);", ""), ("-r|exit('x');", ""), ("-r|foo(", ""),
    ("-r|throw new Error('x');", ""), ("-r|nosuch();", ""), ("-r|echo $x;", ""),
    ("-n|-r|echo $x; trigger_error('y', E_USER_ERROR); echo 'no';", ""),
    ("-r|trigger_error('y', E_USER_DEPRECATED);", ""), ("-r|return 5;", ""),
    ("-d|memory_limit=3M|-r|str_repeat('x', 9999999);", ""),
    ("-d|max_execution_time=1|-r|while (true);", ""),
    ("-r|header('X: y'); echo 1; header('Z: z'); print_r(headers_list());", ""),
    ("-r|echo 1; setcookie('a', 'b'); session_start(); var_dump(headers_sent());", ""),
    ("-r|ob_start(); echo 'x'; throw new Exception('in a buffer');", ""),
    ("-r|phpinfo(INFO_GENERAL);", ""), ("-r|highlight_string('<?php echo 1;');", ""),
    ("-r|var_dump(connection_status(), ignore_user_abort(), http_response_code());", ""),
    ("-r|fclose(STDOUT); echo 'x'; fwrite(STDERR, 'still');", ""),
    ("-r|fclose(STDERR); error_log('x'); echo 'out';", ""),
    ("-r|fclose(STDIN); var_dump(STDIN, @fgets(STDIN));", ""),
    ("-r|dl('nosuch.so');", ""), ("-n|-d|extension=nosuch|-r|echo 1;", ""),
    *([("-z|nosuch|-r|echo 1;", ""), ("-n|-z|opcache|-m", "")] if ephpm.php_version() < (8, 5) else []),
    ("-r|var_dump(fgets(STDIN), stream_get_contents(STDIN));", "one\ntwo\nthree"),
    ("-r|foreach (file('php://stdin') as $l) echo strlen($l);", "one\ntwo\n"),
    ("-r|var_dump(cli_get_process_title(), cli_set_process_title('t'), cli_get_process_title());", ""),
    ("-r|var_dump(getenv('PHP_INI_SCAN_DIR'), getenv('NAME'), $_SERVER['NAME'], $_ENV);", ""),
    ("-r|putenv('A=b'); passthru('echo $A $PHP_INI_SCAN_DIR');", ""),
    ("-r|var_dump(opcache_get_status());", ""),
    ("-d|opcache.enable_cli=1|-r|var_dump(opcache_get_status()['opcache_enabled']);", ""),
    ("-d|opcache.enable_cli=1|hello.php|x", ""),
    # settings
    ("-d|foo=bar|-r|var_dump(get_cfg_var('foo'));", ""), ("-dfoo=bar|-r|var_dump(get_cfg_var('foo'));", ""),
    ("-d|foo|-r|var_dump(get_cfg_var('foo'));", ""), ("-d|foo=|-r|var_dump(get_cfg_var('foo'));", ""),
    ("-d|foo=a b;c|-r|var_dump(get_cfg_var('foo'));", ""),
    ("--define|foo=\"a;b\"|-r|var_dump(get_cfg_var('foo'));", ""),
    ("-d|html_errors=1|-d|display_errors=1|-r|echo $x;", ""),
    ("-d|display_errors=stderr|-d|log_errors=0|-r|echo $x;", ""),
    ("-d|display_errors=0|-d|log_errors=1|-r|echo $x;", ""),
    ("-d|a=(|-r|echo 1;", ""),
    ("-d|auto_prepend_file=hello.php|-d|auto_append_file=hello.php|shebang.php", ""),
    ("-c php.ini --ini", ""), ("-c . --ini", ""), ("-c php.ini settings.php", ""),
    ("-n -c php.ini settings.php", ""), ("-c missing.ini --ini", ""),
    ("-c|bad.ini|-r|echo 1;", ""),
    # sources
    ("-l hello.php", ""), ("-l bad.php", ""), ("-n -l bad.php", ""), ("-l missing.php", ""), ("-l dir", ""),
    ("-l hello.php bad.php hello.php", ""), ("-l hello.php missing.php hello.php", ""), ("-l -f hello.php bad.php", ""),
    ("--ini=diff", ""), ("-n -d precision=5 --ini=diff", ""), ("--ini=x", ""),
    ("--repeat 2 hello.php a", ""), ("--repeat|3|-r|static $n; echo ++$n, PHP_SAPI; exit(3);", ""), ("--repeat 2 bad.php", ""),
    ("-l", "<?php echo 1;"), ("-l", "<?php echo 1 1;"), ("-s source.php", ""), ("-w source.php", ""),
    ("-w", "<?php /* x */ echo 1;"), ("-s", "<?php /* x */ echo 1;"), ("-s missing.php", ""),
    ("--strip source.php", ""), ("--syntax-check source.php", ""), ("--syntax-highlight source.php", ""),
    # standard input
    ("", "<?php var_dump($argv, __FILE__, defined('STDIN'), $_SERVER['SCRIPT_NAME']);"),
    ("-- a -b", "<?php print_r($argv);"), ("", "no php"), ("", ""), ("", "<?php exit(5);"),
    ("-R|echo $argi, $argn, PHP_EOL;", "a\nb\r\nc"),
    ("-B|$n = 0;|-R|$n += strlen($argn);|-E|echo $n, implode(',', $argv);|x|y", "aa\nb\n"),
    ("-R|if ($argi == 2) exit(4); echo $argn;|-E|echo 'end';", "a\nb\nc\n"),
    ("-R|foo(", "a\nb\n"), ("-B|echo 1;|-F|hello.php|-E|echo 2;", "a\nb\n"), ("-F|missing.php", "a\n"),
    ("-E|echo 'only';", "a\n"), ("-B|exit(2);|-R|echo 1;", "a\n"), ("-R|echo 1;", ""),
    # contradictions and errors
    ("-r|1;|-f|hello.php", ""), ("-f|hello.php|-f|hello.php", ""), ("-r|1;|-r|2;", ""),
    ("-R|1;|-F|hello.php", ""), ("-B|1;|-B|2;", ""), ("-E|1;|-E|2;", ""), ("-s|-r|1;", ""), ("-r|1;|-s", ""),
    ("-r|1;|-w", ""), ("-r|1;|-l", ""), ("-a|-r|1;", ""), ("-r|1;|-a", ""), ("-a|-R|1;", ""), ("-a|-B|1;", ""), ("-a|-E|1;", ""), ("-n|-a", ""),
    ("-l|-s|hello.php", ""),
    # the interactive shell, from a pipe
    ("-a", "echo 1 + 1;\n$x = 5;\necho $x;\nnosuch();\necho 'still';\n"),
    ("-a", "function f() {\n echo 'a';\n}\nf();\nquit\n"), ("-a", "exit(3);\n"),
]

HOSTILE = {"PHPRC": "", "NAME": "a=b\n"}


def argument_list(line):
    """Words, or parts between bars when one of them has spaces."""
    return line.split("|") if "|" in line else line.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    d = tmp_path_factory.mktemp("cli")
    for name, text in FILES.items():
        (d / name).parent.mkdir(exist_ok=True)
        (d / name).write_text(text)
    return d


def run(program, args, folder, stdin="", **env):
    """Both are called "php", so that their usage says the same."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PHP", "EPHPM_"))}
    return subprocess.run(["php", *args], executable=program, cwd=folder, input=stdin, text=True,
                          capture_output=True, timeout=60, env={**variables, "NAME": "value", **env})


def result(p):
    # What names the moment or the process.
    mask = re.compile(r"(resource\(\d+\)|REQUEST_TIME(_FLOAT)?'?\]? => [\d.]+)")
    return p.returncode, mask.sub("*", p.stdout), p.stderr


def same(args, folder, stdin="", **env):
    ours = result(run(ephpm.EPHPM_PHP, args, folder, stdin, **env))
    stock = result(run(STOCK, args, folder, stdin, **env))
    assert ours == stock


def test_name_of_the_program_is_there_when_shutdown_functions_run(folder):
    """getlastmod() read the name of a program that comes through a pipe from memory that was free."""
    code = ("<?php register_shutdown_function(function () { for ($i = 0; $i < 99; $i++) $a[] ="
            " str_repeat('x', 1000); echo gettype(getlastmod()); });")
    r, w = os.pipe()
    os.write(w, code.encode())
    os.close(w)
    name = "/dev/" + "./" * 495 + f"fd/{r}"
    p = subprocess.run([ephpm.EPHPM_PHP, "-n", name], cwd=folder, pass_fds=[r], text=True,
                       capture_output=True, timeout=60)
    os.close(r)
    assert (p.returncode, p.stdout) == (0, "integer"), p


@pytest.mark.parametrize("line, stdin", LINES, ids=[f"{i}:{a[:40]}" for i, (a, _) in enumerate(LINES)])
def test_same_as_stock(folder, line, stdin):
    same(argument_list(line), folder, stdin)


@pytest.mark.parametrize("env", [
    {"PHPRC": "."}, {"PHPRC": "php.ini"}, {"PHPRC": "missing"}, {"PHPRC": ""}, {"PHPRC": "/dev/null"},
    {"PHP_INI_SCAN_DIR": ""}, {"PHP_INI_SCAN_DIR": "scan"}, {"PHP_INI_SCAN_DIR": "scan:"},
    {"PHP_INI_SCAN_DIR": ":scan"}, {"PHP_INI_SCAN_DIR": ":"}, {"PHP_INI_SCAN_DIR": "missing"},
    {"PHPRC": "x" * 5000}, {"PHP_INI_SCAN_DIR": "y" * 300}, HOSTILE, {"USE_ZEND_ALLOC": "0"}, {"TERM": ""},
], ids=lambda e: ",".join(f"{k}={v[:10]}" for k, v in e.items()))
def test_environment(folder, env):
    same(["--ini"], folder, **env)
    same(["settings.php"], folder, **env)
    same(["-r", "var_dump(getenv('PHPRC'), getenv('PHP_INI_SCAN_DIR'), get_cfg_var('foo.scanned'));"],
         folder, **env)


def test_info(folder):
    """phpinfo() names no folder of another SAPI; only the program itself differs."""
    def info(program):
        text = run(program, ["-i"], folder).stdout
        return [line for line in text.splitlines()
                if not re.match(r"(_ =>|\$_SERVER\['(_|REQUEST_TIME\w*)'\] =>)", line)]

    assert info(ephpm.EPHPM_PHP) == info(STOCK)


@pytest.mark.parametrize("args", [["-h"], ["--help"], ["-?"], ["--usage"]])
def test_help(folder, args):
    p = run(ephpm.EPHPM_PHP, args, folder)
    assert p.returncode == 0 and "Usage: php [options]" in p.stdout and not p.stderr
    stock = run(STOCK, ["-h"], folder).stdout
    for option in re.findall(r"^  (-\w|--\w+)", stock, re.M):
        assert re.search(rf"(^|[ ,]){option}\b", p.stdout, re.M), f"{option} is missing in the help"


@pytest.mark.parametrize("args", [["-y"], ["--nosuch"], ["-r"], ["-d"], ["--rf"], ["-B"], ["-S"], ["-t"]])
def test_wrong_options(folder, args):
    """The reason as the stock command says it, then our usage."""
    p, stock = run(ephpm.EPHPM_PHP, args, folder), run(STOCK, args, folder)
    assert (p.returncode, p.stderr) == (stock.returncode, stock.stderr)
    assert p.stdout.startswith("Usage: php [options]")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_unreadable_file(folder):
    path = folder / "secret.php"
    path.write_text("<?php echo 1;")
    path.chmod(0)
    same(["secret.php"], folder)


# --- names --------------------------------------------------------------------------------------


def test_ephpm_php(folder):
    """Every argument behind `php` is php's, also those that ephpm has itself."""
    for args in (["-v"], ["--version"], ["--help"], ["-c", "php.ini", "settings.php"], ["hello.php", "-v"]):
        p = subprocess.run([ephpm.EPHPM, "php", *args], cwd=folder, capture_output=True, text=True)
        direct = run(ephpm.EPHPM_PHP, args, folder)
        assert (p.returncode, p.stdout, p.stderr) == (direct.returncode, direct.stdout, direct.stderr)


@pytest.mark.parametrize("target", [ephpm.EPHPM, ephpm.EPHPM_PHP], ids=["ephpm", "ephpm-php"])
@pytest.mark.parametrize("name", ["php", "php8.2"])
def test_link(folder, tmp_path, target, name):
    link = tmp_path / name
    link.symlink_to(target)
    p = subprocess.run([link, "-n", "-r", "echo PHP_SAPI, ' ', PHP_BINARY;"], capture_output=True, text=True)
    assert p.stdout == f"cli {ephpm.EPHPM_PHP}"


def test_php_binary_is_php(folder):
    """What Composer, Symfony Process and Laravel's queue do."""
    code = ("$p = proc_open([PHP_BINARY, '-r', 'echo strtoupper(fgets(STDIN)); exit(6);'],"
            " [['pipe', 'r'], ['pipe', 'w']], $pipes); fwrite($pipes[0], \"abc\\n\"); fclose($pipes[0]);"
            " echo stream_get_contents($pipes[1]), proc_close($p);")
    p = run(ephpm.EPHPM, ["-r", code], folder)
    assert (p.returncode, p.stdout) == (0, "ABC\n6")


def test_missing_program(tmp_path):
    """ephpm without its neighbour says what it misses."""
    shutil.copy(ephpm.EPHPM, tmp_path / "ephpm")
    p = subprocess.run([tmp_path / "ephpm", "php", "-v"], capture_output=True, text=True)
    assert p.returncode == 1 and str(tmp_path / "ephpm-php") in p.stderr and "not found" in p.stderr


def test_roles_are_no_options(folder):
    p = run(ephpm.EPHPM_PHP, ["--role=nosuch"], folder)
    assert p.returncode == 1 and "Usage: php" in p.stdout


# --- processes ----------------------------------------------------------------------------------


def start(args, folder, **kwargs):
    return subprocess.Popen([ephpm.EPHPM_PHP, *args], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, **kwargs)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_signals_end_it(folder, sig):
    p = start(["-r", "echo 'up'; sleep(30);"], folder)
    assert p.stdout.read(2) == "up"
    p.send_signal(sig)
    p.communicate(timeout=20)
    assert p.returncode == -sig


def test_pcntl_handlers(folder):
    code = ("pcntl_async_signals(true); pcntl_signal(SIGTERM, function () { echo 'term'; exit(9); });"
            " echo 'up'; while (true) usleep(1000);")
    p = start(["-r", code], folder)
    assert p.stdout.read(2) == "up"
    p.terminate()
    out, _ = p.communicate(timeout=20)
    assert (out, p.returncode) == ("term", 9)


def test_pcntl_fork(folder):
    same(["-r", "$p = pcntl_fork(); if (!$p) { echo 'child '; exit(3); } pcntl_waitpid($p, $s);"
          " echo pcntl_wexitstatus($s);"], folder)


def test_closed_pipe_ends_it(folder):
    """`php ... | head -1`: it ends at the next write, quietly, with the exit code of stock."""
    def code_of(program):
        p = subprocess.Popen([program, "-r", "while (true) echo str_repeat('x', 100), \"\\n\";"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
        p.stdout.readline()
        p.stdout.close()
        return p.wait(timeout=30), p.stderr.read()

    assert code_of(ephpm.EPHPM_PHP) == code_of(STOCK)


def test_full_non_blocking_pipe_loses_nothing(folder):
    r, w = os.pipe()
    os.set_blocking(w, False)
    p = subprocess.Popen([ephpm.EPHPM_PHP, "-r", "echo str_repeat('x', 1000000);"], stdout=w, cwd=folder)
    os.close(w)
    got = 0
    while part := os.read(r, 4096):
        got += len(part)
    os.close(r)
    assert (got, p.wait(timeout=20)) == (1000000, 0)


def test_process_title(folder):
    p = start(["-r", "cli_set_process_title('title of a test'); echo 'up'; sleep(30);"], folder)
    assert p.stdout.read(2) == "up"
    with open(f"/proc/{p.pid}/cmdline") as f:
        assert f.read().rstrip("\0") == "title of a test"
    p.kill()
    p.communicate()


def test_hidden_arguments(folder):
    p = start(["-H", "-r", "echo $argv[1]; sleep(30);", "secret"], folder)
    assert p.stdout.read(6) == "secret"
    with open(f"/proc/{p.pid}/cmdline") as f:
        assert "secret" not in f.read()
    p.kill()
    p.communicate()


def test_output_is_not_held_back(folder):
    p = start(["-r", "echo 'now'; sleep(60);"], folder)
    assert p.stdout.read(3) == "now" and p.poll() is None
    p.kill()
    p.communicate()
