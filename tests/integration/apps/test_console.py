# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What developers run with `php` by hand: Composer, artisan, bin/console, administration scripts.

Each command is run by Debian's php and by ours, and says the same with the same exit status.
"""
import json
import os
import re
import shutil
import subprocess

import pytest

from application import App, Database, app_env
from ephpm import EPHPM, EPHPM_PHP, free_port, php_minor

PHP = shutil.which("php" + php_minor())
OURS = [str(EPHPM), "php"]
# Times, memory and process ids differ from run to run.
VARYING = re.compile(r"\d+(\.\d+)? ?(ms|secs?|seconds|MiB|MB)\b|\d\d:\d\d:\d\d")


def run(php, *args, cwd=None, env=None, stdin=subprocess.DEVNULL, timeout=120):
    """(exit status, standard output, standard error) of php with arguments."""
    r = subprocess.run([*php, *map(str, args)], cwd=cwd, stdin=stdin, text=True, timeout=timeout,
                       capture_output=True, env={**os.environ, **(env or {})})
    return r.returncode, VARYING.sub("N", r.stdout), VARYING.sub("N", r.stderr)


def same(*args, **more):
    """Runs it with both; what both said."""
    stock, ours = run([PHP], *args, **more), run(OURS, *args, **more)
    assert ours == stock
    return ours


# --- frameworks -----------------------------------------------------------------------------------

@pytest.mark.parametrize("command,says", [
    (["list"], "make:controller"),
    (["list", "--format=json"], '"name":"migrate"'),
    (["--version"], "Laravel Framework"),
    (["help", "migrate"], "--pretend"),
    (["migrate:status"], ""),
    (["no:such"], ""),
    (["env"], "production"),
])
def test_artisan_says_what_it_says_with_stock_php(command, says):
    app = App("laravel-app")
    _, out, err = same("artisan", *command, cwd=app.folder, env=app_env(app.folder))
    assert says in out + err


def test_artisan_pretends_a_migration_in_a_copy(tmp_path):
    app = App("laravel-app")
    copy = shutil.copytree(app.folder, tmp_path / "app", symlinks=True)
    subprocess.run(["chmod", "-R", "u+w", copy], check=True)
    env = {**app_env(app.folder), "APP_ENV": "local"}
    code, out, err = run(OURS, "artisan", "make:controller", "FromTestController", cwd=copy,
                         env=env)
    assert code == 0 and "created successfully" in out, (out, err)
    made = copy / "app/Http/Controllers/FromTestController.php"
    assert "class FromTestController" in made.read_text()
    assert same("-l", made)[0] == 0


@pytest.mark.parametrize("command,says", [
    (["list"], "debug:router"),
    (["about"], "Symfony"),
    (["debug:router"], "/ping"),
    (["debug:container", "--parameters"], "kernel.project_dir"),
    (["lint:twig", "templates"], "OK"),
    (["lint:container"], ""),
    (["router:match", "/ping"], "matches"),
    (["no:such"], "no:such"),
])
def test_console_says_what_it_says_with_stock_php(command, says):
    app = App("symfony-app")
    env = {**app_env(app.folder), "COLUMNS": "120"}
    _, out, err = same("bin/console", "--no-ansi", *command, cwd=app.folder, env=env)
    assert says in out + err


def test_process_component_starts_this_php_again(tmp_path):
    script = tmp_path / "again.php"
    script.write_text("""<?php
        require '/usr/share/php/Symfony/Component/Process/autoload.php';
        use Symfony\\Component\\Process\\{PhpExecutableFinder, PhpProcess, Process};
        $php = (new PhpExecutableFinder)->find(false);
        $p = new PhpProcess('<?php echo PHP_SAPI, " ", PHP_BINARY, " ", 6 * 7; exit(3);');
        $p->run();
        $q = new Process([$php, '-r', 'fwrite(STDERR, "e"); echo stream_get_contents(STDIN);']);
        $q->setInput("through\\n");
        $q->mustRun();
        echo json_encode([$php === PHP_BINARY, $p->getOutput(), $p->getExitCode(), $q->getOutput(),
                          $q->getErrorOutput()]);
    """)
    code, out, err = run(OURS, script)
    assert code == 0, err
    assert json.loads(out) == [True, f"cli {EPHPM_PHP} 42", 3, "through\n", "e"]


# --- Composer -------------------------------------------------------------------------------------

@pytest.fixture
def project(tmp_path):
    """A project that needs a library of a local repository, with scripts that call php."""
    lib, app = tmp_path / "greeter", tmp_path / "project"
    (lib / "src").mkdir(parents=True)
    (lib / "composer.json").write_text(json.dumps({
        "name": "example/greeter", "version": "1.2.3", "type": "library",
        "autoload": {"psr-4": {"Example\\Greeter\\": "src/"}}, "bin": ["greet"]}))
    (lib / "src/Greeter.php").write_text(
        "<?php namespace Example\\Greeter; class Greeter { static function hello(string $who)"
        ": string { return \"Hello, $who (\" . PHP_SAPI . ')'; } }")
    (lib / "greet").write_text("#!/usr/bin/env php\n<?php\nrequire $_composer_autoload_path ??"
                               " 'vendor/autoload.php';\n"
                               "echo Example\\Greeter\\Greeter::hello($argv[1]), \"\\n\";")
    (lib / "greet").chmod(0o755)
    app.mkdir()
    (app / "composer.json").write_text(json.dumps({
        "name": "example/project", "require": {"example/greeter": "^1.0", "php": ">=8.1"},
        "repositories": [{"type": "path", "url": "../greeter", "options": {"symlink": False}},
                         {"packagist.org": False}],
        "scripts": {"post-update-cmd": ["@php -r \"file_put_contents('ran.txt', PHP_BINARY);\""],
                    "greet": "@php vendor/bin/greet everyone"}}))
    return app


def composer(php, project, *args):
    env = {"COMPOSER_HOME": str(project.parent / "home"), "COMPOSER_ALLOW_SUPERUSER": "1",
           "COMPOSER_DISABLE_NETWORK": "1", "COMPOSER_NO_INTERACTION": "1"}
    tool = shutil.which("composer")
    if not tool:
        pytest.skip("no composer")
    return run(php, tool, *args, cwd=project, env=env)


def test_composer_installs_from_a_path_repository(project):
    code, out, err = composer(OURS, project, "install")
    assert code == 0, out + err
    assert "Installing example/greeter (1.2.3)" in err
    assert (project / "ran.txt").read_text() == str(EPHPM_PHP)
    assert same("-r", "require 'vendor/autoload.php';"
                      "echo Example\\Greeter\\Greeter::hello('you');", cwd=project)[1] \
        == "Hello, you (cli)"
    assert composer(OURS, project, "run-script", "greet")[:2] == (0, "Hello, everyone (cli)\n")


@pytest.mark.parametrize("args", [["validate"], ["show"], ["check-platform-reqs"], ["diagnose", "-q"],
                                  ["show", "--platform"], ["no-such-command"]])
def test_composer_says_what_it_says_with_stock_php(project, args):
    assert composer(OURS, project, "install", "-q")[0] == 0
    assert composer(OURS, project, *args) == composer([PHP], project, *args)


# --- administration scripts -----------------------------------------------------------------------

@pytest.fixture(scope="module")
def wordpress():
    app = App("wordpress", {"DB_PORT": str(free_port())})
    with Database(app.folder / "db") as db:
        yield app, {**app_env(app.folder), "WP_DB_HOST": f"127.0.0.1:{db.port}"}
    if os.getuid() == 0:  # and so is the folder of this month then, if cron was the first to need it
        subprocess.run(["chown", "-R", "www-data:", app.public / "wp-content/uploads"], check=True)


def test_wordpress_is_administered_from_the_command_line(wordpress, tmp_path):
    app, env = wordpress
    script = tmp_path / "admin.php"
    script.write_text("""<?php
        $_SERVER['HTTP_HOST'] = 'localhost';
        require $argv[1] . '/wp-load.php';
        [$id, $title] = [wp_insert_post(['post_title' => 'From the command line',
            'post_content' => 'Text', 'post_status' => 'draft'], true), null];
        if (is_wp_error($id)) { fwrite(STDERR, $id->get_error_message()); exit(2); }
        $title = get_post($id)->post_title;
        wp_delete_post($id, true);
        echo json_encode([$title, get_post($id), get_user_by('login', 'admin')->user_login,
                          wp_count_posts()->publish > 0, PHP_SAPI, $argc]);
        exit(4);
    """)
    code, out, err = same(script, app.public, env=env)
    assert code == 4, err
    assert json.loads(out) == ["From the command line", None, "admin", True, "cli", 2]


def test_wordpress_cron_runs_from_the_command_line(wordpress):
    app, env = wordpress
    assert same("-f", app.public / "wp-cron.php", cwd=app.public, env=env) == (0, "", "")


def test_dokuwiki_tools_say_what_they_say_with_stock_php(tmp_path):
    app = App("dokuwiki")
    page = tmp_path / "page.txt"
    page.write_text("====== Head ======\nSome **bold** text.\n")
    with page.open() as text:
        code, out, _ = run(OURS, app.public / "bin/render.php", stdin=text)
    with page.open() as text:
        assert run([PHP], app.public / "bin/render.php", stdin=text)[:2] == (code, out)
    assert code == 0 and "<strong>bold</strong>" in out
    for tool in "dwpage", "indexer", "wantedpages", "striplangs":
        same(app.public / f"bin/{tool}.php", "--help")
