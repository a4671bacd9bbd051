# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What plans ask of CUDA, with stand-ins for its functions: blocks, meters, timers, generators and copies."""
import json
import random
from contextlib import contextmanager, nullcontext

import pytest
import torch
from conftest import batches_of, pair_of
from torch import nn

import lowtide
from lowtide.torch import __main__ as command
from lowtide.torch import _cuda, _link, estimate
from lowtide.torch._cuda import AllocatorSettings, CudaMeter, CudaTimer, present_settings
from lowtide.torch._device import CPU_DEVICE, CudaDevice, bytes_on, device_of
from lowtide.torch._program import enter_state, generator_state, leave_state

CUDA = torch.device("cuda", 0)
MIB = 1 << 20


def test_blocks_are_multiples_of_512_bytes():
    settings = AllocatorSettings(is_expandable=True)
    assert [settings.rounded(size) for size in (0, 1, 512, 513, 5 * MIB + 1)] == [0, 512, 512, 1024, 5 * MIB + 512]
    assert all(settings.most_allocated(size) == settings.rounded(size) for size in (0, 1, MIB, 30 * MIB))


def test_blocks_of_the_large_pool_may_be_larger_by_a_mebibyte():
    settings = AllocatorSettings()
    assert settings.most_allocated(MIB) == MIB
    assert settings.most_allocated(MIB + 1) == MIB + 512 + MIB
    whole = AllocatorSettings(max_split=64 * MIB)
    assert [whole.most_allocated(size) for size in (63 * MIB, 64 * MIB)] == [64 * MIB, 84 * MIB]
    rounding = AllocatorSettings(max_split=64 * MIB, most_left_unsplit=40 * MIB)
    assert rounding.most_allocated(64 * MIB) == 104 * MIB


def test_powers_of_two_are_divided_as_the_allocator_does():
    """1,200 MiB are between 1,024 and 2,048 MiB, and 4 divisions of these are 256 MiB each."""
    quarters = AllocatorSettings(is_expandable=True, divisions=(4,) * 16)
    assert quarters.rounded(1200 * MIB) == 1280 * MIB
    assert quarters.rounded(1024 * MIB) == 1024 * MIB
    assert quarters.rounded(1025) == 1536, "below 512 bytes for each division, blocks are multiples of 512"
    some = AllocatorSettings(is_expandable=True, divisions=(0, 0, 8, *[0] * 13))
    assert [some.rounded(size * MIB + 1) for size in (3, 4, 8)] == [3 * MIB + 512, 4 * MIB + MIB // 2, 8 * MIB + 512]
    drawn = random.Random(3)
    for _ in range(200):
        size = int(10 ** drawn.uniform(0, 11))
        assert size <= quarters.rounded(size) <= max(size * 5 // 4 + 1, 512 + size)


def test_settings_are_those_of_the_process(monkeypatch):
    table = {str(1 << at): 8 if at < 2 else 0 for at in range(16)}
    found = {"expandable_segments": False, "max_split_size": 64 * MIB, "roundup_power2_divisions": table}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "native")
    monkeypatch.setattr(torch.cuda.memory, "_snapshot", lambda: {"allocator_settings": found})
    text, is_enabled = ["max_split_size_mb:64"], [True]
    monkeypatch.setattr(torch._C, "_accelerator_getAllocatorSettings", lambda: text[0])
    monkeypatch.setattr(torch._C, "_cuda_cudaCachingAllocator_is_enabled", lambda: is_enabled[0], raising=False)
    assert present_settings() == AllocatorSettings(False, 64 * MIB, divisions=(8, 8, *[0] * 14))
    found.update(max_split_size=32 * MIB)
    assert present_settings().max_split == 32 * MIB, "the same text may follow another one, whose settings stay"
    found.update(expandable_segments=True, max_split_size=-1, roundup_power2_divisions={})
    text[0] = "expandable_segments:True,max_non_split_rounding_mb: 40"
    assert present_settings() == AllocatorSettings(is_expandable=True, most_left_unsplit=40 * MIB)
    is_enabled[0] = False
    with pytest.raises(lowtide.UnsupportedError, match="the caching allocator of CUDA is turned off"):
        present_settings()
    is_enabled[0] = True
    monkeypatch.setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "0")
    with pytest.raises(lowtide.UnsupportedError, match="leave out PYTORCH_NO_CUDA_MEMORY_CACHING"):
        present_settings()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    text[0] = "a:1,expandable_segments:True"
    assert present_settings().is_exact
    text[0] = ""
    assert not present_settings().is_exact


