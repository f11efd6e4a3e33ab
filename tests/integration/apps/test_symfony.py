# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A Symfony application: forms with CSRF and validation, sessions, streams, files, faults."""
import json
import sqlite3

import pytest

APP = "symfony-app"
WRITER = "Writer of the tests"
CONTACT = {"contact[name]": "Zoë <b>", "contact[email]": "zoe@example.test",
           "contact[topic]": "help", "contact[message]": "A message that is long enough."}


@pytest.fixture(autouse=True)
def take_comments_away(app):
    yield
    path = next((app.folder / "var").glob("*.sqlite"), None) or next((app.folder / "var").glob("*.db"))
    with sqlite3.connect(path, timeout=10) as db:
        db.execute("DELETE FROM comment WHERE writer = ?", (WRITER,))
    db.close()


def test_smoke_checks_hold(checks):
    assert checks() == ""


def test_contact_form_with_upload(browser):
    page = browser.get("/contact")
    form = page.form("contact[_token]", "contact[name]")
    assert form.method == "POST" and form.multipart
    page = browser.submit(page, CONTACT, {
        "contact[file]": ("résumé.txt", "text/plain", b"y" * 70_000)})
    assert [h[0] for h in page.hops] == [303]
    assert page.status == 200
    assert "Zoë &lt;b&gt; / résumé.txt (70000)" in page.text
    assert 'class="flash"' not in browser.get("/contact").text


@pytest.mark.parametrize("field, value", [
    ("contact[name]", ""), ("contact[email]", "nobody"), ("contact[message]", "short"),
    ("contact[topic]", "bribes"), ("contact[_token]", "forged")])
def test_contact_form_is_validated(browser, field, value):
    page = browser.submit(browser.get("/contact"), {**CONTACT, field: value})
    assert page.status == 422
    assert page.form("contact[name]").fields["contact[name]"] == (
        "" if field == "contact[name]" else CONTACT["contact[name]"])


def test_upload_beyond_the_validated_size(browser):
    page = browser.submit(browser.get("/contact"), CONTACT, {
        "contact[file]": ("big.bin", "application/octet-stream", b"z" * 3_000_000)})
    assert page.status == 422


def test_session_counts_logs_in_and_out(browser, new_browser):
    for n in 1, 2, 3:
        assert json.loads(browser.get("/session/count").text) == {"n": n}
    page = browser.post("/session/login/ada")
    assert page.url == "/dashboard" and page.status == 200 and "ada" in page.text
    assert new_browser().get("/dashboard").status == 403
    page = browser.post("/session/logout")
    assert page.url == "/" and browser.get("/dashboard").status == 403


def test_session_is_in_the_store(browser, app):
    """By Symfony's handler on top of PHP's SessionHandler; its folder for session files stays empty."""
    before = set((app.folder / "var/sessions").iterdir())
    assert json.loads(browser.get("/session/count").text) == {"n": 1}
    assert json.loads(browser.get("/session/count").text) == {"n": 2}
    assert set((app.folder / "var/sessions").iterdir()) <= before


def test_csv_is_streamed_whole(browser):
    page = browser.get("/export.csv", {"Accept-Encoding": "identity"})
    lines = page.text.splitlines()
    assert page.get("Content-Type") == "text/csv; charset=utf-8"
    assert len(lines) == 201 and lines[0] == "id,slug,title" and lines[-1].startswith("200,article-200")


def test_file_response_with_ranges(browser, app):
    data = (app.folder / "var/download.bin").read_bytes()
    page = browser.get("/file", {"Accept-Encoding": "identity"})
    assert page.body == data and page.get("Content-Length") == str(len(data))
    assert page.get("Content-Disposition") == (
        "attachment; filename=datei.bin; filename*=utf-8''d%C3%A4tei.bin")
    part = browser.get("/file", {"Range": "bytes=100-199"})
    assert part.status == 206 and part.body == data[100:200]
    assert part.get("Content-Range") == f"bytes 100-199/{len(data)}"
    part = browser.get("/file", {"Range": "bytes=100-199", "If-Range": page.get("Last-Modified")})
    assert part.status == 206
    part = browser.get("/file", {"Range": "bytes=-5"})
    assert part.status == 206 and part.body == data[-5:]


def test_client_cannot_ask_for_x_sendfile(browser, app):
    """The header that a client sends to make the application hand the file over is not trusted, and
    nothing of such a hand-over gets out."""
    page = browser.get("/file", {"X-Sendfile-Type": "X-Sendfile", "Accept-Encoding": "identity"})
    assert "X-Sendfile" not in page.response
    assert page.body == (app.folder / "var/download.bin").read_bytes()


def test_preview_is_a_page_without_session(browser):
    page = browser.get("/contact/preview")
    assert page.status == 200 and not browser.cookies
    assert page.body == browser.get("/contact/preview").body


def test_sub_request_fills_the_tag_cloud(browser):
    page = browser.get("/articles/article-7")
    assert page.status == 200 and page.text.count("</html>") == 1
    assert page.get("Last-Modified")
    again = browser.get("/articles/article-7", {"If-Modified-Since": page.get("Last-Modified")})
    assert again.status == 304 and again.body == b""


def test_comment_by_json(browser):
    page = browser.post("/api/articles/article-7/comments", kind="application/json",
                        body=json.dumps({"writer": WRITER, "body": "fine"}).encode(), follow=False)
    assert page.status == 201 and page.get("Location") == "/articles/article-7"
    assert WRITER in browser.get("/articles/article-7").text
    for body, status in (b"{", 400), (b"{}", 422):
        page = browser.post("/api/articles/article-7/comments", kind="application/json", body=body)
        assert page.status == status


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_api_echo(browser, method):
    body = None if method == "GET" else b"abc"
    page = browser.request(method, "/api/echo?a[]=1&a[]=2", {"Content-Type": "text/x"}, body)
    data = json.loads(page.text)
    assert (data["method"], data["path"], data["base"]) == (method, "/api/echo", "")
    assert data["query"] == {"a": ["1", "2"]} and data["length"] == (3 if body else 0)
    assert data["type"] == "text/x" and data["secure"] is False


def test_method_not_allowed(browser):
    page = browser.request("PURGE", "/api/echo")
    assert page.status == 405 and "GET" in page.get("Allow")


def test_front_controller_in_the_path(browser):
    data = json.loads(browser.get("/index.php/api/echo?x=%2F").text)
    assert (data["base"], data["path"], data["query"]) == ("/index.php", "/api/echo", {"x": "/"})


def test_redirect_keeps_the_host(browser):
    page = browser.get("/articles/", follow=False)
    assert page.status == 301
    assert page.get("Location") == f"http://{browser.host}/articles"


@pytest.mark.parametrize("path, status", [
    ("/fault/exception", 500), ("/fault/http/503", 503), ("/fault/http/418", 418),
    ("/fault/http/404", 404), ("/fault/warning", 200), ("/fault/deep", 200), ("/nowhere", 404)])
def test_faults_have_their_statuses(browser, path, status):
    page = browser.get(path)
    assert page.status == status
    assert page.get("X-Frame-Options") == "DENY"
    if "/http/" in path:
        assert page.get("Retry-After") == "7"


def test_languages(browser):
    assert "Willkommen" in browser.get("/?lang=de").text
    assert browser.get("/fr/a-propos").status == 200
    assert "Welcome" in browser.get("/").text
