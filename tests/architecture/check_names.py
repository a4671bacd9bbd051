#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Finds names that two files of a room give to different things in their unnamed namespaces.

The build compiles several files of a room as one, and which ones depends on its options. So a name may have one meaning
in a room only. Functions may have a name in common if their parameters differ. This reads the text of definitions, so
it is fast; check_one_file.py has the compiler's answer.
"""
import collections
import pathlib
import re
import sys
import tempfile

DEFINITIONS = (
    re.compile(r"(?:template <.*> )?(?:struct|class|enum class|enum) (\w+)(?![^{]*;)"),
    re.compile(r"(using \w+ = .*;)"),  # the same alias twice is correct
    re.compile(r"(?:static |inline )*(?:constexpr|const) [^(=]*?[ &*](\w+)(?:\[[^=]*\])?(?: = |\{|;)"),
    re.compile(r"(?!using|return|static_assert)[\w:<>,&*\[\] ]+?[ &*](\w+\(.*)"),
)
PARAMETER_NAME = re.compile(r" ?(?:/\*)?\b\w+(?:\*/)?(?: = [^,)]*)?(?=[,)])")


def definitions_of(text):
    """{(namespace, name) of each definition in an unnamed namespace}. Functions have the types of their parameters."""
    found = set()
    spaces = []
    for line in re.sub(r"\(([^()]*?)\n\s+", lambda match: "(" + match[1] + " ", text).splitlines():
        if opened := re.match(r"namespace ?([\w:]*) ?\{", line):
            spaces.append(opened.group(1))
        elif line.startswith("}  // namespace"):
            if spaces:
                spaces.pop()
        elif spaces and spaces[-1] == "" and line[:1] not in (" ", "#", "/", "}", ""):
            for definition in DEFINITIONS:
                if match := definition.match(line):
                    name = match.group(1)
                    if "(" in name and not name.startswith("using"):
                        name = PARAMETER_NAME.sub("", name.split(" {")[0])
                    found.add((tuple(spaces), name))
                    break
    return found


def rooms_of(source):
    """{room: its sources}; the folder of a room has its CMakeLists.txt."""
    rooms = collections.defaultdict(list)
    for path in sorted(source.rglob("*.cc")):
        room = next(folder for folder in path.parents if (folder / "CMakeLists.txt").exists())
        rooms[room].append(path)
    return rooms


def problems_of(source):
    problems = []
    for room, paths in sorted(rooms_of(source).items()):
        places = collections.defaultdict(set)
        for path in paths:
            for definition in definitions_of(path.read_text()):
                places[definition].add(path.relative_to(room).as_posix())
        for (_, name), files in sorted(places.items()):
            if len(files) > 1 and not name.startswith("using"):
                problems.append(f"{room.relative_to(source)}: {name} is defined in {', '.join(sorted(files))}")
    return problems


def check_the_check():
    """One mistake of each kind, and what looks like one."""
    first = """namespace lowtide {
namespace {

constexpr std::int64_t kStep = 40;  // of a move
bool is_byte(DType dtype) { return dtype == DType::u8; }
using Index = std::size_t;
struct Scope {
  int depth = 0;
};
std::string text_of(const Plan& plan,
                    int level) {
int sum(int a);

}  // namespace

bool is_public(int a) { return a > 0; }

}  // namespace lowtide
"""
    second = first.replace("a);", "double a);").replace("DType::u8", "DType::i8").replace("plan,", "other,")
    with tempfile.TemporaryDirectory() as name:
        room = pathlib.Path(name) / "room"
        room.mkdir()
        (room / "CMakeLists.txt").write_text("")
        (room / "first.cc").write_text(first)
        (room / "second.cc").write_text(second)
        found = "\n".join(problems_of(pathlib.Path(name)))
        for expected in ("kStep", "is_byte", "Scope", "text_of"):
            if f"room: {expected}" not in found:
                raise SystemExit(f"the check does not see {expected}; it sees: {found}")
        for correct in ("Index", "sum", "is_public"):
            if correct in found:
                raise SystemExit(f"the check refuses {correct}: {found}")


def main():
    check_the_check()
    problems = problems_of(pathlib.Path(sys.argv[1]) / "src/lowtide")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
