#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles all sources of each room as one file, as the build compiles several of them at once.

It fails where two files of a room give the same name to different things in their unnamed namespaces.
"""
import argparse
import json
import pathlib
import re
import shlex
import subprocess

TAKES_A_WORD = ("-o", "-include", "-MF", "-MT", "-MQ")
DROPPED = ("-c", "-Werror", "-MD", "-MMD", "-Winvalid-pch")


def rooms_of(commands, source):
    """The compile commands of the libraries lowtide_<room>, by room."""
    rooms = {}
    for entry in commands:
        path = pathlib.Path(entry["file"])
        room = re.search(r" -o \S*/CMakeFiles/lowtide_(\w+)\.dir/", entry["command"])
        if room and (source / "src/lowtide" in path.parents or is_batch(path)):
            rooms.setdefault(room.group(1), []).append(entry)
    return {room: entries for room, entries in rooms.items() if room != "program"}


def is_batch(path):
    """Whether the build wrote the file, which includes several sources (cmake/LowtideUnity.cmake)."""
    return path.parent.name == "unity"


def sources_of(entry, source):
    """The sources that a compile command reads, below src/."""
    path = pathlib.Path(entry["file"])
    if is_batch(path):
        return re.findall(r'#include "(.+)"', path.read_text())
    return [str(path.relative_to(source / "src"))]


def words_for(entry):
    """The command of one file without the file, its outputs and its precompiled header."""
    kept = []
    words = iter(shlex.split(entry["command"]))
    for word in words:
        if word in TAKES_A_WORD:
            next(words)
        elif word not in DROPPED and word != entry["file"]:
            kept.append(word)
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    def absolute(path):
        return pathlib.Path(path).resolve()

    parser.add_argument("--build", required=True, type=absolute)
    parser.add_argument("--source", required=True, type=absolute)
    given = parser.parse_args()
    rooms = rooms_of(json.loads((given.build / "compile_commands.json").read_text()), given.source)
    assert rooms, "no room is in compile_commands.json"
    folder = given.build / "one_file"
    folder.mkdir(exist_ok=True)
    failed = 0
    for room, entries in sorted(rooms.items()):
        whole = folder / f"{room}.cc"
        # A file with options of its own is compiled alone.
        entries = [entry for entry in entries if words_for(entry) == words_for(entries[0])]
        # Paths below src/, so that two checkouts share what the compiler cache holds.
        sources = [path for entry in entries for path in sources_of(entry, given.source)]
        whole.write_text("".join(f'#include "{path}"\n' for path in sources))
        command = [*words_for(entries[0]), "-O0", "-g0", "-w", "-c", str(whole), "-o", str(whole.with_suffix(".o"))]
        done = subprocess.run(command, cwd=entries[0]["directory"], text=True, capture_output=True)
        if done.returncode:
            failed += 1
            print(f"room {room} does not compile as one file; if two files share a name, rename one of them")
            print(done.stderr)
    print(f"{len(rooms) - failed} of {len(rooms)} rooms compile as one file")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
