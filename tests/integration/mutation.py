# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Requests that are nearly right.

mutated(seed, i) is the i-th request of a seed, as bytes: one of a corpus of valid requests, changed
in its parts (line, fields, cookies, body, framing), in its bytes, or both. The same arguments give
the same bytes, so a request that breaks something can be sent again alone.
"""
import gzip
import random
import urllib.parse

BOUNDARY = "----b0undary"


class Request:
    """The parts. framing: None, "length" or "chunked"."""

    def __init__(self, method="GET", target="/echo.php", fields=(), body=b"", framing=None,
                 version="HTTP/1.1"):
        self.method, self.target, self.version = method, target, version
        self.fields = [("Host", "localhost"), *fields]
        self.body = body
        self.framing = framing or ("length" if body else None)

    def copy(self):
        r = Request(self.method, self.target, (), self.body, self.framing, self.version)
        r.fields = list(self.fields)
        return r

    def render(self, rng):
        """The bytes. Chunks are cut where rng wants them."""
        lines = [f"{self.method} {self.target} {self.version}"]
        lines += [f"{n}: {v}" for n, v in self.fields]
        body = self.body
        if self.framing == "length":
            lines.append(f"Content-Length: {len(body)}")
        elif self.framing == "chunked":
            lines.append("Transfer-Encoding: chunked")
            body = chunks(body, rng)
        head = "\r\n".join(lines) + "\r\n\r\n"
        return head.encode("utf-8", "surrogateescape") + body


def chunks(body, rng):
    out, at = [], 0
    while at < len(body):
        n = rng.choice([1, 2, 15, 16, 255, 4096])
        piece = body[at:at + n]
        out.append(b"%x%s\r\n%s\r\n" % (len(piece), rng.choice([b"", b"", b";a", b';a="b c"']),
                                        piece))
        at += n
    out.append(rng.choice([b"0\r\n\r\n", b"000\r\n\r\n", b"0\r\nX-Trailer: 1\r\n\r\n"]))
    return b"".join(out)


def part(name, value, filename=None, kind=None):
    head = f'Content-Disposition: form-data; name="{name}"'
    if filename is not None:
        head += f'; filename="{filename}"'
    if kind:
        head += f"\r\nContent-Type: {kind}"
    return head.encode("utf-8", "surrogateescape") + b"\r\n\r\n" + value


def multipart(parts, boundary=BOUNDARY):
    mark = b"--" + boundary.encode()
    return b"".join(mark + b"\r\n" + p + b"\r\n" for p in parts) + mark + b"--\r\n"


def form(fields, target="/echo.php", framing=None):
    return Request("POST", target, [("Content-Type", "application/x-www-form-urlencoded")],
                   fields.encode(), framing)


def upload(parts, target="/echo.php", framing=None, boundary=BOUNDARY):
    kind = f"multipart/form-data; boundary={boundary}"
    return Request("POST", target, [("Content-Type", kind)], multipart(parts, boundary), framing)


BYTES = bytes(range(256))
PARTS = [part("a", b"1"), part("b[]", b"2"), part("b[x][y]", b"3"), part("f", BYTES * 40, "f.bin"),
         part("g[]", b"text\r\n", "../g.txt", "text/plain"), part("e", b"", ""),
         part("MAX_FILE_SIZE", b"5000"), part("h", b"--" + BOUNDARY.encode()[:-1], "h\\.txt")]

CORPUS = [
    Request(target="/"),
    Request(target="/echo.php?a=1&b[]=2&b[]=3&c[k][l]=%C3%BC+%20&d"),
    Request(target="/echo.php/path/info%2Fx?q"),
    Request(target="/some/route/of/the/app?x=1"),
    Request(target="http://other.test:81/echo.php?abs"),
    Request(target="/sub?a"), Request(target="/sub/"), Request(target="/no/such.php"),
    Request("HEAD", "/echo.php"), Request("HEAD", "/static.txt"),
    Request("OPTIONS", "*"), Request("OPTIONS", "/static.txt"), Request("DELETE", "/static.txt"),
    Request(target="/static.txt", fields=[("Range", "bytes=0-9")]),
    Request(target="/static.txt", fields=[("Range", "bytes=0-9,20-29,-5"), ("If-Range", '"x"')]),
    Request(target="/static.txt", fields=[("If-None-Match", '"a", W/"b", *')]),
    Request(target="/static.txt", fields=[
        ("If-Modified-Since", "Mon, 01 Jan 2024 00:00:00 GMT"), ("Accept-Encoding", "br, gzip")]),
    Request(target="/big.php?n=70000", fields=[("Accept-Encoding", "zstd, br;q=0.9, gzip;q=0")]),
    Request(target="/big.php?n=3000&flush=1", version="HTTP/1.0"),
    Request(target="/headers.php?s=404&h[]=X-A:1&h[]=Set-Cookie:a%3Db&h[]=Content-Length:4"),
    Request(target="/headers.php?h[]=X-Accel-Redirect:/static.txt"),
    Request(target="/finish.php"), form("a=1", "/finish.php"), Request(target="/hints.php", fields=[
        ("Accept-Encoding", "gzip")]),
    Request(target="/headers.php?h[]=X-Accel-Redirect:/static.txt&h[]=Content-Type:a/b",
            fields=[("Range", "bytes=5-9"), ("If-None-Match", "*")]),
    Request(target="/headers.php?s=204"), Request(target="/headers.php?s=304&h[]=ETag:%22v%22"),
    Request(target="/echo.php", fields=[
        ("Cookie", 'a=1; b="x y"; c=%20d; a=2; PHPSESSID=abc; d[e]=f'), ("Cookie", "g=h")]),
    Request(target="/echo.php", fields=[
        ("Authorization", "Basic YWxpY2U6c2VjcmV0"), ("X-Forwarded-For", "10.0.0.1, ::1"),
        ("X-Forwarded-Proto", "https"), ("Forwarded", 'for="[::1]:80";proto=http;host=a.test')]),
    Request(target="/echo.php", fields=[("Connection", "keep-alive, Upgrade"),
                                        ("Upgrade", "websocket"), ("TE", "trailers")]),
    form("a=1&b[]=2&b[]=3&c[k]=v&d=%C3%BC+x"),
    form("a=1&b[]=2&c.d=3&e f=4&=5&g", framing="chunked"),
    form("a[" * 70 + "x=1&b[c]d[e]=2&" + "k%00=v&f=" + "x" * 6000),
    form("&".join(f"v{i}={i}" for i in range(1200))),
    Request("POST", "/echo.php", [("Content-Type", "application/json")], b'{"a":[1,2,{"b":null}]}'),
    Request("PUT", "/echo.php", [("Content-Type", "application/octet-stream")], BYTES * 30),
    Request("PATCH", "/stream.php", [("Expect", "100-continue")], BYTES * 10, "chunked"),
    Request("POST", "/stream.php", [], BYTES * 60),
    Request("POST", "/static.txt", [], b"x" * 100),
    Request("POST", "/echo.php", [("Content-Encoding", "gzip"), ("Content-Type", "text/plain")],
            gzip.compress(b"hello" * 50, mtime=0)),
    upload(PARTS[:3]), upload(PARTS), upload(PARTS, framing="chunked"),
    upload(PARTS, "/stream.php"), upload([part(f"f{i}", b"x", f"{i}.txt") for i in range(30)]),
    upload([part("f", BYTES * 30, "f\r\nX-Y: z")], boundary='"quoted boundary"'),
    Request("GET", "/echo.php", [("Expect", "100-continue")], b"body of a GET"),
    Request("PROPFIND", "/echo.php", [("Depth", "1")], b"<?xml version='1.0'?><propfind/>"),
]

METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH",
    "PROPFIND", "QUERY", "get", "M-SEARCH", "G", "PRI", "X" * 300, "", "GE T", "GET\t", "POST/",
    "{}"]
TARGETS = ["/", "*", "", "//", "//echo.php", "/./echo.php", "/x/../echo.php", "/../echo.php",
    "/%2e%2e/etc/passwd", "/echo.php%00.txt", "/echo.php%", "/echo.php%zz", "/%", "/echo.PHP",
    "/echo.php.", "/echo.php/", "/echo.php//", "/echo.php;x=1", "/echo.php?", "/echo.php??a",
    "/echo.php#f", "/.user.ini", "/.hidden", "/sub/../sub", "/static.txt/x", "/\\echo.php",
    "http://", "http://a", "http://a?b", "http://u@a/", "https://[::1]:1/", "ftp://a/",
    "/" + "a" * 9000, "/" + "../" * 40, "/%c0%ae%c0%ae/", "/\u00fc", "/\udcff", "/a b",
    "/_ephpm/health", "/_ephpm/ready", "/_ephpm/x", "/echo.php?" + "a[]=1&" * 1500]
VERSIONS = ["HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "HTTP/0.9", "HTTP/1.", "HTTP/11",
    "http/1.1", "", "HTTP/1.1 ", "HTTP/1.1\t", "HTTP/3", "ICY/1.0", "HTTP/1.1\r"]
NAMES = ["Host", "Content-Length", "Transfer-Encoding", "Content-Type", "Connection", "Expect",
    "TE", "Upgrade", "Cookie", "Range", "If-Range", "If-Match", "If-None-Match",
    "If-Modified-Since", "If-Unmodified-Since", "Accept-Encoding", "Accept", "Authorization",
    "Trailer", "Keep-Alive", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host",
    "Forwarded", "X-Real-IP", "Proxy", "X_Under", "X-", "X Y", "X:", "", "\u00e4", "X\0",
    "Content-length ", "Priority", "X-Item", "User-Agent", "Referer", "Early-Data",
    "HTTP2-Settings", "Content-Encoding"]
VALUES = ["", " ", "0", "1", "-1", "+5", "0x10", "5,5", "18446744073709551616",
    "9223372036854775807", "chunked", "gzip, chunked", "chunked, chunked", "identity", "close",
    "keep-alive", "upgrade", "100-continue", "100-Continue, x", "bytes=0-", "bytes=-1", "bytes=5-1",
    "bytes=" + "0-0," * 200, "bytes=18446744073709551615-", "bytes 0-1", '"', 'W/"', '*', '"a',
    "a\tb", "a\x01b", "\x7f", "a\0b", "\u00e9", "\udcff\udcfe", "a" * 9000, "a;" * 500,
    "multipart/form-data", "multipart/form-data; boundary=",
    "multipart/form-data; boundary=" + "b" * 300, 'multipart/form-data; boundary="x',
    "multipart/form-data; boundary=a, boundary=b",
    "application/x-www-form-urlencoded; charset=utf-7", "text/plain\r\n folded", "Basic", "Basic !",
    "Basic " + "QQ" * 3000, "Bearer x", "a=b;;=c;d", "[::1]", "[::1", "a.test:99999", "a..b", "-",
    "for=_x;by=", 'for="[::1]:x"', "1.2.3.4, , unknown", "Thu, 01 Jan 1970 00:00:00 GMT",
    "Thu, 99 Foo 9999 25:61:61 GMT", "gzip;q=1.001", "*;q=0", "br;q=", ", , ,", "x" * 40000]
BODY_BITS = [b"&", b"=", b"%", b"%00", b"[", b"]", b"[]", b"[[", b"a[b][c]=d", b"\0", b"\r\n",
    b"\r\n\r\n", b"\r\n--" + BOUNDARY.encode(), b"\r\n--" + BOUNDARY.encode() + b"--", b'name="',
    b'"', b"\\", b'filename="', b"; ", b"Content-Disposition: form-data", b"Content-Type: ",
    b"Content-Transfer-Encoding: base64", b"filename*=utf-8''x", b"\xff\xfe", b"_FILES[a]=1",
    b"GLOBALS[x]=1", b"a.b=1", b"+", b"%u0041", b"%C0%80", b"_" * 70000]
TOKENS = [b"\r\n", b"\n", b"\r", b"\r\n\r\n", b" ", b"\t", b":", b"\0", b"\xff", b"0\r\n\r\n",
    b"ffffffff\r\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"GET /echo.php HTTP/1.0\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\n", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding:\tchunked\r\n", b"Transfer-Encoding : chunked\r\n",
    b"Connection: close\r\n", b"Expect: 100-continue\r\n", b"Host: b\r\n", b"HTTP/1.1",
    b"%2e%2e%2f", b"%00", b"%0d%0a", b"../", b"\x16\x03\x01\x02\0\x01\0",
    b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n", b"\r\n ", b";", b"=", b"7fffffffffffffff\r\n"]


# --- changes of parts: each takes (request, rng) and changes the request in place ----------------

def change_method(r, rng):
    r.method = rng.choice(METHODS)


def change_target(r, rng):
    r.target = rng.choice(TARGETS)


def tweak_target(r, rng):
    t, at = r.target, rng.randrange(len(r.target) + 1)
    what = rng.randrange(5)
    if what == 0:
        t = t[:at] + urllib.parse.quote(t[at:at + 1], safe="", errors="surrogateescape") + t[
            at + 1:]
    elif what == 1:
        t = t[:at] + "".join(f"%{ord(c) & 255:02x}" for c in t[at:at + 1]) + t[at + 1:]
    elif what == 2:
        t = t[:at] + rng.choice(["/", "//", "/./", "/../", "?", "&", ";", "%", "%2F", ".php", "[",
            "=", "%00", "\udc80", "+", "~", ".", "\\"]) + t[at:]
    elif what == 3:
        t += rng.choice(["?", "&"]) + "p%d=%s" % (rng.randrange(9), "v" * rng.randrange(300))
    else:
        t = t.replace("%", "%25")
    r.target = t


def change_version(r, rng):
    r.version = rng.choice(VERSIONS)


def add_field(r, rng):
    pair = rng.choice(NAMES), rng.choice(VALUES)
    r.fields.insert(rng.randrange(len(r.fields) + 1), pair)


def add_many_fields(r, rng):
    n = rng.choice([10, 60, 98, 99, 150])
    r.fields += [(f"X-F{i % 70}", "v" * rng.choice([0, 5, 400])) for i in range(n)]


def change_field(r, rng):
    if not r.fields:
        return
    i = rng.randrange(len(r.fields))
    n, v = r.fields[i]
    what = rng.randrange(7)
    if what == 0:
        r.fields.append((n, v))
    elif what == 1:
        del r.fields[i]
    elif what == 2:
        r.fields[i] = n.swapcase(), v
    elif what == 3:
        r.fields[i] = n, rng.choice(VALUES)
    elif what == 4:
        r.fields[i] = rng.choice(NAMES), v
    elif what == 5:
        r.fields[i] = n, rng.choice(["\t", "  ", ""]) + v + rng.choice(["\t ", " ", "\r\n more",
            ","])
    else:
        rng.shuffle(r.fields)


def change_cookies(r, rng):
    odd = ["=", "a", "a=", "=b", ";", " ", "a=b=c", "a[b]=c", "a[=c", "a.b=c", "a%3Db=c", 'a="b;c"',
           "a=%00", "a=\udcff", "__Host-x=1", "a" * 5000 + "=1", ",", "\t", "A=1", "a=1"]
    value = rng.choice(["; ", ";", " ; ", ","]).join(rng.choices(odd, k=rng.randrange(1, 8)))
    r.fields.append((rng.choice(["Cookie", "cookie", "COOKIE"]), value))


def lie_about_length(r, rng):
    n = len(r.body)
    lie = rng.choice([n + 1, n - 1, n + 5, n // 2, 0, -1, 1 << 31, 1 << 63, f"+{n}", f"{n:#x}",
        f"0{n}", f"{n},{n}", f"{n} ", "", f"{n}\r\nContent-Length: {n}", "9" * 30])
    r.fields.append(("Content-Length", str(lie)))
    r.framing = rng.choice([None, None, None, "chunked", "length"])


def change_framing(r, rng):
    r.framing = rng.choice([None, "length", "chunked"])


def change_body(r, rng):
    b = bytearray(r.body)
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(b) + 1)
        what = rng.randrange(4)
        if what == 0:
            b[at:at] = rng.choice(BODY_BITS)
        elif what == 1:
            b[at:at + rng.randrange(1, 30)] = b""
        elif what == 2 and at < len(b):
            b[at] = rng.randrange(256)
        else:
            b[at:] = b[at:] + b[:rng.randrange(200)]
    r.body = bytes(b)
    if r.body and r.framing is None:
        r.framing = "length"


def change_parts(r, rng):
    """Of a multipart body: swapped, repeated, dropped, glued."""
    mark = b"--" + BOUNDARY.encode()
    pieces = r.body.split(mark)
    if len(pieces) < 3:
        return change_body(r, rng)
    what = rng.randrange(6)
    i, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    if what == 0:
        pieces[i], pieces[j] = pieces[j], pieces[i]
    elif what == 1:
        pieces[i:i] = [pieces[j]] * rng.choice([1, 2, 25])
    elif what == 2:
        del pieces[i]
    elif what == 3:
        mark = rng.choice([b"--", b"-" + mark, mark + b" ", mark[:-1], mark.upper(), b"\n" + mark])
    elif what == 4:
        head, _, data = pieces[i].partition(b"\r\n\r\n")
        pieces[i] = head.replace(b'"', rng.choice([b"", b"'", b'""', b'\\"'])) + b"\r\n\r\n" + data
    else:
        pieces[i] = pieces[i].replace(b"\r\n", rng.choice([b"\n", b"\r", b"\r\n\r\n", b"\r\n\t"]))
    r.body = mark.join(pieces)
    return None


# Most bodies are odd and framed well, so that they reach PHP.
PART_CHANGES = [change_method, change_target, change_version, add_field, change_field,
                lie_about_length, change_framing, add_many_fields,
                *[tweak_target, change_cookies] * 2, *[change_body, change_parts] * 3]


# --- changes of bytes ----------------------------------------------------------------------------

def splice(data, rng):
    other = rng.choice(CORPUS).render(rng)
    return data[:rng.randrange(len(data) + 1)] + other[rng.randrange(len(other)):]


def change_lines(data, rng):
    lines = data.split(b"\r\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    what = rng.randrange(4)
    if what == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif what == 1:
        lines.insert(i, lines[j])
    elif what == 2:
        del lines[i]
    else:
        return data.replace(b"\r\n", rng.choice([b"\n", b"\r", b"\r\r\n", b"\n\r"]),
                            rng.randrange(1, 4))
    return b"\r\n".join(lines)


def change_digits(data, rng):
    at = [i for i, c in enumerate(data[:4000]) if 48 <= c <= 57]
    if not at:
        return data
    i = rng.choice(at)
    return data[:i] + rng.choice([b"0", b"9", b"-", b"99", b"ffff", b"", b"00"]) + data[i + 1:]


def change_bytes(data, rng):
    # Heads are where decisions are made, so they get more than their share.
    end = len(data) if rng.random() < 0.4 else min(len(data), data.find(b"\r\n\r\n") + 4 or 1)
    at = rng.randrange(max(end, 1))
    what = rng.randrange(9)
    if what == 0:
        return data[:at] + bytes([(data[at:at + 1] or b"a")[0] ^ 1 << rng.randrange(8)]) + data[
            at + 1:]
    if what == 1:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1:]
    if what == 2:
        return data[:at] + data[at + rng.randrange(1, 20):]
    if what == 3:
        return data[:at] + data[at:at + rng.randrange(1, 40)] + data[at:]
    if what == 4:
        return data[:at] + rng.choice(TOKENS) + data[at:]
    if what == 5:
        return data[:at] + rng.randbytes(rng.randrange(1, 12)) + data[at:]
    if what == 6:
        return splice(data, rng)
    if what == 7:
        return change_lines(data, rng)
    return change_digits(data, rng)


def mutated(seed, i):
    """The i-th request of this seed; some are several in a row."""
    rng = random.Random(f"{seed}/{i}")
    if rng.random() < 0.06:
        data = b"".join(mutated_once(rng, i) for _ in range(rng.randrange(2, 5)))
        return change_bytes(data, rng) if rng.random() < 0.5 else data
    return mutated_once(rng, i)


def mutated_once(rng, i):
    """One request; its X-Item is i."""
    r = rng.choice(CORPUS).copy()
    r.fields.append(("X-Item", str(i)))
    way = rng.random()
    if way < 0.85:
        for _ in range(rng.choice([1, 1, 2, 3])):
            rng.choice(PART_CHANGES)(r, rng)
    data = r.render(rng)
    if way > 0.7:
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            data = change_bytes(data, rng)
    if rng.random() < 0.04:
        data = data[:rng.randrange(len(data) + 1)]
    return data
