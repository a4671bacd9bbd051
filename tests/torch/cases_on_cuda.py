# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps on tensors of CUDA without memory. test_cuda.py runs them in a process with the library of fake_cuda.cc."""
from contextlib import nullcontext

import pytest
import torch
from conftest import EFFORT
from programs import OPTIMIZERS, PROGRAMS
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.nn import functional

import lowtide
from lowtide.torch import _capture, _device, _program, backend, estimate, train_step
from lowtide.torch._build import build_step, checked_batch, options_of
from lowtide.torch._cuda import AllocatorSettings
from lowtide.torch._device import CudaDevice
from lowtide.torch._problem import WORKSPACES

CUDA = torch.device("cuda", 0)
EXACT = AllocatorSettings(is_expandable=True)
SCRATCH = 4096
KEPT = 8_519_680
"""What workspaces of cuBLAS take by default."""


@pytest.fixture
def mode():
    with FakeTensorMode(allow_non_fake_inputs=True) as one:
        yield one


@pytest.fixture(autouse=True)
def records_on_cuda(monkeypatch):
    """The library stands for a GPU where steps are recorded."""
    monkeypatch.setattr(_capture, "can_record", lambda _device: True)


def network():
    """Convolutions with statistics and a dropout."""
    return nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Dropout(0.2),
                         nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(16, 10))


def images():
    return torch.empty(8, 3, 64, 64), torch.empty(8, dtype=torch.long)


def tokens():
    return torch.empty(3, 12, dtype=torch.long), torch.empty(36, dtype=torch.long)


MADE = {"network": (network, images), "gpt_dropout": (PROGRAMS["gpt_dropout"][0], tokens)}


def made(name, optimizer="adamw"):
    """A module on CUDA, its optimizer and a batch."""
    with torch.device(CUDA):
        module, batch = (make() for make in MADE[name])
    return module, OPTIMIZERS[optimizer](module.parameters()), batch


