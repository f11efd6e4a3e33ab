# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What the documentation says of the tests."""
import re

import ephpm


def test_compatibility_page_names_tests_that_exist():
    text = (ephpm.REPOSITORY / "docs/compatibility.md").read_text()
    rows = [r for r in re.findall(r"(?m)^\| .* \| .* \| (.*) \|$", text) if r not in ("test",)]
    assert len(rows) > 70
    for row in rows:
        for module, names in re.findall(r"`(\w+)`(?:: ([\w, ]+))?", row):
            source = (ephpm.REPOSITORY / f"tests/integration/test_{module}.py").read_text()
            for name in re.findall(r"test_\w+", names):
                assert f"\ndef {name}(" in source, f"{module}: {name}"
