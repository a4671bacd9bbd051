# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's Static Runtime does in a run, on the models of its tests (docs/static-runtime.md)."""
import itertools

import numpy as np
import onnx
import onnx.helper as oh
import onnx.parser
import pytest
from conftest import reference, save
from onnx import TensorProto, numpy_helper

import lowtide

F32 = TensorProto.FLOAT


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def weight(name, *shape, seed=0):
    return numpy_helper.from_array(values(*shape, seed=seed) / np.float32(np.sqrt(shape[0])), name)


def parsed(folder, text, name="m.onnx"):
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)
    onnx.save(model, folder / name)
    return folder / name


def expect_reference(path, session, inputs):
    """Compares the outputs of a run, which it returns, with the reference. The inputs must be unchanged."""
    before = {name: array.copy() for name, array in inputs.items()}
    results = session.run(inputs)
    for name, right in reference(path, before).items():
        np.testing.assert_allclose(results[name], right, rtol=1e-4, atol=1e-5)
    for name, array in inputs.items():
        np.testing.assert_array_equal(array, before[name])
    return results


@pytest.fixture
def deep_and_wide(tmp_path):
    """The ranking model: wide features are scaled and clamped, and joined with the product of ad and user."""
    nodes = [oh.make_node("Add", ["wide", "mu"], ["shifted"]), oh.make_node("Mul", ["shifted", "sigma"], ["scaled"]),
             oh.make_node("Clip", ["scaled", "low", "high"], ["clamped"]),
             oh.make_node("Transpose", ["user"], ["column"], perm=[0, 2, 1]),
             oh.make_node("MatMul", ["ad", "column"], ["product"]), oh.make_node("Flatten", ["product"], ["flat"]),
             oh.make_node("Concat", ["flat", "clamped"], ["joined"], axis=1),
             oh.make_node("Gemm", ["joined", "w", "b"], ["logit"], transB=1), oh.make_node("Sigmoid", ["logit"], ["y"])]
    weights = [weight("mu", 1, 50), weight("sigma", 1, 50, seed=1), weight("w", 1, 51, seed=2), weight("b", 1, seed=3),
               numpy_helper.from_array(np.float32(0), "low"), numpy_helper.from_array(np.float32(10), "high")]
    return save(tmp_path, nodes, [("ad", F32, ["B", 1, 32]), ("user", F32, ["B", 1, 32]), ("wide", F32, ["B", 50])],
                [("y", F32, ["B", 1])], weights)


def ranking_inputs(batch, seed=0):
    return {"ad": values(batch, 1, 32, seed=seed), "user": values(batch, 1, 32, seed=seed + 1),
            "wide": values(batch, 50, seed=seed + 2)}


# The sizes grow, shrink and grow again. Each batch has a plan of its own, so no run learns from another one.
@pytest.mark.parametrize("threads", [1, 2])
def test_batches_1_8_32_run_in_any_order(deep_and_wide, threads):
    session = lowtide.RangeSession(deep_and_wide, "B", [1, 8, 32], threads=threads)
    arena = session.arena
    for run, batch in enumerate([1, 1, 8, 8, 32, 32, 8, 1, 32, 1]):
        expect_reference(deep_and_wide, session, ranking_inputs(batch, seed=run))
    assert session.arena == arena


@pytest.mark.parametrize("outputs", ["arena", "caller"])
def test_a_batch_runs_with_outputs_in_either_memory(deep_and_wide, outputs):
    for batch in (1, 8, 32):
        session = lowtide.Session(deep_and_wide, dims={"B": batch}, outputs=outputs)
        first = expect_reference(deep_and_wide, session, ranking_inputs(batch))
        kept = first["y"].copy()
        expect_reference(deep_and_wide, session, ranking_inputs(batch, seed=9))
        np.testing.assert_array_equal(first["y"], kept)  # the second run leaves the result of the first one alone


