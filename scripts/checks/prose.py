#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Refuses phrases that make a text hard to read, lines above 120 columns, and test names above 60 characters.

    scripts/checks/prose.py [--fix] [FILE...]     without files: every text file that git does not ignore

The whole text of a file is read: comments, messages, help and names. A phrase is found across line breaks as well. A
comment that begins with a word of NO_BEGIN has no subject. --fix wraps the paragraphs of documents.
"""
import pathlib
import re
import subprocess
import sys

from wrap_markdown import wrapped

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_COLUMNS = 120
MOST_NAME = 60
TEXT = {".h", ".cc", ".py", ".js", ".mjs", ".css", ".html", ".md", ".txt", ".cmake", ".toml", ".yml", ".yaml", ".sh",
        ""}
# Where the columns of all lines are counted: in C++, and in scripts. In Markdown, a row of a table is one line, whatever
# its width, and only paragraphs and lists are wrapped.
LIMITED_WIDTH = {".h", ".cc", ".py", ".js", ".mjs", ".css", ".html", ".cmake", ".txt"}
LIMITED_FOLDERS = ("bench/", "examples/", "fuzz/", "scripts/", "tests/architecture/", "tests/golden/")
NOT_OURS = ("third_party/", "LICENSE", "fuzz/seeds/", "bench/instances/", "scripts/checks/prose.py",
            "scripts/eslint/package")

# Pattern, and what to write instead. A blank matches any space, line break and comment mark.
PHRASES = [
    (r"so many", "the number, or N"),
    (r"all the same", "nevertheless"),
    (r"(?:comes?|came|coming) to lie", "end up"),
    (r"but for(?! which)", "except"),
    (r"anew", "again"),
    (r"nobody", "nothing, no buffer, no step"),
    (r"somebody|whoever", "the thing itself: a buffer, a step, a caller"),
    (r"who (?:is|are) (?:in|not|no|nowhere)", "which, or the thing itself"),
    (r"an (?:constant|state|buffer|node|tensor|view)", "a"),
    (r"(?:too |so |as )?dear(?:er|est)?", "expensive"),
    (r"leaves? (?:it )?away", "omit"),
    (r"is called so", "matches"),
    (r"(?:is|are) read over", "ignored"),
    (r"code of its own", "independent code"),
    (r"one (?:behind|after) the other", "one after another"),
    (r"(?:the )?other way round", "conversely"),
    (r"now and then", "sometimes"),
    (r"some (?:percent|seconds|minutes|hours)", "a few"),
    (r"(?:it|they|that|which|and) (?:is|are) no (?!longer|more|less|worse|\w+er\b)\w+", "is not a"),
    (r"largest load is least", "minimize the peak"),
    (r"(?-i:Of) (?:those|these)", "a sentence with its subject first"),
    (r"(?:bytes|seconds|units|entries|lines|one) an? "
     r"(?:buffer|pair|node|step|line|level|stream|tensor|file|clique|byte)", "per"),
    (r"(?:takes?|took|less|more|enough|leaves?|much) room", "space"),
    (r"\w*(?:takes?|with|without)_room|roomiest|roomy", "bytes, space or capacity; a room is a folder"),
    (r"must_be_live|largest_step", "live_set, working_set"),
    (r"(?:was|were|is|are) content", "succeeded"),
    (r"(?:would|could) have it", "what is meant"),
    (r"homeless|restless|shaken|twins|ledges?", "the word of the glossary"),
    (r"second goals?", "tie-break"),
    (r"bare (?:graphs?|nodes|buffers)", "plain"),
    (r"for want of|whereupon|wherein|thereof|hence", "a plain connection"),
    (r"in nobody's way|keeps? away from", "conflicts with"),
    (r"stands? (?:twice|there once)|none (?:stand|be)", "appears"),
    (r"of its like|as their like", "the thing itself"),
    (r"is done without", "what happens instead"),
]
# A comment is a sentence: "The bytes of a view", not "Of a view".
NO_BEGIN = ("As", "Of", "That")
COMMENT = re.compile(r"^[ \t]*(?://+|#)[ \t]*(.*)$")
FOUND = [(re.compile(r"\b(?:" + phrase.replace(" ", r"[\s/#*]+") + r")\b", re.IGNORECASE), instead)
         for phrase, instead in PHRASES]
NAME = re.compile(r"^\s*(?:(?:TYPED_)?TEST(?:_[FP])?\(\s*\w+,\s*(\w+)|RC_GTEST\w*\(\s*\w+,\s*(\w+)|def (test_\w+)|"
                  r"add_test\(NAME [\w]+\.(\w+))", re.MULTILINE)


def comments_without_subject(lines):
    """[(line, message)] of the comments that begin with a word of NO_BEGIN."""
    found, was_comment = [], False
    for number, line in enumerate(lines, 1):
        comment = COMMENT.match(line)
        words = comment.group(1).split() if comment else []
        if words and not was_comment and words[0] in NO_BEGIN:
            found.append((number, f"a comment begins with '{words[0]}': begin with its subject"))
        was_comment = bool(words)
    return found


def findings(path, text, inside=""):
    """[(line, message)] of one file."""
    found = comments_without_subject(text.splitlines()) if path.suffix != ".md" else []
    if path.suffix == ".md" and wrapped(text, MOST_COLUMNS) != text:
        line = next(number for number, (old, new) in enumerate(
            zip(text.split("\n"), wrapped(text, MOST_COLUMNS).split("\n")), 1) if old != new)
        found.append((line, f"more than {MOST_COLUMNS} columns here and perhaps below; scripts/lint --fix prose wraps them"))
    for pattern, instead in FOUND:
        for hit in pattern.finditer(text):
            shown = " ".join(re.split(r"[\s/#*]+", hit.group(0)))
            found.append((text.count("\n", 0, hit.start()) + 1, f"'{shown}': write {instead}"))
    for name in NAME.finditer(text):
        name_text = next(one for one in name.groups() if one)
        if len(name_text) > MOST_NAME:
            found.append((text.count("\n", 0, name.start()) + 1,
                          f"the test name has {len(name_text)} characters, and {MOST_NAME} is the most: {name_text}"))
    is_limited = path.suffix in LIMITED_WIDTH or inside.startswith(LIMITED_FOLDERS)
    if is_limited and (path.suffix not in (".md", ".txt") or path.name == "CMakeLists.txt"):
        found += [(number, f"{len(line)} columns, and {MOST_COLUMNS} is the most")
                  for number, line in enumerate(text.splitlines(), 1) if len(line) > MOST_COLUMNS]
    return sorted(found)


def check_the_check():
    """Texts with one finding each, and one without."""
    cases = {
        "// There are so\n// many of them.": "so many",
        "8 bytes a pair": "bytes a pair",
        "TEST(A, " + "B" * 61 + ") {": "61 characters",
        "  def test_" + "b" * 60 + "(self):": "65 characters",
        "x" * 121: "121 columns",
        "A TENSOR IS READ ANEW": "ANEW",
        "int a;\n// Of the last two axes.": "begins with 'Of'",
        "# That a run may use": "begins with 'That'",
        "// The axes\n// Of a tensor. As such\nint a;  // As b": None,
        "TEST(Somany, Another) { a = newer; }  // whose": None,
    }
    for text, expected in cases.items():
        found = findings(pathlib.Path("a.cc"), text)
        if [expected in message for _, message in found] != ([True] if expected else []):
            raise SystemExit(f"the check finds {found} and not {expected} in: {text}")
    wide = "word " * 30
    for text in ("x" * 121, "| " + wide + "|", "A\n\n    " + wide, "```\n" + wide + "\n```", "# " + wide, "- `" + wide + "`"):
        if findings(pathlib.Path("a.md"), text):
            raise SystemExit(f"the check refuses a wide line of Markdown: {text}")
    for text in (wide, "- a\n\n    " + wide, "short\n" + wide, "1. " + wide):
        made = wrapped(text, MOST_COLUMNS)
        is_right = "120 columns" in findings(pathlib.Path("a.md"), text)[0][1]
        if not is_right or made.split() != text.split() or findings(pathlib.Path("a.md"), made):
            raise SystemExit(f"the check permits or damages a wide paragraph of Markdown: {made}")


def tracked_files():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, text=True,
                            capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.splitlines()]


def main():
    check_the_check()
    fix = sys.argv[1:2] == ["--fix"]
    named = [pathlib.Path(name).resolve() for name in sys.argv[1 + fix:]]
    count = files = 0
    for path in named or tracked_files():
        inside = path.relative_to(ROOT).as_posix()
        if not path.is_file() or path.suffix not in TEXT or inside.startswith(NOT_OURS):
            continue
        files += 1
        text = path.read_text()
        if fix and path.suffix == ".md" and wrapped(text, MOST_COLUMNS) != text:
            text = wrapped(text, MOST_COLUMNS)
            path.write_text(text)
        found = findings(path, text, inside)
        for line, message in found:
            print(f"{inside}:{line}: {message}")
        count += len(found)
    print(f"{count} findings in {files} files")
    return 1 if count or not files else 0


if __name__ == "__main__":
    sys.exit(main())
