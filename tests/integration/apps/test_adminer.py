# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Adminer with a SQLite file: one large script, sessions, tokens, SQL, downloads."""
import gzip
import urllib.parse

import pytest

APP = "adminer"


@pytest.fixture
def admin(browser, app):
    page = browser.get("/sqlite.php")
    assert page.hops and page.hops[0][0] == 302 and page.status == 200, page
    assert browser.cookie("adminer_sid")
    browser.base = "/sqlite.php?" + urllib.parse.urlencode(
        {"sqlite": "", "username": "", "db": app.folder / "db/sample.db"})
    return browser


def sql(admin, query):
    page = admin.get(admin.base + "&sql=")
    return admin.submit(page, {"query": query, "limit": "", "error_stops": "1"},
                        names=("query", "token"))


def test_smoke_checks_hold(checks):
    assert checks() == ""


def test_tables_and_rows(admin):
    page = admin.get(admin.base)
    assert "author" in page.text and "book" in page.text
    page = admin.get(admin.base + "&select=book")
    assert "Book &lt;number&gt; 1<" in page.text
    assert page.text.count("Book &lt;number&gt;") == 50
    page = admin.get(admin.base + "&select=book&page=19")
    assert "Book &lt;number&gt; 1000<" in page.text


def test_rows_by_condition(admin):
    page = admin.get(admin.base + "&select=book&where[0][col]=id&where[0][op]=%3D&where[0][val]=42")
    assert page.text.count("Book &lt;number&gt;") == 1


def test_sql_command(admin):
    page = sql(admin, "SELECT count(*) AS n, max(title) AS t FROM book")
    assert "1000" in page.text and "Book &lt;number&gt; 999" in page.text
    page = sql(admin, "SELECT * FROM nowhere")
    assert "no such table: nowhere" in page.text


def test_row_is_inserted_changed_and_deleted(admin):
    page = admin.get(admin.base + "&edit=author")
    page = admin.submit(page, {"fields[id]": "9001", "fields[name]": "Ünal O'Hara", "insert": "1"},
                        names=("fields[name]",))
    assert "Item has been inserted" in page.text.replace("Item 9001", "Item")
    edit = admin.base + "&edit=author&where[id]=9001"
    page = admin.get(edit)
    assert page.form("fields[name]").fields["fields[name]"] == "Ünal O'Hara"
    page = admin.submit(page, {"fields[name]": "Changed"}, names=("fields[name]",))
    assert "Item has been updated" in page.text
    page = admin.submit(admin.get(edit), {"delete": "1"}, names=("fields[name]",))
    assert "Item has been deleted" in page.text
    assert ">50<" in sql(admin, "SELECT count(*) FROM author").text


def export(admin, **more):
    page = admin.get(admin.base + "&dump=book")
    form = page.form("output", "format", "token")
    wanted = {"output": "file", "format": "sql", "table_style": "DROP+CREATE",
              "data_style": "INSERT", "tables[]": "book", "data[]": "book", **more}
    return admin.submit(page, wanted, form=form)


def test_export_as_sql_download(admin):
    page = export(admin)
    assert page.get("Content-Disposition", "").startswith("attachment; filename=")
    assert "CREATE TABLE" in page.text and page.text.count("'Book <number>") == 1000


def test_export_as_csv_and_gzip(admin):
    page = export(admin, format="csv", table_style="")
    lines = page.text.lstrip("\ufeff").splitlines()
    assert len(lines) == 1000 and lines[41] == "42,43,Book <number> 42,1942,42.5"
    page = export(admin, output="gz")
    assert page.get("Content-Type") == "application/x-gzip" and "Content-Encoding" not in page.response
    assert gzip.decompress(page.body).decode().count("'Book <number>") == 1000


def test_forged_token_is_refused(admin):
    page = admin.get(admin.base + "&sql=")
    page = admin.submit(page, {"query": "DELETE FROM author", "token": "1:1"},
                        names=("query", "token"))
    assert "Invalid CSRF token" in page.text
    assert ">50<" in sql(admin, "SELECT count(*) FROM author").text


def test_import_of_a_file(admin):
    page = admin.get(admin.base + "&import=")
    text = b"CREATE TABLE imported (a); INSERT INTO imported VALUES (1), (2);\n" + b"-- x\n" * 20000
    page = admin.submit(page, {"error_stops": "1"}, {"sql_file[]": ("i.sql", "text/plain", text)},
                        names=("sql_file[]", "token"))
    assert "2" in sql(admin, "SELECT count(*) FROM imported").text
    assert "executed OK" in sql(admin, "DROP TABLE imported").text


def test_static_parts_come_from_the_script(browser):
    page = browser.get("/?file=default.css&version=4.8.1")
    assert page.get("Content-Type").startswith("text/css") and "body" in page.text
    assert browser.get("/?file=functions.js&version=4.8.1").status == 200


def test_log_out(admin):
    page = admin.get(admin.base)
    page = admin.submit(page, {"logout": "1"}, names=("token",), follow=False)
    assert page.status in (200, 302)
