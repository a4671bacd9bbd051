# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares 'lowtide run' with TensorFlow on drawn graphs (converted_cases.py); see scripts/run_in_tensorflow."""
import collections
import pathlib
import subprocess
import sys
import tempfile

import converted_cases
import converted_networks
import drawn_graph
import elementwise_cases
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
CASES = converted_cases.CASES + converted_networks.NETWORKS
RELATIVE = 3e-6  # of operators whose result is that of one element
TINY = 1e-37  # subnormal results may be rounded to 0


def drawn(case, seed):
    graph = tf.Graph()
    with graph.as_default():
        d = drawn_graph.Drawn(seed)
        case(d)
    return graph, d.feeds


def outputs_of(graph):
    """Results that no operator reads, which a GraphDef returns."""
    return [op.outputs[0] for op in graph.get_operations()
            if op.outputs and not op.outputs[0].consumers() and op.type not in ("Placeholder", "Const")]


def is_close(found, expected, is_elementwise):
    """Results of operators that sum may cancel, so their errors are measured by the largest result."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    if found.dtype.kind != "f":
        return np.array_equal(found, expected)
    if is_elementwise:
        return np.allclose(found, expected, rtol=RELATIVE, atol=TINY, equal_nan=True)
    finite = expected[np.isfinite(expected)]
    most = float(np.abs(finite).max()) if finite.size else 1.0
    return np.allclose(found, expected, rtol=3e-5, atol=3e-6 * max(most, 1e-3), equal_nan=True)


def check(program, folder, case, seed):
    """What is wrong; empty: nothing."""
    try:
        graph, feeds = drawn(case, seed)
    except (TypeError, ValueError) as error:
        return f"cannot be drawn: {error}"
    outputs = outputs_of(graph)
    config = tf1.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf1.Session(graph=graph, config=config) as session:
        expected = session.run(outputs, {f"{name}:0": value for name, value in feeds.items()})
    is_text = seed % 2 == 0
    path = folder / ("graph.pbtxt" if is_text else "graph.pb")
    definition = graph.as_graph_def()
    path.write_bytes(str(definition).encode() if is_text else definition.SerializeToString())
    words = [program, "run", path, "--output-dir", folder / "out", "--poison"]
    for name, value in feeds.items():
        np.save(folder / f"{name}.npy", value)
        words += ["--input", f"{name}={folder / name}.npy"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1]
    for output, value in zip(outputs, expected, strict=True):
        found = np.load(folder / "out" / f"{output.op.name.replace('/', '_')}.npy")
        if not is_close(found, np.asarray(value), case in elementwise_cases.OF_ONE):
            off = np.abs(found.astype("f8") - value.astype("f8")).max() if found.shape == value.shape else "its shape"
            types = [f"{one.dtype}{list(one.shape)}" for one in (found, value)]
            return f"{output.op.name}: {types[0]} for {types[1]}, off by {off}"
    return ""


def main():
    program, seed, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    cases = [case for case in CASES if len(sys.argv) <= 4 or case.__name__ in sys.argv[4:]]
    wrong = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        for at in range(rounds):
            for case in cases:
                problem = check(program, pathlib.Path(name), case, 1000 * seed + at)
                if problem:
                    wrong[case.__name__] += 1
                    print(f"{case.__name__}, seed {1000 * seed + at}: {problem}", flush=True)
    total = rounds * len(cases)
    print(f"{total - sum(wrong.values())} of {total} drawn graphs have the results of TensorFlow {dict(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
