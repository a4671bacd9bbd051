#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the baselines of TFLite Micro and ExecuTorch with the originals, on 1,000 random graphs.

Needs checkouts of both projects. The planner of TFLite Micro is compiled, and that of ExecuTorch is run as it is. The
lifetimes of buffers are derived here, as the originals derive them from their own models.
"""
import __future__
import argparse
import ast
import bisect
import collections
import dataclasses
import json
import logging
import pathlib
import subprocess
import tempfile
import types
import typing

import record

ALIGNMENT = 16
EXECUTORCH_NAMES = {
    "AllocationSpec", "SharedObject", "SpecAllocResult", "MemoryAlgoResult", "materialize_buffer", "_does_not_overlap",
    "_find_max_overlapping_allocations_offset", "pick_shared_obj", "_resolve_inplace_specs", "_compute_total_sizes",
    "greedy", "naive"}


def aligned(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def tflite_micro_buffers(graph):
    """Size, first and last use of each buffer, in the order in which TFLite Micro adds them.

    Inputs exist from scope 0 on. Each operator is a scope, and outputs are used in the last one.
    """
    uses = [None] * len(graph["tensors"])

    def use(tensor, scope):
        uses[tensor] = (uses[tensor][0] if uses[tensor] else scope, scope)

    for tensor, (_, role) in enumerate(graph["tensors"]):
        if role == "input":
            use(tensor, 0)
    for scope, node in enumerate(graph["nodes"], 1):
        for tensor in node["outputs"] + node["inputs"]:
            use(tensor, scope)
    for tensor, (_, role) in enumerate(graph["tensors"]):
        if role == "output":
            use(tensor, len(graph["nodes"]))
    buffers = [(aligned(size), *uses[tensor]) for tensor, (size, _) in enumerate(graph["tensors"])]
    scratch = [(aligned(node["scratch"]), scope, scope) for scope, node in enumerate(graph["nodes"], 1)
               if node["scratch"]]
    return buffers + scratch


def tflite_micro_bytes(checkout, graphs):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "planner"
        subprocess.run(["c++", "-std=c++17", "-O1", f"-I{checkout}", "-DTF_LITE_STRIP_ERROR_STRINGS",
                        record.ROOT / "bench/tflite_micro_planner.cc",
                        checkout / "tensorflow/lite/micro/memory_planner/greedy_memory_planner.cc", "-o", program],
                       check=True)
        text = "".join(f"{len(buffers)}\n" + "".join(f"{size} {first} {last}\n" for size, first, last in buffers)
                       for buffers in map(tflite_micro_buffers, graphs))
        done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return list(map(int, done.stdout.split()))


class Spec:
    """What the planner of ExecuTorch needs to know about a tensor."""

    def __init__(self, size):
        self.size = size
        self.alignment = ALIGNMENT
        self.lifetime = [None, None]
        self.mem_id = None
        self.inplace_base = None

    @property
    def allocated_memory(self):
        return (self.size + self.alignment - 1) // self.alignment * self.alignment

    def realign(self, alignment):
        self.alignment = alignment

    def use(self, at):
        self.lifetime = [at if self.lifetime[0] is None else self.lifetime[0], at]


def executorch_specs(graph):
    """The tensors with their lifetimes, in the order in which ExecuTorch collects them.

    A program has a node for each input, one for each buffer that is allocated, one for each operator, and one for the
    outputs. A view that is not an output has the tensor of its base.
    """
    specs = [Spec(size) for size, _ in graph["tensors"]]
    collected = []
    at = 0
    for spec, (_, role) in zip(specs, graph["tensors"]):
        if role == "input":
            spec.lifetime = [0, at]
            collected.append(spec)
            at += 1
    for node in graph["nodes"]:
        is_view = node["type"] == "Reshape" and graph["tensors"][node["outputs"][0]][1] != "output"
        if is_view:
            specs[node["outputs"][0]] = specs[node["inputs"][0]]
        else:
            for tensor in node["outputs"]:
                specs[tensor].use(at)
                collected.append(specs[tensor])
                at += 1
        for tensor in node["inputs"] + node["outputs"]:
            specs[tensor].use(at)
        at += 1
    for spec, (_, role) in zip(specs, graph["tensors"]):
        if role == "output":
            spec.use(at)
    return collected


def executorch_planner(checkout):
    """The functions of ExecuTorch that plan memory, without the modules that need PyTorch."""
    source = (checkout / "exir/memory_planning.py").read_text()
    tree = ast.parse(source)
    tree.body = [part for part in tree.body if getattr(part, "name", "") in EXECUTORCH_NAMES]
    planner = types.ModuleType("planner")
    planner.__dict__.update(vars(typing), dataclass=dataclasses.dataclass, field=dataclasses.field, logging=logging,
                            bisect=bisect, defaultdict=collections.defaultdict, InternalError=RuntimeError)
    # The annotations name classes of PyTorch, so they are not evaluated.
    flags = __future__.annotations.compiler_flag
    exec(compile(tree, "memory_planning.py", "exec", flags=flags), planner.__dict__)
    return planner


def executorch_bytes(planner, name, graph):
    result = getattr(planner, name)(ALIGNMENT, executorch_specs(graph), types.SimpleNamespace(), None, 0)
    return sum(result.bufsizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime-plans", required=True, help="the program made of bench/runtime_plans.cc")
    parser.add_argument("--tflite-micro", required=True, type=pathlib.Path, help="a checkout")
    parser.add_argument("--executorch", required=True, type=pathlib.Path, help="a checkout")
    arguments = parser.parse_args()
    run = record.timed([arguments.runtime_plans])
    if run.code != 0:
        raise SystemExit(f"{arguments.runtime_plans} failed with {run.code}")
    graphs = [json.loads(line) for line in run.output.splitlines()]
    planner = executorch_planner(arguments.executorch)
    originals = {"tflite_micro_greedy": tflite_micro_bytes(arguments.tflite_micro, graphs)}
    for name in ("greedy", "naive"):
        originals["executorch_" + name] = [executorch_bytes(planner, name, graph) for graph in graphs]
    figures = {}
    for name, needed in originals.items():
        same = sum(graph["bytes"][name] == bytes_needed for graph, bytes_needed in zip(graphs, needed, strict=True))
        figures[name] = {"graphs": len(graphs), "same": same, "bytes": sum(needed)}
        print(f"{name:20} {same} of {len(graphs)} graphs need the same bytes as in the original", flush=True)
    record.write("runtime_plans", figures, "everything")


if __name__ == "__main__":
    main()