class Allocator:
    """Counts of a device, by both of the counters that a meter reads."""

    def __init__(self, monkeypatch):
        self.now, self.most = [0, 0], [0, 0]
        monkeypatch.setattr(torch.cuda, "memory_stats", lambda _device: self.stats())
        monkeypatch.setattr(torch.cuda, "reset_peak_memory_stats", self.reset)

    def take(self, allocated, requested):
        self.now = [self.now[0] + allocated, self.now[1] + requested]
        self.most = list(map(max, self.now, self.most))

    def reset(self, device):
        assert device == CUDA
        self.most = list(self.now)

    def stats(self):
        return {f"{name}.all.{kind}": values[at] for at, name in enumerate(("allocated_bytes", "requested_bytes"))
                for kind, values in (("current", self.now), ("peak", self.most))}


def test_meters_count_from_their_level(monkeypatch):
    allocator = Allocator(monkeypatch)
    allocator.take(8192, 8000)
    with CudaMeter(CUDA, "allocated_bytes") as meter:
        allocator.take(1024, 1000)
        allocator.take(-1024, -1000)
        assert meter.peak == 1024
        meter.reset()
        allocator.take(-512, -500)
        assert meter.peak == 0
        allocator.take(1024, 600)
        assert meter.peak == 512
    with CudaDevice(CUDA, AllocatorSettings()).meter() as meter:
        allocator.take(3 * MIB, 2 * MIB)
        assert meter.peak == 2 * MIB, "blocks are larger by chance, so requests count"


def test_scratch_is_what_is_left_beside_outputs():
    exact, other = (CudaDevice(CUDA, AllocatorSettings(is_expandable=one)) for one in (True, False))
    assert exact.scratch_of(1024 + 512 + 2048, [1000, 3]) == 2048
    assert other.scratch_of(1003, [1000, 3]) == exact.scratch_of(1536, [1000, 3]) == 0
    assert 2 * MIB + MIB <= other.scratch_of(2 * MIB + 1003, [1000, 3]) <= 3 * MIB + 8192


class Event:
    """An event whose time is when it was recorded, in milliseconds."""

    clock = 0.0
    waited = 0

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self, stream):
        assert stream == "stream of cuda:0"
        self.at = Event.clock

    def synchronize(self):
        Event.waited += 1

    def elapsed_time(self, other):
        return other.at - self.at


def test_timers_add_up_parts_and_wait_when_they_are_asked(monkeypatch):
    lags = []
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    monkeypatch.setattr(torch.cuda, "device", lambda _device: nullcontext())
    monkeypatch.setattr(torch.cuda, "_sleep", lags.append)
    timer = CudaTimer(CUDA)
    timer.prepare()
    assert lags == [_cuda.LAG]
    for milliseconds in (1.5, 0.25):
        timer.start()
        Event.clock += milliseconds
        timer.stop()
        Event.clock += 100.0
    first = timer.take()
    timer.start()
    Event.clock += 3.0
    timer.stop()
    second = timer.take()
    assert Event.waited == 0, "runs overlap until all have begun"
    assert (first(), second(), timer.take()()) == (1_750_000, 3_000_000, 0)
    assert Event.waited == 2


