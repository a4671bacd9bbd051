# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models with the kernels of generated C source, and compares their outputs with those of the runtime.

    calls.py RUN_CALLS [--seed N] [--cases N] [--operator NAME]

compares models of one operator each, and prints how many are equal to the bit.
"""
import argparse
import functools
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import runtime as runtimes
import single
import stateful

# Outputs in floating point may differ in the last bits.
FLOAT_TOLERANCE = 2e-6

# Operators without kernels of C source.
WITHOUT = ("ADD_N",)

# Models of an operator with attributes drawn by a seed, by name.
MAKERS = {name: functools.partial(single.make, name) for name in single.OPERATORS} | {
    "SVDF": functools.partial(stateful.make, "SVDF")}


def run(program, models):
    """The outputs of each model, as bytes, or the message that says why it has none. models: (file, sets of inputs)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for number, (data, sets) in enumerate(models):
            (folder / f"{number}.tflite").write_bytes(data)
            (folder / f"{number}.in").write_bytes(b"".join(one.tobytes() for values in sets for one in values))
        subprocess.run([program, folder], check=True)
        results = []
        for number in range(len(models)):
            error = folder / f"{number}.error"
            results.append(error.read_text() if error.exists() else (folder / f"{number}.out").read_bytes())
        return results


def difference(bytes_of_run, values):
    """How the outputs differ from the values of the runtime. None: they are equal."""
    if isinstance(bytes_of_run, str):
        return bytes_of_run
    expected = [one for outputs in values for one in outputs]
    if len(bytes_of_run) != sum(one.nbytes for one in expected):
        return f"there are {len(bytes_of_run)} bytes of outputs"
    at = 0
    for one in expected:
        found = np.frombuffer(bytes_of_run, one.dtype, one.size, at).reshape(one.shape)
        at += one.nbytes
        if one.dtype.kind == "f":
            far = ~np.isclose(found, one, rtol=FLOAT_TOLERANCE, atol=FLOAT_TOLERANCE, equal_nan=True)
        else:
            far = found != one
        if far.any():
            place = tuple(int(axis[0]) for axis in np.nonzero(far))
            return f"{int(far.sum())} of {one.size} differ, first at {place}: {found[place]}, not {one[place]}"
    return None


def compare(program, runtime, models, runs=2):
    """For each model: None if it is equal, or the difference. The runtime must run all of them."""
    results = [runtime.run(data, seed=number, runs=runs) for number, data in enumerate(models)]
    ran = [number for number, result in enumerate(results) if result.ok]
    outputs = run(program, [(models[number], results[number].sets) for number in ran])
    answers = [f"the runtime does not run it ({result.status}): {result.message.strip()}" for result in results]
    for number, output in zip(ran, outputs, strict=True):
        answers[number] = difference(output, results[number].values)
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="the program run_calls of the build")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cases", type=int, default=20, help="of each operator")
    parser.add_argument("--operator", action="append", help="only this one")
    options = parser.parse_args()
    wrong = False
    with runtimes.Runtime() as runtime:
        for name in options.operator or MAKERS:
            seeds = range(options.seed, options.seed + options.cases)
            answers = compare(options.program, runtime, [MAKERS[name](seed).data for seed in seeds])
            print(f"{name}: {answers.count(None)} of {len(answers)} are equal", flush=True)
            for seed, answer in zip(seeds, answers, strict=True):
                if answer is not None:
                    wrong = True
                    print(f"  seed {seed}: {answer}", flush=True)
                    break
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
