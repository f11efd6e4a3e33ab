# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""nginx and php-fpm with a document root, to run a test against what ephpm stands in for.

    with Peer({"upload_max_filesize": "1K"}, {"index.php": "<?php echo 1;"}) as p:
        assert p.get("/").text == "1"

Has the requests of ephpm.Server. Everything is in a directory of its own below /tmp.
"""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile

import ephpm
from httpc import Connection, wait_for

FPM = shutil.which("php-fpm" + ephpm.php_minor())
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin")
AVAILABLE = bool(FPM and NGINX) and os.geteuid() == 0


def nginx_version():
    """(1, 22, 1)"""
    text = subprocess.run([NGINX, "-v"], stderr=subprocess.PIPE, text=True).stderr
    return tuple(map(int, text.rpartition("/")[2].split()[0].split(".")))


NGINX_CONF = """daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/nginx.log;
events {{ worker_connections 64; }}
http {{
    access_log off; types {{ }} default_type application/octet-stream;
    client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f;
    uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s; client_max_body_size 20m;
    server {{
        listen 127.0.0.1:{port}; root {dir}/root; index index.php;
        location / {{ try_files $uri $uri/ /index.php?$query_string; }}
        {more}
        location ~ [^/]\\.php(/|$) {{
            fastcgi_split_path_info ^(.+?\\.php)(/.*)$;
            set $info $fastcgi_path_info;
            try_files $fastcgi_script_name =404;
            include /etc/nginx/fastcgi_params;
            fastcgi_param HTTP_HOST $http_host;
            fastcgi_param SERVER_NAME $host;
            fastcgi_param PATH_INFO $info;
            fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
            {params}
            fastcgi_pass unix:{dir}/fpm.sock;
        }}
    }}
}}
"""
FPM_CONF = """[global]
error_log = {dir}/fpm.log
daemonize = no
[www]
user = www-data
group = www-data
listen = {dir}/fpm.sock
listen.mode = 0666
pm = static
pm.max_children = 2
catch_workers_output = yes
{values}
"""


class Peer:
    """values: php_value lines; env: the pool's variables; ini: the text of php.ini; more: nginx
    locations; params: lines of the PHP location. "{root}" and "{dir}" in them are replaced."""

    def __init__(self, values=None, files=None, env=None, ini="", more="", params=""):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ephpm-test-peer-"))
        self.dir.chmod(0o755)
        self.root, self.tmp = self.dir / "root", self.dir / "tmp"
        self.root.mkdir()
        self.tmp.mkdir()
        self.tmp.chmod(0o777)
        self.processes = []
        self.port = ephpm.free_port()
        self.address = ("127.0.0.1", self.port)
        for path, data in (files or {}).items():
            self.write(path, data)
        lines = [f'php_value[{k}] = "{v}"' for k, v in (values or {}).items()]
        lines += [f'env[{k}] = "{v}"' for k, v in (env or {}).items()]
        self._write_conf("nginx.conf", NGINX_CONF.format(
            dir=self.dir, port=self.port, more=self._fill(more), params=self._fill(params)))
        self._write_conf("php.ini", self._fill(ini))
        self._write_conf("fpm.conf", FPM_CONF.format(dir=self.dir, values=self._fill("\n".join(lines))))

    def _fill(self, text):
        return text.replace("{root}", str(self.root)).replace("{dir}", str(self.dir))

    def _write_conf(self, name, text):
        (self.dir / name).write_text(text)

    write, request, get, post, raw = (ephpm.Server.write, ephpm.Server.request, ephpm.Server.get,
                                      ephpm.Server.post, ephpm.Server.raw)

    def connect(self, **more):
        return Connection(self.address, **more)

    def log(self):
        return "".join(p.read_text(errors="replace") for p in self.dir.glob("*.log"))

    def __enter__(self):
        with open(self.dir / "out.log", "ab") as out:
            for args in ([FPM, "-R", "-c", self.dir / "php.ini", "-y", self.dir / "fpm.conf"],
                         [NGINX, "-c", self.dir / "nginx.conf", "-p", self.dir]):
                self.processes.append(subprocess.Popen(
                    args, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=self.dir,
                    env={"PATH": os.environ["PATH"], "TMPDIR": str(self.tmp)}))
        if not wait_for(self._answers, 30):
            self.__exit__()
            raise AssertionError("nginx and php-fpm did not start")
        return self

    def _answers(self):
        try:
            self.connect(timeout=5).close()
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(str(self.dir / "fpm.sock"))
            return True
        except OSError:
            return False

    def __exit__(self, *_):
        for p in self.processes:
            p.send_signal(signal.SIGTERM)
        for p in self.processes:
            try:
                p.wait(10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
