#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Refuses large files and functions: a header above 200 lines, any other source above 400, a C++ function above 60
lines or with more than five parameters.

A function's length is that of its body, without the lines of its two braces. A lambda counts in the function around it.
"""
import pathlib
import re
import sys
import tempfile

MOST_LINES = {".h": 200, ".cc": 400, ".py": 400, ".js": 400, ".mjs": 400, ".css": 400, "": 400}
MOST_FUNCTION_LINES = 60
MOST_PARAMETERS = 5
FOLDERS = ("src", "tests", "bench", "fuzz", "examples", "scripts", ".ci")

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/'                                                         # comments
                   r'|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''   # literals
                   r'|^[ \t]*#[^\n]*(?:\\\n[^\n]*)*',                                            # directives
                   re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"(?:inline )?namespace\b|extern\b|(?:template\s*<.*>\s*)?(?:struct|class|union|enum)\b(?!.*\)\s*$)",
                   re.DOTALL)


def without_text(source):
    """The source with comments, literals and directives blanked; every line stays where it is."""
    def blank(found):
        literal = found.group(0)[0] in "\"'R"
        return ("0" if literal else "") + re.sub(r"[^\n]", " ", found.group(0))[1 if literal else 0:]

    # A quote between digits separates them and begins no character.
    return TOKEN.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", " ", source))


def parameters_of(head):
    """The number of parameters of a function. `head` is its text up to the body or the semicolon."""
    opened = re.search(r"(?:operator\s*\(\s*\)|operator\s*[^\s\w(]+|[\w>~])\s*\(", head)
    if not opened:
        return 0
    depth, count, begin = 0, 0, opened.end()
    for at in range(begin, len(head)):
        char = head[at]
        if char in "([{<":
            depth += 1
        elif char in ")]}" or (char == ">" and head[at - 1] not in "-="):
            depth -= 1
            if depth < 0:
                return count + 1 if head[begin:at].strip() else 0
        elif char == "," and depth == 0:
            count += 1
    return 0


def functions_of(source):
    """[(line, lines of the body, parameters, text before the body)] of the functions that a C++ source defines."""
    text = without_text(source)
    found, around = [], []  # around: for each open brace a function's (line, head), "scope", or None
    begin = 0
    for mark in re.finditer(r"[{};]|\b(?:public|private|protected):", text):
        at, char = mark.start(), mark.group(0)
        in_scope = all(one == "scope" for one in around)
        if char == "{":
            head = text[begin:at].strip()
            if not in_scope:
                around.append(None)
            elif SCOPE.match(head):
                around.append("scope")
            elif re.search(r"\)[\w\s:,&<>*()\-]*$", head) and not re.search(r"(?<![=!<>])=(?![=])[^()]*$", head):
                around.append((text.count("\n", 0, at), head))
            else:
                around.append(None)
        elif char == "}" and around:
            closed = around.pop()
            if isinstance(closed, tuple):
                line, head = closed
                found.append((line + 1, max(text.count("\n", 0, at) - line - 1, 0), parameters_of(head), head))
        if char != "{" or in_scope:
            begin = mark.end()
    return found


def check_file(root, path):
    source = (root / path).read_text()
    lines = source.count("\n")
    most = MOST_LINES[path.suffix]
    problems = [f"{path}: {lines} lines, and {most} is the most; divide it"] if lines > most else []
    for line, length, parameters, head in functions_of(source) if path.suffix in (".h", ".cc") else []:
        name = f"{path}:{line}: {head.split('(')[0].split()[-1]}"
        if length > MOST_FUNCTION_LINES:
            problems.append(f"{name} has {length} lines, and {MOST_FUNCTION_LINES} is the most; divide it")
        if parameters > MOST_PARAMETERS:
            problems.append(f"{name} has {parameters} parameters, and {MOST_PARAMETERS} is the most; bundle some")
    return problems


def check_tree(root):
    problems, functions = [], 0
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            inside = path.relative_to(root)
            if path.is_file() and path.suffix in MOST_LINES and "__pycache__" not in inside.parts:
                problems += check_file(root, inside)
                functions += len(functions_of(path.read_text())) if path.suffix in (".h", ".cc") else 0
    return problems, functions


def check_the_check():
    """Sources whose functions are known, and a tree with one of each mistake."""
    body = "  f(1);\n" * 61
    cases = [
        ("int a(int b, C<d, e> f = g(1, 2), H (*i)(j, k)) {\n  return 1'000;\n}\n", [(1, 1, 3)]),
        ("namespace n {\nclass A : public B {\n public:\n  A(int a, int b) : a_(a), b_{b} {}\n\n private:\n"
         "  bool operator()(int a) const noexcept {\n    if (a) {\n"
         "      return b([](int c, int d) { return c; });\n    }\n"
         "    return false;\n  }\n};\n}  // namespace n\n", [(4, 0, 2), (7, 4, 1)]),
        ("const std::vector<int> kA = {1, 2};\nstruct B {\n  int c = f(1);\n  D d{.e = 1};\n};\n", []),
        ("TEST(A, B) {\n  const char* a = R\"(}\n{)\";  // }\n}\n", [(1, 2, 2)]),
        ("template <class A>\nauto b(A a) -> C<A> {\n#if D /* { */\n#endif\n}\n", [(2, 2, 1)]),
        ("void a() {\n" + body + "}\n", [(1, 61, 0)]),
    ]
    for source, expected in cases:
        found = [(line, length, parameters) for line, length, parameters, _ in functions_of(source)]
        if found != expected:
            raise SystemExit(f"the check sees {found} and not {expected} in:\n{source}")
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        (root / "src").mkdir()
        (root / "src/a.h").write_text("//\n" * 201)
        (root / "src/b.cc").write_text("void a() {\n" + body + "}\nvoid b(int, int, int, int, int, int) {}\n")
        (root / "src/c.js").write_text("//\n" * 401)
        found = "\n".join(check_tree(root)[0])
        for expected in ("a.h: 201 lines", "b.cc:1: a has 61 lines", "b.cc:64: b has 6 parameters", "c.js: 401 lines"):
            if expected not in found:
                raise SystemExit(f"the check does not see: {expected}; it sees: {found}")


def main():
    check_the_check()
    problems, functions = check_tree(pathlib.Path(sys.argv[1]))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {functions} functions")
    return 1 if problems or functions < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
