# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Compares our TOML parser with Python's on documents made of pieces, right and wrong ones."""

import datetime
import json
import random
import subprocess
import sys

try:
    import tomllib
except ImportError:
    sys.exit(77)

WHOLE = [
    "", "a=1", "a = 1 # c\r\nb = 2\r\n", "[a]\n[a.b]\n[a.b.c]\nx=1", "[a.b]\nx=1\n[a]\ny=2",
    "[a]\nb.c=1\nb.d=2\n[a.b.e]\nx=1", "[a]\nb.c=1\n[a.b]\nx=1", "[a]\n[a]", "a=1\na=2",
    "[[a]]\nx=1\n[[a]]\nx=2\n[a.b]\ny=1\n[[a.c]]\n[[a.c]]", "a=[]\n[[a]]", "[a]\n[[a]]", "[[a]]\n[a]",
    "a={}\n[a]", "a={}\n[a.b]", "a={b={c=1}}\n[a.b]", "a={b.c=1,b.d=2}", "a={b={c=1},b.d=2}",
    "a={x=1,}", "a={x=1\n}", "a={\n}", "a=[1,2,]", "a=[1,,2]", "a=[\n1 # x\n,\n2\n]", "a=[1 2]",
    "a.b=1\na.c=2", "a.b=1\na.b.c=2", "a=1\na.b=2", "[a.b.c]\nz=9\n[a]\nb.c.t=1", "[a.b.c]\nz=9\n[a]\nb.t=1",
    "[a.b.c.d]\nz=9\n[a]\nb.c.d.k.t=1", "[[a.b]]\n[a]\nb.y=2", '"" = 1', "'' = 1", '"a.b"=1\na.b=2',
    "a . b = 1", "[ a . 'b' ]\nx=1", "[a]x=1", "a=1 b=2", "=1", "a", "a=", "[a", "[]", "[a.]", "[.a]", "a..b=1",
    "[[a]", "[[a] ]", "[ [a]]", 'a="""\nx\\\n  y"""', 'a="""a""""', 'a="""a"""""', 'a="""a""""""', "a='''a''''",
    'a="""\\  \n x"""', 'a="x\ny"', "a='x\ny'", 'a="\\q"', 'a="\\u00e9\\U0001F600"', 'a="\\ud800"', 'a="\\u12"',
    'a="\\U00110000"', 'a="\t"', 'a="\x01"', "a='\x7f'", "# \x01\na=1", "a=1 # \t ok", "\xe9=1", '"\xe9"=1',
    "a=1\rb=2", "a=1\n\rb=2", '"""a"""=1', 'a="""x\r\ny"""', "a='''\r\nx'''", "a = \"x\" \"y\"", "[a]\nb=1\n[a.b]",
    "[a]\nb=1\n[a.b.c]", "a=[{x=1},{y=2}]\n[[a]]", "a=[{x=1}]\n[a.b]", "[a.b]\n[a.c]\n[a]\n[d]", "1=2\n-=3\n_=4",
    "1.2=3", "true=false", "inf=1", "[[a.b.c]]\n[a.b]\nx=1", "[[a]]\nb.c=1\n[a.b]", "[a]\nb={c=1}\nb.d=2",
    "a=\"\"\"\\\n\n\n  x\"\"\"", "a=\"\\\n\"", "[x]\na.b.c=1\na.b={}", "a={b=1,b=2}", "a={b=1 c=2}", "a={,}", "a=[,]",
    "[fruit]\napple.color=1\napple.taste.sweet=true\n[fruit.apple.texture]\nsmooth=true", "a=\x00", "\x00",
    "[fruit]\napple.color=1\napple.taste.sweet=true\n[fruit.apple.taste]", "\t[a]\n\tb = 1\t",
]

