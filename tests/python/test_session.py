# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""lowtide.Session."""
import gc
import subprocess
import threading
import time
import weakref

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from conftest import PROGRAM, reference, save
from onnx import TensorProto

import lowtide


def values(shape, dtype=np.float32, seed=0):
    random = np.random.default_rng(seed)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    return (random.standard_normal(shape) * 5).astype(dtype)


def test_run_equals_the_reference(mlp):
    x = values((2, 3))
    session = lowtide.Session(mlp)
    results = session.run({"x": x})
    expected = reference(mlp, {"x": x})
    assert list(results) == ["y", "z"]
    for name, array in results.items():
        assert array.dtype == expected[name].dtype and array.shape == expected[name].shape
        np.testing.assert_allclose(array, expected[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("given", ["plan", "path"])
def test_a_given_plan_runs(mlp, tmp_path, given):
    plan = lowtide.plan(mlp, target="cpu")
    plan.save(tmp_path / "p.json")
    session = lowtide.Session(mlp, plan if given == "plan" else tmp_path / "p.json")
    assert session.plan.to_json() == plan.to_json()
    assert session.memory["arena"] >= plan.arena
    np.testing.assert_array_equal(session.run({"x": values((2, 3))})["y"],
                                  lowtide.Session(mlp).run({"x": values((2, 3))})["y"])


def test_a_prepared_file_runs_in_place_of_its_model(mlp, tmp_path):
    prepared = tmp_path / "prepared"
    subprocess.run([PROGRAM, "prepare", mlp, "-o", prepared, "-q"], check=True, stdout=subprocess.DEVNULL)
    x = values((2, 3))
    results, expected = lowtide.Session(prepared).run({"x": x}), lowtide.Session(mlp).run({"x": x})
    assert list(results) == list(expected)
    for name, array in results.items():
        np.testing.assert_array_equal(array, expected[name])
    for decided in ({"threads": 2}, {"outputs": "caller"}, {"dims": {"n": 1}}):
        with pytest.raises(lowtide.InvalidError, match="lowtide prepare"):
            lowtide.Session(prepared, **decided)


def test_a_plan_brings_its_dims(batched):
    session = lowtide.Session(batched, lowtide.plan(batched, target="cpu", dims={"batch": 3}))
    assert session.inputs[0].shape == (3, 8)
    x = values((3, 8))
    np.testing.assert_array_equal(session.run({"x": x})["y"], -np.maximum(x, 0))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int32, np.bool_])
@pytest.mark.parametrize("shape", [(4, 3), (1,), (0, 3), ()])
def test_numpy_types_and_shapes(tmp_path, dtype, shape):
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    path = save(tmp_path, [oh.make_node("Identity", ["x"], ["a"]), oh.make_node("Concat", ["a", "a"], ["y"], axis=0)]
                if shape else [oh.make_node("Unsqueeze", ["x", "axes"], ["y"])],
                [("x", kind, shape)], [("y", kind, (2 * shape[0], *shape[1:]) if shape else (1,))],
                [] if shape else [onnx.numpy_helper.from_array(np.array([0]), "axes")])
    x = values(shape, dtype)
    session = lowtide.Session(path)
    assert session.inputs[0].dtype == dtype and session.inputs[0].shape == shape
    result = session.run({"x": x})["y"]
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, reference(path, {"x": x})["y"])


@pytest.mark.parametrize("outputs", ["arena", "caller"])
def test_outputs_go_to_arrays_of_the_caller(mlp, outputs):
    session = lowtide.Session(mlp, outputs=outputs)
    x, other = values((2, 3)), values((2, 3), seed=7)
    expected = lowtide.Session(mlp).run({"x": x})
    y = np.zeros_like(expected["y"])
    results = session.run({"x": x}, out={"y": y})
    assert results["y"] is y and list(results) == ["y", "z"]
    for name, array in results.items():
        np.testing.assert_array_equal(array, expected[name])
    before = y.copy()
    session.run({"x": other})  # y is not given again, so it keeps its content
    np.testing.assert_array_equal(y, before)


