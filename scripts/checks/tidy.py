#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on every source whose text, headers, command or checks have changed since it was last found clean.

    scripts/checks/tidy.py --build build/lint [--all] [--jobs N]

Without --all, the tests are left out: gtest's macros make clang-tidy ten times as slow on them as on the other sources.
With --all they are read, without the static analyzer. A clean source leaves an empty file in the cache, named by a
digest. The cache is $LOWTIDE_DEPS/tidy, by default ~/.cache/lowtide/tidy, and checkouts share it.
"""
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
NOT_FOR_TESTS = "--checks=-clang-analyzer-*"
DAYS_KEPT = 30


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("LOWTIDE_DEPS") or pathlib.Path(base) / "lowtide") / "tidy"


@functools.cache
def includes_of(path):
    """The headers of this project that a file includes itself."""
    found = []
    for name in INCLUDE.findall(path.read_text()):
        for folder in (ROOT / "src", ROOT, path.parent):
            if (folder / name).is_file():
                found.append((folder / name).resolve())
                break
    return found


@functools.cache
def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def reached_from(path):
    """The file and every header of this project that it includes, directly or not."""
    reached, open_ = {path}, [path]
    while open_:
        for header in includes_of(open_.pop()):
            if header not in reached:
                reached.add(header)
                open_.append(header)
    return sorted(reached)


def key_of(entry, common, options):
    """Digest of everything that the findings of a source depend on, wherever the checkout lies."""
    words = [word.replace(str(ROOT), "") for word in shlex.split(entry["command"])]
    parts = [common, *options, *words]
    for path in reached_from(pathlib.Path(entry["file"])):
        parts += [str(path.relative_to(ROOT)), digest_of(path)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def run(build, entry, options):
    done = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), *options, entry["file"]], text=True,
                          capture_output=True)
    failed = done.returncode != 0 or "warning:" in done.stdout or "error:" in done.stdout
    return (done.stdout or done.stderr) if failed else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="the tests, too")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    version = subprocess.run(["clang-tidy", "--version"], text=True, capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_text()
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    entries, known = [], 0
    for entry in json.loads((given.build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        inside = path.relative_to(ROOT).parts if path.is_relative_to(ROOT) else ("build",)
        if inside[0] == "build" or (inside[0] == "tests" and not given.all):
            continue
        options = [NOT_FOR_TESTS] if inside[0] == "tests" else []
        mark = cache / key_of(entry, common, options)
        if mark.exists():
            known += 1
            mark.touch()
        else:
            entries.append((entry, options, mark))
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        pending = {pool.submit(run, given.build, entry, options): mark for entry, options, mark in entries}
        for done in concurrent.futures.as_completed(pending):
            if not done.result():
                pending[done].touch()
            elif done.result() not in findings:
                findings.add(done.result())
                print(done.result(), flush=True)
    for mark in cache.iterdir():
        if mark.stat().st_mtime < time.time() - DAYS_KEPT * 86400:
            mark.unlink(missing_ok=True)
    print(f"{len(entries)} sources read, {known} known to be clean, findings in {len(findings)}")
    return 1 if findings or not (entries or known) else 0


if __name__ == "__main__":
    sys.exit(main())