def test_states_of_generators_are_those_of_their_device(monkeypatch):
    states = {CUDA: torch.arange(16, dtype=torch.uint8)}
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: states[device])
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: states.update({device: state}))
    before, present = torch.get_rng_state(), generator_state(CUDA)
    given = torch.zeros(16, dtype=torch.uint8)
    assert enter_state(given, CUDA) is present and states[CUDA] is given
    leave_state(present, CUDA)
    assert states[CUDA] is present
    assert torch.equal(torch.get_rng_state(), before)


def test_tensors_of_the_cpu_take_nothing_of_cuda():
    assert bytes_on(torch.empty(3), CUDA) == 0
    assert bytes_on(torch.empty(3), CPU_DEVICE.device) == 12
    assert bytes_on(torch.empty(3, device="meta"), CUDA) == 12
    with pytest.raises(lowtide.UnsupportedError, match="on the CPU and on CUDA, and the device is xpu"):
        device_of(torch.device("xpu"))


def test_reports_say_what_a_budget_leaves_out(monkeypatch):
    assert CPU_DEVICE.remark() == ""
    assert "context of CUDA" in CudaDevice(CUDA, AllocatorSettings()).remark()
    assert "expandable_segments:True" in CudaDevice(CUDA, AllocatorSettings()).remark()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda device: 20 * MIB)
    assert CudaDevice(CUDA, AllocatorSettings(is_expandable=True)).remark().endswith("reserved 20,971,520 B now")


class Stream:
    """A stream that notes what it does. Copies run at once, on tensors of the CPU."""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def wait_stream(self, other):
        self.log.append(f"{self.name} waits for {other.name}")

    def record_event(self):
        self.log.append(f"event of {self.name}")
        return f"event of {self.name}"

    def wait_event(self, event):
        self.log.append(f"{self.name} waits for {event}")


@pytest.fixture
def streams(monkeypatch):
    """What CudaCopies does with streams, in order."""
    log, names = [], iter(["out", "in"])
    step = Stream("step", log)

    @contextmanager
    def entered(stream):
        log.append(f"copy on {stream.name}")
        yield

    monkeypatch.setattr(torch.cuda, "Stream", lambda _device: Stream(next(names), log))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _device: step)
    monkeypatch.setattr(torch.cuda, "stream", entered)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda _device: log.append("all is done"))
    monkeypatch.setattr(_link, "_pinned", lambda size: torch.zeros(size, dtype=torch.uint8))
    return log


def test_copies_wait_for_the_step_and_the_step_for_them(streams):
    copies = _link.CudaCopies(CUDA)
    copies.reserve(300)
    assert streams == ["all is done"]
    streams.clear()
    given, back = torch.arange(100, dtype=torch.uint8), torch.zeros(100, dtype=torch.uint8)
    leaving = copies.begin_out(given.untyped_storage(), 150)
    assert streams == ["out waits for step", "copy on out", "event of out"]
    leaving.wait()
    assert streams[3:] == ["step waits for event of out"], "what frees these bytes runs behind it"
    streams.clear()
    # The bytes of the target may be of something that the step has just freed, so the copy waits for it.
    arriving = copies.begin_in(back.untyped_storage(), 150)
    assert streams == ["in waits for step", "copy on in", "event of in"]
    arriving.wait()
    assert streams[3:] == ["step waits for event of in"]
    assert torch.equal(given, back)


def test_more_memory_of_the_host_is_pinned_when_nothing_moves(streams):
    copies = _link.CudaCopies(CUDA)
    copies.reserve(100)
    copies.reserve(50)
    assert streams.count("all is done") == 1
    copies.reserve(200)
    assert streams.count("all is done") == 2


