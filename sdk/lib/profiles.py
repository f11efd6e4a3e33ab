# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: The ephpm developers
"""Profiles: what an instrumented build writes while it is trained, and what the next build reads."""
import pathlib
import shutil

from compile import Build
from errors import Failure
from options import REPOSITORY
from steps import Steps, digest, digest_file, digest_tree

TRAINING = REPOSITORY / "sdk/train"


class Profiles:
    """gcc's profiles lie beside the objects, as NAME.gcda; clang's are merged into one file."""

    def __init__(self, build: Build) -> None:
        self.build, self.clang = build, build.tools.clang
        self.raw = build.work / "profile-raw"
        self.merged = build.work / "profile.profdata"

    def generate_flags(self) -> str:
        return f"-fprofile-generate={self.raw}" if self.clang else "-fprofile-generate"

    def use_flags(self) -> str:
        if self.clang:
            return (f"-fprofile-use={self.merged} -Wno-profile-instr-unprofiled "
                    "-Wno-profile-instr-out-of-date")
        # What was not trained is optimised as ever, not for size.
        return "-fprofile-use -fprofile-partial-training -Wno-missing-profile"

    def discard(self) -> None:
        shutil.rmtree(self.raw, ignore_errors=True)
        self.merged.unlink(missing_ok=True)
        for path in self.build.build.rglob("*.gcda"):
            path.unlink()

    def training_key(self) -> str:
        own = self.build.options.train
        return digest_file(own) if own else digest_tree(TRAINING)

    def train(self, steps: Steps, sdk: pathlib.Path) -> None:
        """Runs the instrumented build, unpacked as a folder like any other."""
        self.discard()
        steps.run([self.build.options.train or TRAINING / "run", sdk], cwd=REPOSITORY)
        if self.clang:
            self._merge(steps)
        elif not (self.build.build / "Zend/zend_execute.gcda").is_file():
            raise Failure("the training left no profile of the interpreter "
                          f"(Zend/zend_execute.gcda in {self.build.build}); see {steps.logs}/train.log")
        # Whoever ran it once more would change the profile.
        shutil.rmtree(sdk)

    def _merge(self, steps: Steps) -> None:
        found = sorted(self.raw.glob("*.profraw"))
        if not found:
            raise Failure(f"the training left no profile in {self.raw}; see {steps.logs}/train.log")
        tool = self.build.tools.cc.replace("clang", "llvm-profdata")
        steps.run([tool, "merge", "-o", self.merged, *found], cwd=self.build.work)

    def files(self) -> list[pathlib.Path]:
        return [self.merged] if self.clang else sorted(self.build.build.rglob("*.gcda"))

    def hash(self) -> str:
        return digest(*[(p.relative_to(self.build.work).as_posix(), digest_file(p)) for p in self.files()])
