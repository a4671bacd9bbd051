# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Steps whose blocks lie at planned places."""
import gc
import os
import subprocess
import sys

import pytest
import torch
from conftest import batches_of, budgets_of, pair_of

import lowtide
from lowtide import _core
from lowtide._memory_meter import LIBRARIES_OF_TORCH, MemoryMeter

KILO = 1024
FLOATS = 4 * KILO  # of a block of 16 KiB


@pytest.mark.parametrize("name", ["residual", "gpt_dropout", "lstm"])
def test_steps_in_an_arena_equal_eager_steps(name):
    pair = pair_of(name, "adamw")
    batches = batches_of(name, 4)
    budget = budgets_of(pair.step(), batches[0])[-2]
    step = pair.step(budget=budget, arena=True)
    pair.run(step, batches)
    arena = step.last_plan.arena
    assert arena.missed == 0
    assert 0 <= arena.bound <= arena.bytes <= budget


def test_the_meter_counts_placed_blocks():
    pair = pair_of("residual", "adamw")
    [batch] = batches_of("residual", 1)
    step = pair.step(arena=True)
    step(*batch)
    with MemoryMeter() as meter:
        step(*batch)
    assert meter.peak >= step.last_plan.arena.bound > 0
    assert meter.live < 8 * KILO  # the loss


def test_two_steps_have_arenas_of_their_own():
    first, second = pair_of("residual", "sgd"), pair_of("residual", "sgd")
    batches = batches_of("residual", 4)
    steps = [pair.step(arena=True) for pair in (first, second)]
    for batch in batches:
        for pair, step in zip((first, second), steps, strict=True):
            assert torch.equal(pair.eager_step(*batch), step(*batch))
    assert [step.last_plan.arena.missed for step in steps] == [0, 0]


def test_kept_gradients_outlive_the_step():
    pair = pair_of("residual", "sgd")
    batches = batches_of("residual", 3)
    step = pair.step(gradients="keep", arena=True)
    for batch in batches:
        pair.optimizer.zero_grad()
        pair.eager_loss(*batch)
        step(*batch)
    assert step.last_plan.arena.missed == 0
    kept = [one.grad for one in pair.planned.parameters()]
    del step
    gc.collect()
    for one, gradient in zip(pair.eager.parameters(), kept, strict=True):
        assert torch.equal(one.grad, gradient)


def test_forms_of_batches_take_turns_in_memory():
    """The pages of one arena are returned before another one is used."""
    pair = pair_of("residual", "sgd")
    batches = [batches_of("residual", 1)[0]]
    batches.append(tuple(torch.cat([one, one]) for one in batches[0]))
    step = pair.step(arena=True)
    for batch in [*batches, *batches]:
        assert torch.equal(pair.eager_step(*batch), step(*batch))
    arenas = [step.plan(*batch).arena for batch in batches]
    assert [one.missed for one in arenas] == [0, 0]


def test_accumulation_is_refused():
    with pytest.raises(lowtide.UnsupportedError, match="gradients outlive calls"):
        pair_of("residual", "sgd").step(arena=True, accumulate=2)


def test_the_report_names_the_arena():
    pair = pair_of("residual", "sgd")
    step = pair.step(arena=True, example=batches_of("residual", 1)[0])
    assert f"lie in an arena of {step.last_plan.arena.bytes:,} B." in step.report()


