#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the hosted workflows and the pre-commit hooks: they are YAML, and name scripts and presets that exist.

Presets must instrument the sources in C as they do those in C++.

Needs PyYAML: run it with the python of scripts/python_env.
"""
import json
import os
import pathlib
import re
import sys

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


def strings_of(tree):
    """All strings in nested lists and dictionaries."""
    open_, found = [tree], []
    while open_:
        one = open_.pop()
        if isinstance(one, str):
            found.append(one)
        elif isinstance(one, dict):
            open_ += one.values()
        elif isinstance(one, list):
            open_ += one
    return found


def problems_of(text, presets, scripts):
    """What is wrong with one file, and how many scripts it calls."""
    try:
        commands = strings_of(yaml.safe_load(text))
    except yaml.YAMLError as error:
        return [f"is not YAML: {error}"], 0
    called = [name for command in commands for name in re.findall(r"(?<![\w/])((?:scripts|\.ci)/[\w./-]+)", command)]
    problems = [f"calls {name}, which is not a program" for name in called if name not in scripts]
    for command in commands:
        problems += [f"names the preset {name}, which CMakePresets.json lacks"
                     for name in re.findall(r"--preset[ =](\w+)", command) if name not in presets]
    return problems, len(called)


def instruments(flags):
    """The flags that make a compiler add checks or counters to the code."""
    return {flag for flag in flags.split() if flag.startswith(("-fsanitize", "-fno-sanitize", "--coverage"))}


def preset_problems(presets):
    """presets: those of CMakePresets.json."""
    problems = []
    for preset in presets:
        of_c, of_cxx = (instruments(preset.get("cacheVariables", {}).get(f"CMAKE_{language}_FLAGS_INIT", ""))
                        for language in ("C", "CXX"))
        if of_c != of_cxx:
            problems.append(f"the preset {preset['name']} instruments C and C++ in different ways")
    return problems


def check_the_check():
    good = "jobs: {a: {steps: [{run: scripts/test --preset dev}]}}"
    if problems_of(good, {"dev"}, {"scripts/test"}) != ([], 1):
        raise SystemExit("the check refuses a correct workflow")
    for text, expected in (("a: [", "is not YAML"), ("run: scripts/tset", "calls scripts/tset"),
                           ("run: scripts/test --preset dve", "names the preset dve")):
        if expected not in "\n".join(problems_of(text, {"dev"}, {"scripts/test"})[0]):
            raise SystemExit(f"the check does not see: {expected}")
    flags = {"CMAKE_CXX_FLAGS_INIT": "-fsanitize=thread -g", "CMAKE_C_FLAGS_INIT": "-fsanitize=thread"}
    if preset_problems([{"name": "plain"}, {"name": "tsan", "cacheVariables": flags}]):
        raise SystemExit("the check refuses correct presets")
    del flags["CMAKE_C_FLAGS_INIT"]
    if not preset_problems([{"name": "tsan", "cacheVariables": flags}]):
        raise SystemExit("the check does not see a preset that instruments C++ alone")


def main():
    check_the_check()
    stated = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    presets = {preset["name"] for preset in stated}
    scripts = {path.relative_to(ROOT).as_posix() for folder in ("scripts", "scripts/checks", ".ci")
               for path in (ROOT / folder).iterdir() if path.is_file() and os.access(path, os.X_OK)}
    files = [*sorted((ROOT / ".github").rglob("*.yml")), ROOT / ".pre-commit-config.yaml"]
    count = 0
    for path in files:
        problems, called = problems_of(path.read_text(), presets, scripts)
        problems += [] if called else ["calls no script"]
        for problem in problems:
            print(f"{path.relative_to(ROOT)}: {problem}")
        count += len(problems)
    for problem in (found := preset_problems(stated)):
        print(f"CMakePresets.json: {problem}")
    count += len(found)
    print(f"{count} problems in {len(files)} files")
    return 1 if count or len(files) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
