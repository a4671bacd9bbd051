#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Holds the table of rooms in ARCHITECTURE.md against the code.

Fails where a room lacks its folder, CMake target, tests or sentence; where a file includes a room that its row does not
name; where CMake links what the row does not name; where a third-party header stands outside its room or in a public
header.
"""
import pathlib
import re
import sys
import tempfile

# Third-party headers: where they may stand, and never in a header that CMake lists as public.
THIRD_PARTY = {
    r"onnx/|google/protobuf/": ["import/onnx"],
    r"openssl/": ["import"],
    r"toml\+\+/|toml\.hpp": ["target"],
    r"nlohmann/": ["cli"],
    r"CLI/": ["cli"],
}


def read_rooms(text):
    """{room: set of rooms it may include, or None for any} from the table's rows."""
    rooms = {}
    for name, sentence, may in re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", text, re.MULTILINE):
        allowed = None if may.strip() == "any" else set(may.replace("-", "").split())
        if not sentence.strip():
            raise SystemExit(f"ARCHITECTURE.md: room {name} has no sentence")
        rooms[name] = allowed
    return rooms


def check_includes(path, room, allowed, rooms, problems):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        if not found:
            continue
        target = found.group(1)
        inside = re.match(r"lowtide/(\w+)/", target)
        if inside:
            other = inside.group(1)
            if other not in rooms:
                problems.append(f"{path}:{number}: includes {target}, and there is no room {other}")
            elif other != room and allowed is not None and other not in allowed:
                problems.append(f"{path}:{number}: room {room} may not include room {other}")
        for pattern, places in THIRD_PARTY.items():
            if re.match(pattern, target) and not any(f"/{place}/" in path.as_posix() for place in places):
                problems.append(f"{path}:{number}: {target} belongs in {' or '.join(places)}")


def check_room(root, room, allowed, rooms, problems):
    folder = root / "src/lowtide" / room
    cmake = folder / "CMakeLists.txt"
    if not cmake.is_file() or f"lowtide_add_room({room}" not in cmake.read_text():
        problems.append(f"room {room} has no CMake target: {cmake}")
        return
    tests = root / "tests" / room
    if not list(tests.glob("*_test.*")) and not list(tests.glob("test_*")):
        problems.append(f"room {room} has no tests in {tests}")
    text = cmake.read_text()
    uses = re.search(r"USES ([^\n)]*)", text)
    for used in (uses.group(1).split() if uses else []):
        if allowed is not None and used not in allowed:
            problems.append(f"{cmake}: links room {used}, which its row does not name")
    public = re.search(r"HEADERS ((?:[\w/]+\.h\s*)+)", text)
    for header in (public.group(1).split() if public else []):
        source = (folder / header).read_text()
        for pattern in THIRD_PARTY:
            if re.search(rf'#\s*include\s*["<](?:{pattern})', source):
                problems.append(f"{folder / header}: a public header includes a third-party one")
    for path in sorted([*folder.rglob("*.h"), *folder.rglob("*.cc")]):
        check_includes(path, room, allowed, rooms, problems)


def check_tree(root):
    problems = []
    rooms = read_rooms((root / "ARCHITECTURE.md").read_text())
    folders = {path.name for path in (root / "src/lowtide").iterdir() if path.is_dir()}
    for room in sorted(folders - rooms.keys()):
        problems.append(f"src/lowtide/{room} has no row in ARCHITECTURE.md")
    for room in sorted(rooms):
        check_room(root, room, rooms[room], rooms, problems)
    return problems


def check_the_check():
    """A tree with one of each mistake: the check must see all of them."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "ARCHITECTURE.md").write_text("| `low` | the ground | - |\n| `high` | the roof | low |\n")
        for room in ("low", "high", "stray"):
            (root / "src/lowtide" / room).mkdir(parents=True)
        (root / "tests/low").mkdir(parents=True)
        (root / "tests/low/a_test.cc").write_text("")
        for room in ("low", "high"):
            (root / f"src/lowtide/{room}/CMakeLists.txt").write_text(f"lowtide_add_room({room}\n  HEADERS a.h\n  USES high)")
            (root / f"src/lowtide/{room}/a.h").write_text('#include "lowtide/high/b.h"\n#include <onnx/onnx_pb.h>\n')
        found = "\n".join(check_tree(root))
        for expected in ("stray has no row", "low may not include room high", "links room high", "high has no tests",
                         "belongs in import/onnx", "a public header includes"):
            if expected not in found:
                raise SystemExit(f"the check does not see: {expected}")


def main():
    check_the_check()
    problems = check_tree(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