def layers(folder, *widths, batch):
    """Linear layers with Relu between them."""
    nodes, weights, last = [], [], "x"
    for at, (inner, outer) in enumerate(itertools.pairwise(widths)):
        weights += [weight(f"w{at}", inner, outer, seed=at), weight(f"b{at}", outer, seed=at + 50)]
        nodes += [oh.make_node("Gemm", [last, f"w{at}", f"b{at}"], [f"h{at}"]),
                  oh.make_node("Relu", [f"h{at}"], [f"r{at}"])]
        last = f"r{at}"
    return save(folder, nodes, [("x", F32, [batch, widths[0]])], [(last, F32, [batch, widths[-1]])], weights)


@pytest.mark.parametrize("widths, batch", [((512, 512, 64), 16), ((100, 1024, 1024, 1024, 1), 64)])
def test_layers_equal_the_reference(tmp_path, widths, batch):
    path = layers(tmp_path, *widths, batch=batch)
    session = lowtide.Session(path)
    for seed in range(2):
        expect_reference(path, session, {"x": values(batch, widths[0], seed=seed)})
    # While a layer runs, at most its input and its output are live. An input of the model is not in the arena.
    live = [(0 if at == 0 else inner) + outer for at, (inner, outer) in enumerate(itertools.pairwise(widths))]
    assert lowtide.plan(path).arena == batch * 4 * max(live)


def test_attention_of_8_heads_equals_the_reference(tmp_path):
    length, batch, width, heads = 128, 8, 256, 8
    path = parsed(tmp_path, f"""
    g (float[{length},{batch},{width}] x) => (float[{length},{batch},{width}] y)
    <float[{width},{width}] wq, float[{width},{width}] wk, float[{width},{width}] wv, float[{width},{width}] wo> {{
      split = Constant <value = int64[4] {{{length}, {batch}, {heads}, {width // heads}}}> ()
      joined = Constant <value = int64[3] {{{length}, {batch}, {width}}}> ()
      scale = Constant <value = float {{{(width // heads) ** -0.5}}}> ()
      fq = MatMul (x, wq)
      fk = MatMul (x, wk)
      fv = MatMul (x, wv)
      sq = Reshape (fq, split)
      sk = Reshape (fk, split)
      sv = Reshape (fv, split)
      q = Transpose <perm = [1, 2, 0, 3]> (sq)
      k = Transpose <perm = [1, 2, 3, 0]> (sk)
      v = Transpose <perm = [1, 2, 0, 3]> (sv)
      product = MatMul (q, k)
      scores = Mul (product, scale)
      weights = Softmax <axis = -1> (scores)
      heads = MatMul (weights, v)
      back = Transpose <perm = [2, 0, 1, 3]> (heads)
      flat = Reshape (back, joined)
      y = MatMul (flat, wo)
    }}""")
    model = onnx.load(path)
    for at, name in enumerate(("wq", "wk", "wv", "wo")):
        model.graph.initializer.append(weight(name, width, width, seed=at))
    onnx.save(model, path)
    session = lowtide.Session(path)
    for seed in range(2):
        expect_reference(path, session, {"x": values(length, batch, width, seed=seed)})


# Its first version lost the bytes of such an output, because it excluded names and not storages from reuse.
def test_an_output_that_is_a_view_stays_valid(tmp_path):
    path = parsed(tmp_path, """
    g (float[4,6] x) => (float[8,3] b) {
      shape = Constant <value = int64[2] {8, 3}> ()
      a = Add (x, x)
      b = Reshape (a, shape)
    }""")
    for outputs in ("arena", "caller"):
        session = lowtide.Session(path, outputs=outputs)
        x = values(4, 6)
        first = session.run({"x": x})["b"]
        session.run({"x": values(4, 6, seed=1)})
        np.testing.assert_array_equal(first, (x + x).reshape(8, 3))


