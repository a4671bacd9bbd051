#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs operators with a sliding window under drawn attributes, and compares them with ONNX Runtime and with the
reference of the onnx project.

    tests/kernels/window_tests.py --runner build/dev/tests/tools/case_runner [--cases N] [--first SEED] [--only NAME]

Each case is one node whose results have no declared sizes, so its sizes are those that the import infers, that the
rules of extents confirm, and that the kernel gives in the run. A case passes if the kernel returns what one of both
peers returns: each of them is wrong for rare attributes. For pools, where both may be, a third judge follows the
standard. The script fails if a result is wrong, if a run fails, if an operator that ONNX Runtime runs is
refused, or if too few cases pass.
"""
import argparse
import collections
import itertools
import pathlib
import subprocess
import tempfile
import warnings

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator

OPSET = 22


class Draw:
    """Random numbers and attributes of one node."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.axes = int(self.random.choice([1, 1, 2, 2, 3]))

    def chance(self, part):
        return bool(self.random.random() < part)

    def number(self, least, most):
        return int(self.random.integers(least, most + 1))

    def numbers(self, least, most, count=None):
        return [self.number(least, most) for _ in range(self.axes if count is None else count)]

    def whole(self, *shape, dtype=np.float32):
        """Small whole numbers, whose sums are exact."""
        least = 0 if np.dtype(dtype).kind == "u" else -4
        return self.random.integers(least, 5, shape).astype(dtype)

    def window(self, taps, transposed=False, automatic=True):
        """Strides, dilations and padding, each of them present or not."""
        words = {}
        if self.chance(0.7):
            words["strides"] = self.numbers(1, 4)
        if self.chance(0.5):
            words["dilations"] = self.numbers(1, 3)
        chosen = self.random.choice(["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])
        if automatic and chosen != "NOTSET":
            words["auto_pad"] = str(chosen)
        elif self.chance(0.7):
            # ONNX Runtime has no pool whose padding is as large as the window without dilation.
            words["pads"] = [self.number(0, 2 if transposed else tap - 1) for tap in taps * 2]
        return words

    def reaches(self, taps, words):
        """From the first to the last tap, with both."""
        return [(tap - 1) * step + 1 for tap, step in zip(taps, words.get("dilations", [1] * self.axes))]

    def extents(self, taps, words):
        """Extents that the window fits. Runtimes disagree about the others."""
        extents = self.numbers(1, 9)
        if is_same(words):
            return extents
        pads = words.get("pads", [0] * 2 * self.axes)
        return [max(extent, reach - pads[at] - pads[self.axes + at])
                for at, (extent, reach) in enumerate(zip(extents, self.reaches(taps, words)))]


def is_same(words):
    return words.get("auto_pad", "").startswith("SAME")


def convolution(draw, automatic=True):
    taps, group = draw.numbers(1, 3), draw.number(1, 2)
    words = draw.window(taps, automatic=automatic)
    if draw.chance(0.5):
        words["kernel_shape"] = taps
    operands = [draw.whole(draw.number(1, 2), 2 * group, *draw.extents(taps, words)),
                draw.whole(3 * group, 2, *taps)]
    if draw.chance(0.5):
        operands.append(draw.whole(3 * group))
    return operands, {**words, "group": group}


def integer_convolution(draw):
    operands, words = convolution(draw)
    return [one.astype(np.int8) for one in operands[:2]], words


def deformed_convolution(draw):
    draw.axes = 2
    operands, words = convolution(draw, automatic=False)
    taps = operands[1].shape[2:]
    steps, strides = words.get("dilations", [1, 1]), words.get("strides", [1, 1])
    pads = words.get("pads", [0] * 4)
    places = [(operands[0].shape[2 + axis] + pads[axis] + pads[2 + axis] - (taps[axis] - 1) * steps[axis] - 1)
              // strides[axis] + 1 for axis in range(2)]
    offsets = draw.whole(operands[0].shape[0], 2 * taps[0] * taps[1], *(max(one, 0) for one in places))
    return [operands[0], operands[1], offsets / 2], words


def transposed_convolution(draw):
    taps, group, extents = draw.numbers(1, 4), draw.number(1, 2), draw.numbers(1, 6)
    words = draw.window(taps, transposed=True)
    strides, steps = words.get("strides", [1] * draw.axes), words.get("dilations", [1] * draw.axes)
    more = [draw.number(0, max(stride, step) - 1) for stride, step in zip(strides, steps)]
    if draw.chance(0.5):
        words["output_padding"] = more
    if draw.chance(0.25):
        # ONNX Runtime takes the pads beside an output_shape for nothing, and the standard does not say so.
        words.pop("pads", None)
        words["output_shape"] = [
            max((extent - 1) * stride + (tap - 1) * step + 1 - draw.number(0, 3), 1)
            for extent, stride, tap, step in zip(extents, strides, taps, steps)]
    operands = [draw.whole(draw.number(1, 2), 2 * group, *extents), draw.whole(2 * group, 2, *taps)]
    return operands + ([draw.whole(2 * group)] if draw.chance(0.5) else []), {**words, "group": group}


def pool(draw, **more):
    taps = draw.numbers(1, 4)
    words = {**draw.window(taps), "kernel_shape": taps, **more}
    if draw.chance(0.5):
        words["ceil_mode"] = 1
    return [draw.whole(draw.number(1, 2), 3, *draw.extents(taps, words))], words


def average_pool(draw):
    return pool(draw, count_include_pad=draw.number(0, 1))


def lp_pool(draw):
    return pool(draw, p=draw.number(1, 3))


def unpool(draw):
    draw.axes = 2
    taps, strides = draw.numbers(1, 3), draw.numbers(1, 3)
    values = draw.whole(1, 2, *draw.numbers(1, 4))
    words = {"kernel_shape": taps, "strides": strides}
    extents = [(extent - 1) * stride + tap for extent, stride, tap in zip(values.shape[2:], strides, taps)]
    places = draw.random.permutation(2 * extents[0] * extents[1])[:values.size].reshape(values.shape)
    # A place counts in the extents above, whatever the shape of the result is.
    larger = np.array([1, 2, *(extent + draw.number(0, 2) for extent in extents)])
    return [values, places, *([larger] if draw.chance(0.5) else [])], words


def columns_to_image(draw):
    draw.axes = draw.number(1, 2)
    taps, image = draw.numbers(1, 3), draw.numbers(2, 7)
    words = draw.window(taps, automatic=False)
    steps, strides = words.get("dilations", [1] * draw.axes), words.get("strides", [1] * draw.axes)
    pads = words.get("pads", [0] * 2 * draw.axes)
    places = [(image[axis] + pads[axis] + pads[draw.axes + axis] - (taps[axis] - 1) * steps[axis] - 1)
              // strides[axis] + 1 for axis in range(draw.axes)]
    columns = draw.whole(1, 2 * int(np.prod(taps)), int(np.prod([max(one, 0) for one in places])))
    return [columns, np.array(image), np.array(taps)], words


KINDS = {"Conv": convolution, "ConvInteger": integer_convolution, "DeformConv": deformed_convolution,
         "ConvTranspose": transposed_convolution, "MaxPool": pool, "AveragePool": average_pool, "LpPool": lp_pool,
         "MaxUnpool": unpool, "Col2Im": columns_to_image}


def model_of(kind, operands, words):
    """A model whose operands of i64 are constants, except the places of a MaxUnpool; and its inputs."""
    values = [helper.make_tensor_value_info(f"x{at}", helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
              for at, one in enumerate(operands)]
    constants = [at for at, one in enumerate(operands) if one.dtype == np.int64 and (kind != "MaxUnpool" or at == 2)]
    result = onnx.TensorProto.INT32 if kind == "ConvInteger" else onnx.TensorProto.FLOAT
    outputs = [helper.make_tensor_value_info("y", result, None)]
    graph = helper.make_graph(
        [helper.make_node(kind, [one.name for one in values], ["y"], **words)], "g",
        [one for at, one in enumerate(values) if at not in constants], outputs,
        [onnx.numpy_helper.from_array(operands[at], f"x{at}") for at in constants])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)
    return model, {f"x{at}": one for at, one in enumerate(operands) if at not in constants}


def runtime_result(model, feeds):
    """What ONNX Runtime returns; None if it refuses the model."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds)[0]
    except Exception as error:  # onnxruntime has a class of its own for each code
        if "ONNXRuntimeError" not in str(error):
            raise
        return None


def reference_result(model, feeds):
    """What the reference returns; None if it fails."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return np.asarray(ReferenceEvaluator(model).run(None, feeds)[0])
        except Exception:  # it fails with all kinds of errors
            return None


def difference(folder, expected):
    actual = np.load(folder / "output_0.npy")
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"{actual.dtype}{actual.shape} and not {expected.dtype}{expected.shape}"
    if np.allclose(actual, expected, 1e-5, 1e-5, equal_nan=True):
        return ""
    return f"{actual.ravel()[:6]} and not {expected.ravel()[:6]}"


def combined(kind, window, words):
    """One result of a pool per batch and channel, from the elements [batch, channel, ...] of a window."""
    if kind == "MaxPool":
        return window.max(axis=2, initial=-np.inf)
    if kind == "LpPool":
        return (np.abs(window)**words["p"]).sum(axis=2)**(1 / words["p"])
    size = np.prod(words["kernel_shape"]) if words["count_include_pad"] else max(window.shape[2], 1)
    return window.sum(axis=2) / size


def pooled(kind, x, words):
    """The result of a pool without ceil_mode, as the standard has it. Padding has no element."""
    axes = x.ndim - 2
    strides, steps = words.get("strides", [1] * axes), words.get("dilations", [1] * axes)
    reaches = [(tap - 1) * step + 1 for tap, step in zip(words["kernel_shape"], steps)]
    pads = words.get("pads", [0] * 2 * axes)
    begins = pads[:axes]
    counts = [(extent + pads[at] + pads[axes + at] - reach) // stride + 1 for at, (extent, reach, stride) in
              enumerate(zip(x.shape[2:], reaches, strides))]
    if is_same(words):
        counts = [-(-extent // stride) for extent, stride in zip(x.shape[2:], strides)]
        paddings = [max((count - 1) * stride + reach - extent, 0) for count, stride, reach, extent in
                    zip(counts, strides, reaches, x.shape[2:])]
        begins = [padding // 2 if words["auto_pad"] == "SAME_UPPER" else padding - padding // 2 for padding in paddings]
    result = np.empty((*x.shape[:2], *counts), x.dtype)
    for place in itertools.product(*map(range, counts)):
        taps = [[at * stride - begin + tap * step for tap in range(count)] for at, stride, begin, step, count in
                zip(place, strides, begins, steps, words["kernel_shape"])]
        inside = [[tap for tap in along if 0 <= tap < extent] for along, extent in zip(taps, x.shape[2:])]
        window = x[(slice(None), slice(None), *np.ix_(*inside))].reshape(*x.shape[:2], -1)
        result[(slice(None), slice(None), *place)] = combined(kind, window, words)
    return result


def judge(kind, line, folder, model, feeds, words):
    """A word for the outcome of a case, and why."""
    word = line.split()[0]
    peers = {"ONNX Runtime": runtime_result(model, feeds), "reference": reference_result(model, feeds)}
    if kind in ("MaxPool", "AveragePool", "LpPool") and (is_same(words) or "ceil_mode" not in words):
        peers["standard"] = pooled(kind, feeds["x0"], words)
    if word == "refused":
        is_contradiction = "the operator gives" in line
        is_wrong = is_contradiction or peers["ONNX Runtime"] is not None
        return ("wrong", line) if is_wrong else ("refused by both", line)
    if word != "ok":
        return "wrong", line
    differences = {peer: difference(folder, result) for peer, result in peers.items() if result is not None}
    for peer, text in differences.items():
        if not text:
            return f"agrees with {peer}", ""
    return ("wrong", str(differences)) if differences else ("without a peer", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runner", required=True)
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first case")
    parser.add_argument("--only", default="", help="operators whose name contains this text")
    parser.add_argument("--show", type=int, default=20, help="the most cases to print")
    given = parser.parse_args()
    kinds = [kind for kind in KINDS if given.only in kind]
    with tempfile.TemporaryDirectory() as root:
        cases = []
        for seed in range(given.first, given.first + given.cases):
            kind = kinds[seed % len(kinds)]
            operands, words = KINDS[kind](Draw(seed))
            folder = pathlib.Path(root) / str(seed)
            folder.mkdir()
            model, feeds = model_of(kind, operands, words)
            (folder / "model.onnx").write_bytes(model.SerializeToString())
            for at, one in enumerate(feeds.values()):
                np.save(folder / f"input_{at}.npy", one)
            cases.append((seed, kind, folder, model, feeds, [one.shape for one in operands], words))
        run = subprocess.run([given.runner], input="".join(f"{case[2]}\n" for case in cases), text=True,
                             capture_output=True)
        lines = run.stdout.splitlines()
        lines += ["bug the program ended early"] * (len(cases) - len(lines))
        counts, shown = collections.Counter(), 0
        for line, (seed, kind, folder, model, feeds, shapes, words) in zip(lines, cases, strict=True):
            word, reason = judge(kind, line, folder, model, feeds, words)
            counts[kind, word] += 1
            if word == "wrong" and shown < given.show:
                print(f"seed {seed}: {kind}{shapes} {words}: {reason}")
                shown += 1
    for (kind, word), count in sorted(counts.items()):
        print(f"{count:5} {kind} {word}")
    passed = sum(count for (_, word), count in counts.items() if word.startswith("agrees"))
    return 1 if any(word == "wrong" for _, word in counts) or passed < given.cases // 2 else 0


if __name__ == "__main__":
    raise SystemExit(main())
