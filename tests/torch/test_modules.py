# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Modules in place of model files."""
import copy
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

import lowtide

TOLERANCE = 2e-5
"""Of a difference, relative to the largest element: sums of at most 2,304 f32 products in another order.

f32 has a unit roundoff of 6e-8, and errors of n terms grow as its square root: 6e-8 * 48 = 3e-6 per layer.
"""


class Convolutions(nn.Module):
    """Strides, groups, residuals and BatchNormalization with drawn statistics, as in MobileNet and ResNet."""

    def __init__(self, random):
        super().__init__()
        width = int(random.integers(2, 5)) * 4
        self.stem = nn.Sequential(nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6())
        self.blocks = nn.ModuleList()
        for _ in range(int(random.integers(1, 4))):
            hidden = width * int(random.integers(1, 4))
            self.blocks.append(nn.Sequential(
                nn.Conv2d(width, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.Hardswish(),
                nn.Conv2d(hidden, hidden, 3, 1, 1, groups=hidden, bias=False), nn.BatchNorm2d(hidden), nn.ReLU(),
                nn.Conv2d(hidden, width, 1)))
        self.head = nn.Linear(width, 5)
        for one in self.modules():
            if isinstance(one, nn.BatchNorm2d):
                nn.init.uniform_(one.running_mean, -0.5, 0.5)
                nn.init.uniform_(one.running_var, 0.5, 2)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(functional.adaptive_avg_pool2d(x, 1).flatten(1))


class Encoder(nn.Module):
    """Layers of a transformer over tokens."""

    def __init__(self, random):
        super().__init__()
        heads = int(random.integers(1, 4))
        self.embedding = nn.Embedding(50, heads * 8)
        layer = nn.TransformerEncoderLayer(heads * 8, heads, dim_feedforward=32, batch_first=True,
                                           norm_first=bool(random.integers(2)), activation="gelu")
        self.layers = nn.TransformerEncoder(layer, int(random.integers(1, 3)), enable_nested_tensor=False)

    def forward(self, tokens):
        return self.layers(self.embedding(tokens)).mean(1)


class Recurrent(nn.Module):
    """An LSTM or a GRU, in one direction or both."""

    def __init__(self, random):
        super().__init__()
        kind = (nn.LSTM, nn.GRU)[int(random.integers(2))]
        self.layers = kind(6, 8, num_layers=int(random.integers(1, 3)), batch_first=True,
                           bidirectional=bool(random.integers(2)))

    def forward(self, x):
        return self.layers(x)[0]


FAMILIES = {
    "convolutions": (Convolutions, lambda batch: torch.randn(batch, 3, 16, 16)),
    "encoder": (Encoder, lambda batch: torch.randint(0, 50, (batch, 7))),
    "recurrent": (Recurrent, lambda batch: torch.randn(batch, 5, 6)),
}


def drawn(name, seed):
    """A module of a family, and its input for a batch."""
    torch.manual_seed(seed)
    make, example = FAMILIES[name]
    return make(np.random.default_rng(seed)), example


def check(session, module, x):
    """The outputs of a session are those of the module in evaluation mode."""
    with torch.no_grad():
        expected = copy.deepcopy(module).eval()(x).numpy()
    found, = session.run({session.inputs[0].name: x}).values()
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Temporary files are made here, and none is left."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.glob("lowtide-*")) == []


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", FAMILIES)
def test_sessions_compute_what_modules_compute(name, seed):
    module, example = drawn(name, seed)
    x = example(2)
    session = lowtide.Session(module, (x,))
    for _ in range(2):
        check(session, module, x)
        x = example(2)


def test_open_extents_are_bound_or_bounded():
    module, example = drawn("convolutions", 7)
    options = {"args": example(2), "dynamic_shapes": ({0: "batch"},)}
    with pytest.raises(lowtide.UnresolvedError, match="batch"):
        lowtide.plan(module, **options)
    session = lowtide.Session(module, **options, at_most={"batch": 4})
    for batch in (1, 4):
        check(session, module, example(batch))
    module, example = drawn("encoder", 7)
    options["args"] = example(2)
    session = lowtide.Session(module, **options, inputs={"tokens": example(3)})
    assert session.plan.dims == ["tokens=[3,7]"]
    check(session, module, example(3))


def test_modules_stay_as_they_were():
    module, example = drawn("convolutions", 1)
    module.train()
    module.blocks.eval()
    module.stem.register_forward_hook(lambda *_: None)
    module.head.weight.requires_grad = False
    before = copy.deepcopy(module)
    x = example(2)
    generator = torch.get_rng_state()
    plan = lowtide.plan(module, x, target="cpu")
    lowtide.explain(module, x)
    lowtide.Session(module, x)
    assert torch.equal(generator, torch.get_rng_state())
    for (name, one), other in zip(module.named_modules(), before.modules(), strict=True):
        assert (one.training, len(one._forward_hooks), len(one._forward_pre_hooks)) == (
            other.training, len(other._forward_hooks), len(other._forward_pre_hooks)), name
    for (name, one), other in zip(module.state_dict(keep_vars=True).items(),
                                  before.state_dict(keep_vars=True).values(), strict=True):
        assert torch.equal(one, other) and one.requires_grad == other.requires_grad and one.grad is None, name
    assert plan.model == "Convolutions.onnx" and plan.verified


def test_plans_need_no_values_and_sessions_take_them():
    module, example = drawn("convolutions", 2)
    x = example(1)
    plan = lowtide.plan(module, x, target="cpu")
    check(lowtide.Session(module, x, plan=plan), module, x)
    check(lowtide.Executable(module, x, plan=plan).session(), module, x)
    explanation = lowtide.explain(module, x)
    assert explanation.text.startswith("Convolutions.onnx  ")
    with torch.device("meta"):
        empty = Convolutions(np.random.default_rng(2))
        x = torch.empty(1, 3, 16, 16)
    assert lowtide.plan(empty, x).peak > 0
    with pytest.raises(lowtide.InvalidError, match="can only be planned") as error:
        lowtide.Session(empty, x)
    assert error.value.place.startswith("Convolutions: ")


def test_weights_are_those_at_the_time_of_opening():
    module = nn.Linear(40, 30)  # 4,800 B, so it is in the file of weights
    x = torch.randn(1, 40)
    session = lowtide.Session(module, x)
    before = copy.deepcopy(module)
    with torch.no_grad():
        module.weight.zero_()
    check(session, before, x)
    check(session.clone(), before, x)


def test_inputs_of_a_net_have_the_types_of_tensors(tmp_path):
    """A net states no types, so those of the inputs count. Tensors and arrays may be mixed."""
    net = tmp_path / "net.pbtxt"
    net.write_text('external_input: "table" external_input: "ids" external_output: "y"\n'
                   'op { input: "table" input: "ids" output: "y" type: "Gather" }\n')
    table = torch.arange(12.0).reshape(4, 3)
    for ids in (torch.tensor([3, 1]), torch.tensor([3, 1], dtype=torch.int32)):
        for inputs in ({"table": table, "ids": ids}, {"table": table.numpy(), "ids": ids}):
            session = lowtide.Session(net, inputs=inputs)
            assert {one.name: one.dtype for one in session.inputs} == {"table": np.float32, "ids": ids.numpy().dtype}
            assert np.array_equal(session.run(inputs)["y"], table[[3, 1]].numpy())


def test_inputs_are_tensors_or_arrays():
    class Sum(nn.Module):
        def forward(self, a, *, b):
            return a + b

    a = torch.arange(6.0).reshape(2, 3)
    session = lowtide.Session(Sum(), a, kwargs={"b": a})
    for given in (a, a.numpy(), a.clone().requires_grad_()):
        assert np.array_equal(session.run({"a": given, "b": a})["add"], 2 * a.numpy())
    for wrong, why in ((a.double(), "float64"), (torch.arange(6.0).reshape(3, 2).T, r"tensor.contiguous\(\)"),
                       (a.to_sparse(), r"tensor.to_dense\(\)"), (a.to("meta"), r"tensor.cpu\(\)")):
        with pytest.raises(lowtide.InvalidError, match=why):
            session.run({"a": wrong})


def test_refusals_name_the_line_of_the_module():
    class Wrong(nn.Module):
        def __init__(self, function):
            super().__init__()
            self.function = function

        def forward(self, x):
            return self.function(x)

    class Outer(nn.Module):
        def __init__(self, function):
            super().__init__()
            self.inner = Wrong(function)

        def forward(self, x):
            return self.inner(x) + 1

    for function, why in ((lambda x: x if x.sum() > 0 else -x, "data-dependent"),
                          (torch.linalg.svdvals, "aten._linalg_svd"), (lambda x: x.no_such_thing, "no_such_thing")):
        with pytest.raises(lowtide.UnsupportedError, match=why) as error:
            lowtide.plan(Outer(function), torch.ones(2, 3))
        assert __file__ in error.value.place and error.value.place.startswith("Outer"), error.value.place


def test_arguments_that_do_not_belong_together_are_refused(tmp_path):
    module, x = nn.Linear(2, 2), torch.ones(1, 2)
    plan = lowtide.plan(module, x)
    for call, why in ((lambda: lowtide.plan(tmp_path / "m.onnx", x), "belong to a torch.nn.Module"),
                      (lambda: lowtide.Session(module, plan), "the second argument is a plan"),
                      (lambda: lowtide.Session(module, x, args=x), "args is given twice"),
                      (lambda: lowtide.Session("m.onnx", plan, plan=plan), "plan is given twice")):
        with pytest.raises(lowtide.InvalidError, match=why):
            call()
    with pytest.raises(lowtide.UnsupportedError, match="missing a required argument"):
        lowtide.plan(module)


@pytest.mark.parametrize("package", ["onnx", "onnxscript"])
def test_absent_packages_are_named(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match="pip install onnx onnxscript"):
        lowtide.plan(nn.Linear(2, 2), torch.ones(1, 2))


def test_the_package_does_not_import_pytorch():
    code = "import sys, lowtide; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_example_of_the_document_runs(capsys):
    text = (pathlib.Path(__file__).resolve().parents[2] / "docs/modules.md").read_text()
    names = {}
    for example in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(example, "docs/modules.md", "exec"), names)
    assert capsys.readouterr().out.splitlines()[-1] == "(5, 10)"