def test_wrong_arrays_for_outputs_are_refused(mlp):
    session = lowtide.Session(mlp, outputs="caller")
    x = values((2, 3))
    shape = session.run({"x": x})["y"].shape
    readonly = np.empty(shape, np.float32)
    readonly.flags.writeable = False
    for out, text in (({"a": np.empty(shape, np.float32)}, "its outputs are 'y', 'z'"),
                      ({"y": np.empty(shape)}, "float64"), ({"y": np.empty(3, np.float32)}, "the model declares"),
                      ({"y": readonly}, "writable")):
        with pytest.raises(lowtide.InvalidError, match=text):
            session.run({"x": x}, out=out)
    with pytest.raises(TypeError, match="output 'y' goes to an array of numpy, not to a list"):
        session.run({"x": x}, out={"y": [0]})
    both = np.empty(shape, np.float32)
    for one in (session, lowtide.Session(mlp)):
        with pytest.raises(lowtide.InvalidError, match="output 'z': the array overlaps that of output 'y'"):
            one.run({"x": x}, out={"y": both, "z": both})
    shared = np.empty(64, np.float32)
    y = shared[:int(np.prod(shape))].reshape(shape)
    with pytest.raises(lowtide.InvalidError, match="overlap"):
        session.run({"x": shared[:6].reshape(2, 3)}, out={"y": y})
    session.run({"x": x}, out={"y": y})


def test_an_output_can_be_the_next_input(tmp_path):
    path = save(tmp_path, [oh.make_node("Neg", ["x"], ["y"])], [("x", TensorProto.FLOAT, (4,))],
                [("y", TensorProto.FLOAT, (4,))])
    session = lowtide.Session(path, outputs="caller")
    a, b = np.arange(4, dtype=np.float32), np.empty(4, np.float32)
    for _ in range(3):
        session.run({"x": a}, out={"y": b})
        np.testing.assert_array_equal(b, -a)
        a, b = b, a


def test_inputs_are_not_copied(mlp):
    session = lowtide.Session(mlp)
    x = values((2, 3))
    first = session.run({"x": x})["y"]
    x[...] = values((2, 3), seed=7)
    second = session.run()["y"]  # the array is bound, so the session reads what is in it now
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(second, lowtide.Session(mlp).run({"x": x})["y"])


def test_bound_arrays_stay_in_memory(mlp):
    session = lowtide.Session(mlp)

    class Kept(np.ndarray):
        pass

    x = values((2, 3)).view(Kept)
    kept, expected = weakref.ref(x), session.run({"x": x})["y"]
    del x
    gc.collect()
    np.testing.assert_array_equal(session.run()["y"], expected)
    session.run({"x": values((2, 3), seed=9)})
    gc.collect()
    assert kept() is None


def test_copies_survive_the_next_run(mlp):
    session = lowtide.Session(mlp)
    first = session.run({"x": values((2, 3))})["y"]
    before = first.copy()
    session.run({"x": values((2, 3), seed=5)})
    np.testing.assert_array_equal(first, before)
    assert first.flags.writeable and first.flags.owndata


def test_views_share_the_arena_and_keep_it(mlp):
    session = lowtide.Session(mlp)
    view = session.run({"x": values((2, 3))}, copy=False)["y"]
    before = view.copy()
    assert not view.flags.writeable and not view.flags.owndata
    with pytest.raises(ValueError):
        view[0, 0] = 1
    session.run({"x": values((2, 3), seed=5)})
    assert not np.array_equal(view, before)
    after = view.copy()
    del session
    gc.collect()
    np.testing.assert_array_equal(view, after)


def test_inputs_in_the_arena(mlp):
    session = lowtide.Session(mlp, lowtide.plan(mlp, target="cpu", inputs="arena"))
    assert session.inputs[0].in_arena
    x = values((2, 3))
    np.testing.assert_array_equal(session.run({"x": x})["y"], lowtide.Session(mlp).run({"x": x})["y"])
    with pytest.raises(lowtide.InvalidError, match="shape"):
        session.run({"x": values((3, 2))})


def test_an_input_in_the_arena_is_kept(tmp_path):
    """Its bytes in the arena are those of y after a run, because Neg runs in place."""
    f32 = TensorProto.FLOAT
    path = save(tmp_path, [oh.make_node("Neg", ["x"], ["y"])], [("x", f32, [4])], [("y", f32, [4])])
    session = lowtide.Session(path, lowtide.plan(path, inputs="arena"))
    with pytest.raises(lowtide.InvalidError, match=r"inputs are missing; give arrays for 'x' \(float32 \(4,\)\)"):
        session.run()
    x = np.arange(4, dtype=np.float32)
    for given in ({"x": x}, None, None):
        np.testing.assert_array_equal(session.run(given)["y"], -x)
    x[...] = 7
    np.testing.assert_array_equal(session.run()["y"], -x)


