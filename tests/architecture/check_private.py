#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps what is private to a room private.

A header is public if the room's CMakeLists.txt lists it under HEADERS. All other headers are private: only the room
itself and its tests may include them. What a private header declares is in namespace lowtide::<room>_internal, which
only the room and its tests may name. Namespaces that several rooms share, such as lowtide::detail, are refused.
"""
import pathlib
import re
import sys
import tempfile

from check_rooms import HOUSES, ROOM, folders_of_rooms, includes_of, public_headers

SHARED = re.compile(r"\bnamespace (?:lowtide::)?(detail|internal|verification)\b|\blowtide::(detail)::")
FOLDERS = ("src", "tests", "bench", "fuzz", "examples")


def room_of(path):
    """The room that a path relative to the root belongs to, as its source or its test; None for other files."""
    parts = path.parts
    inside = parts[2:] if parts[:2] == ("src", "lowtide") else parts[1:] if parts[0] == "tests" else ()
    folders = 2 if inside[:1] and inside[0] in HOUSES else 1
    return "/".join(inside[:folders]) if len(inside) > folders else None


def check_included_headers(root, path, public, problems):
    for target in includes_of(root / path):
        inside = re.match(rf"lowtide/({ROOM})/(.+)", target)
        if not inside or inside.group(1) == room_of(path) or inside.group(1) not in public:
            continue
        if inside.group(2) not in public[inside.group(1)]:
            problems.append(f"{path}: {target} is a private header of room {inside.group(1)}")


def check_namespaces(root, path, public, problems):
    room = room_of(path)
    own = room.rsplit("/", 1)[-1] if room else None
    text = re.sub(r"//.*", "", (root / path).read_text())
    for shared in sorted(set(SHARED.findall(text))):
        problems.append(f"{path}: namespace {''.join(shared)} is not one of a room; use lowtide::{own}_internal")
    for other in sorted(set(re.findall(r"\b(\w+)_internal(?:::| \{|;)", text)) - {own}):
        problems.append(f"{path}: {other}_internal is private to room {other}")
    is_header = path.suffix == ".h" and path.parts[0] == "src" and room in public
    is_private = is_header and path.relative_to(f"src/lowtide/{room}").as_posix() not in public[room]
    if is_private and "namespace lowtide" in text and f"namespace lowtide::{own}_internal" not in text:
        problems.append(f"{path}: a private header declares its names in lowtide::{own}_internal")


def check_tree(root):
    public = {room: set(public_headers(folder)) for room, folder in folders_of_rooms(root).items()}
    problems = []
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc"):
                path = path.relative_to(root)
                check_included_headers(root, path, public, problems)
                check_namespaces(root, path, public, problems)
    return problems


def check_the_check():
    """One correct tree, then one mistake at a time."""
    files = {
        "src/lowtide/low/CMakeLists.txt": "lowtide_add_room(low\n  HEADERS\n    door.h)\n",
        "src/lowtide/low/door.h": "namespace lowtide {\n",
        "src/lowtide/low/part/own.h": "namespace lowtide::low_internal {\n",
        "src/lowtide/low/door.cc": '#include "lowtide/low/part/own.h"\nnamespace lowtide {\nusing low_internal::Own;\n',
        "src/lowtide/high/CMakeLists.txt": "lowtide_add_room(high\n  HEADERS roof.h)\n",
        "src/lowtide/high/roof.h": '#include "lowtide/low/door.h"\n// Not in lowtide::detail.\n',
        "tests/low/own_test.cc": '#include "lowtide/low/part/own.h"\nusing low_internal::Own;\n',
    }

    def problems_of(files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            for path, text in files.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            return "\n".join(check_tree(root))

    if found := problems_of(files):
        raise SystemExit(f"the check refuses a correct tree: {found}")
    mistakes = {
        "high/roof.h: lowtide/low/part/own.h is a private header of room low":
            {"src/lowtide/high/roof.h": '#include "lowtide/low/part/own.h"\n'},
        "tests/high/roof_test.cc: lowtide/low/part/own.h is a private":
            {"tests/high/roof_test.cc": '#include "lowtide/low/part/own.h"\n'},
        "bench/a.cc: lowtide/low/part/own.h is a private": {"bench/a.cc": '#include "lowtide/low/part/own.h"\n'},
        "high/roof.h: low_internal is private to room low": {"src/lowtide/high/roof.h": "low_internal::Own own;\n"},
        "door.cc: namespace detail is not one of a room": {"src/lowtide/low/door.cc": "namespace lowtide::detail {\n"},
        "door.cc: namespace verification is": {"src/lowtide/low/door.cc": "namespace lowtide::verification {\n"},
        "own.h: a private header declares its names in": {"src/lowtide/low/part/own.h": "namespace lowtide {\n"},
    }
    for expected, change in mistakes.items():
        if expected not in (found := problems_of(files | change)):
            raise SystemExit(f"the check does not see: {expected}; it sees: {found}")


def main():
    check_the_check()
    problems = check_tree(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
