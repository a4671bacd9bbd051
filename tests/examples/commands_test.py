#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md and of docs/coming-from, in the order of each page, as a reader does.

    commands_test.py LOWTIDE [PAGE...]

Commands are the lines of indented blocks that begin with `lowtide`. They run in a folder that has the models, the
examples and the tests of the repository, and an empty build/. Each must exit with 0, and write the files that its
options name.
"""
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md",
         *(path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs/coming-from").glob("*.md")))]
WRITES = ("-o", "--output", "--html", "--output-dir", "--csv")
SHARED = ("models", "examples", "tests")
# What a page says besides, which needs a build, another package or an installation.
NOT_RUN = ("scripts/demo", "export PATH=", "cmake --install")


def commands_of(text):
    """The words of each command, and the lines that are neither commands nor listed in NOT_RUN."""
    found, unknown = [], []
    text = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^    \$ .*\n(?:(?:    .*)?\n)*", "\n", text, flags=re.MULTILINE)  # a command with its output
    for line in (line.strip() for block in re.findall(r"(?:^|\n\n)((?:    .*\n)+)", text)
                 for line in block.splitlines()):
        if line.startswith("lowtide "):
            found.append(shlex.split(line))
        elif not line.startswith(("#", *NOT_RUN)):
            unknown.append(line)
    return found, unknown


def check_the_check():
    text = ("A\n\n    # what\n    lowtide plan m.onnx -o 'a b'\n    scripts/demo\n\n    $ lowtide x\n    no\n\nB\n\n"
            "```text\n    lowtide not\n```\n\n    rm x\n")
    if commands_of(text) != ([["lowtide", "plan", "m.onnx", "-o", "a b"]], ["rm x"]):
        raise SystemExit(f"the check finds {commands_of(text)}")


def written_by(words):
    """The files and folders that a command writes."""
    named = [words[at + 1] for at, word in enumerate(words[:-1]) if word in WRITES]
    return named + (words[3:4] if words[1] == "convert" else [])


def problems_of(page, lowtide):
    """Runs the commands of a page. Returns their number, and what is wrong."""
    commands, unknown = commands_of((ROOT / page).read_text())
    problems = [f"{page}: nothing runs this line: {line}" for line in unknown]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for shared in SHARED:
            (folder / shared).symlink_to(ROOT / shared)
        (folder / "build").mkdir()
        for _, *words in commands:
            done = subprocess.run([lowtide, *words], cwd=folder, text=True, capture_output=True, timeout=300)
            shown = f"{page}: lowtide {' '.join(words)}"
            if done.returncode:
                problems.append(f"{shown}: exit code {done.returncode}\n{done.stderr or done.stdout}")
            for file in written_by(["lowtide", *words]):
                if not file.startswith("build/"):
                    problems.append(f"{shown}: writes {file} into the clone; write to build/")
                path = folder / file
                is_there = any(path.iterdir()) if path.is_dir() else path.is_file() and path.stat().st_size > 0
                if not done.returncode and not is_there:
                    problems.append(f"{shown}: {file} is not there")
        left = {path.name for path in folder.iterdir()} - {*SHARED, "build"}
        if left:
            problems.append(f"{page}: its commands leave {', '.join(sorted(left))}")
    return len(commands), problems


def main():
    check_the_check()
    lowtide = str(pathlib.Path(sys.argv[1]).resolve())
    counts = {}
    problems = []
    for page in sys.argv[2:] or PAGES:
        counts[page], found = problems_of(page, lowtide)
        problems += found
        if counts[page] < 3:
            problems.append(f"{page}: has {counts[page]} commands")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {sum(counts.values())} commands of {len(counts)} pages")
    return 1 if problems or len(counts) < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
