#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the messages of commits: an imperative subject of at most 72 characters, and a body that says why.

    scripts/checks/commits.py                   all commits of this branch since LAST_UNCHECKED
    scripts/checks/commits.py --message FILE    one message, before it is committed (a commit-msg hook)

No program can tell whether a sentence says why. A body passes if it has a few words that are not in the subject. It may
be absent if the commit touches documents and recorded figures alone. Merges are not checked.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Older commits are as they are. A clone without this commit is too shallow for the check.
LAST_UNCHECKED = "578e9c4207191aaf97f925be90433fbad07f6a86"
MOST_SUBJECT = 72
LEAST_WORDS = 5


def words_of(text):
    return set(text.split())


# Words that look like another form of a verb, and are imperatives.
IMPERATIVES = words_of("""
    bleed breed embed exceed feed heed need proceed seed shed speed succeed weed bring ping ring sing
    spring string swing alias bias canvas focus apply multiply rely reply supply condition mention
    partition position question
""")
# The past of irregular verbs, if it is not the imperative as well.
PAST = words_of("""
    became began broke brought built came chose did drew fell found gave gone got grew held hid kept
    knew led left lost made meant met ran said saw sent shown shrank slept sought spent stood stuck sunk
    taught thought threw told took was went were won wrote
""")
# Words that begin a label, a name or a description. "Format" names no change: format a change before its commit.
NO_VERBS = words_of("""
    a all also an and another any as at both by chore doc each every few fewer fifth first fix-up fixup
    for format formatting fourth from if in it its less lint lots many minor misc more most new no none
    not now of on one or other plain second several small some that the there these third this three to
    two typo various what when where which why wip with without
""")
TRAILER = re.compile(r"[A-Z][\w-]*: \S")
# Files whose change says what it is: documents, and figures that a program has recorded.
SELF_EXPLAINING = re.compile(r"(?:.*\.md|docs/.*|bench/results/.*)")


def is_imperative(word):
    """A guess from the form of the first word of a subject."""
    lower = word.lower()
    if not re.fullmatch(r"[A-Z][a-z]+(?:-[a-z]+)*", word) or lower in NO_VERBS or lower in PAST:
        return False
    return lower in IMPERATIVES or not re.search(r"(?:ed|ing|[^s]s|tion|ly)$", lower)


def problems_of(message, files):
    """What is wrong with a message of a commit that touches `files`."""
    subject, *rest = message.rstrip().split("\n")
    words = subject.split()
    found = []
    if len(subject) > MOST_SUBJECT:
        found.append(f"the subject has {len(subject)} characters, and {MOST_SUBJECT} is the most")
    if len(words) < 2:
        found.append("the subject has fewer than two words")
    elif not words[0].endswith(":") and (words[1] == "of" or not is_imperative(words[0].rstrip(","))):
        found.append(f"'{' '.join(words[:2])}' does not begin an imperative sentence, such as 'Name the second plan'")
    if ";" in subject:
        found.append("the subject has a ';': make one commit for each thing")
    if re.search(r":(?:\s|$)", subject):
        found.append("the subject has a ':': write a sentence without a label or a list")
    if subject.endswith("."):
        found.append("the subject ends with a full stop")
    if rest and rest[0].strip():
        found.append("the line after the subject is not empty")
    body = " ".join(line for line in rest if not TRAILER.match(line))
    new_words = set(re.findall(r"\w+", body.lower())) - set(re.findall(r"\w+", subject.lower()))
    if len(new_words) < LEAST_WORDS and not (files and all(SELF_EXPLAINING.fullmatch(name) for name in files)):
        found.append("no body says why")
    return found


def check_the_check():
    """Messages that are refused for one reason, and correct ones."""
    body = "\n\nThe second plan had no name, so no message could say which one is meant.\n"
    code = ["src/lowtide/base/result.h", "docs/glossary.md"]
    wrong = {
        "Name " + "a" * 68: "73 characters",
        "Format": "fewer than two words",
        "Review: names and comments": "':'",
        "Recorded figures of latency": "imperative",
        "Names the second plan": "imperative",
        "Naming the second plan": "imperative",
        "Ran all tests again": "imperative",
        "Contract of open_model": "imperative",
        "The second plan has a name": "imperative",
        "bench: name the second plan": "':'",
        "README says how long it takes": "imperative",
        "Name the second plan; move the first": "a ';'",
        "Say what differs: names, places, sizes": "a ':'",
        "Name the second plan.": "full stop",
    }
    for subject, expected in wrong.items():
        found = problems_of(subject + body, code)
        if len(found) != 1 or expected not in found[0]:
            raise SystemExit(f"the check finds {found} and not {expected} in: {subject}")
    for subject in ("Name the second plan", "Process one row at a time", "Embed the page", "Multiply rows of f16",
                    "Read, check and write plans", "Let std::span carry the rows", "Co-locate both operands"):
        if problems_of(subject + body, code):
            raise SystemExit(f"the check refuses '{subject}': {problems_of(subject + body, code)}")
    subject = "Name the second plan"
    for rest in ("", "\n\nSigned-off-by: A B C D E <a@b.c>\n", "\n\nName the plan, the second plan.\n"):
        if problems_of(subject + rest, code) != ["no body says why"] or problems_of(subject + rest, ["README.md"]):
            raise SystemExit(f"the check does not ask code alone for its reason: {rest!r}")
    if "not empty" not in problems_of(subject + "\n" + body.strip(), code)[0]:
        raise SystemExit("the check permits a subject of two lines")


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, text=True, capture_output=True, check=False)


def check_history():
    """The exit code. What is not a repository or lacks the history has nothing to check."""
    if git("merge-base", "--is-ancestor", LAST_UNCHECKED, "HEAD").returncode != 0:
        print(f"note: no commit is checked, because this checkout lacks the history since {LAST_UNCHECKED[:8]}")
        return 0
    commits = git("rev-list", "--reverse", "--no-merges", f"{LAST_UNCHECKED}..HEAD").stdout.split()
    count = 0
    for commit in commits:
        message = git("log", "-1", "--format=%B", commit).stdout
        files = git("diff-tree", "--no-commit-id", "--name-only", "-r", commit).stdout.splitlines()
        found = problems_of(message, files)
        for problem in found:
            print(f"{commit[:8]} {message.splitlines()[0]}: {problem}")
        count += len(found)
    print(f"{count} findings in {len(commits)} commits")
    return 1 if count else 0


def check_message(path):
    """The exit code for the message of the commit whose files are staged."""
    lines = pathlib.Path(path).read_text().splitlines()
    message = "\n".join(line for line in lines if not line.startswith("#"))
    found = problems_of(message, git("diff", "--cached", "--name-only").stdout.splitlines())
    for problem in found:
        print(f"commit message: {problem}")
    return 1 if found else 0


def main():
    check_the_check()
    if len(sys.argv) == 3 and sys.argv[1] == "--message":
        return check_message(sys.argv[2])
    if len(sys.argv) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    return check_history()


if __name__ == "__main__":
    sys.exit(main())
