# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Requests, to the byte, that every server is sent; and the document root for them.

CASES is a list of Case. Names are "topic/what". A case is sent on a connection of its own, followed
by a plain request on the same one, which shows whether server and client still agree on where the
case ended; not with follow=False, where it does not end or ends the connection.
"""
ECHO = r"""<?php
// What a script sees, a line per value; bytes that are no plain ASCII are escaped.
header('Content-Type: text/plain');
$free = ['REQUEST_TIME', 'REQUEST_TIME_FLOAT', 'REMOTE_PORT', 'SERVER_PORT', 'SERVER_SOFTWARE',
    'SERVER_NAME', 'USER', 'HOME', 'FCGI_ROLE', 'PATH', 'TMPDIR', 'SERVER_ADMIN',
    'SERVER_SIGNATURE', 'CONTEXT_PREFIX', 'CONTEXT_DOCUMENT_ROOT', 'REQUEST_ID',
    'EPHPM_GENERATION', 'EPHPM_WORKER', 'REDIRECT_URL', 'REDIRECT_QUERY_STRING',
    'REDIRECT_STATUS'];
function plain($v): string { return addcslashes((string)$v, "\0..\37\177..\377\\"); }
function show(string $at, $v): void {
    if (is_array($v)) {
        if (!$v) echo $at, " = []\n";
        foreach ($v as $k => $w) show("{$at}[" . plain($k) . ']', $w);
        return;
    }
    $s = plain($v);
    if (strlen($s) > 300) $s = strlen($s) . ' ' . md5($s);
    echo $at, ' = ', is_string($v) ? "\"$s\"" : $s, "\n";
}
// Names of temporary files differ, what is in them must not.
function content(&$name): void {
    if (is_array($name)) array_walk($name, 'content');
    elseif ($name !== '')
        $name = (is_uploaded_file($name) ? 'uploaded ' : 'no upload ') . md5_file($name);
}
foreach ($_FILES as &$f) content($f['tmp_name']);
unset($f);
$server = array_diff_key($_SERVER, array_flip($free));
$root = realpath(__DIR__);
foreach ($server as &$v) if (is_string($v)) $v = str_replace($root, '{root}', $v);
unset($v);
ksort($server);
$headers = array_change_key_case(getallheaders());
ksort($headers);
$in = file_get_contents('php://input');
if (count($_POST, COUNT_RECURSIVE) > 300) $_POST = [count($_POST), md5(serialize($_POST))];
if (count($_FILES) > 30) $_FILES = [count($_FILES), md5(serialize($_FILES))];
show('server', $server);
show('header', $headers);
show('get', $_GET);
show('post', $_POST);
show('files', $_FILES);
show('cookie', $_COOKIE);
echo 'body ', strlen($in), ' ', md5($in), "\n";
"""

FILES = {
    "echo.php": ECHO,
    "index.php": "<?php $front = 1; require __DIR__ . '/echo.php';",
    # What a body became, without what the request said beside it.
    "body.php": "<?php foreach (['_SERVER', '_GET', '_COOKIE'] as $g) $GLOBALS[$g] = [];"
                "ob_start(); require __DIR__ . '/echo.php'; $s = ob_get_clean();"
                "echo preg_replace('/^(server|header|get|cookie).*\\n/m', '', $s);",
    "status.php": "<?php http_response_code((int)$_GET['s']);"
                  "foreach ($_GET['h'] ?? [] as $h) header($h, false);"
                  "echo $_GET['b'] ?? 'body';",
    "length.php": "<?php header('Content-Length: 5'); header('X-A: b'); echo 'hello';",
    "etag.php": "<?php header('ETag: \"v1\"');"
                "header('Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT'); echo 'content';",
    "range.php": "<?php header('Accept-Ranges: bytes'); if (isset($_SERVER['HTTP_RANGE'])) {"
                 "http_response_code(206); header('Content-Range: bytes 0-3/10'); echo '0123'; }"
                 "else echo '0123456789';",
    "early.php": "<?php echo 'not read';",
    "big.php": "<?php foreach ($_GET['h'] ?? [] as $h) header($h, false);"
               "echo str_repeat(\"a line of text\\n\", (int)($_GET['n'] ?? 300));",
    "big.txt": "a line of text\n" * 300,
    "big.css": "a{b:c}\n" * 300,
    "big.js": "a = b;\n" * 300,
    "big.json": "[" + "1," * 2000 + "1]",
    "big.svg": "<svg>" + " " * 2000 + "</svg>",
    "big.png": b"\x89PNG" + bytes(2000),
    "big.html": "<p>text</p>\n" * 300,
    "dir/index.php": "<?php require __DIR__ . '/../echo.php';",
    "plain/index.html": "<p>index</p>\n",
    "empty/.keep": "",
    "a.php.d/echo.php": "<?php require __DIR__ . '/../echo.php';",
    "name with space.php": "<?php require __DIR__ . '/echo.php';",
    "plus+and;semi.php": "<?php require __DIR__ . '/echo.php';",
    "\u00fc.php": "<?php require __DIR__ . '/echo.php';",
    "static/follow.txt": "follow\n",
    "static/ten.txt": "0123456789",
    "static/data.bin": bytes(range(256)) * 40,
    "static/a b.txt": "space\n",
    "static/\u00fc.txt": "umlaut\n",
    "static/per%cent.txt": "percent\n",
    "static/q?mark.txt": "question\n",
    "static/semi;colon.txt": "semicolon\n",
}

HOST = "Host: conf.test"
URLENCODED = "Content-Type: application/x-www-form-urlencoded"


class Case:
    """pause: the bytes are sent in pieces, cut there (and without it). timeout: how long a peer may
    take; short where one is known to wait for more."""

    def __init__(self, name, data, method=None, follow=True, pause=None, timeout=30):
        self.name, self.data, self.follow, self.pause = name, data, follow, pause
        self.timeout = timeout
        self.method = method or data.split(b" ", 1)[0].decode("latin-1")


CASES = []


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


def request(line, *fields, body=None):
    """The bytes. Host is added unless None is among the fields, Content-Length when there is a
    body and no field that tells its length."""
    fields = list(fields)
    if None in fields:
        fields.remove(None)
    else:
        fields.insert(0, HOST)
    fields = [_bytes(f) for f in fields]
    if body is not None and not any(
            f.lower().startswith((b"content-length", b"transfer-encoding")) for f in fields):
        fields.append(b"Content-Length: %d" % len(body))
    return b"\r\n".join([_bytes(line), *fields, b"", b""]) + (body or b"")


def add(name, line, *fields, body=None, **more):
    """A case. A line without a version gets HTTP/1.1."""
    if not _bytes(line).rsplit(b" ", 1)[-1].startswith(b"HTTP/"):
        line = _bytes(line) + b" HTTP/1.1"
    CASES.append(Case(name, request(line, *fields, body=body), **more))


def raw(name, data, **more):
    CASES.append(Case(name, _bytes(data), **more))


# --- methods -------------------------------------------------------------------------------------

for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PROPFIND", "QUERY",
        "MKCOL", "REPORT", "M-SEARCH", "PURGE", "SEARCH", "LOCK", "get", "Post", "X" * 200, "A",
        "X_Y", "TRACE", "FOO!BAR", "CONNECT"):
    short = method if len(method) < 20 else "long"
    add(f"method/{short}", f"{method} /echo.php?m=1")
    add(f"method/static/{short}", f"{method} /static/ten.txt")
for method in "POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS", "PROPFIND":
    add(f"method/body/{method}", f"{method} /echo.php", URLENCODED, body=b"a=1&b=2")
for method in "POST", "DELETE", "OPTIONS", "PROPFIND":
    add(f"method/missing/{method}", f"{method} /none.txt")
    add(f"method/directory/{method}", f"{method} /plain/")
for method in "PUT", "DELETE", "OPTIONS", "PROPFIND":
    add(f"method/index/{method}", f"{method} /dir/")
    add(f"method/index/root/{method}", f"{method} /")
add("method/options-star", "OPTIONS *")
add("method/get-star", "GET *")
add("method/connect-authority", "CONNECT conf.test:443", follow=False)
raw("method/empty", b" / HTTP/1.1\r\nHost: conf.test\r\n\r\n", method="GET")
raw("method/leading-crlf", b"\r\n" + request("GET /static/ten.txt HTTP/1.1"), method="GET")
raw("method/leading-two-crlf", b"\r\n\r\n" + request("GET /static/ten.txt HTTP/1.1"), method="GET")
raw("method/bad-byte", request("G\x01T /echo.php HTTP/1.1"), method="GET")
raw("method/tab", b"GET\t/echo.php HTTP/1.1\r\nHost: conf.test\r\n\r\n", method="GET")
raw("method/two-spaces", b"GET  /echo.php HTTP/1.1\r\nHost: conf.test\r\n\r\n", method="GET")

# --- versions ------------------------------------------------------------------------------------

add("version/1.0-without-host", "GET /echo.php HTTP/1.0", None)
add("version/1.0-with-host", "GET /echo.php HTTP/1.0")
add("version/1.0-keep-alive", "GET /echo.php HTTP/1.0", "Connection: keep-alive")
add("version/1.0-keep-alive-static", "GET /static/ten.txt HTTP/1.0", "Connection: keep-alive")
add("version/1.0-post", "POST /echo.php HTTP/1.0", URLENCODED, body=b"a=1")
add("version/1.0-chunked", "POST /echo.php HTTP/1.0", "Transfer-Encoding: chunked", URLENCODED,
    body=b"3\r\na=1\r\n0\r\n\r\n")
add("version/1.1-without-host", "GET /echo.php", None)
add("version/1.1-close", "GET /echo.php", "Connection: close")
for version in "1.2", "2.0", "0.9", "1.10", "11", "1", "1.1 ", "x.y":
    raw(f"version/{version}", b"GET /static/ten.txt HTTP/" + version.encode() +
        b"\r\nHost: conf.test\r\n\r\n", method="GET")
raw("version/lower-case", b"GET /static/ten.txt http/1.1\r\nHost: conf.test\r\n\r\n", method="GET")
raw("version/none", b"GET /static/ten.txt\r\n\r\n", method="GET", follow=False)

# --- hosts ---------------------------------------------------------------------------------------

for name, host in {"port": "conf.test:8080", "upper": "CONF.Test", "dot": "conf.test.", "empty": "",
        "ip": "127.0.0.1", "ipv6": "[::1]:80", "underscore": "a_b.test", "space": "a b",
        "slash": "a/b", "at": "u@a.test", "two-dots": "a..b", "leading-dot": ".a",
        "only-port": ":80", "bad-port": "a.test:x", "big-port": "a.test:99999",
        "comma": "a.test,b.test", "quote": "a\"b", "high": "\xfc.test", "control": "a\x01b",
        "bracket": "[::1", "long": "a" * 260, "label": "a" * 70 + ".test", "percent": "a%2eb",
        "asterisk": "*", "colon-only": "a.test:", "minus": "-a.test"}.items():
    add(f"host/{name}", "GET /echo.php", None, f"Host: {host}")
add("host/twice-same", "GET /echo.php", "Host: conf.test")
add("host/twice", "GET /echo.php", "Host: other.test")
add("host/absolute-form", "GET http://abs.test/echo.php?x=1")
add("host/absolute-form-port", "GET http://abs.test:81/echo.php")
add("host/absolute-form-no-host", "GET http://abs.test/echo.php", None)
add("host/absolute-form-https", "GET https://abs.test/echo.php")
add("host/absolute-form-upper", "GET HTTP://ABS.test/echo.php")
add("host/absolute-form-no-path", "GET http://abs.test")
add("host/absolute-form-query", "GET http://abs.test?x=1")
add("host/absolute-form-user", "GET http://u:p@abs.test/echo.php")
add("host/absolute-form-ftp", "GET ftp://abs.test/echo.php")
add("host/absolute-form-empty", "GET http:///echo.php")

# --- header fields -------------------------------------------------------------------------------

for name, field in {"empty": "X-A:", "zero": "X-A: 0", "spaces": "X-A:    v   w   ",
        "tab": "X-A:\tv\tw\t", "none": "X-A:v", "high": "X-A: \xfc\xff",
        "utf8": "X-A: " + "\u00fc".encode().decode("latin-1"), "quote": 'X-A: "a\\"b"',
        "underscore": "X_A: v", "dot": "X.A: v", "tokens": "X!#$%&'*+^`|~: v", "digits": "1: v",
        "minus": "-: v", "minus-end": "X-A-: v", "two-minus": "X--A---B: v", "upper": "X-UPPER: v",
        "long": "X-A: " + "v" * 8000, "long-9000": "X-A: " + "v" * 9000,
        "long-name": "X-" + "n" * 300 + ": v", "comma": "X-A: a,b, c", "control": "X-A: a\x01b",
        "delete": "X-A: a\x7fb", "nul": "X-A: a\0b", "cr": "X-A: a\rb",
        "space-before-colon": "X-A : v", "no-colon": "X-A", "no-name": ": v",
        "space-in-name": "X A: v", "fold": "X-A: a\r\n b", "fold-tab": "X-A: a\r\n\tb",
        "brackets": "X[A]: v", "high-name": "X-\xfc: v", "equals": "X=A: v", "slash": "X/A: v",
        "lf-only": "X-A: a\nX-B: b", "content-type-empty": "Content-Type:",
        "content-type-odd": "Content-Type: ;;;", "accept-odd": "Accept: ,;q",
        "proxy": "Proxy: http://evil", "https": "HTTPS: on", "http-host": "HTTP_HOST: x",
        "content-length-0": "Content-Length: 0", "script-filename": "Script-Filename: /etc/passwd",
        "remote-addr": "Remote-Addr: 1.1.1.1", "x-forwarded-for": "X-Forwarded-For: 1.2.3.4",
        "x-real-ip": "X-Real-IP: 1.2.3.4", "x-original-url": "X-Original-URL: /other",
        "x-rewrite-url": "X-Rewrite-URL: /other",
        "method-override": "X-HTTP-Method-Override: DELETE",
        "forwarded": "Forwarded: for=1.2.3.4;proto=https"}.items():
    add(f"field/{name}", "GET /echo.php", field)
for name, fields in {"twice": ("X-Dup: a", "X-Dup: b"), "thrice": ("X-Dup: a", "x-dup: b",
        "X-DUP:"), "accept": ("Accept: a/b", "Accept: c/d"), "content-type": ("Content-Type: a/b",
        "Content-Type: c/d"), "user-agent": ("User-Agent: a", "User-Agent: b"),
        "referer": ("Referer: a", "Referer: b"), "authorization": ("Authorization: Basic YTpi",
        "Authorization: Basic Yzpk"), "range": ("Range: bytes=0-1", "Range: bytes=2-3"),
        "dash-underscore": ("X-A-B: 1", "X_A_B: 2"), "forwarded": ("X-Forwarded-For: 1.1.1.1",
        "X-Forwarded-For: 2.2.2.2"), "if-none-match": ("If-None-Match: \"a\"",
        "If-None-Match: \"b\"")}.items():
    add(f"field/repeated/{name}", "GET /echo.php", *fields)
add("field/90-fields", "GET /echo.php", *[f"X-F{i}: {i}" for i in range(90)])
add("field/101-fields", "GET /echo.php", *[f"X-F{i}: {i}" for i in range(100)])
add("field/29-KB", "GET /echo.php", *[f"X-F{i}: " + "v" * 1000 for i in range(29)])
add("field/60-KB", "GET /echo.php", *[f"X-F{i}: " + "v" * 6000 for i in range(10)])
for name, value in {"basic": "Basic YWxpY2U6c2VjcmV0", "lower": "basic YWxpY2U6c2VjcmV0",
        "no-colon": "Basic YWxpY2U=", "colons": "Basic YTpiOmM=", "bad-base64": "Basic !!!",
        "empty": "", "only-scheme": "Basic", "spaces": "Basic   YTpi", "utf8": "Basic w7w6w7w=",
        "digest": 'Digest username="a", realm="b"', "bearer": "Bearer abc.def",
        "negotiate": "Negotiate abc=="}.items():
    add(f"authorization/{name}", "GET /echo.php", f"Authorization: {value}")
for name, value in {"upgrade": "upgrade", "names-field": "X-A", "list": "keep-alive, X-A",
        "odd": "foo", "empty": "", "close-upper": "CLOSE",
        "close-in-list": "keep-alive, close"}.items():
    add(f"connection/{name}", "GET /echo.php", f"Connection: {value}", "X-A: v")
add("connection/websocket", "GET /echo.php", "Connection: Upgrade", "Upgrade: websocket",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")
add("connection/h2c", "GET /echo.php", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c",
    "HTTP2-Settings: AAMAAABkAAQAAP__")
for name, field in {"te": "TE: trailers, deflate;q=0.5", "trailer": "Trailer: X-T",
        "keep-alive": "Keep-Alive: 300", "proxy-connection": "Proxy-Connection: close",
        "max-forwards": "Max-Forwards: 0", "upgrade-alone": "Upgrade: foo/2",
        "early-data": "Early-Data: 1", "via": "Via: 1.1 a"}.items():
    add(f"connection/{name}", "GET /echo.php", field)
raw("connection/pipelined",
    request("GET /static/ten.txt HTTP/1.1") + request("GET /static/a%20b.txt HTTP/1.1"))
raw("connection/pipelined-post", request("POST /body.php HTTP/1.1", body=b"x" * 10) +
    request("GET /static/ten.txt HTTP/1.1"))

# --- cookies -------------------------------------------------------------------------------------

for name, value in {"plain": "a=1; b=2", "no-space": "a=1;b=2", "comma": "a=1, b=2",
        "quoted": 'a="x; y"; b=2', "empty-value": "a=; b", "empty-name": "=v; b=1",
        "twice": "a=1; a=2", "case": "a=1; A=2", "brackets": "a[]=1; a[]=2; b[k]=v",
        "bad-bracket": "a[=1; b]=2; c[[d]=3", "dots": "a.b=1; c d=2",
        "encoded": "a=%20%2B+%zz; %62=2", "equals": "a=b=c==", "spaces": "  a = 1 ;  b=2  ",
        "tabs": "a=1;\tb=2", "high": "a=\xfc\xff", "semicolons": ";;;a=1;;", "nul": "a=%00b",
        "prefix": "__Host-a=1; __Secure-b=2; %5f_Host-c=3; ..Host-d=4", "long": "a=" + "v" * 3900,
        "many": "; ".join(f"c{i}={i}" for i in range(200)), "deep": "a" + "[x]" * 80 + "=1",
        "globals": "GLOBALS=1; _SERVER=2", "numeric": "0=a; 1=b", "quote": 'a="b',
        "backslash": "a=\\\"b\\\\", "empty": "", "json": 'a={"b":[1,2]}'}.items():
    add(f"cookie/{name}", "GET /echo.php", f"Cookie: {value}")
add("cookie/two-fields", "GET /echo.php", "Cookie: a=1", "Cookie: b=2; a=3")
add("cookie/two-fields-empty", "GET /echo.php", "Cookie: a=1", "Cookie:", "Cookie: b=2")

# --- paths and queries ---------------------------------------------------------------------------

for name, target in {"double-slash": "//echo.php", "double-slash-inside": "/dir//",
        "dot": "/./echo.php", "dot-end": "/dir/.", "dots": "/dir/../echo.php",
        "dots-end": "/dir/..", "dots-beyond": "/../echo.php", "dots-deep": "/a/b/../../echo.php",
        "dots-encoded": "/dir/%2e%2e/echo.php", "dots-half": "/dir/.%2E/echo.php",
        "three-dots": "/.../echo.php", "encoded-dots-beyond": "/%2e%2e/echo.php",
        "encoded-slash": "/dir%2Findex.php", "encoded-slash-info": "/echo.php/a%2Fb",
        "backslash": "/dir\\index.php", "encoded-backslash": "/dir%5Cindex.php",
        "double-encoded": "/%2565cho.php", "encoded-letter": "/%65cho.php",
        "encoded-php": "/echo%2ephp", "encoded-question": "/echo.php%3Fa=1",
        "encoded-hash": "/echo.php%23a", "hash": "/echo.php#frag", "nul": "/echo.php%00",
        "nul-txt": "/echo.php%00.txt", "encoded-newline": "/echo.php%0a",
        "newline-info": "/echo.php/PHP%0Ais_the_x", "bad-escape": "/%zz",
        "cut-escape": "/echo.php%4", "cut-escape-2": "/static/ten.txt%",
        "percent-static": "/static/per%25cent.txt", "question-static": "/static/q%3Fmark.txt",
        "semicolon-static": "/static/semi;colon.txt", "space-static": "/static/a%20b.txt",
        "plus-static": "/static/a+b.txt", "utf8-static": "/static/%C3%BC.txt",
        "utf8-raw": "/static/\xc3\xbc.txt", "latin1-raw": "/static/\xfc.txt",
        "utf8-php": "/%C3%BC.php?x=%C3%BC", "space-php": "/name%20with%20space.php",
        "plus-php": "/plus+and;semi.php", "params": "/echo.php;a=b", "params-dir": "/dir;x/",
        "params-query": "/echo.php;a=b?c=d", "upper": "/ECHO.PHP", "upper-ext": "/echo.PHP",
        "trailing-slash": "/echo.php/", "trailing-slashes": "/echo.php//",
        "trailing-dot": "/echo.php.", "trailing-space": "/echo.php%20",
        "static-trailing-slash": "/static/ten.txt/", "static-info": "/static/ten.txt/a",
        "static-php-info": "/static/ten.txt/x.php", "dir": "/dir", "dir-query": "/dir?a=b",
        "dir-slash": "/dir/", "dir-slash-query": "/dir/?a=b", "dir-static": "/plain",
        "dir-empty": "/empty/", "dir-empty-no-slash": "/empty", "dir-double": "/plain//",
        "dir-encoded": "/%70lain", "none": "/none", "none-php": "/none.php",
        "none-static": "/static/none.txt", "none-php-info": "/none.php/a",
        "front": "/route/of/app?a=1", "front-encoded": "/r%20o/%C3%BC?x=%26",
        "front-dot": "/route/a.b", "front-php-inside": "/x.php/y", "info": "/echo.php/a/b",
        "info-dots": "/echo.php/a/../b", "info-double": "/echo.php//a//b",
        "info-encoded": "/echo.php/%C3%BC%20%25", "info-php": "/echo.php/b.php/c",
        "info-none-php": "/echo.php/none.php", "dir-named-php": "/a.php.d/echo.php",
        "index-info": "/index.php/a?b=c", "dir-info": "/dir/index.php/x", "hidden": "/empty/.keep",
        "hidden-dir": "/.git/config", "well-known": "/.well-known/x", "root": "/",
        "empty-query": "/echo.php?", "two-questions": "/echo.php?a=1?b=2",
        "question-question": "/echo.php??", "query-slash": "/echo.php?/../x", "asterisk": "/*",
        "tilde": "/~user", "colon": "/a:b", "at": "/@a", "long": "/" + "a" * 3000,
        "segments": "/" + "a/" * 500, "uri-8000": "/echo.php?" + "q" * 8000,
        "uri-9000": "/echo.php?" + "q" * 9000, "pipe": "/a|b^c`d{e}", "quote": "/a\"b<c>",
        "info-high": "/echo.php/\xff\xfe"}.items():
    add(f"path/{name}", f"GET {target}")
for name, query in {"plain": "a=1&b=2", "empty-pairs": "&&a=1&&", "no-value": "a&b=&=c",
        "array": "a[]=1&a[]=2&a[k]=3&a[x][y]=4", "bad-bracket": "a[=1&b]=2&c[[d]]=3&d[e=4",
        "encoded-bracket": "a%5B%5D=1&a%5Bk%5D=2", "dots": "a.b=1&c%20d=2&e+f=3",
        "semicolon": "a=1;b=2", "plus": "a=1+2%2B3", "bad-escape": "a=%zz&b=%4&c=%",
        "nul": "a=%00&b%00c=2", "utf8": "a=%C3%BC&%C3%BC=1", "raw-utf8": "a=\xc3\xbc",
        "high": "a=\xff\xfe", "equals": "a=b=c==",
        "many": "&".join(f"v{i}={i}" for i in range(900)), "deep": "a" + "[x]" * 80 + "=1",
        "globals": "GLOBALS[a]=1&_SERVER[b]=2", "twice": "a=1&a=2&a[]=3", "numeric": "0=a&1=b&-1=c",
        "slash": "a=/b/../c", "question": "a=?b", "backslash": "a=\\", "quote": "a=\"'",
        "hash-encoded": "a=%23", "argv": "one+two+three", "space-lead": "+a=1&%20b=2",
        "colon": "a:b=1"}.items():
    add(f"query/{name}", f"GET /echo.php?{query}")

# --- bodies --------------------------------------------------------------------------------------

BYTES = bytes(range(256))
for name, kind in {"octets": "Content-Type: application/octet-stream",
        "text": "Content-Type: text/plain", "none": "X-None: 1", "empty-type": "Content-Type:",
        "form": URLENCODED, "form-upper": "Content-Type: APPLICATION/X-WWW-FORM-URLENCODED",
        "form-charset": URLENCODED + "; charset=utf-8", "form-odd": URLENCODED + ";;a",
        "form-comma": URLENCODED + ", text/plain",
        "json": "Content-Type: application/json"}.items():
    add(f"body/bytes/{name}", "POST /body.php", kind, body=BYTES * 5)
    add(f"body/pairs/{name}", "POST /echo.php", kind, body=b"a=1&b[]=2&c=%00%ff+")
for name, body in {"0": b"", "1": b"x", "nul": b"\0", "crlf": b"\r\n\r\n",
        "request": request("GET /smuggled HTTP/1.1"), "65536": b"y" * 65536, "65537": b"y" * 65537,
        "1-MiB": BYTES * 4096}.items():
    add(f"body/size/{name}", "POST /body.php", "Content-Type: application/octet-stream", body=body)
    add(f"body/static/{name}", "POST /static/ten.txt", body=body, follow=len(body) < 1000)
for name, body in {"twice": b"a=1&a=2", "arrays": b"a[]=1&a[2]=x&a[k][]=y", "no-value": b"a&b=&=c",
        "nul-name": b"a%00b=1", "dots": b"a.b=1&c d=2&e[f.g]=3", "plus": b"a+b=c+d",
        "high": b"a=\xff\xfe&\xfc=1", "semicolon": b"a=1;b=2", "newlines": b"a=1\r\nb=2",
        "trailing": b"a=1&", "only-ampersands": b"&&&", "deep": b"a" + b"[x]" * 80 + b"=1",
        "big-value": b"a=" + b"v" * 300000, "question": b"?a=1",
        "10000-fields": b"&".join(b"f%d=%d" % (i, i) for i in range(10000)),
        "20001-fields": b"&".join(b"f%d=%d" % (i, i) for i in range(20001)),
        "charset": "\u00fc=\u20ac".encode()}.items():
    add(f"body/form/{name}", "POST /body.php", URLENCODED, body=body)

CHUNKED = "Transfer-Encoding: chunked"
for name, body in {"plain": b"3\r\na=1\r\n0\r\n\r\n",
        "pieces": b"1\r\na\r\n1\r\n=\r\n1\r\n1\r\n0\r\n\r\n",
        "extension": b"3;x=y\r\na=1\r\n0;z\r\n\r\n",
        "quoted-extension": b'3;x="y z"\r\na=1\r\n0\r\n\r\n',
        "trailer": b"3\r\na=1\r\n0\r\nX-T: v\r\n\r\n",
        "trailer-length": b"3\r\na=1\r\n0\r\nContent-Length: 9\r\n\r\n",
        "upper": b"A\r\na=12345678\r\n0\r\n\r\n", "lower": b"a\r\na=12345678\r\n0\r\n\r\n",
        "zeros": b"0003\r\na=1\r\n000\r\n\r\n", "empty": b"0\r\n\r\n",
        "negative": b"-3\r\na=1\r\n0\r\n\r\n", "plus": b"+3\r\na=1\r\n0\r\n\r\n",
        "hex-prefix": b"0x3\r\na=1\r\n0\r\n\r\n", "no-size": b"\r\na=1\r\n0\r\n\r\n",
        "space": b"3 \r\na=1\r\n0\r\n\r\n", "lf": b"3\na=1\n0\n\n",
        "too-long-data": b"3\r\na=12\r\n0\r\n\r\n", "huge": b"ffffffffffffffff\r\na=1\r\n0\r\n\r\n",
        "bad-trailer": b"3\r\na=1\r\n0\r\nbad trailer\r\n\r\n",
        "extension-space": b"3 ; x = y\r\na=1\r\n0\r\n\r\n"}.items():
    add(f"chunked/{name}", "POST /echo.php", CHUNKED, URLENCODED, body=body, follow=name != "lf",
        timeout=3 if name == "bad-trailer" else 30)
add("chunked/1-MiB", "POST /body.php", CHUNKED, body=b"10000\r\n" + b"x" * 65536 + b"\r\n" +
    b"f0000\r\n" + b"y" * 0xf0000 + b"\r\n0\r\n\r\n")
add("chunked/get", "GET /echo.php", CHUNKED, body=b"3\r\na=1\r\n0\r\n\r\n")
add("chunked/static", "POST /static/ten.txt", CHUNKED, body=b"3\r\na=1\r\n0\r\n\r\n", follow=False)
for name, fields in {"both": (CHUNKED, "Content-Length: 3"), "both-other-way": ("Content-Length: 3",
        CHUNKED), "twice": (CHUNKED, CHUNKED), "gzip": ("Transfer-Encoding: gzip, chunked",),
        "identity": ("Transfer-Encoding: identity",), "upper": ("Transfer-Encoding: CHUNKED",),
        "list": ("Transfer-Encoding: chunked, chunked",),
        "xchunked": ("Transfer-Encoding: xchunked",), "tab": ("Transfer-Encoding:\tchunked",),
        "quoted": ('Transfer-Encoding: "chunked"',), "semicolon": ("Transfer-Encoding: chunked;x",),
        "comma": ("Transfer-Encoding: chunked,",),
        "vertical-tab": ("Transfer-Encoding: \x0bchunked",),
        "underscore": ("Transfer_Encoding: chunked", "Content-Length: 13")}.items():
    add(f"framing/{name}", "POST /echo.php", *fields, URLENCODED, body=b"3\r\na=1\r\n0\r\n\r\n",
        follow=name in ("upper", "tab"))
for name, value in {"plus": "+3", "minus": "-3", "hex": "0x3", "zeros": "0003", "space": "3 ",
        "twice-in-one": "3, 3", "text": "abc", "empty": "", "float": "3.0", "huge": "9" * 20,
        "max": "9223372036854775807"}.items():
    add(f"framing/length/{name}", "POST /echo.php", f"Content-Length: {value}", URLENCODED,
        body=b"a=1", follow=False)
add("framing/length/repeated-same", "POST /echo.php", "Content-Length: 3", "Content-Length: 3",
    URLENCODED, body=b"a=1", follow=False)
add("framing/length/repeated", "POST /echo.php", "Content-Length: 3", "Content-Length: 4",
    URLENCODED, body=b"a=1", follow=False)
for name, value in {"lower": "100-continue", "upper": "100-Continue", "other": "200-maybe",
        "empty": "", "list": "100-continue, x"}.items():
    add(f"expect/{name}", "POST /echo.php", f"Expect: {value}", URLENCODED, body=b"a=1")
for name in "lower", "upper":
    add(f"expect/waiting/{name}", "POST /echo.php",
        "Expect: 100-" + ("c" if name == "lower" else "C") + "ontinue", "Content-Length: 3",
        URLENCODED, body=b"\x1ea=1", pause=b"\x1e")
add("expect/no-body", "GET /echo.php", "Expect: 100-continue")
add("expect/1.0", "POST /echo.php HTTP/1.0", "Expect: 100-continue", URLENCODED, body=b"a=1")
add("expect/chunked", "POST /echo.php", "Expect: 100-continue", CHUNKED, URLENCODED,
    body=b"3\r\na=1\r\n0\r\n\r\n")
for name, coding in {"gzip": "gzip", "identity": "identity", "odd": "foo",
        "aws": "aws-chunked"}.items():
    add(f"body/coding/{name}", "POST /echo.php", f"Content-Encoding: {coding}", URLENCODED,
        body=b"a=1&b=2")

# --- multipart -----------------------------------------------------------------------------------


def multipart(name, *parts, boundary="BB", kind=None, end=b"--BB--\r\n", eol=b"\r\n",
    path="/body.php", mark=b"--BB", **more):
    body = b"".join(mark + eol + p + eol for p in parts) + end
    add(f"multipart/{name}", f"POST {path}",
        kind or f"Content-Type: multipart/form-data; boundary={boundary}", body=body, **more)


def field(disposition, value=b"v", *fields):
    lines = [b'Content-Disposition: form-data; ' + _bytes(disposition), *map(_bytes, fields)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + value


def file(filename, data=b"data", name="f", *fields):
    return field(b'name="%s"; filename="%s"' % (_bytes(name), _bytes(filename)), data, *fields)


for name, filename in {"plain": "a.txt", "spaces": "a b c.txt", "utf8": b"\xc3\xbc.png",
        "latin1": b"\xfc.png", "path": "../../etc/x.txt", "windows": "C:\\dir\\x.txt",
        "quote": 'a\\"b.txt', "backslash": "a\\\\b", "semicolon": "a;b.txt",
        "encoded": "%22a%2F.txt", "brackets": "a[0].txt", "empty": "", "dots": "..",
        "slash-end": "a/", "nul": b"a\0b.txt", "newline": b"a\nb.txt", "long": "n" * 3000,
        "dot-file": ".htaccess", "php": "x.php", "leading-space": " a.txt",
        "bytes": bytes(b for b in range(1, 256) if b not in b'\r\n"\\/')}.items():
    multipart(f"filename/{name}", file(filename))
for name, field_name in {"array": "f[]", "key": "f[k]", "deep": "f[a][b]", "dots": "f.g",
        "space": "f g", "bracket": "f[", "close": "f]", "bad": "f[[x]", "utf8": b"\xc3\xbc",
        "high": b"\xff", "quote": 'f\\"g', "backslash": "f\\g", "semicolon": "f;g", "empty": "",
        "numeric": "0", "globals": "GLOBALS", "underscore": "_FILES", "after": "f[a]b",
        "leading": " f", "bracket-first": "[f]", "nul": b"f\0g", "long": "f" * 3000,
        "array-twice": "f[][]"}.items():
    multipart(f"name/file/{name}", file("a.txt", name=field_name))
    multipart(f"name/field/{name}", field(b'name="%s"' % _bytes(field_name)))
for name, disposition in {"unquoted": "name=a", "unquoted-file": "name=a; filename=b.txt",
        "single": "name='a'; filename='b.txt'", "upper": 'NAME="a"; FileName="b"',
        "spaces": 'name = "a" ; filename = "b"', "no-space": 'name="a";filename="b"',
        "star": "name=\"a\"; filename*=utf-8''%C3%BC.txt",
        "both-star": "name=\"a\"; filename=\"x\"; filename*=utf-8''y",
        "twice": 'name="a"; name="b"', "no-name": 'filename="b"', "extra": 'foo="bar"; name="a"',
        "unterminated": 'name="a', "empty": "", "order": 'filename="b"; name="a"',
        "comma": 'name="a", filename="b"', "escaped": 'name="a\\b\\c"; filename="d\\e"'}.items():
    multipart(f"disposition/{name}", field(disposition))
multipart("disposition/attachment", b'Content-Disposition: attachment; name="a"\r\n\r\nv')
multipart("disposition/none", b"Content-Type: text/plain\r\n\r\nv")
multipart("disposition/lower", b'content-disposition: form-data; name="a"\r\n\r\nv')
multipart("disposition/folded", b'Content-Disposition: form-data;\r\n name="a"\r\n\r\nv')
multipart("disposition/repeated",
    b'Content-Disposition: form-data; name="a"\r\n'
    b'Content-Disposition: form-data; name="b"\r\n\r\nv')
for name, fields in {"type": ("Content-Type: image/png",),
        "type-params": ('Content-Type: text/plain; charset="x"; a=b',),
        "type-empty": ("Content-Type:",), "transfer-encoding": ("Content-Transfer-Encoding: base64",
        ), "quoted-printable": ("Content-Transfer-Encoding: quoted-printable",),
        "length": ("Content-Length: 1",), "many": tuple(f"X-{i}: v" for i in range(50)),
        "no-colon": ("nocolon",), "mixed": ("Content-Type: multipart/mixed; boundary=CC",)}.items():
    multipart(f"part/{name}", file("a.txt", b"ZGF0YQ==", "f", *fields), field('name="g"', b"=41",
        *fields))
for name, kind in {"quoted": 'multipart/form-data; boundary="BB"',
        "spaces": "multipart/form-data;   boundary=BB  ",
        "no-space": "multipart/form-data;boundary=BB", "upper": "Multipart/Form-Data; BOUNDARY=BB",
        "charset": "multipart/form-data; charset=utf-8; boundary=BB",
        "after": "multipart/form-data; boundary=BB; charset=utf-8",
        "comma": "multipart/form-data; boundary=BB,x", "none": "multipart/form-data",
        "empty": "multipart/form-data; boundary=", "wrong": "multipart/form-data; boundary=CC",
        "mixed": "multipart/mixed; boundary=BB", "related": "multipart/related; boundary=BB",
        "unterminated": 'multipart/form-data; boundary="BB',
        "twice": "multipart/form-data; boundary=CC; boundary=BB",
        "equals-space": "multipart/form-data; boundary = BB",
        "xboundary": "multipart/form-data; xboundary=BB"}.items():
    multipart(f"boundary/{name}", field('name="a"'), file("b.txt"), kind=f"Content-Type: {kind}")
LONG = "b" * 70
multipart("boundary/70", field('name="a"'), boundary=LONG, mark=b"--" + LONG.encode(),
    end=b"--" + LONG.encode() + b"--\r\n")
ODD = "a'()+_,-./:=? b"
multipart("boundary/odd", field('name="a"'), boundary=f'"{ODD}"', mark=b"--" + ODD.encode(),
    end=b"--" + ODD.encode() + b"--\r\n")
multipart("boundary/5000", field('name="a"'), boundary="b" * 5000, mark=b"--" + b"b" * 5000,
    end=b"--" + b"b" * 5000 + b"--\r\n")
multipart("end/none", field('name="a"'), file("b.txt"), end=b"")
multipart("end/no-crlf", field('name="a"'), end=b"--BB--")
multipart("end/epilogue", field('name="a"'),
    end=b"--BB--\r\nepilogue\r\n--BB\r\n" + field('name="z"'))
multipart("end/cut", field('name="a"'), file("b.txt", b"data"), end=b"--BB\r\n" + file("c.txt",
    b"cut"))
multipart("end/cut-header", field('name="a"'), end=b"--BB\r\nContent-Disp")
multipart("lf", field('name="a"'), file("b.txt"), eol=b"\n")
multipart("preamble", b"preamble\r\n--BB\r\n" + field('name="a"'), mark=b"", eol=b"")
multipart("no-parts")
multipart("empty-body", end=b"")
multipart("empty-file", file("e.bin", b""))
multipart("one-byte", file("e.bin", b"x"))
multipart("all-bytes", file("e.bin", BYTES * 20), field('name="a"', BYTES))
multipart("crlf-ends", file("e.bin", b"\r\n\r\n"), field('name="a"', b"\r\n"))
multipart("boundary-in-data", file("e.bin", b"--BB\r\n--B\r\n\r\n--BBx"), field('name="a"', b"--B"))
multipart("1-MiB", file("e.bin", BYTES * 4096), field('name="a"'))
multipart("same-name", file("a.txt", b"1"), file("b.txt", b"2"), field('name="f"', b"3"))
multipart("array-of-files", *[file(f"{i}.txt", b"%d" % i, "f[]") for i in range(5)])
multipart("array-mixed", file("a", b"1", "f[x]"), file("", b"", "f[y]"), file("c", b"3", "f[z][]"))
multipart("max-file-size", field('name="MAX_FILE_SIZE"', b"3"), file("a.txt", b"1234"),
    file("b.txt", b"12", "g"))
multipart("19-files", *[file(f"{i}.txt", b"%d" % i, f"f{i}") for i in range(19)])
multipart("1000-files", *[file(f"{i}.txt", b"%d" % i, f"f{i}") for i in range(1000)])
multipart("1000-fields", *[field(f'name="f{i}"', b"%d" % i) for i in range(1000)])
multipart("put", field('name="a"'), path="/echo.php")
add("multipart/method-put", "PUT /body.php", "Content-Type: multipart/form-data; boundary=BB",
    body=b"--BB\r\n" + file("a.txt") + b"\r\n--BB--\r\n")
add("multipart/chunked", "POST /body.php", "Content-Type: multipart/form-data; boundary=BB",
    CHUNKED, body=b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in (b"--BB\r\n", file("a.txt"),
    b"\r\n--BB--\r\n")) + b"0\r\n\r\n")

# --- ranges and conditions -----------------------------------------------------------------------

for name, value in {"first": "bytes=0-0", "middle": "bytes=2-4", "open": "bytes=5-",
        "suffix": "bytes=-3", "whole": "bytes=0-9", "beyond": "bytes=5-100",
        "unsatisfiable": "bytes=10-", "suffix-long": "bytes=-100", "suffix-0": "bytes=-0",
        "reversed": "bytes=4-2", "two": "bytes=0-1,4-5", "three": "bytes=0-0,2-2,-1",
        "overlap": "bytes=0-5,3-8", "adjacent": "bytes=0-4,5-9", "spaces": "bytes= 0-1 , 3-4 ",
        "one-bad": "bytes=0-1,20-30", "all-bad": "bytes=20-30,40-50", "unit": "items=0-1",
        "upper": "BYTES=0-1", "no-unit": "0-1", "empty": "bytes=", "text": "bytes=a-b",
        "plus": "bytes=+1-2", "huge": "bytes=0-99999999999999999999",
        "huge-first": "bytes=99999999999999999999-", "comma": "bytes=,0-1",
        "comma-end": "bytes=0-1,", "minus": "bytes=-",
        "many": "bytes=" + ",".join("0-0" for _ in range(30))}.items():
    add(f"range/static/{name}", "GET /static/ten.txt", f"Range: {value}")
for name, value in {"first": "bytes=0-3", "unsatisfiable": "bytes=100-",
        "two": "bytes=0-1,4-5"}.items():
    add(f"range/php/{name}", "GET /length.php", f"Range: {value}")
    add(f"range/php-own/{name}", "GET /range.php", f"Range: {value}")
    add(f"range/head/static/{name}", "HEAD /static/ten.txt", f"Range: {value}")
    add(f"range/post/{name}", "POST /length.php", f"Range: {value}")
OLD = "Sun, 01 Jan 2023 00:00:00 GMT"
SAME = "Mon, 01 Jan 2024 00:00:00 GMT"
NEW = "Wed, 01 Jan 2025 00:00:00 GMT"
for name, fields in {"ims-old": (f"If-Modified-Since: {OLD}",),
        "ims-same": (f"If-Modified-Since: {SAME}",), "ims-new": (f"If-Modified-Since: {NEW}",),
        "ims-bad": ("If-Modified-Since: yesterday",), "ims-empty": ("If-Modified-Since:",),
        "ims-850": ("If-Modified-Since: Monday, 01-Jan-24 00:00:00 GMT",),
        "ims-asctime": ("If-Modified-Since: Mon Jan  1 00:00:00 2024",),
        "ius-old": (f"If-Unmodified-Since: {OLD}",), "ius-same": (f"If-Unmodified-Since: {SAME}",),
        "inm-same": (b"If-None-Match: {etag}",), "inm-other": ('If-None-Match: "other"',),
        "inm-star": ("If-None-Match: *",), "inm-list": (b'If-None-Match: "x", {etag}',),
        "inm-weak": (b"If-None-Match: W/{etag}",), "inm-unquoted": ("If-None-Match: abc",),
        "inm-other-ims-same": ('If-None-Match: "other"', f"If-Modified-Since: {SAME}"),
        "inm-same-ims-old": (b"If-None-Match: {etag}", f"If-Modified-Since: {OLD}"),
        "im-same": (b"If-Match: {etag}",), "im-other": ('If-Match: "other"',),
        "im-star": ("If-Match: *",), "if-range-etag": (b"If-Range: {etag}", "Range: bytes=0-1"),
        "if-range-other": ('If-Range: "other"', "Range: bytes=0-1"),
        "if-range-date": (f"If-Range: {SAME}", "Range: bytes=0-1"),
        "if-range-old": (f"If-Range: {OLD}", "Range: bytes=0-1"),
        "if-range-new": (f"If-Range: {NEW}", "Range: bytes=0-1"),
        "if-range-alone": (b"If-Range: {etag}",), "inm-range": (b"If-None-Match: {etag}",
        "Range: bytes=0-1"), "im-other-range": ('If-Match: "other"', "Range: bytes=0-1")}.items():
    add(f"condition/static/{name}", "GET /static/ten.txt", *fields)
    if "range" not in name:
        add(f"condition/head/static/{name}", "HEAD /static/ten.txt", *fields)
for name, fields in {"inm-same": ('If-None-Match: "v1"',), "inm-other": ('If-None-Match: "x"',),
        "ims-same": (f"If-Modified-Since: {SAME}",), "im-other": ('If-Match: "x"',),
        "ius-old": (f"If-Unmodified-Since: {OLD}",)}.items():
    add(f"condition/php/{name}", "GET /etag.php", *fields)

# --- answers of scripts --------------------------------------------------------------------------

for method in "GET", "HEAD", "POST":
    for status in 200, 201, 204, 205, 206, 301, 304, 404, 416, 500, 503:
        add(f"answer/{method}/{status}", f"{method} /status.php?s={status}")
for name, query in {"204-length": "s=204&h[]=Content-Length:4",
        "304-etag": 's=304&h[]=ETag:"a"&h[]=Content-Type:text/x',
        "length-short": "s=200&h[]=Content-Length:4&b=body", "type-none": "s=200&h[]=Content-Type:",
        "type-no-charset": "s=200&h[]=Content-Type:text/x",
        "type-json": "s=200&h[]=Content-Type:application/json",
        "cookies": "s=200&h[]=Set-Cookie:a=1&h[]=Set-Cookie:b=2",
        "location": "s=200&h[]=Location:/x", "location-201": "s=201&h[]=Location:/x",
        "location-absolute": "s=302&h[]=Location:http://a.test/b",
        "status-field": "s=200&h[]=Status:418%20Tea",
        "status-line": "s=200&h[]=HTTP/1.1%20410%20Gone",
        "authenticate": "s=200&h[]=WWW-Authenticate:Basic", "server": "s=200&h[]=Server:mine",
        "date": "s=200&h[]=Date:today", "connection": "s=200&h[]=X-A:1&h[]=Keep-Alive:x",
        "transfer-encoding": "s=200&h[]=Trailer:x",
        "duplicates": "s=200&h[]=X-A:1&h[]=X-A:2&h[]=x-a:3", "empty-value": "s=200&h[]=X-A:",
        "high": "s=200&h[]=X-A:%FC%C3%BC", "last-modified": "s=200&h[]=Last-Modified:x",
        "vary": "s=200&h[]=Vary:Cookie", "accel-expires": "s=200&h[]=X-Accel-Expires:10",
        "encoding": "s=200&h[]=Content-Encoding:identity",
        "range": "s=206&h[]=Content-Range:bytes%200-3/9", "empty": "s=200&b=",
        "empty-404": "s=404&b=", "empty-500": "s=500&b=",
        "cache-control": "s=200&h[]=Cache-Control:no-store&h[]=Pragma:no-cache",
        "refresh": "s=200&h[]=Refresh:0", "long-field": "s=200&h[]=X-A:" + "v" * 4000,
        "accept-ranges": "s=200&h[]=Accept-Ranges:bytes"}.items():
    add(f"answer/field/{name}", f"GET /status.php?{query}")
for path in ("echo.php", "length.php", "etag.php", "static/ten.txt", "static/data.bin", "plain/",
             "plain", "dir/", "none.php", "none", "route/x", "empty/", "early.php/x"):
    add(f"head/{path}", f"HEAD /{path}")
    add(f"head/1.0/{path}", f"HEAD /{path} HTTP/1.0")

# --- content codings -----------------------------------------------------------------------------

for name, value in {
        "gzip": "gzip", "deflate": "deflate", "identity": "identity", "star": "*", "empty": "",
        "gzip-q0": "gzip;q=0", "gzip-q": "gzip;q=0.5", "star-q0": "*;q=0", "x-gzip": "x-gzip",
        "upper": "GZIP", "list": "compress, gzip", "identity-first": "identity;q=1, gzip;q=0.5",
        "bad-q": "gzip;q=x", "spaces": " gzip ; q=1 "}.items():
    add(f"coding/php/{name}", "GET /big.php", f"Accept-Encoding: {value}")
    add(f"coding/file/{name}", "GET /big.txt", f"Accept-Encoding: {value}")
GZIP = "Accept-Encoding: gzip"
for path in "big.css", "big.js", "big.json", "big.svg", "big.png", "big.html", "static/ten.txt":
    add(f"coding/type/{path}", f"GET /{path}", GZIP)
for path in "big.php", "big.txt":
    add(f"coding/head/{path}", f"HEAD /{path}", GZIP)
    add(f"coding/via/{path}", f"GET /{path}", GZIP, "Via: 1.1 a")
    # What follows would make nginx reset the connection, perhaps before all was read.
    add(f"coding/1.0/{path}", f"GET /{path} HTTP/1.0", GZIP, follow=False)
    add(f"coding/range/{path}", f"GET /{path}", GZIP, "Range: bytes=0-9")
for name, query in {
        "1024": "n=1", "encoded": "h[]=Content-Encoding:foo", "png": "h[]=Content-Type:image/png",
        "etag": "h[]=ETag:%22v%22", "weak-etag": "h[]=ETag:W/%22v%22", "vary": "h[]=Vary:Cookie",
        "no-transform": "h[]=Cache-Control:no-transform", "length": "h[]=Content-Length:4500",
        "404": "h[]=Status:404", "500": "h[]=Status:500", "206": "h[]=Status:206",
        "json": "h[]=Content-Type:application/json", "plain": "h[]=Content-Type:text/plain",
        "xml": "h[]=Content-Type:application/xml", "no-type": "h[]=Content-Type:",
        "accept-ranges": "h[]=Accept-Ranges:bytes"}.items():
    add(f"coding/answer/{name}", f"GET /big.php?{query}", GZIP)
