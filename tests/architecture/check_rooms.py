#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the code against the table of rooms in ARCHITECTURE.md.

Fails where a room lacks its folder, CMake target, tests or sentence; where a file includes a room that its row does not
name; where CMake links what the row does not name; where a third-party header is included outside its room or in a
public header.

A room is named by its folder below src/lowtide. The folder is there, or in a house, which holds rooms and no files.

A room with sub-folders has a second table. Each sub-folder has a row (`room/folder` or `room/folder/inner`). The files
beside the sub-folders share one (`room/.`), unless a file has its own rule (`room/file.h`). The check fails if a file
includes a sub-folder that its row does not name. It also fails if a row names one that is not above it, or if files
include each other in a circle.
"""
import pathlib
import re
import sys
import tempfile

HOUSES = ("c_source", "earlier", "tflite")
# Rooms that a build may leave out, and the folders that may include them.
LEFT_OUT = {
    r"earlier/": ("earlier/", "cli/commands/earlier/"),
    r"tflite/": ("tflite/", "cli/commands/tflite/"),
    r"(weights|kernels|runtime|engine|c_source/graph_program)$": ("weights/", "kernels/", "runtime/", "engine/",
                                                                  "c_source/graph_program/", "cli/commands/run/"),
}
# The name of a room, in a row or in the path of an include.
ROOM = rf"(?:(?:{'|'.join(HOUSES)})/\w+|(?!(?:{'|'.join(HOUSES)})/)\w+)"

# Third-party headers, and the folders whose files may include them. Public headers may include none.
THIRD_PARTY = {
    r"onnx/|google/protobuf/": ["import/onnx", "export/onnx"],
    r"openssl/": ["import"],
    r"oneapi/|dnnl": ["kernels/onednn"],
    r"toml\+\+/|toml\.hpp": ["target"],
    r"flatbuffers/|schema_generated": ["tflite/flatbuffer"],
    r"nlohmann/": [],  # only tests read what Lowtide writes with it
    r"CLI/": ["cli"],
}


def read_rooms(text):
    """{room: set of rooms it may include, or None for any} from the table's rows."""
    rooms = {}
    for name, sentence, may in re.findall(rf"^\| `({ROOM})` \| (.+?) \| (.+?) \|$", text, re.MULTILINE):
        allowed = None if may.strip() == "any" else set(may.replace("-", "").split())
        if not sentence.strip():
            raise SystemExit(f"ARCHITECTURE.md: room {name} has no sentence")
        rooms[name] = allowed
    return rooms


def read_units(text):
    """{room: {unit: set of units it may include}} from the rows `room/unit`."""
    units = {}
    row = rf"^\| `({ROOM})/([\w./]+)` \| (.+?) \| (.+?) \|$"
    for room, unit, sentence, may in re.findall(row, text, re.MULTILINE):
        if not sentence.strip():
            raise SystemExit(f"ARCHITECTURE.md: {room}/{unit} has no sentence")
        units.setdefault(room, {})[unit] = set() if may.strip() == "-" else set(may.split())
    return units


def unit_of(inside_room, units):
    """The row that a path, relative to its room, belongs to."""
    if "/" in inside_room:
        return inside_room.rsplit("/", 1)[0]
    return inside_room if inside_room in units else "."


def circle_in(follows):
    """Some nodes that follow each other in a circle, or nothing. `follows`: {node: set of nodes}."""
    left = {node: set(after) & follows.keys() - {node} for node, after in follows.items()}
    while ends := [node for node, after in left.items() if not after]:
        for node in ends:
            del left[node]
        for after in left.values():
            after.difference_update(ends)
    # Every node that is left leads to another one of them, so the walk comes back to where it has been.
    walk = [min(left)] if left else []
    while walk and walk.count(walk[-1]) == 1:
        walk.append(min(left[walk[-1]]))
    return walk[walk.index(walk[-1]):-1] if walk else []


def includes_of(path):
    return re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE)


def check_units(folder, room, units, problems):
    """Includes within a room that has rows for its sub-folders."""
    for unit, may in units.items():
        if unit != "." and not (folder / unit).exists():
            problems.append(f"ARCHITECTURE.md: there is no {room}/{unit}")
        for other in may - units.keys():
            problems.append(f"ARCHITECTURE.md: {room}/{unit} may include {other}, which has no row")
        # Read from top to bottom, a table never runs back, so its rows cannot include each other in a circle.
        for other in sorted(may & set(list(units)[list(units).index(unit):])):
            problems.append(f"ARCHITECTURE.md: {room}/{unit} may include {other}, whose row is not above it")
    for path in sorted(path for path in folder.rglob("*") if path.is_dir()):
        inside = path.relative_to(folder).as_posix()
        if inside not in units:
            problems.append(f"src/lowtide/{room}/{inside} has no row in ARCHITECTURE.md")
    follows = {}
    for path in sorted([*folder.rglob("*.h"), *folder.rglob("*.cc")]):
        inside = path.relative_to(folder).as_posix()
        unit = unit_of(inside, units)
        own = follows.setdefault(inside.rsplit(".", 1)[0], set())  # a source and its header are one
        for target in includes_of(path):
            if not target.startswith(f"lowtide/{room}/"):
                continue
            other = target.removeprefix(f"lowtide/{room}/")
            own.add(other.rsplit(".", 1)[0])
            if unit_of(other, units) not in units.get(unit, set()) | {unit}:
                problems.append(f"{path}: {room}/{unit} may not include {target}")
    if circle := circle_in(follows):
        problems.append(f"src/lowtide/{room}: files include each other: {' -> '.join(circle)}")


