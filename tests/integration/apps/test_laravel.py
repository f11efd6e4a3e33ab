# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""A Laravel application: encrypted cookies, forms with a token, uploads, pages, API, faults."""
import json
import sqlite3

import pytest

APP = "laravel-app"
TITLE = "Written by the tests"


@pytest.fixture(autouse=True)
def take_notes_away(app):
    yield
    with sqlite3.connect(app.folder / "storage/data.sqlite", timeout=10) as db:
        db.execute("DELETE FROM notes WHERE title LIKE ?", (TITLE + "%",))
    db.close()


def test_smoke_checks_hold(checks):
    assert checks() == ""


def test_note_with_upload_is_saved(browser):
    page = browser.get("/notes/new")
    assert page.status == 200 and page.form("_token", "title").multipart
    page = browser.submit(page, {"title": TITLE, "body": "First line.\r\n\r\nSecond <b>line</b>."},
                          {"file": ("tür.txt", "text/plain", b"x" * 100_000)})
    assert [h[0] for h in page.hops] == [302]
    assert page.status == 200
    assert "saved tür.txt 100000" in page.text
    assert "Second &lt;b&gt;line&lt;/b&gt;." in page.text
    # A flash message is shown once.
    assert "saved" not in browser.get(page.url).text


def test_invalid_form_returns_with_errors_and_old_input(browser):
    page = browser.get("/notes/new")
    page = browser.submit(page, {"title": "", "body": "typed & kept"})
    assert page.status == 200 and page.url == "/notes/new"
    assert 'class="errors"' in page.text
    assert page.form("title").fields["body"] == "typed & kept"


def test_too_large_upload_is_refused_by_validation(browser):
    page = browser.get("/notes/new")
    page = browser.submit(page, {"title": TITLE, "body": "long enough"},
                          {"file": ("big.bin", "application/octet-stream", b"x" * 3_000_000)})
    assert page.url == "/notes/new" and 'class="errors"' in page.text


def test_form_without_token_is_419(browser):
    browser.get("/notes/new")
    page = browser.post("/notes", {"title": TITLE, "body": "no token"}, follow=False)
    assert page.status == 419


def test_token_of_another_session_is_419(browser, new_browser):
    other = new_browser().get("/notes/new").form("_token").fields["_token"]
    browser.get("/notes/new")
    page = browser.post("/notes", {"_token": other, "title": TITLE, "body": "text text"},
                        follow=False)
    assert page.status == 419


def test_sessions_are_apart(browser, new_browser):
    other = new_browser()
    for n in 1, 2, 3:
        assert json.loads(browser.get("/session/count").text) == {"n": n}
        assert json.loads(other.get("/session/count").text) == {"n": n}
    assert browser.cookies != other.cookies


def test_pagination_walks_through_all_notes(browser):
    seen, url = [], "/notes"
    for _ in range(20):
        page = browser.get(url)
        seen += [x for x in page.links if x.startswith("/notes/") or "/notes/note-" in x]
        following = [x for x in page.links if f"page={len(set(seen)) // 20 + 1}" in x]
        if len(set(seen)) >= 200 or not following:
            break
        url = browser.relative(following[0], url)
    assert len(set(seen)) == 200


def test_api_speaks_json(browser):
    page = browser.get("/api/notes?size=7&page=2")
    data = json.loads(page.text)
    assert page.get("Content-Type") == "application/json"
    assert (data["total"], data["current_page"], len(data["data"])) == (200, 2, 7)
    assert data["next_page_url"].endswith("/api/notes?page=3")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "POST"])
def test_api_reads_json_bodies(browser, method):
    page = browser.request(method, "/api/echo?q=1", {"Content-Type": "application/json"},
                           b'{"a": {"b": [1, 2]}}')
    assert json.loads(page.text) == {"method": method, "path": "api/echo", "json": True,
                                     "length": 20, "input": {"a": {"b": [1, 2]}, "q": "1"}}


def test_api_reads_a_spooled_body(browser):
    body = json.dumps({"a": "x" * 2_000_000}).encode()
    page = browser.request("POST", "/api/echo", {"Content-Type": "application/json"}, body)
    data = json.loads(page.text)
    assert data["length"] == len(body) and len(data["input"]["a"]) == 2_000_000


def test_faults_have_their_statuses(browser):
    page = browser.get("/fault/exception")
    assert page.status == 500 and "deliberate" not in page.text
    page = browser.get("/fault/abort")
    assert page.status == 503 and page.get("Retry-After") == "9"
    assert browser.get("/fault/other").status == 404
    assert browser.get("/notes/none", {"Accept": "application/json"}).status == 404
    assert browser.get("/ping").text == "pong\n"


def test_download_is_streamed_whole(browser):
    page = browser.get("/export.csv")
    lines = page.text.splitlines()
    assert page.get("Content-Disposition") == "attachment; filename=notes.csv"
    assert len(lines) == 200 and lines[-1].startswith("200,note-200,")


def test_language_of_the_request(browser):
    assert "Willkommen" in browser.get("/?lang=de").text
    assert "Welcome" in browser.get("/").text


def test_head_has_the_headers_of_get(browser):
    got, head = browser.get("/ping"), browser.request("HEAD", "/ping")
    assert head.status == 200 and head.body == b""
    assert head.get("Content-Type") == got.get("Content-Type")
