# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""DokuWiki: pages in PATH_INFO, log-in, editing with a token, media, search, conditional requests."""
import shutil

import pytest

APP = "dokuwiki"
PAGE = "/doku.php/tests:written"
GIF = b"GIF89a\x01\0\x01\0\x80\0\0\xff\xff\xff\0\0\0!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"


@pytest.fixture
def admin(browser):
    page = browser.get("/doku.php/start?do=login")
    page = browser.submit(page, {"u": "admin", "p": "admin-password"})
    assert page.status == 200 and "do=logout" in page.text, page
    return browser


@pytest.fixture(scope="module", autouse=True)
def take_traces_away(app):
    """The history of pages and media. DokuWiki's feed fails on media that were deleted."""
    yield
    data = app.folder / "data"
    for changes in data.glob("meta/_*.changes"):
        lines = changes.read_text().splitlines(keepends=True)
        kept = [line for line in lines if "\ttests:" not in line]
        if kept != lines:
            changes.write_text("".join(kept))
    for folder in data.glob("*/tests"):
        shutil.rmtree(folder)


def save(admin, text, page=PAGE):
    edit = admin.get(page + "?do=edit")
    form = edit.form("wikitext", "sectok")
    assert form.fields["sectok"]
    return admin.submit(edit, {"wikitext": text, "do[save]": "1", "summary": "test"}, form=form)


@pytest.fixture
def written(admin):
    yield save(admin, "====== Written ======\n\nSome **bold** zebrawords, ümlaut.\n")
    save(admin, "")


def test_smoke_checks_hold(checks):
    assert checks() == ""


def test_wrong_password_is_told(browser):
    page = browser.submit(browser.get("/doku.php/start?do=login"), {"u": "admin", "p": "no"})
    assert "Sorry, username or password was wrong" in page.text


def test_page_is_saved_and_changed(admin, written):
    assert written.status == 200 and written.url.startswith(PAGE)
    assert "<strong>bold</strong> zebrawords, ümlaut" in written.text
    page = save(admin, admin.get(PAGE + "?do=edit").form("wikitext").fields["wikitext"] + "More.\n")
    assert "More." in page.text and "zebrawords" in page.text
    assert "Old Revisions" in admin.get(PAGE + "?do=revisions").text
    raw = admin.get(PAGE + "?do=export_raw")
    assert raw.get("Content-Type") == "text/plain; charset=utf-8"
    assert raw.text.startswith("====== Written ======\n")


def test_save_without_token_is_refused(admin):
    page = admin.post(PAGE, {"wikitext": "forged", "do[save]": "1", "sectok": "bad"})
    assert "forged" not in admin.get(PAGE + "?do=export_raw").text
    assert page.status in (200, 404)


def test_visitor_may_not_write(browser):
    page = browser.get("/doku.php/start?do=edit")
    assert "readonly" in page.text
    assert browser.get("/doku.php/start?do=admin").status == 200
    assert "do=logout" not in browser.get("/doku.php/start?do=admin").text


def test_preview_keeps_the_text(admin):
    edit = admin.get(PAGE + "?do=edit")
    page = admin.submit(edit, {"wikitext": "//slanted// text\nline two", "do[preview]": "1"},
                        form=edit.form("wikitext"))
    assert "<em>slanted</em> text" in page.text
    assert page.form("wikitext").fields["wikitext"] == "//slanted// text\r\nline two"


def test_section_edit(admin, written):
    page = save(admin, "====== One ======\n\nalpha\n\n====== Two ======\n\nbeta\n")
    form = next(f for f in page.forms if f.fields.get("hid") == "two")
    edit = admin.submit(page, {}, form=form)
    assert edit.form("wikitext").fields["wikitext"].startswith("====== Two ======")
    page = admin.submit(edit, {"wikitext": "====== Two ======\n\ngamma\n", "do[save]": "1"},
                        form=edit.form("wikitext"))
    assert "alpha" in page.text and "gamma" in page.text and "beta" not in page.text


def test_search_finds_the_page(admin, written):
    # The page's invisible image builds the index.
    admin.get("/lib/exe/taskrunner.php?id=tests%3Awritten")
    page = admin.get("/doku.php/start?do=search&q=zebrawords")
    assert "tests:written" in page.text
    page = admin.get("/doku.php/start?do=search&q=nosuchwordatall")
    assert "Nothing was found" in page.text


def upload(admin, name, data):
    token = admin.get(PAGE + "?do=edit").form("sectok").fields["sectok"]
    return admin.request(
        "POST", f"/lib/exe/ajax.php?call=mediaupload&ns=tests&qqfile={name}&sectok={token}&ow=true",
        {"Content-Type": "application/octet-stream"}, data)


def test_media_upload_as_raw_body(admin):
    """The uploader of the media manager sends the file as the body, and PHP reads php://input."""
    page = upload(admin, "dot.gif", GIF)
    assert '"success":true' in page.text, page
    got = admin.get("/lib/exe/fetch.php/tests:dot.gif")
    assert got.body == GIF and got.get("Content-Type") == "image/gif"
    etag = got.get("ETag")
    again = admin.get("/lib/exe/fetch.php/tests:dot.gif", {"If-None-Match": etag})
    assert again.status == 304 and again.body == b""
    token = admin.get(PAGE + "?do=edit").form("sectok").fields["sectok"]
    admin.get(f"/lib/exe/mediamanager.php?delete=tests%3Adot.gif&sectok={token}")
    assert admin.get("/lib/exe/fetch.php/tests:dot.gif").status == 404


def test_media_upload_by_form(admin):
    page = admin.get("/lib/exe/mediamanager.php?ns=tests")
    form = page.form("upload", "sectok")
    page = admin.submit(page, {"mediaid": "form.gif", "ow": "1"},
                        {"upload": ("form.gif", "image/gif", GIF)}, form=form)
    assert "form.gif" in page.text
    assert admin.get("/lib/exe/fetch.php/tests:form.gif").body == GIF
    token = form.fields["sectok"]
    admin.get(f"/lib/exe/mediamanager.php?delete=tests%3Aform.gif&sectok={token}")


def test_media_of_the_wrong_type_is_refused(admin):
    page = upload(admin, "evil.php", b"<?php echo 1;")
    assert '"success":true' not in page.text
    assert upload(admin, "fake.gif", b"no image").text.count('"success":true') == 0


def test_page_name_in_the_path_with_umlaut(browser):
    page = browser.get("/doku.php/n%C3%A4me:%C3%BC")
    assert page.status == 404 and "This topic does not exist" in page.text


def test_style_sheet_is_conditional(browser):
    page = browser.get("/lib/exe/css.php")
    assert page.get("Content-Type") == "text/css; charset=utf-8" and len(page.body) > 10000
    page = browser.get("/lib/exe/css.php", {"Accept-Encoding": "identity"})
    again = browser.get("/lib/exe/css.php", {"If-None-Match": page.get("ETag"),
                                             "If-Modified-Since": page.get("Last-Modified")})
    assert again.status == 304


def test_log_out(admin):
    link = next(x for x in admin.get("/doku.php/start").links if "do=logout" in x)
    admin.get(admin.relative(link, "/doku.php/start"))
    assert "do=logout" not in admin.get("/doku.php/start").text


def test_data_and_settings_are_not_served(browser):
    for path in "/../conf/users.auth.php", "/conf/users.auth.php", "/data/pages/start.txt":
        page = browser.get(path, follow=False)
        assert page.status in (302, 400, 403, 404), page
        assert "admin-password" not in page.text and "$2y$" not in page.text
