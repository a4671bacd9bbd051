#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Fails where two types of one namespace have one name.

Rooms share the namespace lowtide. Neither the compiler nor the linker refuses two different types of one name in it,
but the code of one may be called for the other. Types of an anonymous namespace cannot clash.
"""
import pathlib
import re
import sys
import tempfile

# The code is formatted: nothing in a namespace is indented.
OPEN = re.compile(r"^(?:inline )?namespace\s*([\w:]*)\s*\{$")
CLOSE = re.compile(r"^\}  // namespace")
TYPE = re.compile(r"^(?:struct|class|union|enum class|enum struct|enum) (?:\[\[\w+\]\] )?"
                  r"(\w+)(?: final)?\s*(?::[^:;].*)?\{")


def types_of(path):
    """The types that a file defines outside anonymous namespaces: [(qualified name, line)]."""
    found = []
    around = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if opened := OPEN.match(line):
            around.append(opened.group(1))
        elif CLOSE.match(line) and around:
            around.pop()
        elif "" not in around and (defined := TYPE.match(line)):
            found.append(("::".join([*around, defined.group(1)]), number))
    return found


def check_tree(root):
    places = {}
    sources = [path for folder in ("src", "tests") for path in (root / folder).rglob("*")]
    for path in sorted(path for path in sources if path.suffix in (".h", ".cc")):
        for name, number in types_of(path):
            places.setdefault(name, []).append(f"{path.relative_to(root)}:{number}")
    clashes = [f"{name}: {', '.join(where)}" for name, where in sorted(places.items()) if len(where) > 1]
    return clashes, len(places)


def check_the_check():
    """A tree with a clash and with what only looks like one: the check must report only the clash."""
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "src").mkdir()
        (root / "src/a.h").write_text(
            "namespace lowtide {\nstruct Same {\nclass Other final : public Base {\nstruct Named;\n"
            "namespace detail {\nstruct Named {\n}  // namespace detail\n}  // namespace lowtide\n")
        (root / "src/b.cc").write_text(
            "namespace lowtide {\nnamespace {\nclass Other {\n}  // namespace\nstruct Named {\n"
            "enum class Same : std::uint8_t { one };\n}  // namespace lowtide\n")
        clashes, count = check_tree(root)
        if clashes != ["lowtide::Same: src/a.h:2, src/b.cc:6"] or count != 4:
            raise SystemExit(f"the check does not see what it should: {clashes} of {count}")


def main():
    check_the_check()
    clashes, count = check_tree(pathlib.Path(sys.argv[1]))
    for clash in clashes:
        print(clash)
    print(f"{len(clashes)} clashes of {count} types")
    return 1 if clashes or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