def test_a_failing_measurement_waits_for_its_copies(monkeypatch):
    """What a copy writes must not be freed before it ended, and given to something else."""
    [batch] = batches_of("unet", 1)
    drained = []
    monkeypatch.setattr(_link.CpuCopies, "drain", lambda _self: drained.append(True))
    pair = pair_of("unet", "adam")

    def fail(*_given):
        drained.clear()
        raise torch.OutOfMemoryError("as CUDA raises it")

    monkeypatch.setattr("lowtide.torch._step_plan.measured_costs", fail)
    with pytest.raises(torch.OutOfMemoryError):
        pair.step(budget="1GiB", example=batch, offload="host")
    assert drained


def network():
    return nn.Sequential(nn.Linear(300, 400), nn.Dropout(0.5), nn.ReLU(), nn.Linear(400, 5))


def test_a_module_of_the_cpu_is_counted_as_on_cuda():
    module, x, y = network(), torch.randn(64, 300), torch.randint(5, (64,))
    optimizer = torch.optim.SGD(module.parameters(), lr=0.1, momentum=0.9)
    found = estimate(module, nn.functional.cross_entropy, optimizer, example=(x, y), points=2, device="cuda")
    blocks = sum((one.nbytes + 511) // 512 * 512 for one in module.parameters())
    assert (found.device, found.is_recorded_there) == ("cuda:0", False)
    assert found.states == 2 * blocks + x.nbytes + 512
    assert "native_dropout" in str(found), "CUDA has one operator for it"
    assert found.as_dict()["device"] == "cuda:0"
    here = estimate(module, nn.functional.cross_entropy, optimizer, example=(x, y), points=2)
    assert here.device == "cpu" and "native_dropout" not in str(here)
    with pytest.raises(lowtide.InvalidError, match="device is 'gpu'; give 'cpu' or 'cuda'"):
        estimate(module, nn.functional.cross_entropy, optimizer, example=(x, y), device="gpu")


def test_attention_with_a_dropout_keeps_no_matrix_of_weights():
    [batch] = batches_of("gpt_dropout", 1)
    pair = pair_of("gpt_dropout")
    found = estimate(pair.planned, pair.loss_fn, pair.optimizer, example=batch, points=2, device="cuda")
    names = [one.name for one in found.held]
    assert names and not any("softmax" in name and "log_softmax" not in name for name in names)


def test_the_command_counts_on_another_device(monkeypatch, tmp_path, capsys):
    (tmp_path / "modules_of_test_device.py").write_text(
        "import torch\n"
        "from test_device import network\n"
        "def step():\n"
        "    module = network()\n"
        "    optimizer = torch.optim.SGD(module.parameters(), lr=0.1)\n"
        "    batch = torch.randn(64, 300), torch.randint(5, (64,))\n"
        "    return module, torch.nn.functional.cross_entropy, optimizer, batch\n"
        "def fake():\n"
        "    from torch._subclasses import FakeTensorMode\n"
        "    with FakeTensorMode(), torch.device('cuda'):\n"
        "        return step()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    assert command.main(["modules_of_test_device:step", "--points", "2", "--device", "cuda", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == "cuda:0"
    if not torch.backends.cuda.is_built():
        assert command.main(["modules_of_test_device:fake", "--points", "2"]) == 3
        assert "make the module on the CPU and give --device cuda" in capsys.readouterr().err


def test_profiles_of_another_device_are_refused(tmp_path, monkeypatch):
    path, [batch] = tmp_path / "step.json", batches_of("unet", 1)
    pair_of("unet").step(budget="1GiB", example=batch, profile=path)
    written = json.loads(path.read_text())
    assert "device" not in written and "workspaces" not in written["steps"][0]
    path.write_text(json.dumps({**written, "device": "some GPU"}))
    with pytest.raises(lowtide.MismatchError, match="was measured with device some GPU, and here it is cpu"):
        pair_of("unet").step(budget="1GiB", example=batch, profile=path)
    written["steps"][0]["workspaces"] = 8_519_680
    path.write_text(json.dumps(written))
    held = pair_of("unet").step(budget="1GiB", example=batch, profile=path).last_plan.problem.states
    assert held["workspaces of libraries"] == 8_519_680