@pytest.mark.parametrize("wrong, words", [
    (np.zeros((2, 3)), "float64"),
    (np.zeros((2, 3), ">f4"), ">f4"),
    (np.zeros((2, 4), np.float32), "2,4"),
    (np.zeros(6, np.float32), "6"),
    (np.zeros((3, 2), np.float32).T, "contiguous"),
    (np.zeros((2, 6), np.float32)[:, ::2], "contiguous"),
    (np.zeros(25, np.uint8)[1:].view(np.float32).reshape(2, 3), "aligned"),
    ([[1.0, 2.0, 3.0]], "float64"), (None, "object"), ("x", "<U1"), (object(), "object")])
def test_wrong_inputs_are_refused(mlp, wrong, words):
    session = lowtide.Session(mlp)
    with pytest.raises(lowtide.InvalidError, match=words) as caught:
        session.run({"x": wrong})
    assert "x" in caught.value.place
    session.run({"x": values((2, 3))})


def test_missing_and_unknown_inputs_are_refused(mlp):
    session = lowtide.Session(mlp)
    with pytest.raises(lowtide.InvalidError, match=r"m.onnx: inputs are missing; give arrays for 'x' \(float32 \(2, 3"):
        session.run()
    with pytest.raises(TypeError, match="inputs is a ndarray; give arrays by name, such as {'x': array}"):
        session.run(values((2, 3)))
    with pytest.raises(TypeError, match="out is a ndarray; give arrays by name, such as {'y': array}"):
        session.run({"x": values((2, 3))}, out=values((2, 4)))
    with pytest.raises(lowtide.InvalidError, match="no input 'w'"):
        session.run({"w": values((3, 4))})
    assert session.run({"x": values((2, 3))})


def test_an_input_must_not_overlap_the_arena(tmp_path):
    path = save(tmp_path, [oh.make_node("Neg", ["x"], ["y"])], [("x", TensorProto.FLOAT, [16])],
                [("y", TensorProto.FLOAT, [16])])
    session = lowtide.Session(path)
    view = session.run({"x": values((16,))}, copy=False)["y"]
    with pytest.raises(lowtide.InvalidError, match="overlap"):
        session.run({"x": view})


def test_a_failed_run_leaves_the_session_usable(tmp_path):
    data = onnx.numpy_helper.from_array(np.arange(4, dtype=np.float32), "data")
    path = save(tmp_path, [oh.make_node("Gather", ["data", "i"], ["y"], "lookup")], [("i", TensorProto.INT64, [2])],
                [("y", TensorProto.FLOAT, [2])], [data])
    session = lowtide.Session(path)
    with pytest.raises(lowtide.InvalidError, match="index") as caught:
        session.run({"i": np.array([0, 9])})
    assert "lookup" in caught.value.place
    np.testing.assert_array_equal(session.run({"i": np.array([3, 0])})["y"], [3, 0])


def test_sizes_that_depend_on_data(tmp_path):
    path = save(tmp_path, [oh.make_node("NonZero", ["x"], ["y"])], [("x", TensorProto.FLOAT, [6])],
                [("y", TensorProto.INT64, [1, "n"])])
    session = lowtide.Session(path)
    assert session.outputs[0].is_bounded and session.outputs[0].shape == (1, 6)
    for x in ([0, 1, 0, 0, 2, 3], [0] * 6, [1] * 6):
        x = np.array(x, np.float32)
        for copy in (True, False):
            np.testing.assert_array_equal(session.run({"x": x}, copy=copy)["y"], np.array(np.nonzero(x)))


def test_plans_of_other_models_are_refused(mlp, batched):
    with pytest.raises(lowtide.MismatchError):
        lowtide.Session(batched, lowtide.plan(mlp, target="cpu"), dims={"batch": 2})
    with pytest.raises(lowtide.IoError):
        lowtide.Session(mlp, "absent.json")
    with pytest.raises(lowtide.IoError):
        lowtide.Session("absent.onnx")
    with pytest.raises(lowtide.UnresolvedError):
        lowtide.Session(batched)


def test_the_plan_of_another_model_is_named_before_its_dims(mlp, batched):
    with pytest.raises(lowtide.MismatchError, match="the plan is for the model with sha256"):
        lowtide.Session(mlp, lowtide.plan(batched, dims={"batch": 2}))


