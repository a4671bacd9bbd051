#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Forges prepared files of the node tests of the onnx project, and expects that they are refused.

    tests/engine/forged_prepared.py --runner build/dev/tests/tools/case_runner [--only NAME] [--every N] [--lowered]
                                    [--range] [--random N] [--first SEED] [--show N]

With --random, the models are those that random_models.py draws. With --range, each file has two plans, and the second
one is for the forged graph. Each case changes the type of one tensor (an extent, the rank or the element type), or the
name or the value of an attribute, or omits a result. Its file has a plan for the forged graph and the right digest. It
must be refused when it is opened, or a run must end with an error, or the forged model must be one that can run. The
script prints how many cases are refused, by the role of the tensor, and lists the others. It fails if the program ends
early, if an honest file does not open, or if a run accepts a forged result that its operator does not leave open.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "kernels"))
import node_tests
import random_models

# Operands that only a run has decide the extents of their results, or the standard leaves the type open.
OPEN = {"BatchNormalization", "BlackmanWindow", "CenterCropPad", "Compress", "ConstantOfShape", "DFT", "Expand",
        "HammingWindow", "HannWindow", "If", "LayerNormalization", "Loop", "MaxUnpool", "NonMaxSuppression", "NonZero",
        "OneHot", "Pad", "Range", "Reshape", "Resize", "Scan", "Slice", "Split", "Squeeze", "Tile", "TopK", "Unique",
        "Unsqueeze", "Upsample"}


def is_open(case):
    """Whether a case "ran: f32[2] as f32[3] in: y = Pad(x) : f32[2]" is an operand, or a result that is left open."""
    if re.search(r"ran: (attribute|omitted) ", case):
        return True  # the operator may have a default, and the result may be optional
    _, _, line = case.partition(" in: ")
    if line.split()[0] in ("input", "constant", "state", "captured") or "<=" in case.partition(" in: ")[0]:
        return True
    operator = re.search(r"= ([\w:.]+)\(", line)
    return operator is None or operator[1] in OPEN or operator[1].startswith("Reduce")


# A sample takes a few of these cases, and a campaign all of them.
SAMPLE_EVERY = 40


def run_all(runner, folders, arguments):
    """The lines of the program for these folders, and the case of each folder at which it ended early."""
    lines, crashes = [], []
    while len(lines) < len(folders):
        rest = folders[len(lines):]
        done = subprocess.run([runner, *arguments], input="".join(f"{folder}\n" for folder in rest), text=True,
                              capture_output=True)
        lines += done.stdout.splitlines()[:len(rest)]
        if len(lines) < len(folders):
            told = folders[len(lines)] / "forged.txt"
            case = told.read_text().strip() if told.exists() else "no case yet"
            crashes.append(f"{folders[len(lines)]}: code {done.returncode}: {case} {done.stderr[-2000:]}")
            lines.append("crash")
    return lines, crashes


def write_models(given, root):
    """Writes the models. The folders that have one, and its name."""
    if given.random:
        seeds = range(given.first, given.first + given.random)
        made = [(root / f"{seed}", f"seed {seed}") for seed in seeds
                if random_models.write_case(root / f"{seed}", seed) is not None]
        return [folder for folder, _ in made], [name for _, name in made]
    folders, names = [], []
    for at, (name, model, inputs, *_) in enumerate(node_tests.cases(given.only)):
        folders.append(root / f"{at}")
        names.append(name)
        node_tests.write_case(folders[-1], model, inputs)
    return folders, names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--only", default="", help="tests whose name contains this text")
    parser.add_argument("--every", type=int, default=1 if "LOWTIDE_CAMPAIGN" in os.environ else SAMPLE_EVERY)
    parser.add_argument("--random", type=int, default=0, help="take this many random models instead of the node tests")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first random model")
    parser.add_argument("--lowered", action="store_true", help="rewrite the models for the kernels of this machine")
    parser.add_argument("--range", action="store_true", help="forge the second plan of files with two")
    parser.add_argument("--show", type=int, default=20, help="the most cases to print of each kind")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        folders, names = write_models(given, pathlib.Path(root))
        arguments = ["--forged", str(given.every), *(["--range"] if given.range else []),
                     *(["--lowered"] if given.lowered else [])]
        lines, crashes = run_all(given.runner, folders, arguments)
        counts = collections.Counter()
        kinds = collections.defaultdict(list)
        for folder, name, line in zip(folders, names, lines):
            counts[line.split()[0]] += 1
            if line.split()[0] in ("bug", "failed"):
                kinds[line.split()[0]].append(f"{name}: {line}")
            for word, number in re.findall(r"(\w+)=([\d/]+)", line):
                for part, value in zip(("refused", "of"), number.split("/")):
                    counts[word if "/" not in number else f"{word} {part}"] += int(value)
            listed = folder / "not_refused.txt"
            for case in listed.read_text().splitlines() if listed.exists() else []:
                kinds[case.partition(":")[0]].append(f"{name}: {case}")
    for kind, cases in kinds.items():
        print(f"{len(cases)} cases: {kind}")
        for case in cases[:given.show]:
            print(f"    {case}")
    accepted = [case for case in kinds["ran"] if not is_open(case)]
    for wrong in [f"crash: {crash}" for crash in crashes] + [f"accepted: {case}" for case in accepted]:
        print(wrong)
    print(dict(counts))
    return 1 if crashes or accepted or kinds["bug"] or not counts["result refused"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
