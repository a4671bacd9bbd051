# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Which reference kernels of TFLite Micro compute the same if a result begins where an operand does.

The offsets come from the metadata, so this asks the runtime itself: it runs one operator with all tensors apart, and
again with both at one place. An operator that once differs is not safe; one that never does may be.
"""
import argparse
import collections

import files
import metadata
import numpy as np
import rule
import scratch
import single
from rule import ONLINE, numbers
from runtime import Runtime

# Operators with an operand whose place the result may take, if the result is as large as the operand or as the last
# entry says. No model of theirs in int8 differs.
SAFE = [(name, 0, ("equal",)) for name in ("RELU", "RELU6", "LOGISTIC", "TANH", "HARD_SWISH", "LEAKY_RELU", "PRELU",
                                           "SOFTMAX", "QUANTIZE", "RESHAPE", "SQUEEZE", "EXPAND_DIMS")]
SAFE += [(name, operand, ("equal",)) for name in ("ADD", "SUB", "MUL", "MINIMUM", "MAXIMUM", "ADD_N")
         for operand in (0, 1)]
SAFE += [("QUANTIZE int16", 0, ("smaller",)), ("QUANTIZE float", 0, ("smaller",)), ("SLICE", 0, ("equal", "smaller")),
         ("STRIDED_SLICE", 0, ("equal", "smaller")), ("SPLIT", 1, ("equal", "smaller")),
         ("SPLIT_V", 0, ("equal", "smaller")), ("TRANSPOSE_CONV", 2, ("equal", "smaller", "larger"))]
# Operators of which some model differs.
UNSAFE = ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "AVERAGE_POOL_2D", "MAX_POOL_2D", "MEAN", "SUM",
          "REDUCE_MAX", "REDUCE_MIN", "CONCATENATION", "PAD", "MIRROR_PAD", "TRANSPOSE", "RESIZE_BILINEAR",
          "RESIZE_NEAREST_NEIGHBOR", "DEQUANTIZE"]


def with_shared(data, operand, result, distance=0):
    """The file of one operator with a result that begins `distance` bytes behind an operand, or before it if that is
    negative. All else is apart.
    """
    model = files.read(data)
    found = rule.buffers(model, scratch.requests(model))
    sizes = {one.tensor: one.size for one in found}
    values, end = [ONLINE] * metadata.tensor_count(model), rule.align(max(0, -distance))
    for tensor in sizes:
        if tensor is not None and tensor != result:
            values[tensor], end = end, end + sizes[tensor] + sizes[result]
    values[result] = values[operand] + distance
    metadata.attach(model, values)
    return files.write(model)


def pairs(data):
    """The operands of the head with each result, with what is larger."""
    model = files.read(data)
    graph = model.subgraphs[0]
    operator = graph.operators[0]
    size = lambda one: rule.tensor_bytes(graph.tensors[one])
    for position, operand in enumerate(numbers(operator.inputs)):
        if operand < 0 or rule.is_constant(model, graph.tensors[operand]):
            continue
        for place, result in enumerate(numbers(operator.outputs)):
            order = (size(result) > size(operand)) - (size(result) < size(operand))
            yield position, place, operand, result, ("equal", "larger", "smaller")[order]


def probe(runtime, name, seeds, scale=1):
    """Counts of (operand, result, which is larger) with all bits the same, and with others."""
    counts = collections.defaultdict(lambda: [0, 0])
    for seed in seeds:
        data = single.make(name, seed, scale).data
        apart = runtime.run(data, seed=seed, runs=2)
        if not apart.ok:
            continue
        for position, place, operand, result, order in pairs(data):
            shared = runtime.run(with_shared(data, operand, result), sets=apart.sets)
            same = shared.same_values(apart)
            # A result of few elements, or of one value, shows nothing.
            if same and min(np.unique(one).size for one in apart.values[0]) < 4:
                continue
            counts[position, min(place, 1), order][0 if same else 1] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100, help="models per operator; default 100")
    parser.add_argument("--scale", type=int, default=1, help="multiplies the extents; default 1")
    parser.add_argument("operators", nargs="*", help="default: all")
    given = parser.parse_args()
    with Runtime() as runtime:
        for name in given.operators or single.OPERATORS:
            counts = probe(runtime, name, range(given.seeds), given.scale)
            text = [f"operand {position}, {'first result' if place == 0 else 'later result'}, {order}: "
                    f"{same} same, {other} other" for (position, place, order), (same, other) in sorted(counts.items())]
            print(f"{name}\n  " + "\n  ".join(text), flush=True)


if __name__ == "__main__":
    main()