def test_operators_without_kernel_are_listed(tmp_path):
    path = save(tmp_path, [oh.make_node("StringNormalizer", ["x"], ["y"])], [("x", TensorProto.STRING, [1])],
                [("y", TensorProto.STRING, [1])])
    with pytest.raises(lowtide.Error):
        lowtide.Session(path)


def test_inputs_with_default_values(tmp_path):
    """w is an input with a default value. It is a constant unless the caller wants to give it."""
    f32 = TensorProto.FLOAT
    path = save(tmp_path, [oh.make_node("Add", ["x", "w"], ["y"])], [("x", f32, [2]), ("w", f32, [2])],
                [("y", f32, [2])], [onnx.numpy_helper.from_array(np.array([1, 2], np.float32), "w")])
    x, w = np.array([10, 20], np.float32), np.array([5, 6], np.float32)
    session = lowtide.Session(path)
    assert [one.name for one in session.inputs] == ["x"]
    np.testing.assert_array_equal(session.run({"x": x})["y"], [11, 22])
    with pytest.raises(lowtide.InvalidError, match=r"default value, which the plan uses: give overrides=\['w'\]"):
        session.run({"x": x, "w": w})
    plan = lowtide.plan(path, target="cpu", overrides=["w"])
    assert plan.dims == ["w=?"]
    plan.save(tmp_path / "p.json")
    assert lowtide.verify(path, tmp_path / "p.json") == []
    for session in (lowtide.Session(path, overrides=["w"]), lowtide.Session(path, tmp_path / "p.json")):
        np.testing.assert_array_equal(session.run({"x": x, "w": w})["y"], [15, 26])
    for call in (lowtide.plan, lowtide.Session):
        with pytest.raises(lowtide.InvalidError, match="has no input 'v' that a caller may give.*value: 'w'"):
            call(path, overrides=["v"])


def test_synthetic_weights(tmp_path, mlp):
    model = onnx.load(mlp)
    for one in model.graph.initializer:
        one.data_location = TensorProto.EXTERNAL
        size = len(one.raw_data)
        one.ClearField("raw_data")
        for key, value in (("location", "absent.bin"), ("offset", "0"), ("length", str(size))):
            one.external_data.add(key=key, value=value)
    path = tmp_path / "bare.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(lowtide.IoError):
        lowtide.Session(path)
    x = values((2, 3))
    first, again, other = (lowtide.Session(path, synthetic=seed).run({"x": x})["y"] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_the_session_describes_itself(mlp):
    session = lowtide.Session(mlp)
    assert [(one.name, one.shape, one.bytes) for one in session.inputs] == [("x", (2, 3), 24)]
    assert [one.name for one in session.outputs] == ["y", "z"]
    assert session.memory["arena"] >= session.plan.arena > 0
    assert session.memory["weights_mapped"] + session.memory["weights_copied"] >= 4 * (12 + 16)
    assert str(session.memory["arena"]) in repr(session)
    session.stop()  # without a run, it does nothing
    session.run({"x": values((2, 3))})


def test_threads_take_turns(mlp):
    session, wrong = lowtide.Session(mlp), []
    inputs = [values((2, 3), seed=seed) for seed in range(4)]
    expected = [lowtide.Session(mlp).run({"x": x})["y"] for x in inputs]

    def work(at):
        for _ in range(200):
            if not np.array_equal(session.run({"x": inputs[at]})["y"], expected[at]):
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(at,)) for at in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong


def test_the_gil_is_released_in_a_run(tmp_path):
    names = ["x", *(f"t{at}" for at in range(20)), "y"]
    path = save(tmp_path, [oh.make_node("MatMul", [a, a], [b]) for a, b in zip(names, names[1:])],
                [("x", TensorProto.FLOAT, [768, 768])], [("y", TensorProto.FLOAT, [768, 768])])
    session = lowtide.Session(path)
    counted, is_done = 0, threading.Event()

    def work():
        session.run({"x": np.zeros((768, 768), np.float32)})
        is_done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not is_done.is_set():
        counted += 1
        time.sleep(0.0005)
    thread.join()
    assert counted > 5


def test_beside_onnx_runtime(mlp):
    import onnxruntime
    x = values((2, 3))
    other = onnxruntime.InferenceSession(str(mlp), providers=["CPUExecutionProvider"]).run(["y"], {"x": x})[0]
    np.testing.assert_allclose(lowtide.Session(mlp).run({"x": x})["y"], other, rtol=1e-5, atol=1e-6)
