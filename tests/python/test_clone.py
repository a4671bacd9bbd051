# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Sessions that share an executable, and its weights: lowtide.Executable and Session.clone."""
import concurrent.futures
import pathlib

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from conftest import save
from onnx import TensorProto

import lowtide

WIDTH = 1024
WEIGHTS = WIDTH * WIDTH * 4


@pytest.fixture
def product(tmp_path):
    """Relu(x W), whose weights of 4 MiB are packed for the kernel."""
    f32 = TensorProto.FLOAT
    weights = np.random.default_rng(1).standard_normal((WIDTH, WIDTH)).astype(np.float32)
    return save(tmp_path, [oh.make_node("MatMul", ["x", "w"], ["a"]), oh.make_node("Relu", ["a"], ["y"])],
                [("x", f32, [8, WIDTH])], [("y", f32, [8, WIDTH])], [onnx.numpy_helper.from_array(weights, "w")])


def inputs(seed):
    return {"x": np.random.default_rng(seed).standard_normal((8, WIDTH)).astype(np.float32)}


def own_bytes():
    """The anonymous memory of the process."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.split("RssAnon:")[1].split()[0]) * 1024


def test_clones_take_no_second_copy_of_the_weights(product):
    session = lowtide.Session(product)
    session.run(inputs(0))
    before = own_bytes()
    clones = [session.clone() for _ in range(4)]
    for clone in clones:
        clone.run(inputs(0))
    assert own_bytes() - before < WEIGHTS
    assert session.memory["arena"] < WEIGHTS // 8


@pytest.mark.parametrize("shares_arena", [False, True])
def test_clones_run_in_threads_with_the_same_results(product, shares_arena):
    first = lowtide.Session(product)
    expected = [first.run(inputs(seed))["y"] for seed in range(4)]
    sessions = [first, *(first.clone(share_arena=shares_arena) for _ in range(3))]

    def run(seed):
        return [sessions[seed].run(inputs(seed))["y"] for _ in range(20)]

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for seed, results in enumerate(pool.map(run, range(4))):
            for result in results:
                np.testing.assert_array_equal(result, expected[seed])


def test_a_clone_in_the_same_arena_overwrites_views(product):
    first = lowtide.Session(product)
    view = first.run(inputs(0), copy=False)["y"]
    kept = view.copy()
    other = first.clone(share_arena=True).run(inputs(1))["y"]
    assert not np.array_equal(kept, other)
    np.testing.assert_array_equal(view, other)
    own = first.run(inputs(0), copy=False)["y"]
    first.clone().run(inputs(1))
    np.testing.assert_array_equal(own, kept)


def test_a_clone_has_no_arrays_of_the_other_session(product):
    session = lowtide.Session(product)
    session.run(inputs(0))
    with pytest.raises(lowtide.InvalidError, match="inputs are missing"):
        session.clone().run()


def test_sessions_outlive_their_executable(product):
    executable = lowtide.Executable(product)
    assert executable.plan.arena == executable.memory["arena"]
    sessions = [executable.session(), executable.session()]
    del executable
    np.testing.assert_array_equal(sessions[0].run(inputs(3))["y"], sessions[1].run(inputs(3))["y"])


def test_a_session_keeps_a_budget(product):
    """x is 32 KiB and belongs to the caller, y is 32 KiB in the arena. The product writes into y at once."""
    needed = lowtide.Session(product).memory["arena"] + 8 * WIDTH * 4
    assert lowtide.Session(product, budget=needed).run(inputs(0))["y"].shape == (8, WIDTH)
    for kind in lowtide.Session, lowtide.Executable:
        with pytest.raises(lowtide.OverLimitError, match=r"exceeds the budget of 60,000 B .* by .*5,536 B"):
            kind(product, budget=60_000)
    with pytest.raises(lowtide.InvalidError, match="a given plan has its budget"):
        lowtide.Session(product, lowtide.plan(product, target="cpu"), budget="1MiB")
