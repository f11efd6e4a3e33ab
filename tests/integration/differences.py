# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""How the answers of two servers compare, line by line.

A difference is known when a row says so: Line for single lines, Outcome for an answer as a whole.
Each row names the heading of the section in docs/differences.md that gives the reason.
"""
import difflib
import fnmatch
import re

import ephpm

REPORTS = ephpm.REPOSITORY / "build/differences"


class Line:
    """A line that only one side has: "nginx", "ephpm", or "both", each its own. In the cases that
    match a glob."""

    def __init__(self, heading, side, pattern, cases="*"):
        self.heading, self.side, self.cases = heading, side, cases
        self.pattern = re.compile(pattern)

    def explains(self, case, side, line, ends):
        return (self.side in (side, "both") and fnmatch.fnmatchcase(case, self.cases)
                and self.pattern.fullmatch(line))


class Outcome:
    """nginx's first line is one thing and ephpm's another: then the rest differs too."""

    def __init__(self, heading, nginx, ephpm_, *cases):
        self.heading, self.cases = heading, cases
        self.ends = tuple(f"status: {e}" if e.isdigit() else e for e in (nginx, ephpm_))

    def explains(self, case, side, line, ends):
        return ends == self.ends and any(fnmatch.fnmatchcase(case, c) for c in self.cases)


def _differing(nginx, ephpm_):
    """(marked line, side, line) of each."""
    for marked in difflib.ndiff(nginx, ephpm_):
        side = {"- ": "nginx", "+ ": "ephpm"}.get(marked[:2])
        if side:
            yield marked, side, marked[2:]


def compare(case, nginx, ephpm_, known):
    """[(mark and line, heading or None)] of the lines that differ, - for nginx and + for ephpm."""
    ends, found = (*nginx[:1], *ephpm_[:1]), []
    for marked, side, line in _differing(nginx, ephpm_):
        rows = (k for k in known if k.explains(case, side, line, ends))
        found.append((marked, next((k.heading for k in rows), None)))
    return found


def rows_in_use(case, nginx, ephpm_, known):
    """Those of known that explain a line of this case."""
    ends = *nginx[:1], *ephpm_[:1]
    return {k for _, side, line in _differing(nginx, ephpm_) for k in known
            if k.explains(case, side, line, ends)}


def unexplained(case, nginx, ephpm_, known):
    return [line for line, heading in compare(case, nginx, ephpm_, known) if heading is None]


def headings():
    """Those of docs/differences.md."""
    text = (ephpm.REPOSITORY / "docs/differences.md").read_text()
    return set(re.findall(r"(?m)^## (.*)$", text))


# Lines in which Apache httpd differs everywhere; see the table in docs/differences.md.
APACHE_ALWAYS = re.compile(
    r"(?i)(allow|accept-ranges|content-(length|type|range)|then): .*|\s*"
    r"|server\[(DOCUMENT_URI|HTTP_CONTENT_(TYPE|LENGTH))\] = .*")


def apache_lines(apache, nginx, ephpm_):
    """What Apache httpd answers otherwise than nginx and ephpm, who agree."""
    own = [f"- {line}" for line in apache if line not in nginx and line not in ephpm_]
    theirs = [f"+ {line}" for line in ephpm_ if line in nginx and line not in apache]
    return [line for line in own + theirs if not APACHE_ALWAYS.fullmatch(line[2:])]


def write_report(name, answers, known):
    """First where ephpm and nginx differ, by reason, then where Apache httpd differs from both.
    answers: {"nginx": {case: lines}, "apache": ..., "ephpm": ...}. Returns the file."""
    reasons, apache = {}, []
    for case in sorted(answers["nginx"]):
        nginx, ephpm_ = answers["nginx"][case], answers["ephpm"][case]
        for line, heading in compare(case, nginx, ephpm_, known):
            reasons.setdefault(heading or "NOT EXPLAINED", {}).setdefault(case, []).append(line)
        if lines := apache_lines(answers["apache"][case], nginx, ephpm_):
            apache.append((case, lines))
    path = REPORTS / f"{name}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as out:
        print(f"{len(answers['nginx'])} requests", file=out)
        print("\nnginx + php-fpm (-) and ephpm (+), by sections of docs/differences.md", file=out)
        for heading in sorted(reasons):
            print(f"\n## {heading}", file=out)
            for case, lines in reasons[heading].items():
                print(case, *(f"    {line[:160]}" for line in lines), sep="\n", file=out)
        print("\nApache httpd with mod_php (-) where nginx and ephpm agree (+)\n", file=out)
        for case, lines in apache:
            print(case, *(f"    {line[:160]}" for line in lines), sep="\n", file=out)
    return path