def blocks(tensors):
    return sum((one.numel() * one.element_size() + 511) // 512 * 512 for one in tensors)


def _built(module, optimizer, batch):
    return build_step(module, functional.cross_entropy, optimizer, checked_batch(batch),
                      options_of("update", optimizer))


@pytest.mark.parametrize("name", MADE)
def test_estimates_count_blocks_of_the_caching_allocator(mode, name):
    module, optimizer, batch = made(name)
    found = estimate(module, functional.cross_entropy, optimizer, example=batch, points=3)
    assert (found.device, found.is_recorded_there) == ("cuda:0", True)
    # AdamW keeps two tensors for each parameter, and its count of steps on the CPU. So do normalizations with theirs.
    buffers = [one for one in module.buffers() if one.device == CUDA]
    assert found.states == 3 * blocks(module.parameters()) + blocks([*buffers, *batch])
    assert all(one.bytes % 512 == 0 for one in found.held)
    assert any("native_dropout" in one.name for one in found.held)


def test_estimates_without_a_gpu_take_the_same_bytes(mode, monkeypatch):
    module, optimizer, batch = made("network")
    there = estimate(module, functional.cross_entropy, optimizer, example=batch, points=3)
    monkeypatch.setattr(_capture, "can_record", lambda device: device.type == "cpu")
    here = estimate(module, functional.cross_entropy, optimizer, example=batch, points=3)
    assert (here.peak, here.floor, here.states) == (there.peak, there.floor, there.states)
    assert (here.device, here.is_recorded_there) == ("cuda:0", False)
    assert "operators that PyTorch runs on the CPU" in str(here)
    with pytest.raises(lowtide.UnsupportedError, match="finds no CUDA device to run it on"):
        train_step(module, functional.cross_entropy, optimizer, example=batch)


def test_counts_of_steps_that_are_on_the_device_count(mode):
    module, _, batch = made("network")
    states = {fused: estimate(module, functional.cross_entropy, torch.optim.AdamW(module.parameters(), fused=fused),
                              example=batch, points=2).states for fused in (True, None)}
    assert states[True] == states[None] + 512 * len(list(module.parameters()))


def test_several_devices_are_refused_by_name(mode):
    module, optimizer, (x, y) = made("network")
    with pytest.raises(lowtide.UnsupportedError, match="a tensor of the batch is on the device cuda:1, and '0.w"):
        estimate(module, functional.cross_entropy, optimizer, example=(x, torch.empty_like(y, device="cuda:1")))
    module[8].bias = nn.Parameter(torch.empty(10))
    with pytest.raises(lowtide.UnsupportedError, match=r"'8.bias' is on the device cpu.*as with .to\('cuda:0'\)"):
        estimate(module, functional.cross_entropy, optimizer, example=(x, y))


class Scaled(nn.Module):
    """Multiplies with a number of the batch, and with what `make` makes."""

    def __init__(self, make):
        super().__init__()
        self.layer, self.make = nn.Linear(4, 4), make

    def forward(self, x, factor):
        return self.layer(x) * factor * self.make().to(x.device)


def loss_of_scaled(make):
    with torch.device(CUDA):
        module, x, y = Scaled(make), torch.empty(8, 4), torch.empty(8, 4)
    return estimate(module, functional.mse_loss, torch.optim.SGD(module.parameters()), points=2,
                    example=(x, torch.empty((), device="cpu"), y))


def test_numbers_on_the_cpu_are_allowed_and_take_nothing(mode):
    many = loss_of_scaled(lambda: torch.ones(1 << 20, device="cpu").sum())
    assert many.peak < 1 << 20


def test_other_devices_and_random_numbers_of_the_cpu_are_refused(mode):
    with pytest.raises(lowtide.UnsupportedError, match="makes a tensor on cuda:1, and the step is on cuda:0"):
        loss_of_scaled(lambda: torch.ones(4, device="cuda:1"))
    with pytest.raises(lowtide.UnsupportedError, match="takes random numbers on the CPU.*device='cuda:0'"):
        loss_of_scaled(lambda: torch.rand(4, device="cpu"))


def test_an_arena_on_cuda_is_refused(mode):
    module, optimizer, batch = made("network")
    with pytest.raises(lowtide.UnsupportedError, match="blocks on cuda:0 are those of PyTorch's caching allocator"):
        train_step(module, functional.cross_entropy, optimizer, arena=True, example=batch)


class Ticks:
    """A timer whose runs all take the same."""

    def prepare(self):
        self.is_open = False

    def start(self):
        self.is_open = True

    def stop(self):
        assert self.is_open
        self.is_open = False

    def take(self):
        return lambda: 1000


class Counter:
    """A meter whose runs all take SCRATCH beside what they return."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def reset(self):
        self.device.made.clear()

    @property
    def peak(self):
        return blocks(self.device.made.values()) + SCRATCH


class ScriptedDevice(CudaDevice):
    """CUDA whose meter and timer say what is known before, because nothing runs."""

    def __init__(self, device):
        super().__init__(device, EXACT)
        self.made, self.drops = {}, 0

    def meter(self):
        return Counter(self)

    def timer(self):
        return Ticks()

    def drop_caches(self):
        self.drops += 1

    def live(self):
        return KEPT if self.drops % 2 == 0 else 0

    def forked_generators(self):
        return nullcontext()


@pytest.fixture
def scripted(monkeypatch):
    """Steps on a device that is scripted, and a generator that is only a number."""
    device = ScriptedDevice(CUDA)
    state = [0]
    for module in ("_build", "_capture", "_joint", "_watch"):
        monkeypatch.setattr(f"lowtide.torch.{module}.device_of", lambda _device: device)
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda where: (where, state[0]))
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda new, where: state.__setitem__(0, new[1]))
    monkeypatch.setattr(_program.torch.cuda, "is_available", lambda: False)
    return device, state


def test_steps_measure_with_the_device_and_run_there(mode, scripted):
    device, _ = scripted
    module, optimizer, batch = made("gpt_dropout", "sgd")
    free = train_step(module, functional.cross_entropy, optimizer, example=batch).last_plan.sequence.peak
    step = train_step(module, functional.cross_entropy, optimizer, budget=free - 16384, example=batch)
    plan = step.last_plan
    assert plan.sequence.peak <= free - 16384
    loss = step(*batch)
    assert loss.device == CUDA and not loss.requires_grad
    assert {one.device for one in module.parameters()} == {CUDA}
    assert "the context of CUDA" in step.report()
    assert any(cost.nanoseconds == 1000 for cost in plan.problem.costs)
    assert device.drops > 0


def test_reruns_of_dropout_ask_for_the_generator_of_cuda(mode, scripted):
    module, optimizer, batch = made("gpt_dropout", "sgd")
    step = train_step(module, functional.cross_entropy, optimizer, example=batch)
    problem = step.last_plan.problem
    again = next(at for at, unit in enumerate(problem.units.units) if unit.is_random)
    runs = [*range(len(problem.units.units))]
    code = _program.program_of(step.last_plan.captured.graph, problem.units, None, [*runs, again],
                               problem.units.results[:1]).code
    assert code.count("generator_state(device(type='cuda', index=0))") == 1
    assert code.count(", device(type='cuda', index=0))") == 2, "a rerun enters a state, and leaves it"


def test_reruns_of_cudnn_update_no_statistics(mode):
    """cudnn_batch_norm writes over them although its schema does not say so."""
    module, optimizer, batch = made("network")
    built = _built(module, optimizer, batch)
    units = built.problem.units
    targets = [unit.nodes[0].target for unit in units.units]
    at = targets.index(torch.ops.aten.cudnn_batch_norm.default)
    assert len(units.units[at].statistics) == 2 and not units.units[at].once
    code = _program.program_of(built.captured.graph, units, None, [*range(at + 1), at],
                               [units.units[at].nodes[0]]).code
    first, again = [line for line in code.splitlines() if "cudnn_batch_norm.default" in line]
    assert ", None, None, True, 0.1, 1e-05)" in again and ", None, None, True" not in first


def test_states_of_generators_take_no_bytes_of_cuda(mode):
    module, optimizer, batch = made("network")
    problem = _built(module, optimizer, batch).problem
    nodes = problem.as_mapping()["nodes"]
    assert [node["seed_bytes"] for node in nodes if "seed_bytes" in node] == [0]
    lowtide.keep_budget(problem.as_mapping(), 1 << 40, effort=EFFORT)


def test_workspaces_of_libraries_count_at_all_times(mode, scripted, monkeypatch):
    device, _ = scripted
    values = iter([0, KEPT] * 9)
    monkeypatch.setattr(device, "live", lambda: next(values))
    module, optimizer, batch = made("network", "sgd")
    step = train_step(module, functional.cross_entropy, optimizer, budget="1GiB", example=batch)
    assert step.last_plan.problem.states[WORKSPACES] == KEPT
    assert "workspaces of libraries" in step.report()


def test_the_name_of_another_allocator_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "cudaMallocAsync")
    with pytest.raises(lowtide.UnsupportedError, match="the allocator of CUDA is cudaMallocAsync"):
        _device.device_of(CUDA)


def test_the_backend_takes_one_device(mode):
    made_backend = backend("1GiB")
    with pytest.raises(lowtide.UnsupportedError, match="a tensor of the batch is on the device cuda:1"):
        made_backend._check_graph(nn.Module(), [torch.empty(3, device="cuda"), torch.empty(3, device="cuda:1")])
    made_backend._check_graph(nn.Module(), [torch.empty(3, device="cuda"), torch.empty(())])
