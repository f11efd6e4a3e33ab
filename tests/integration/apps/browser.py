# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A client that behaves as a browser does: cookies by path, redirects, forms, uploads.

    b = Browser(server)
    page = b.get("/login")
    page = b.submit(page, {"user": "a", "password": "b"})   # the page's first form that has them
"""
import email.utils
import gzip
import html.parser
import re
import time
import urllib.parse

import httpc


class Form:
    """action, method, multipart, fields: {name: value} of what a browser would send unasked."""

    def __init__(self, attrs):
        self.action = attrs.get("action") or ""
        self.method = (attrs.get("method") or "get").upper()
        self.multipart = attrs.get("enctype") == "multipart/form-data"
        self.id = attrs.get("id")
        self.fields, self.names, self.files = {}, set(), set()


class _Parser(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.forms, self.form, self.area, self.select = [], None, None, None
        self.links = []

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag == "a" and a.get("href"):
            self.links.append(a["href"])
        if tag == "form":
            self.form = Form(a)
            self.forms.append(self.form)
        name = a.get("name")
        if not self.form or not name:
            if tag == "option" and self.select:
                self._option(a)
            return
        self.form.names.add(name)
        if tag == "textarea":
            self.area = name
            self.form.fields[name] = ""
        elif tag == "select":
            self.select = name
        elif tag == "input":
            self._input(name, a)

    def _input(self, name, a):
        kind = (a.get("type") or "text").lower()
        if kind == "file":
            self.form.files.add(name)
        elif kind in ("checkbox", "radio"):
            if "checked" in a:
                self.form.fields[name] = a.get("value", "on")
        elif kind not in ("submit", "button", "image", "reset"):
            self.form.fields[name] = a.get("value") or ""

    def _option(self, a):
        if self.select not in self.form.fields or "selected" in a:
            self.form.fields[self.select] = a.get("value", "")

    def handle_data(self, data):
        if self.area:
            self.form.fields[self.area] += data

    def handle_endtag(self, tag):
        if tag == "form":
            self.form = None
        elif tag == "textarea":
            # A browser drops the newline after the tag and sends CRLF.
            value = re.sub(r"^\n", "", self.form.fields[self.area]) if self.form else ""
            if self.form and self.area:
                self.form.fields[self.area] = value.replace("\r\n", "\n").replace("\n", "\r\n")
            self.area = None
        elif tag == "select":
            self.select = None


class Page:
    """One answer: status, url (path and query), text, body, headers by get()/all(), forms, links."""

    def __init__(self, response, url, hops):
        self.response, self.url, self.hops = response, url, hops
        self.status, self.body = response.status, response.body
        if response.get("Content-Encoding") == "gzip":
            self.body = gzip.decompress(self.body)
        self._parsed = None

    def get(self, name, default=None):
        return self.response.get(name, default)

    def all(self, name):
        return self.response.all(name)

    @property
    def text(self):
        return self.body.decode("utf-8", "replace")

    def _parse(self):
        if self._parsed is None:
            self._parsed = _Parser()
            self._parsed.feed(self.text)
        return self._parsed

    @property
    def forms(self):
        return self._parse().forms

    @property
    def links(self):
        return self._parse().links

    def form(self, *names):
        """The first form that has fields of all these names."""
        for f in self.forms:
            if set(names) <= f.names:
                return f
        raise AssertionError(f"no form with {names} in {self.url}: {self.status}\n{self.text[:2000]}")

    def find(self, pattern):
        """The first group of the first match in the text."""
        m = re.search(pattern, self.text, re.S)
        assert m, f"no {pattern!r} in {self.url}: {self.status}\n{self.text[:3000]}"
        return m.group(1) if m.groups() else m.group(0)

    def __repr__(self):
        return f"<Page {self.status} {self.url} {self.body[:300]!r}>"


def multipart(fields, files, boundary="----test-boundary-7d1"):
    """(content type, body). files: {name: (file name, content type, bytes)}."""
    out = b""
    for name, value in fields.items():
        out += (f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
                f"{value}\r\n").encode()
    for name, (filename, kind, data) in files.items():
        out += (f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"; '
                f'filename="{filename}"\r\nContent-Type: {kind}\r\n\r\n').encode() + data + b"\r\n"
    return f"multipart/form-data; boundary={boundary}", out + f"--{boundary}--\r\n".encode()


class Browser:
    def __init__(self, server, host=None):
        self.address = server.address
        self.host = host or "%s:%d" % server.address
        self.cookies = {}  # (path, name) to value
        self.connection = None

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    # --- cookies ------------------------------------------------------------------------------

    def _store(self, line, path):
        parts = [p.strip() for p in line.split(";")]
        name, _, value = parts[0].partition("=")
        attrs = {k.lower(): v for k, _, v in (p.partition("=") for p in parts[1:])}
        where = attrs.get("path") or path.rsplit("/", 1)[0] or "/"
        gone = attrs.get("max-age", "1").lstrip("-0") == ""
        if attrs.get("expires"):
            when = email.utils.parsedate_to_datetime(attrs["expires"].replace("-", " "))
            gone = gone or when.timestamp() < time.time()
        if attrs.get("max-age", "").startswith("-") or gone:
            self.cookies.pop((where, name), None)
        else:
            self.cookies[where, name] = value

    def cookie(self, name):
        return next((v for (_, n), v in self.cookies.items() if n == name), None)

    def _cookie_line(self, path):
        found = [(p, n, v) for (p, n), v in self.cookies.items()
                 if path == p or path.startswith(p if p.endswith("/") else p + "/")]
        return "; ".join(f"{n}={v}" for p, n, v in sorted(found, key=lambda c: -len(c[0])))

    # --- requests -----------------------------------------------------------------------------

    def _once(self, method, url, headers, body):
        path = url.partition("?")[0]
        pairs = list(headers)
        line = self._cookie_line(path)
        if line:
            pairs.append(("Cookie", line))
        if not any(n.lower() == "accept-encoding" for n, _ in pairs):
            pairs.append(("Accept-Encoding", "gzip"))
        if self.connection is None:
            self.connection = httpc.Connection(self.address, timeout=30)
        r = self.connection.request(method, url, pairs, body, host=self.host)
        if not r.keep_alive:
            self.close()
        for line in r.all("Set-Cookie"):
            self._store(line, path)
        return r

    def relative(self, url, base):
        """Path and query of a link on the page at base. Fails for other hosts."""
        full = urllib.parse.urljoin(f"http://{self.host}{base}", url)
        parts = urllib.parse.urlsplit(full)
        assert parts.netloc == self.host, f"leads away: {url}"
        path = urllib.parse.quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
        return path + (f"?{parts.query}" if parts.query else "")

    def request(self, method, url, headers=(), body=None, follow=True):
        headers = list(headers.items()) if isinstance(headers, dict) else list(headers)
        hops = []
        while True:
            r = self._once(method, url, headers, body)
            if not follow or r.status not in (301, 302, 303, 307, 308) or "Location" not in r:
                return Page(r, url, hops)
            hops.append((r.status, r.get("Location")))
            assert len(hops) < 10, f"redirects without end: {hops}"
            url = self.relative(r.get("Location"), url)
            if r.status in (301, 302, 303) and method != "HEAD":
                method, body = "GET", None
                headers = [h for h in headers if not h[0].lower().startswith("content-")]

    def get(self, url, headers=(), follow=True):
        return self.request("GET", url, headers, None, follow)

    def post(self, url, fields=None, files=None, headers=(), follow=True, body=None, kind=None):
        """fields: dict or pairs for a form; with files as multipart; or a body with its type."""
        if body is None and files is not None:
            kind, body = multipart(dict(fields or {}), files)
        elif body is None:
            kind = "application/x-www-form-urlencoded"
            body = urllib.parse.urlencode(fields or {}).encode()
        pairs = list(headers.items()) if isinstance(headers, dict) else list(headers)
        return self.request("POST", url, pairs + [("Content-Type", kind)], body, follow)

    def submit(self, page, values, files=None, names=(), follow=True, form=None):
        """Fills in and sends the page's form with these fields."""
        form = form or page.form(*(names or values))
        fields = {**form.fields, **values}
        url = self.relative(form.action or page.url, page.url)
        if form.method == "GET":
            return self.get(url.partition("?")[0] + "?" + urllib.parse.urlencode(fields),
                            follow=follow)
        if form.multipart:
            empty = {n: ("", "application/octet-stream", b"") for n in form.files}
            return self.post(url, fields, {**empty, **(files or {})}, follow=follow)
        return self.post(url, fields, files, follow=follow)
