#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs random nodes of domain ai.onnx.ml, and compares them with the onnx reference and with ONNX Runtime.

    tests/engine/classical_models.py --runner build/dev/tests/tools/case_runner [--models N] [--seed S]

Labels and integers must be equal, and reals nearly so. A case names the peers that must agree with Lowtide, because the
standard leaves open what the others do (classical_cases.py).
"""
import argparse
import collections
import pathlib
import subprocess
import tempfile
import warnings

import classical_cases
import numpy as np
import onnxruntime
from onnx.reference import ReferenceEvaluator


def results_of(peer, case):
    feeds = {f"x{at}": x.astype(case.peer_type or x.dtype) for at, x in enumerate(case.inputs)}
    model = classical_cases.model_of(case, case.peer_type)
    if peer == classical_cases.RUNTIME:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ReferenceEvaluator(model).run(None, feeds)


def close_calls(case, scores):
    """The rows whose label depends on rounding: two scores are nearly equal, or a vote of two classes is."""
    ordered = np.sort(np.nan_to_num(scores.astype(float)), axis=1)
    gaps = np.min(np.diff(ordered, axis=1), axis=1) if scores.shape[1] > 1 else np.ones(len(scores))
    return (gaps < case.tolerance) | (np.min(np.abs(ordered), axis=1) < case.tolerance)


def difference(case, wanted, folder):
    """What is wrong with the results in the folder, or an empty text."""
    for at, expected in enumerate(wanted):
        actual = np.load(folder / f"output_{at}.npy")
        expected = np.asarray(expected)
        if actual.shape != expected.shape:
            return f"result {at} is {actual.shape}, and {expected.shape} is right"
        if actual.dtype != np.dtype(case.results[at]):
            return f"result {at} is {actual.dtype}"
        if at == 0 and len(wanted) == 2:
            actual = np.where(close_calls(case, np.asarray(wanted[1])), expected, actual)
        if not np.allclose(actual.astype(float), expected.astype(float), rtol=case.tolerance, atol=case.tolerance,
                           equal_nan=True):
            where = np.unravel_index(np.nanargmax(np.abs(actual.astype(float) - expected.astype(float))), actual.shape)
            return f"result {at} at {[int(one) for one in where]} is {actual[where]}, and {expected[where]} is right"
    return ""


def draw(seed):
    random = np.random.default_rng(seed)
    return classical_cases.DRAWS[seed % len(classical_cases.DRAWS)](random)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--models", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0, help="of the first model")
    given = parser.parse_args()
    seeds = range(given.seed, given.seed + given.models)
    with tempfile.TemporaryDirectory() as root:
        folders = {seed: pathlib.Path(root) / str(seed) for seed in seeds}
        for seed, folder in folders.items():
            case = draw(seed)
            folder.mkdir()
            (folder / "model.onnx").write_bytes(classical_cases.model_of(case).SerializeToString())
            for at, x in enumerate(case.inputs):
                np.save(folder / f"input_{at}.npy", x)
        done = subprocess.run([given.runner], input="".join(f"{one}\n" for one in folders.values()), text=True,
                              capture_output=True)
        lines = done.stdout.splitlines()
        wrong, agreed = 0, collections.Counter()
        for seed, line in zip(seeds, lines + ["bug the program ended early"] * (len(seeds) - len(lines))):
            case = draw(seed)
            found = "" if line == "ok" else line
            if not found and case.expected:
                found = difference(case, case.expected, folders[seed])
            for peer in case.peers if not found else ():
                found = difference(case, results_of(peer, case), folders[seed])
                if found:
                    found = f"{peer}: {found}"
                    break
                agreed[peer] += 1
            if found:
                wrong += 1
                print(f"seed {seed} ({case.kind}): {found}")
    print(f"{len(seeds) - wrong} of {len(seeds)} models are right; "
          + ", ".join(f"{count} agree with the {peer}" for peer, count in sorted(agreed.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
