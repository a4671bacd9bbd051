#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs drawn nets of Caffe2 with 'lowtide run', and compares the results with those of caffe2_reference.py.

usage: run_nets.py --lowtide PROGRAM [--rounds N] [--seed S] [CASE...]
"""
import argparse
import collections
import pathlib
import subprocess
import sys
import tempfile

import layer_cases
import numpy as np
import other_cases
from drawn_net import Net

CASES = layer_cases.LAYERS + other_cases.OTHERS


def files_of(folder):
    """What a run wrote, by blob; a blob that is written again has '@' and a number behind its name."""
    found = {}
    for path in sorted(folder.glob("*.npy")):
        found[path.stem.split("@")[0]] = np.load(path)
    return found


def is_close(found, expected):
    if found is None or found.shape != expected.shape or found.dtype.kind != expected.dtype.kind:
        return False
    if found.dtype.kind != "f":
        return np.array_equal(found, expected)
    most = float(np.abs(expected).max()) if expected.size else 1.0
    return np.allclose(found, expected, rtol=3e-5, atol=3e-6 * max(most, 1e-3))


def check(program, folder, case, seed):
    """What is wrong; empty: nothing."""
    net = Net(seed)
    case(net)
    (folder / "net.pbtxt").write_text(net.text())
    (folder / "init.pbtxt").write_text("\n".join(net.init))
    words = [program, "run", folder / "net.pbtxt", "--output-dir", folder / "out", "--poison"]
    if net.init:
        words += ["--init-net", folder / "init.pbtxt"]
    types = ["name,shape,dtype"]
    for name, value in net.inputs.items():
        np.save(folder / f"{name}.npy", value)
        words += ["--input", f"{name}={folder / name}.npy"]
        dtype = {"float32": "f32", "int32": "i32", "int64": "i64", "bool": "bool"}[value.dtype.name]
        types.append(f"{name},{'x'.join(map(str, value.shape))},{dtype}")
    if any(value.dtype.name != "float32" for value in net.inputs.values()):
        (folder / "types.csv").write_text("\n".join(types) + "\n")
        words += ["--shapes", folder / "types.csv"]
    for old in (folder / "out").glob("*.npy"):
        old.unlink()
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    found = files_of(folder / "out")
    for name, value in net.expected.items():
        if not is_close(found.get(name), value):
            return f"{name} is {found.get(name)} for {value}\n{net.text()}"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lowtide", required=True)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("cases", nargs="*")
    given = parser.parse_args()
    cases = [case for case in CASES if not given.cases or case.__name__ in given.cases]
    wrong = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        for seed in range(1000 * given.seed, 1000 * given.seed + given.rounds):
            for case in cases:
                problem = check(given.lowtide, pathlib.Path(name), case, seed)
                if problem:
                    wrong[case.__name__] += 1
                    print(f"{case.__name__}, seed {seed}: {problem}", flush=True)
    total = given.rounds * len(cases)
    print(f"{total - sum(wrong.values())} of {total} drawn nets have the results of Caffe2 {dict(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
