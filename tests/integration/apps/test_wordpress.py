# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""WordPress with MariaDB: log-in, writing, media, search, comments, permalinks, REST."""
import base64
import html
import json
import re

import pytest

from application import Database
from ephpm import free_port

APP = "wordpress"
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAA"
                       "AABJRU5ErkJggg==")


def SETUP_ENV():  # noqa: N802 (the fixture looks for it by this name)
    return {"DB_PORT": str(free_port())}


@pytest.fixture(scope="module")
def server(app):
    with Database(app.folder / "db") as db, app.serve(
            {"WP_DB_HOST": f"127.0.0.1:{db.port}"}) as s:
        yield s


@pytest.fixture
def admin(browser):
    page = browser.get("/wp-login.php")
    page = browser.submit(page, {"log": "admin", "pwd": "admin-password"})
    assert page.url == "/wp-admin/" and page.status == 200, page
    return browser


def nonce(admin):
    text = admin.get("/wp-admin/admin-ajax.php?action=rest-nonce").text
    assert re.fullmatch(r"[0-9a-f]{10}", text), text
    return {"X-WP-Nonce": text}


def rest(admin, method, path, data=None):
    body = None if data is None else json.dumps(data).encode()
    head = {**nonce(admin), "Content-Type": "application/json"}
    page = admin.request(method, f"/wp-json/wp/v2/{path}", head, body)
    assert page.status in (200, 201), page
    return json.loads(page.text)


@pytest.fixture
def post(admin):
    """A published post, gone after the test."""
    made = rest(admin, "POST", "posts", {
        "title": "Quokka & <i>friends</i>", "status": "publish", "comment_status": "open",
        "content": "<p>Unmistakable wallabywords.</p>"})
    yield made
    rest(admin, "DELETE", f"posts/{made['id']}?force=true")


def test_smoke_checks_hold(checks):
    assert checks() == ""


def test_wrong_password_is_told(browser):
    page = browser.submit(browser.get("/wp-login.php"), {"log": "admin", "pwd": "wrong"})
    assert page.status == 200 and 'id="login_error"' in page.text
    assert browser.get("/wp-admin/", follow=False).status == 302


def test_admin_leads_back_after_log_in(browser):
    page = browser.get("/wp-admin/edit.php")
    assert page.url.startswith("/wp-login.php?redirect_to=")
    page = browser.submit(page, {"log": "admin", "pwd": "admin-password"})
    assert page.url == "/wp-admin/edit.php" and page.status == 200


def test_log_out(admin):
    link = next(x for x in admin.get("/wp-admin/").links if "action=logout" in x)
    page = admin.get(admin.relative(html.unescape(link), "/"))
    assert "loggedout=true" in page.url
    assert admin.get("/wp-admin/", follow=False).status == 302


def test_post_has_its_permalink(admin, post):
    path = admin.relative(post["link"], "/")
    page = admin.get(path)
    assert page.status == 200 and "wallabywords" in page.text
    # Without its slash, and by its number, it is found too.
    assert admin.get(path.rstrip("/")).url == path
    assert admin.get(f"/?p={post['id']}").url == path


def test_post_is_found_by_search(admin, new_browser, post):
    visitor = new_browser()
    assert "Quokka" in visitor.get("/?s=wallabywords").text
    assert "Quokka" not in visitor.get("/?s=nosuchword").text


def test_post_written_with_the_classic_form(admin):
    page = admin.get("/wp-admin/post-new.php")
    fields = {"_wpnonce": page.find(r'name="_wpnonce" value="([0-9a-f]+)"'), "action": "editpost",
              "post_ID": page.find(r"name='post_ID' value='(\d+)'"), "post_type": "post",
              "post_title": "By the form", "content": "Form body", "original_post_status": "draft",
              "publish": "Publish", "post_status": "publish", "visibility": "public"}
    page = admin.post("/wp-admin/post.php", fields)
    try:
        assert "message=6" in page.url and page.status == 200, page
        assert json.loads(admin.get(f"/wp-json/wp/v2/posts/{fields['post_ID']}").text)["title"][
            "rendered"] == "By the form"
    finally:
        rest(admin, "DELETE", f"posts/{fields['post_ID']}?force=true")


