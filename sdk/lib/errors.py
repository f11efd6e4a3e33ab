# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""What ends a build: a sentence that says what is wrong and what to do about it."""


class Failure(Exception):
    """Shown to the user as it is; the exit status is 1."""


class Usage(Failure):
    """The command line makes no sense; the exit status is 2."""
