#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the figures of every model, graph and packing problem of this repository with golden.json.

    golden_test.py LOWTIDE [--update]

golden.json maps a command to its figures in bytes: peak, bound, arena (height of a packing, total of slots), and
whether the arena is proven optimal. A figure that changes in either direction fails the test. --update writes the new
figures; the commit that holds them says why they changed. A new case is a command with an empty object as figures.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(__file__).with_name("golden.json")
sys.path.insert(0, str(ROOT / "bench"))
import orders  # noqa: E402  (found through the line above)


def figures_of(answer):
    """The figures of one JSON answer. `answer["command"]` is plan, pack or order."""
    if answer["command"] == "plan":
        sizes = answer["bytes"]
        return {"peak": sizes["load"], "bound": sizes["bound"], "arena": sizes["arena"],
                "proven": answer["proven_optimal"]}
    if answer["command"] == "order":
        return {"peak": answer["load"], "bound": answer["bound"], "proven": answer["load"] == answer["bound"]}
    arena = answer.get("height", answer.get("total"))
    return {"bound": answer["bound"], "arena": arena, "proven": answer["proven_optimal"]}


def run(lowtide, command, folder):
    """The answer to a command. CELLS-N in it is a generated graph of N nodes."""
    words = command.split()
    for at, word in enumerate(words):
        if word.startswith("CELLS-"):
            words[at] = str(pathlib.Path(folder) / f"{word}.json")
            pathlib.Path(words[at]).write_text(json.dumps(orders.cells(int(word.removeprefix("CELLS-")))))
    done = subprocess.run([lowtide, *words, "--json", "--quiet"], cwd=ROOT, text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"lowtide {command}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def missing_files(commands):
    """Models and instances of this repository that no command names."""
    named = {word for command in commands for word in command.split()}
    files = [*(ROOT / "models").glob("*.onnx"), *(ROOT / "bench/instances").glob("*.csv"),
             *(ROOT / "fuzz/seeds/onnx").glob("*.onnx"), *(ROOT / "fuzz/seeds/packing").glob("*.csv")]
    return sorted({path.relative_to(ROOT).as_posix() for path in files} - named)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lowtide")
    parser.add_argument("--update", action="store_true")
    given = parser.parse_args()
    golden = json.loads(GOLDEN.read_text())
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for command in golden:
            found[command] = figures_of(run(given.lowtide, command, folder))
    problems = [f"{name}: no command of golden.json names it" for name in missing_files(golden)]
    if given.update:
        rows = [f" {json.dumps(command)}:\n  {json.dumps(figures)}" for command, figures in found.items()]
        GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    else:
        problems += [f"lowtide {command}: expected {golden[command]}, found {found[command]}"
                     for command in golden if golden[command] != found[command]]
    for problem in problems:
        print(problem)
    print(f"{len(golden)} commands, {len(problems)} problems")
    return 1 if problems or not golden else 0


if __name__ == "__main__":
    sys.exit(main())
