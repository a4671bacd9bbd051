#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that files named in documents exist: targets of links, and paths from the root in code spans."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOLDERS = r"src|tests|docs|bench|scripts|fuzz|examples|models|third_party|\.ci|\.github"
SPAN = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)(?:[ :][^`]*)?`")


def problems_of(root, path):
    text = path.read_text()
    found = []
    for pattern, base in ((LINK, path.parent), (SPAN, root)):
        for hit in pattern.finditer(text):
            target = hit.group(1).split("#")[0]
            is_file = target and not re.match(r"[a-z]+:", target)
            if is_file and not (base / target).exists():
                line = text.count("\n", 0, hit.start()) + 1
                found.append(f"{path.relative_to(root)}:{line}: there is no {target}")
    return found


def check_the_check():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "docs").mkdir()
        page = root / "docs/a.md"
        page.write_text("[a](a.md#part) [b](b.md) [c](https://c.d/e) `docs/a.md` `docs/f.md --option` `/docs/g`\n")
        found = problems_of(root, page)
        if found != ["docs/a.md:1: there is no b.md", "docs/a.md:1: there is no docs/f.md"]:
            raise SystemExit(f"the check finds {found}")


def main():
    check_the_check()
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, text=True, capture_output=True, check=True)
    pages = [ROOT / name for name in listed.stdout.splitlines()]
    problems = [problem for page in pages for problem in problems_of(ROOT, page)]
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {len(pages)} documents")
    return 1 if problems or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