SCALARS = """0 +0 -0 1 +1 -1 01 00 1_000 1__0 _1 1_ 0x1F 0xdead_BEEF 0x_1 0x 0x1_ 0o17 0o8 0b101 0b2 +0x1 0X1 9223372036854775807
9223372036854775808 -9223372036854775808 -9223372036854775809 0x7fffffffffffffff 1.0 1. .1 1.5e3 1e5 1e+5 1E-5 1e 1e_5 1_0.0_1
1._0 1_.0 6.626e-34 0.0 -0.0 +0.0 00.1 1e06 1e1_0 1.e3 inf +inf -inf nan +nan -nan Inf NaN infinity true false True TRUE yes null
1979-05-27 1979-05-27T07:32:00Z 1979-05-27T07:32:00 1979-05-27t07:32:00z 1979-05-27T00:32:00-07:00 1979-05-27T00:32:00.999999-07:00
1979-02-30 1979-13-01 1979-00-01 2000-02-29 1900-02-29 1979-5-27 79-05-27 07:32:00 07:32:00.5 07:32 24:00:00 23:60:00
1979-05-27T24:00:00 1979-05-27T07:32 1979-05-27T07:32:00+24:00 1979-05-27T07:32:00+7:00 1979-05-27T07:32:00. 1979-05-27T 1979-05-27TZ
1-2 1+2 1:2 - + . _ a 'a' "a" '' "" '''''' \"\"\"\"\"\" [] [1] [[1],[2]] {} {a=1} [1,'a',2.0] 0e0 0.5_5 0.5__5 1e5.5 1.2.3 --1 ++1 0_1""".split()
SCALARS += ["1979-05-27 07:32:00", "1979-05-27 07:32:00Z", "1979-05-27  07:32:00", "1979-05-27 x"]


def plain(v):
    if isinstance(v, bool):
        return {"boolean": "true" if v else "false"}
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, int):
        return {"integer": str(v)}
    if isinstance(v, float):
        return {"float": v.hex() if v == v else "nan"}
    if isinstance(v, (datetime.date, datetime.time)):
        return {"date": ""}
    return {"string": v}


def normal(v):
    """Our float text as Python's; keys of one name only are scalars or small tables, which compare the same."""
    if isinstance(v, list):
        return [normal(x) for x in v]
    if isinstance(v, dict):
        if set(v) == {"float"} and isinstance(v["float"], str):
            return plain(float.fromhex(v["float"]))
        return {k: normal(x) for k, x in v.items()}
    return v


def ours(tool, texts):
    """One answer per document, None for what is not TOML."""
    feed = b"".join(b"%d\n%s" % (len(t), t) for t in texts)
    r = subprocess.run([tool], input=feed, capture_output=True, check=False)
    lines = r.stdout.decode("utf-8").split("\n")[:-1]
    if r.returncode != 0 or len(lines) != len(texts):
        raise SystemExit(f"the tool ended with {r.returncode} after {len(lines)} documents: {r.stderr.decode()}")
    return [normal(json.loads(x)) if x else None for x in lines]


def theirs(text):
    try:
        doc = tomllib.loads(text.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    return plain(doc)


def in_range(v):
    """Python's integers have no bounds; TOML asks for 64 bits."""
    if isinstance(v, dict):
        if set(v) == {"integer"} and isinstance(v["integer"], str):
            return -2**63 <= int(v["integer"]) < 2**63
        return all(in_range(x) for x in v.values())
    return all(in_range(x) for x in v) if isinstance(v, list) else True


def documents():
    for text in WHOLE:
        yield text.encode("utf-8")
    for s in SCALARS:
        for form in ("a=%s", "a=%s # c", "a=[%s, %s]", "a={b=%s}"):
            yield (form.replace("%s", s)).encode("utf-8")
    yield b"a='\xff'"
    yield b"a='\xc0\x80'"
    yield b"a='\xed\xa0\x80'"
    rng = random.Random(7)
    pieces = ["[a]\n", "[a.b]\n", "[[a]]\n", "[[a.b]]\n", "a.b=1\n", "b.c=2\n", "b={c=1}\n", "c=[1]\n", "[b]\n", "a=1\n",
              "[a.b.c]\n", "b.c.d=3\n", "[[b.c]]\n", "x=1\n", "y='z'\n"]
    for _ in range(4000):
        yield "".join(rng.choice(pieces) for _ in range(rng.randint(2, 5))).encode()


def main():
    texts = list(documents())
    bad = 0
    for text, got in zip(texts, ours(sys.argv[1], texts)):
        want = theirs(text)
        if want is not None and not in_range(want):
            want = None
        if got != want:
            bad += 1
            print(f"{text!r}:\n  ours   {got}\n  Python {want}")
    print(f"{len(texts)} documents, {bad} differ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
