#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs clang-tidy on what has changed since it was last found clean.

    scripts/checks/tidy.py --build build/lint [--all] [--jobs N]

Sources of one room are read in batches: a batch is one file that includes a dozen of them. This takes a sixth of the
time, because the headers of a batch are read once. Names do not clash, since rooms compile as one file
(tests/architecture). With --all, every source is read alone, with the static analyzer. Tests are read as well, without
the analyzer. That takes an hour, most of it for the macros of gtest.

A clean run leaves an empty file in the cache. Its name is a digest of everything that the result depends on. The cache
is $LOWTIDE_DEPS/tidy, by default ~/.cache/lowtide/tidy, and checkouts share it.
"""
import argparse
import concurrent.futures
import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = "clang-tidy-19"
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
FINDING = re.compile(r"(?:warning|error): .*\[[\w.,-]+\]$", re.MULTILINE)
TARGET = re.compile(r"/CMakeFiles/lowtide_(\w+)\.dir/")  # of a room
BATCH = 12
DAYS_KEPT = 30


@dataclasses.dataclass
class Task:
    """One run of clang-tidy: a source, or a file that includes several, with the command that compiles it."""
    sources: list
    command: str
    directory: str
    options: list


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


def reached_from(sources):
    """The sources and every header of this project that they include, directly or not."""
    reached, open_ = set(sources), list(sources)
    while open_:
        for header in includes_of(open_.pop()):
            if header not in reached:
                reached.add(header)
                open_.append(header)
    return sorted(reached)


def key_of(task, common):
    """Digest of everything that the findings of a task depend on, wherever the checkout is."""
    parts = [common, *task.options, task.command.replace(str(ROOT), "")]
    for path in reached_from(task.sources):
        parts += [str(path.relative_to(ROOT)), digest_of(path)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def entries_of(build):
    """(path relative to the root, compile command) of every source that is not generated."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = pathlib.Path(entry["file"])
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] != "build":
            yield path.relative_to(ROOT), entry


def tasks_one_by_one(build):
    for inside, entry in entries_of(build):
        options = ["--checks=-clang-analyzer-*"] if inside.parts[0] == "tests" else []
        yield Task([ROOT / inside], entry["command"], entry["directory"], options)


def tasks_in_batches(build):
    """Batches of the sources of each room, and other sources one by one."""
    options = ["--checks=-clang-analyzer-*,-bugprone-suspicious-include"]
    rooms = {}
    for inside, entry in entries_of(build):
        target = TARGET.search(entry["command"])
        if inside.parts[0] == "src" and target and target.group(1) in inside.parts:
            rooms.setdefault(target.group(1), []).append((inside, entry))
        elif inside.parts[0] != "tests":
            yield Task([ROOT / inside], entry["command"], entry["directory"], options)
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    for room, sources in rooms.items():
        for at in range(0, len(sources), BATCH):
            batch = sources[at:at + BATCH]
            first = batch[0][1]
            whole = folder / f"{room}_{at}.cc"
            whole.write_text("".join(f'#include "{inside.relative_to("src")}"\n' for inside, _ in batch))
            command = first["command"].replace(first["file"], str(whole))
            yield Task([ROOT / inside for inside, _ in batch], command, first["directory"], options)


def run(task, folder):
    """What clang-tidy finds, as text."""
    file = task.command.split()[-1]
    database = folder / hashlib.sha256(file.encode()).hexdigest()[:12]
    database.mkdir(exist_ok=True)
    entry = {"directory": task.directory, "command": task.command, "file": file}
    (database / "compile_commands.json").write_text(json.dumps([entry]))
    done = subprocess.run([PROGRAM, "--quiet", "-p", str(database), f"--config-file={ROOT}/.clang-tidy", *task.options,
                           "--header-filter=/(src/lowtide|tests|bench|fuzz|examples)/", file],
                          text=True, capture_output=True)
    if done.returncode == 0 and not FINDING.search(done.stdout):
        return ""
    return done.stdout or done.stderr or f"{file}: exit code {done.returncode}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="also run the static analyzer, and read the tests")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    given = parser.parse_args()
    build = given.build.resolve()
    version = subprocess.run([PROGRAM, "--version"], text=True, capture_output=True, check=True).stdout
    common = version + (ROOT / ".clang-tidy").read_text()
    cache = cache_folder()
    cache.mkdir(parents=True, exist_ok=True)
    open_, known = [], 0
    for task in tasks_one_by_one(build) if given.all else tasks_in_batches(build):
        mark = cache / key_of(task, common)
        if mark.exists():
            known += 1
            mark.touch()
        else:
            open_.append((task, mark))
    databases = build / "tidy_commands"
    databases.mkdir(exist_ok=True)
    findings = set()
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        pending = {pool.submit(run, task, databases): mark for task, mark in open_}
        for done in concurrent.futures.as_completed(pending):
            text = done.result()
            if not text:
                pending[done].touch()
            for finding in re.findall(r"^.*(?:warning|error): .*$", text, re.MULTILINE) or [text] * bool(text):
                if finding not in findings:  # a header is read with several sources
                    findings.add(finding)
                    print(finding.replace(f"{ROOT}/", ""), flush=True)
    for mark in cache.iterdir():
        if mark.stat().st_mtime < time.time() - DAYS_KEPT * 86400:
            mark.unlink(missing_ok=True)
    print(f"{len(open_)} runs, {known} known to be clean, {len(findings)} findings")
    return 1 if findings or not (open_ or known) else 0


if __name__ == "__main__":
    sys.exit(main())