def test_media_upload_and_download(admin):
    page = admin.get("/wp-admin/media-new.php")
    page = admin.post("/wp-admin/async-upload.php", {
        "_wpnonce": page.find(r'"_wpnonce":"([0-9a-f]+)"'), "action": "upload-attachment",
        "name": "dot.png"}, {"async-upload": ("dot.png", "image/png", PNG)})
    data = json.loads(page.text)
    assert data["success"], page
    item = data["data"]
    try:
        assert (item["mime"], item["width"], item["height"]) == ("image/png", 1, 1)
        got = admin.get(admin.relative(item["url"], "/"))
        assert got.body == PNG and got.get("Content-Type") == "image/png"
    finally:
        rest(admin, "DELETE", f"media/{item['id']}?force=true")
    assert admin.get(admin.relative(item["url"], "/")).status == 404


def test_media_upload_by_rest_with_a_raw_body(admin):
    page = admin.request("POST", "/wp-json/wp/v2/media", {
        **nonce(admin), "Content-Type": "image/png",
        "Content-Disposition": 'attachment; filename="raw.png"'}, PNG)
    assert page.status == 201, page
    item = json.loads(page.text)
    assert admin.get(admin.relative(item["source_url"], "/")).body == PNG
    rest(admin, "DELETE", f"media/{item['id']}?force=true")


def test_upload_that_is_no_image_is_refused(admin):
    page = admin.request("POST", "/wp-json/wp/v2/media", {
        **nonce(admin), "Content-Type": "application/x-php",
        "Content-Disposition": 'attachment; filename="evil.php"'}, b"<?php echo 1;")
    assert page.status == 500 and json.loads(page.text)["code"] == "rest_upload_sideload_error"


def test_comment_of_a_visitor_waits_for_approval(admin, new_browser, post):
    visitor = new_browser()
    path = visitor.relative(post["link"], "/")
    page = visitor.get(path)
    page = visitor.submit(page, {"comment": "Nice wallaby!", "author": "Visitor",
                                 "email": "v@example.test", "url": ""},
                          names=("comment", "author"))
    assert page.url.startswith(path) and "Nice wallaby!" in page.text, page
    assert "Nice wallaby!" not in new_browser().get(path).text
    found = rest(admin, "GET", f"comments?post={post['id']}&status=hold")
    assert [c["author_name"] for c in found] == ["Visitor"]
    rest(admin, "PUT", f"comments/{found[0]['id']}", {"status": "approved"})
    assert "Nice wallaby!" in new_browser().get(path).text


def test_rest_without_nonce_is_refused(admin):
    page = admin.request("POST", "/wp-json/wp/v2/posts", {"Content-Type": "application/json"},
                         b'{"title": "no"}')
    assert page.status == 401


def test_settings_are_saved(admin):
    page = admin.get("/wp-admin/options-general.php")
    old = page.form("blogdescription").fields["blogdescription"]
    for text in "It's \"quoted\" & <odd>", old:
        page = admin.submit(page, {"blogdescription": text}, names=("blogdescription",))
        assert "settings-updated=true" in page.url
    assert page.form("blogdescription").fields["blogdescription"] == old


def test_conditional_feed(browser):
    page = browser.get("/feed/", {"Accept-Encoding": "identity"})
    assert page.get("Content-Type") == "application/rss+xml; charset=UTF-8"
    again = browser.get("/feed/", {"If-None-Match": page.get("ETag"),
                                   "If-Modified-Since": page.get("Last-Modified")})
    assert again.status == 304 and again.body == b""


def test_pretty_permalinks_are_offered(admin):
    """WordPress looks at SERVER_SOFTWARE before it offers links without index.php."""
    page = admin.get("/wp-admin/options-permalink.php")
    assert page.status == 200 and "/sample-post/" in page.text
    assert "/index.php/" not in page.text


def test_xmlrpc(browser):
    page = browser.post("/xmlrpc.php", kind="text/xml", body=(
        b"<?xml version='1.0'?><methodCall><methodName>demo.addTwoNumbers</methodName><params>"
        b"<param><value><int>3</int></value></param><param><value><int>4</int></value></param>"
        b"</params></methodCall>"))
    assert "<int>7</int>" in page.text


def test_no_source_of_configuration(browser):
    page = browser.get("/wp-config.php")
    assert page.status == 200 and page.body == b""