# The script that it tests in-place operators with. In ONNX, c is another tensor, so e still reads the bytes of a.
def test_a_tensor_is_never_written_while_it_is_read(tmp_path):
    path = parsed(tmp_path, """
    g (float[2,6] x) => (float[3,4] d, float[2,6] e, float[2,6] f) {
      shape = Constant <value = int64[2] {3, 4}> ()
      a = Add (x, x)
      b = Reshape (a, shape)
      c = Sigmoid (b)
      d = Add (c, c)
      e = Add (a, a)
      flat = Constant <value = int64[2] {2, 6}> ()
      g = Reshape (b, flat)
      f = Add (b, b)
    }""".replace("float[2,6] f)", "float[3,4] f)"))
    session = lowtide.Session(path)
    for seed in range(2):
        expect_reference(path, session, {"x": values(2, 6, seed=seed)})


@pytest.mark.parametrize("bad_run", [0, 1])
def test_a_run_that_fails_leaves_the_session_usable(tmp_path, bad_run):
    path = parsed(tmp_path, """
    g (float[4,3] x, int64[2] at) => (float[2,3] y) {
      a = Add (x, x)
      r = Gather (a, at)
      y = Neg (r)
    }""")
    session = lowtide.Session(path)
    x, right, wrong = values(4, 3), np.array([3, 0]), np.array([4, 0])
    for run in range(4):
        if run == bad_run:
            with pytest.raises(lowtide.InvalidError, match="Gather"):
                session.run({"x": x, "at": wrong})
        else:
            np.testing.assert_array_equal(session.run({"x": x, "at": right})["y"], -(x + x)[right])


IF_OF_DEPTH_3 = """
g (bool p, bool q, bool r, float[3] x) => (float[3] y) {
  a = Neg (x)
  y = If (p) <
    then_branch = t () => (float[3] u) {
      b = Add (a, x)
      u = If (q) <
        then_branch = tt () => (float[3] v) {
          v = If (r) <
            then_branch = ttt () => (float[3] w) { w = Sub (a, b) },
            else_branch = tte () => (float[3] k) { k = Mul (a, x) }>
        },
        else_branch = te () => (float[3] l) { l = Relu (a) }>
    },
    else_branch = e () => (float[3] m) {
      m = If (r) <
        then_branch = et () => (float[3] n) { n = Identity (a) },
        else_branch = ee () => (float[3] o) { o = Identity (x) }>
    }>
}"""


def test_nested_branches_run_for_all_flags(tmp_path):
    path = parsed(tmp_path, IF_OF_DEPTH_3)
    session = lowtide.Session(path)
    for p, q, r in itertools.product([False, True], repeat=3):
        expect_reference(path, session, {"p": np.array(p), "q": np.array(q), "r": np.array(r), "x": values(3)})


# Static Runtime numbers values with 16 bits.
def test_more_than_65535_values_run(tmp_path):
    count = 66_000
    nodes = [oh.make_node("Relu" if at % 2 else "Neg", [f"v{at}"], [f"v{at + 1}"]) for at in range(count)]
    path = save(tmp_path, nodes, [("v0", F32, [4])], [(f"v{count}", F32, [4])])
    x = np.float32([-1, 2, -3, 4])
    # Neg and Relu give 1 0 3 0, and the next pair makes everything 0, since Relu(-v) of v >= 0 is 0.
    session = lowtide.Session(path)
    np.testing.assert_array_equal(session.run({"v0": x})[f"v{count}"], np.zeros(4))
    assert session.plan.arena <= 2 * 64  # one buffer for the run in place, and at most one for the output


def test_a_tensor_that_two_nodes_write_is_refused(tmp_path):
    path = save(tmp_path, [oh.make_node("Neg", ["x"], ["y"]), oh.make_node("Relu", ["x"], ["y"])], [("x", F32, [2])],
                [("y", F32, [2])])
    with pytest.raises(lowtide.Error, match="y"):
        lowtide.Session(path)
