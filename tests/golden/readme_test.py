#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that README.md shows with their output, and checks that the documents name options that exist.

    readme_test.py LOWTIDE
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "lowtide"
PAGES = ["README.md", "CONTRIBUTING.md", "docs/library.md", "docs/questions.md", "models/README.md"]


def run(lowtide, *words, folder=ROOT):
    return subprocess.run([lowtide, *words], cwd=folder, text=True, capture_output=True, check=False)


def sessions(text):
    """(words of a command, lines of its output) of every indented block that begins with a prompt."""
    for block in re.findall(r"^    \$ (.*\n(?:(?:    .*)?\n)*)", text, re.MULTILINE):
        command, *output = block.splitlines()
        yield command.split(), [line.strip() for line in output if line.strip()]


def check_sessions(lowtide):
    """Every line that README.md shows is in the output, in this order. Files are written only to build/, which git
    ignores."""
    problems, count = [], 0
    for (program, *words), expected in sessions((ROOT / "README.md").read_text()):
        count += 1
        if program != PROGRAM:
            problems.append(f"README.md calls {program} and not {PROGRAM}")
        with tempfile.TemporaryDirectory() as folder:
            is_input = {word: (ROOT / word).exists() and not word.startswith("build/") for word in words}
            words = [str(ROOT / word) if is_input[word] else word for word in words]
            (pathlib.Path(folder) / "build").mkdir()
            done = run(lowtide, *words, folder=folder)
            left = sorted(path.name for path in pathlib.Path(folder).iterdir() if path.name != "build")
        if left:
            problems.append(f"'lowtide {words[0]}' of README.md leaves {', '.join(left)} in the clone; write to build/")
        shown = [line.strip() for line in done.stdout.splitlines()]
        at = 0
        for line in expected:
            if line not in shown[at:]:
                problems.append(f"README.md shows a line that 'lowtide {words[0]}' does not print: {line}")
            else:
                at = shown.index(line, at) + 1
    return problems if count else ["README.md shows no command with its output"]


def check_options(lowtide):
    """Verbs and options in code spans and blocks exist."""
    verbs = re.findall(r"^  ([a-z]+)  ", run(lowtide, "--help").stdout, re.MULTILINE)
    options = {verb: set(re.findall(r"--[a-z-]+", run(lowtide, verb, "--help").stdout)) for verb in verbs}
    problems, count = [], 0
    for page in PAGES:
        for verb, rest in re.findall(r"\blowtide ([a-z]+)( [^`\n|]*)", (ROOT / page).read_text()):
            if verb not in options:
                continue
            for option in re.findall(r"(?<= )--[a-z-]+", rest):
                count += 1
                if option not in options[verb]:
                    problems.append(f"{page}: 'lowtide {verb}' has no option {option}")
    return problems if count else ["no document names an option"]


def main():
    lowtide = str(pathlib.Path(sys.argv[1]).resolve())
    problems = [*check_sessions(lowtide), *check_options(lowtide)]
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
