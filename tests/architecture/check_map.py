#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the map of ARCHITECTURE.md against the table of rooms and the tree.

The block of layers has each room once. A room includes rooms of lower layers, and rooms of its own layer only if they
are behind an arrow. Each row of the table of places to begin names files that exist.
"""
import pathlib
import re
import sys
import tempfile

from check_rooms import read_rooms

PLACES = "Place to begin"


def read_layers(text):
    """[(layer, groups)]: the lines of the block, as [[room, ...], ...] with an arrow between the groups."""
    lines = re.findall(r"^    layer (\d+) +(.+)$", text, re.MULTILINE)
    return [(int(number), [re.findall(r"[\w/]+", group) for group in rooms.split("->")]) for number, rooms in lines]


def check_layers(text, problems):
    rooms = read_rooms(text)
    places = {}  # room: (layer, groups to its right)
    for layer, groups in read_layers(text):
        for at, group in enumerate(groups):
            for room in group:
                if room in places:
                    problems.append(f"ARCHITECTURE.md: room {room} is in the block of layers twice")
                places[room] = (layer, len(groups) - at)
    for room in sorted(rooms.keys() - places.keys()):
        problems.append(f"ARCHITECTURE.md: room {room} is not in the block of layers")
    for room in sorted(places.keys() - rooms.keys()):
        problems.append(f"ARCHITECTURE.md: the block of layers has {room}, and there is no such room")
    for room, may in sorted(rooms.items()):
        for other in sorted((rooms.keys() - {room} if may is None else may) & places.keys()):
            if room in places and not places[other] < places[room]:
                problems.append(
                    f"ARCHITECTURE.md: {room} may include {other}, which is neither lower nor behind an arrow")


def check_places(root, text, problems):
    """The rows below the head `| Place to begin | ... |`."""
    table = re.search(rf"^\| {PLACES} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    if not table:
        problems.append(f"ARCHITECTURE.md: there is no table '{PLACES}'")
        return
    for row in table.group(1).splitlines():
        files = re.findall(r"`([^`]+)`", row.split("|")[1])
        if not files:
            problems.append(f"ARCHITECTURE.md: a row without a file: {row}")
        for file in files:
            if not (root / file).is_file():
                problems.append(f"ARCHITECTURE.md: there is no {file}")


def check_tree(root):
    problems = []
    text = (root / "ARCHITECTURE.md").read_text()
    check_layers(text, problems)
    check_places(root, text, problems)
    return problems


def check_the_check():
    """One correct map, then one mistake at a time."""
    rooms = ("| `low` | ground | - |\n| `mid` | walls | low |\n| `inner/old` | cellar | mid low |\n"
             "| `top` | roof | any |\n")
    layers = "    layer 1   top\n    layer 0   inner/old -> mid -> low\n"
    places = f"| {PLACES} | Why |\n|---|---|\n| `src/a.cc` | the story |\n"

    def problems_of(rooms, layers, places):
        with tempfile.TemporaryDirectory() as name:
            root = pathlib.Path(name)
            (root / "src").mkdir()
            (root / "src/a.cc").write_text("")
            (root / "ARCHITECTURE.md").write_text("\n".join((rooms, layers, places)).replace("inner", "earlier"))
            return "\n".join(check_tree(root))

    if found := problems_of(rooms, layers, places):
        raise SystemExit(f"the check refuses a correct map: {found}")
    mistakes = {
        "room low is not in the block": (rooms, layers.replace(" -> low", ""), places),
        "room mid is in the block of layers twice": (rooms, layers + "    layer 2   mid\n", places),
        "has gone, and there is no such room": (rooms, layers.replace("top", "top | gone"), places),
        "mid may include low, which is neither": (rooms, layers.replace("mid -> low", "mid | low"), places),
        "low may include mid, which is neither": (rooms.replace("ground | -", "ground | mid"), layers, places),
        "low may include top, which is neither": (rooms.replace("ground | -", "ground | top"), layers, places),
        "there is no src/b.cc": (rooms, layers, places.replace("a.cc", "b.cc")),
        "a row without a file": (rooms, layers, places + "| nothing | no story |\n"),
        "there is no table": (rooms, layers, ""),
    }
    for expected, tree in mistakes.items():
        if expected not in (found := problems_of(*tree)):
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
