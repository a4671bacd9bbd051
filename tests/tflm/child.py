# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs models for runtime.py: reads requests from standard input and answers on standard output, both pickled.

The runtime writes its messages to file descriptor 2, which runtime.py makes a file. It aborts on some models, so it is
in a process of its own.
"""
import os
import pickle
import sys
import time

import numpy as np
from tflite_micro.python.tflite_micro import runtime


def describe(details):
    """What a caller needs to know about an input or an output."""
    parameters = details["quantization_parameters"]
    return {"shape": tuple(int(one) for one in details["shape"]), "type": np.dtype(details["dtype"]).str,
            "scales": [float(one) for one in parameters["scales"]],
            "zero_points": [int(one) for one in parameters["zero_points"]]}


def draw(description, generator):
    """An input that covers the whole range of an integer type."""
    kind = np.dtype(description["type"])
    if kind.kind == "f":
        return generator.standard_normal(description["shape"]).astype(kind)
    if kind.kind == "b":
        return generator.integers(0, 2, description["shape"]).astype(kind)
    limits = np.iinfo(kind)
    return generator.integers(limits.min, limits.max, description["shape"], dtype=kind, endpoint=True)


def answer(request):
    """Runs one model for each set of inputs. All later sets see the state that earlier ones left."""
    interpreter = runtime.Interpreter.from_bytes(request["model"], arena_size=request["arena"])
    inputs = [describe(interpreter.get_input_details(i)) for i in range(request["inputs"])]
    sets = request["sets"]
    if sets is None:
        generator = np.random.default_rng(request["seed"])
        sets = [[draw(one, generator) for one in inputs] for _ in range(request["runs"])]
    outputs = []
    for values in sets:
        for i, value in enumerate(values):
            interpreter.set_input(np.ascontiguousarray(value), i)
        interpreter.invoke()
        outputs.append([np.array(interpreter.get_output(i)) for i in range(request["outputs"])])
    seconds = None
    if request["timed"]:
        start = time.perf_counter()
        for _ in range(request["timed"]):
            interpreter.invoke()
        seconds = time.perf_counter() - start
    interpreter.print_allocations()
    return {"sets": sets, "values": outputs, "inputs": inputs, "seconds": seconds,
            "outputs": [describe(interpreter.get_output_details(i)) for i in range(request["outputs"])]}


def main():
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what libraries print must not be mixed with the answers
    while True:
        try:
            request = pickle.load(requests)
        except EOFError:
            return
        try:
            reply = answer(request)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        pickle.dump(reply, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


if __name__ == "__main__":
    main()