class TestPlacedHeap:
    """The compiled part, with blocks of 16 KiB."""

    SIZE = 4 * FLOATS

    @pytest.fixture(autouse=True)
    def redirect(self):
        assert "libc10" in _core.heap_redirect(list(LIBRARIES_OF_TORCH))

    def place(self, heap, run=0):
        assert heap.enter()
        _core.heap_run(run)
        try:
            return torch.empty(FLOATS)
        finally:
            heap.leave()

    def test_a_trace_has_the_lives_of_blocks(self):
        trace = _core.HeapTrace()
        trace.enter()
        _core.heap_run(7)
        first = torch.empty(FLOATS)
        second = torch.empty(2 * FLOATS)
        del first
        _core.heap_run(9)
        small, third = torch.empty(KILO), torch.empty(FLOATS)  # 4 KiB are not placed
        del second, third
        trace.leave()
        assert small.numel() == KILO
        # run, bytes, alignment, begin, end: the first ends when there were 2 requests
        assert trace.blocks() == [(7, self.SIZE, 64, 0, 2), (7, 2 * self.SIZE, 64, 1, 3), (9, self.SIZE, 64, 2, 3)]

    def test_a_block_that_lives_longer_keeps_its_place(self):
        heap = _core.PlacedHeap([(0, self.SIZE, 0)], self.SIZE)
        first = self.place(heap).fill_(1)
        second = self.place(heap).fill_(2)
        assert first.data_ptr() != second.data_ptr() and heap.missed == 1
        assert first.sum().item() == FLOATS
        where = first.data_ptr()
        del first
        assert self.place(heap).data_ptr() == where and heap.missed == 1

    def test_overlapping_places_are_not_taken_together(self):
        heap = _core.PlacedHeap([(0, self.SIZE, 0), (1, self.SIZE, self.SIZE // 2)], 2 * self.SIZE)
        first = self.place(heap, 0).fill_(1)
        second = self.place(heap, 1).fill_(2)
        assert heap.missed == 1 and first.sum().item() == FLOATS and second.sum().item() == 2 * FLOATS

    def test_other_sizes_and_further_blocks_come_from_the_heap(self):
        heap = _core.PlacedHeap([(0, 2 * self.SIZE, 0)], 2 * self.SIZE)
        one = self.place(heap)
        assert heap.missed == 1 and one.numel() == FLOATS
        assert self.place(heap, run=5).numel() == FLOATS and heap.missed == 1  # a run without a plan

    def test_blocks_outlive_their_heap(self):
        heap = _core.PlacedHeap([(0, self.SIZE, 0)], self.SIZE)
        block = self.place(heap).fill_(3)
        del heap
        other = _core.PlacedHeap([(0, self.SIZE, 0)], self.SIZE)
        another = self.place(other).fill_(4)
        assert block.sum().item() == 3 * FLOATS and another.sum().item() == 4 * FLOATS

    def test_memory_is_returned_if_no_block_lives(self):
        heap = _core.PlacedHeap([(0, self.SIZE, 0)], self.SIZE)
        block = self.place(heap).fill_(3)
        heap.give_back()
        assert block.sum().item() == 3 * FLOATS
        del block
        heap.give_back()
        assert self.place(heap).count_nonzero().item() == 0  # new pages

    def test_forged_places_are_refused(self):
        with pytest.raises(lowtide.InvalidError, match="block 0 is outside of the arena"):
            _core.PlacedHeap([(0, self.SIZE, 64)], self.SIZE)
        with pytest.raises(lowtide.InvalidError, match="block 2 is apart from the others of its run"):
            _core.PlacedHeap([(0, 64, 0), (1, 64, 0), (0, 64, 0)], self.SIZE)

    def test_one_trace_at_a_time(self):
        trace = _core.HeapTrace()
        trace.enter()
        with pytest.raises(lowtide.InvalidError, match="another step is being planned"):
            _core.HeapTrace().enter()
        trace.leave()


PROCESS = """
import ctypes, gc, torch
from torch import nn
import lowtide.torch
torch.set_num_threads(1)

def bytes_of(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(key))

def made(width):
    torch.manual_seed(0)
    layers = [nn.Conv2d(3, width, 3, padding=1)]
    for _ in range(8):
        layers += [nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)]
    module = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return module, nn.functional.cross_entropy, torch.optim.SGD(module.parameters(), lr=0.1)

def batch(side):
    return torch.ones(8, 3, side, side), torch.zeros(8, dtype=torch.long)

lowtide.torch.train_step(*made(4), budget="1GiB", example=batch(8), arena=True)(*batch(8))
gc.collect()
ctypes.CDLL(None).malloc_trim(0)
before = bytes_of("VmRSS")
small = batch(96)
step = lowtide.torch.train_step(*made(32), budget=BUDGET, example=small, arena=True)
for _ in range(3):
    step(*small)
with open("/proc/self/clear_refs", "w") as clear:
    clear.write("5")
step(*small)
print(bytes_of("VmHWM") - before, step.last_plan.arena.bytes)
"""


def test_a_process_needs_little_more_than_the_budget():
    # A value has 8 * 32 * 96 * 96 * 4 B = 9 MiB, and 18 of them live at the end of the forward pass.
    budget = 110 << 20
    if not os.access("/proc/self/clear_refs", os.W_OK):
        pytest.skip("the system does not let a process reset its peak")
    said = subprocess.run([sys.executable, "-c", PROCESS.replace("BUDGET", str(budget))], capture_output=True,
                          text=True, check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    peak, arena = map(int, said.stdout.split())
    assert arena > 50 << 20
    assert peak <= budget + (24 << 20)