def folders_of_rooms(root):
    """{room: folder} of all folders that should be rooms."""
    source = root / "src/lowtide"
    folders = [path for path in source.iterdir() if path.is_dir() and path.name not in HOUSES]
    folders += [path for house in HOUSES for path in (source / house).glob("*")]
    return {folder.relative_to(source).as_posix(): folder for folder in sorted(folders)}


def public_headers(folder):
    listed = re.search(r"HEADERS\s+((?:[\w/]+\.h\s*)+)", (folder / "CMakeLists.txt").read_text())
    return listed.group(1).split() if listed else []


def may_lack(room, place):
    """Whether a build may have a place below src/lowtide without having the room."""
    return any(re.match(pattern, room) and not place.startswith(folders) for pattern, folders in LEFT_OUT.items())


def check_includes(path, room, allowed, rooms, problems):
    inside_source = path.as_posix().rsplit("src/lowtide/", 1)[-1]
    for number, line in enumerate(path.read_text().splitlines(), 1):
        found = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
        if not found:
            continue
        target = found.group(1)
        inside = re.match(rf"lowtide/({ROOM})/", target)
        if inside:
            other = inside.group(1)
            if other not in rooms:
                problems.append(f"{path}:{number}: includes {target}, and there is no room {other}")
            elif other != room and allowed is not None and other not in allowed:
                problems.append(f"{path}:{number}: room {room} may not include room {other}")
            elif may_lack(other, inside_source):
                problems.append(f"{path}:{number}: a build may leave out {other}, but not this file")
        for pattern, places in THIRD_PARTY.items():
            if re.match(pattern, target) and not any(f"/{place}/" in path.as_posix() for place in places):
                problems.append(f"{path}:{number}: {target} belongs in {' or '.join(places) or 'tests'}")


def check_room(root, room, allowed, rooms, problems):
    folder = root / "src/lowtide" / room
    cmake = folder / "CMakeLists.txt"
    name = room.rsplit("/", 1)[-1]
    if not cmake.is_file() or f"lowtide_add_room({name}" not in cmake.read_text():
        problems.append(f"room {room} has no CMake target: {cmake}")
        return
    tests = root / "tests" / room
    if not list(tests.glob("*_test.*")) and not list(tests.glob("test_*")):
        problems.append(f"room {room} has no tests in {tests}")
    text = cmake.read_text()
    uses = re.search(r"USES ([^\n)]*)", text)
    allowed_names = None if allowed is None else {one.rsplit("/", 1)[-1] for one in allowed}
    for used in (uses.group(1).split() if uses else []):
        if allowed_names is not None and used not in allowed_names:
            problems.append(f"{cmake}: links room {used}, which its row does not name")
    for header in public_headers(folder):
        source = (folder / header).read_text()
        for pattern in THIRD_PARTY:
            if re.search(rf'#\s*include\s*["<](?:{pattern})', source):
                problems.append(f"{folder / header}: a public header includes a third-party one")
    for path in sorted([*folder.rglob("*.h"), *folder.rglob("*.cc")]):
        check_includes(path, room, allowed, rooms, problems)


def check_tree(root):
    problems = []
    architecture = (root / "ARCHITECTURE.md").read_text()
    rooms = read_rooms(architecture)
    units = read_units(architecture)
    for room in sorted(folders_of_rooms(root).keys() - rooms.keys()):
        problems.append(f"src/lowtide/{room} has no row in ARCHITECTURE.md")
    for room in sorted(rooms):
        check_room(root, room, rooms[room], rooms, problems)
    for room, folder in folders_of_rooms(root).items():
        if room not in units and [path for path in folder.glob("*/*") if path.suffix in (".h", ".cc")]:
            problems.append(f"src/lowtide/{room} has sub-folders, and ARCHITECTURE.md has no table of them")
    for room in sorted(units):
        check_units(root / "src/lowtide" / room, room, units[room], problems)
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
            folder = root / "src/lowtide" / room
            (folder / "CMakeLists.txt").write_text(f"lowtide_add_room({room}\n  HEADERS a.h\n  USES high)")
            (folder / "a.h").write_text('#include "lowtide/high/b.h"\n#include <onnx/onnx_pb.h>\n')
        found = "\n".join(check_tree(root))
        for expected in ("stray has no row", "low may not include room high", "links room high", "high has no tests",
                         "belongs in import/onnx", "a public header includes"):
            if expected not in found:
                raise SystemExit(f"the check does not see: {expected}")


