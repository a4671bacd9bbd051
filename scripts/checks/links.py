#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that what documents name exists: files and headings of links, and paths from the root in code spans."""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FOLDERS = r"src|tests|docs|bench|scripts|fuzz|examples|models|third_party|\.ci|\.github"
SPAN = re.compile(rf"`((?:{FOLDERS})/[\w./-]*)(?:[ :][^`]*)?`")


def anchors_of(text):
    """The anchors of the headings, as hosts of Markdown make them: a second equal heading gets -1."""
    anchors = set()
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for heading in re.findall(r"^#+ +(.*?) *$", outside, re.MULTILINE):
        shown = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", shown).replace(" ", "-")
        number = 0
        while (anchor if number == 0 else f"{anchor}-{number}") in anchors:
            number += 1
        anchors.add(anchor if number == 0 else f"{anchor}-{number}")
    return anchors | set(re.findall(r'<a (?:id|name)="([^"]+)"', outside))


def problem_of(base, path, link):
    target, _, anchor = link.partition("#")
    if re.match(r"[a-z]+:", target):
        return None
    file = base / target if target else path
    if not file.exists():
        return f"there is no {target}"
    if anchor and file.suffix == ".md" and anchor not in anchors_of(file.read_text()):
        return f"{target or 'this document'} has no heading #{anchor}"
    return None


def problems_of(root, path):
    text = path.read_text()
    found = []
    for pattern, base in ((LINK, path.parent), (SPAN, root)):
        for hit in pattern.finditer(text):
            problem = problem_of(base, path, hit.group(1))
            if problem:
                line = text.count("\n", 0, hit.start()) + 1
                found.append(f"{path.relative_to(root)}:{line}: {problem}")
    return found


def check_the_check():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "docs").mkdir()
        page = root / "docs/a.md"
        page.write_text("[a](a.md#a-part-b) [b](b.md) [c](https://c.d/e) `docs/a.md` `docs/f.md --option` `/docs/g`\n"
                        "## A part, `b`\n## A part, b\n[d](#a-part-b-1) [e](#a-part-b-2) [f](a.md#b)\n")
        found = problems_of(root, page)
        if found != ["docs/a.md:1: there is no b.md", "docs/a.md:4: this document has no heading #a-part-b-2",
                     "docs/a.md:4: a.md has no heading #b", "docs/a.md:1: there is no docs/f.md"]:
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
