# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs training graphs in TensorFlow before and after Lowtide has rewritten them; see scripts/run_in_tensorflow."""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
import training_graphs

tf1 = tf.compat.v1
BATCH = 4
SHARES = (1.0, 0.8, 0.6, 0.45)  # of the live bytes that the best order without reruns needs
DEVICE = {"name": "/cpu:0", "type": "CPU", "cores": 1, "frequency": 3000, "bandwidth": 20_000_000}


def training_step(network, optimizer, is_clipped, uses_resources):
    """The graph of one step, what it fetches, and its variables."""
    graph = tf.Graph()
    with graph.as_default():
        tf1.set_random_seed(1)
        net = training_graphs.Net(BATCH, uses_resources)
        loss, _ = network(net)
        step = training_graphs.minimize(net, optimizer(), loss, is_clipped)
        step = step.op if isinstance(step, tf.Tensor) else step
        variables = [variable.op.name for variable in tf1.global_variables()]
        for variable in tf1.global_variables():
            given = tf1.placeholder(variable.dtype.base_dtype, variable.shape, name=f"given/{variable.op.name}")
            tf1.assign(variable, given, name=f"set/{variable.op.name}")
            tf.identity(variable, name=f"get/{variable.op.name}")
    return graph.as_graph_def(), loss.op.name, step.name, variables


def values_of(graph, name, shape, dtype):
    """The same for each run. What may be a square stays positive."""
    random = np.random.default_rng(len(name) + sum(map(ord, name)))
    if dtype.is_integer:
        return random.integers(0, 2, shape).astype(dtype.as_numpy_dtype)
    return (np.abs(random.standard_normal(shape)) * 0.1).astype(dtype.as_numpy_dtype)


def run(definition, loss, step, variables, is_stock):
    """The loss, and all variables after the step. `is_stock`: with the optimizers that TensorFlow has by default."""
    graph = tf.Graph()
    with graph.as_default():
        tf.import_graph_def(definition, name="")
    config = tf1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    config.graph_options.rewrite_options.disable_meta_optimizer = not is_stock
    with tf1.Session(graph=graph, config=config) as session:
        for name in variables:
            target = graph.get_tensor_by_name(f"get/{name}:0")
            given = graph.get_tensor_by_name(f"given/{name}:0")
            content = values_of(graph, name, target.shape.as_list(), given.dtype)
            session.run(graph.get_operation_by_name(f"set/{name}"), {given: content})
        feeds = {}
        for op in graph.get_operations():
            if op.type == "Placeholder" and not op.name.startswith("given/"):
                x = op.outputs[0]
                feeds[x] = values_of(graph, op.name, x.shape.as_list(), x.dtype)
        found, _ = session.run([f"{loss}:0", step], feeds)
        return [found] + [session.run(f"get/{name}:0") for name in variables]


def rewritten(program, folder, graph_path, memory, fetches):
    """What `rewrite` says, and the graph."""
    (folder / "device.json").write_text(json.dumps({"devices": [{**DEVICE, "memory": memory}]}))
    words = [program, "rewrite", graph_path, "--planner", "lowtide", "--cluster", folder / "device.json", "--json",
             "-o", folder / "lean.pb"]
    for name in fetches:
        words += ["--fetch", name]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    if said.returncode not in (0, 1):
        raise RuntimeError(said.stderr)
    graph = tf1.GraphDef()
    graph.ParseFromString((folder / "lean.pb").read_bytes())
    return json.loads(said.stdout), graph


def same_bits(first, second):
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in zip(first, second, strict=True))


def is_near(first, second):
    """Optimizers join other nodes if nodes run again, so sums may round in another way."""
    return all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(first, second, strict=True))


def check(program, folder, made, is_stock):
    """Whether the step computes the same for each share of the live bytes."""
    definition, loss, step, variables = made
    (folder / "graph.pb").write_bytes(definition.SerializeToString())
    expected = run(definition, loss, step, variables, is_stock)
    most, _ = rewritten(program, folder, folder / "graph.pb", 1 << 40, (loss, step))
    resident, base = most["resident_bytes"], most["live_bytes"] - most["resident_bytes"]
    is_right = True
    for share in SHARES:
        said, lean = rewritten(program, folder, folder / "graph.pb", resident + int(base * share), (loss, step))
        found = run(lean, loss, step, variables, is_stock)
        is_same = same_bits(found, expected) or (is_stock and is_near(found, expected))
        is_right = is_right and is_same
        time = 100 * (said["cost"] / said["base_cost"] - 1)
        print(f"{share:5.0%} of {base:10,} B: {said['outcome']:10} {said['live_bytes'] - resident:10,} B, "
              f"{len(said['reruns']):3} again, {len(said['sums'])} sums in parts, {time:6.2f} % longer, "
              f"{'the same results' if is_same else 'OTHER RESULTS'}", flush=True)
    return is_right


def main():
    program, is_stock = sys.argv[1], sys.argv[2:] == ["stock"]
    is_right = True
    with tempfile.TemporaryDirectory() as name:
        for network, optimizer, is_clipped in training_graphs.NETWORKS:
            for uses_resources in (False, True) if is_stock else (False,):
                made = training_step(network, optimizer, is_clipped, uses_resources)
                print(f"{network.__name__}, {'resources' if uses_resources else 'references'}", flush=True)
                is_right = check(program, pathlib.Path(name), made, is_stock) and is_right
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