def check_the_check_of_houses():
    """The same for rooms in a house, and for others that a build may leave out."""
    def problems_of(rows, includes):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            table = "".join(f"| `{room}` | a part | {may} |\n" for room, may in rows.items())
            (root / "ARCHITECTURE.md").write_text(table)
            for path, target in includes.items():
                room, header = path.rsplit("/", 1)[0], root / "src/lowtide" / path
                header.parent.mkdir(parents=True)
                header.write_text(f'#include "lowtide/{target}"\n')
                cmake = f"lowtide_add_room({room.split('/')[-1]}\n  HEADERS a.h\n"
                (header.parent / "CMakeLists.txt").write_text(cmake)
                (root / "tests" / room).mkdir(parents=True)
                (root / "tests" / room / "a_test.cc").write_text("")
            return "\n".join(check_tree(root))

    rows = {"low": "-", "kernels": "-", "earlier/old": "low", "earlier/older": "-", "cli": "any"}
    includes = {"low/a.h": "low/b.h", "earlier/old/a.h": "low/a.h", "earlier/older/a.h": "earlier/older/b.h",
                "kernels/a.h": "kernels/b.h", "cli/a.h": "low/a.h", "cli/commands/run/a.h": "kernels/a.h"}
    if found := problems_of(rows, includes):
        raise SystemExit(f"the check refuses a correct house: {found}")
    mistakes = {
        "room low may not include room earlier/old": (rows, includes | {"low/a.h": "earlier/old/a.h"}),
        "room earlier/old may not include room earlier/older":
            (rows, includes | {"earlier/old/a.h": "earlier/older/a.h"}),
        "may leave out kernels": (rows, includes | {"cli/a.h": "kernels/a.h"}),
        "may leave out earlier/old": (rows, includes | {"cli/a.h": "earlier/old/a.h"}),
        "there is no room earlier/gone": (rows, includes | {"low/a.h": "earlier/gone/a.h"}),
        "src/lowtide/earlier/new has no row": (rows, includes | {"earlier/new/a.h": "low/a.h"}),
        "room earlier/gone has no CMake target": (rows | {"earlier/gone": "-"}, includes),
    }
    for expected, tree in mistakes.items():
        if expected not in problems_of(*tree):
            raise SystemExit(f"the check does not see: {expected}; it sees: {problems_of(*tree)}")


def check_the_check_of_units():
    """The same for the sub-folders of a room: one correct tree, then one mistake at a time."""
    rows = {"bottom": "-", "top": "bottom", "top/inner": "bottom", ".": "top", "shared.h": "-"}
    files = {"bottom/a.h": [], "bottom/a.cc": ["bottom/a.h", "bottom/b.h"], "bottom/b.h": [],
             "top/c.h": ["bottom/a.h"], "top/inner/f.h": ["bottom/a.h"], "door.h": ["top/c.h"], "shared.h": []}

    def problems_of(rows, files):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            table = "| `low` | the ground | - |\n| `high` | the roof | low |\n"
            table += "".join(f"| `low/{unit}` | a part | {may} |\n" for unit, may in rows.items())
            (root / "ARCHITECTURE.md").write_text(table)
            all_files = {f"low/{path}": [f"low/{target}" for target in targets] for path, targets in files.items()}
            all_files["high/e.h"] = ["low/door.h"]
            for path, targets in all_files.items():
                place = root / "src/lowtide" / path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("".join(f'#include "lowtide/{target}"\n' for target in targets))
            for room, headers in (("low", "door.h"), ("high", "e.h")):
                cmake = f"lowtide_add_room({room}\n  HEADERS {headers}\n"
                (root / f"src/lowtide/{room}/CMakeLists.txt").write_text(cmake)
                (root / "tests" / room).mkdir(parents=True)
                (root / "tests" / room / "a_test.cc").write_text("")
            return "\n".join(check_tree(root))

    if found := problems_of(rows, files):
        raise SystemExit(f"the check refuses a correct tree: {found}")
    mistakes = {
        "low/bottom may not include lowtide/low/top/c.h": (rows, files | {"bottom/b.h": ["top/c.h"]}),
        "low/. may not include lowtide/low/shared.h": (rows, files | {"door.h": ["shared.h"]}),
        "files include each other: bottom/a -> bottom/b": (rows, files | {"bottom/b.cc": ["bottom/a.h"]}),
        "low/bottom may include top, whose row is not above it": (rows | {"bottom": "top"}, files),
        "low/top may not include lowtide/low/top/inner/f.h": (rows, files | {"top/c.h": ["top/inner/f.h"]}),
        "top/other has no row": (rows, files | {"top/other/g.h": []}),
        "stray has no row": (rows, files | {"stray/d.h": []}),
        "src/lowtide/low has sub-folders": ({}, files),
        "may include nowhere, which has no row": (rows | {"top": "bottom nowhere"}, files),
        "there is no low/gone": (rows | {"gone": "-"}, files),
    }
    for expected, tree in mistakes.items():
        if expected not in problems_of(*tree):
            raise SystemExit(f"the check does not see: {expected}; it sees: {problems_of(*tree)}")


def main():
    check_the_check()
    check_the_check_of_houses()
    check_the_check_of_units()
    problems = check_tree(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
