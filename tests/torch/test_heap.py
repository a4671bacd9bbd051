# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What tensors take from the heap, as the meter counts it."""
import random
import subprocess
import sys

import pytest
import torch
from conftest import batches_of, budgets_of, pair_of

from lowtide._memory_meter import MemoryMeter
from lowtide.torch._heap import LARGEST_SHARED, allocated_bytes, share_heap, view_bytes
from lowtide.torch._program import below_autograd
from lowtide.torch._requests import RequestMeter

COUNT = 200


def taken(make):
    """Bytes of the heap that COUNT results take, on average."""
    make(0)
    with MemoryMeter() as meter:
        kept = [make(at) for at in range(COUNT)]
        return meter.live / len(kept)


def test_tensors_take_what_is_counted():
    """On average over many sizes: within 48 bytes of a tensor, which are the padding of an aligned block."""
    drawn = random.Random(11)
    sizes = [int(10 ** drawn.uniform(0, 6)) for _ in range(COUNT)]
    rounded = share_heap(sizes)
    counted = sum(map(rounded, sizes)) / COUNT
    assert taken(lambda at: torch.empty(sizes[at], dtype=torch.uint8)) == pytest.approx(counted, abs=48)


def test_requests_take_the_same_in_every_heap():
    """The heap pads blocks with what is left of free ones, which differ here each time."""
    drawn = random.Random(5)

    def peak():
        kept = [torch.empty(drawn.randrange(1, 30_000), dtype=torch.uint8) for _ in range(300)]
        del kept[::2]
        with RequestMeter() as meter:
            made = [torch.empty(1000 * at + 7, dtype=torch.uint8) for at in range(1, 20)]
            torch.cat(made)
            highest = meter.peak
            made.clear()
            meter.reset()
            assert meter.peak == 0
            torch.empty(5000, dtype=torch.uint8)
            return highest, meter.peak

    peak()  # libraries keep something from their first calls
    [(highest, last)] = {peak() for _ in range(20)}
    sizes = [1000 * at + 7 for at in range(1, 20)]
    expected = sum(map(allocated_bytes, [*sizes, sum(sizes)]))
    assert expected - 20 * 64 <= highest <= expected + 4096 and abs(last - allocated_bytes(5000)) <= 64


def test_large_blocks_share_pages_from_the_first_one():
    """Without share_heap(), blocks above 128 KiB have up to a page more each."""
    rounded = share_heap([9_000_001])
    assert rounded(9_000_001) == allocated_bytes(9_000_001) < 9_000_001 + 512
    with MemoryMeter() as meter:
        block = torch.empty(9_000_001, dtype=torch.uint8)
        assert 9_000_001 <= meter.live <= rounded(block.nbytes) + 32
    assert allocated_bytes(LARGEST_SHARED) >= LARGEST_SHARED + 4096  # always has pages of its own


def test_free_blocks_of_the_heap_hide_no_pages():
    """40 MB that are free below another block serve the first request, and glibc compares the next with its threshold,
    which share_heap() must have raised. Only a new process has the first threshold."""
    program = """
import torch
from lowtide.torch._heap import _usable, block_bytes, share_heap
freed = [torch.UntypedStorage(100_000) for _ in range(400)]
last = freed.pop()
freed.clear()
share_heap([30_000_001])
blocks = [torch.UntypedStorage(30_000_001) for _ in range(3)]
print(max(map(_usable, blocks)) - block_bytes(30_000_001))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 32


KEPT = """
import ctypes, torch
from lowtide.torch._heap import keep_free

class Info(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks",
                                                     "fsmblks", "uordblks", "fordblks", "keepcost")]

library = ctypes.CDLL(None)
library.mallinfo2.restype = Info
keep_free(40 << 20)
blocks = [torch.empty(2 << 20, dtype=torch.uint8) for _ in range(20)]
before = library.mallinfo2()
del blocks
after = library.mallinfo2()
print(before.arena + before.hblkhd - after.arena - after.hblkhd)
"""


def test_free_blocks_stay_for_the_next_step():
    """40 MiB in blocks of 2 MiB. mallinfo2() says what the heap has from the system. Without keep_free(), it gives back
    nearly all of them."""
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 4 << 20


def test_another_heap_may_take_more(monkeypatch):
    """A heap with classes of sizes, such as 1,280 bytes for 1,100."""
    monkeypatch.setattr("lowtide.torch._heap._given", lambda size: (size + 255) // 256 * 256)
    rounded = share_heap([1100, 1276])
    assert [rounded(1100), rounded(1276)] == [1280 + allocated_bytes(0), allocated_bytes(1276)]


def test_views_take_what_is_counted():
    base = torch.zeros(2, 2, 2, 2, 2, 2, 2, 2)
    with below_autograd():
        for view in (base.view(-1), base.view(16, 16), base.view(2, 2, 2, 2, 2, 8), base):
            shape = list(view.shape)
            found = taken(lambda _, shape=shape: torch.ops.aten.view.default(base, shape))
            assert found <= view_bytes([view]) <= found + 32


@pytest.mark.parametrize("program", ["residual", "unet", "gpt"])
def test_predictions_of_small_steps_are_close(program):
    """Steps of 200 KB to 1 MB. Objects are a larger part of them than of real ones."""
    pair, batches = pair_of(program, "sgd"), batches_of(program, 3)
    step = pair.step(budget=budgets_of(pair.step(), batches[0])[1])
    pair.run(step, batches[:2])
    plan = step.plan(*batches[2])
    states = sum(plan.problem.rounded(size) for size in plan.problem.states.values())
    with MemoryMeter() as meter:
        step(*batches[2])
    assert meter.peak + states <= plan.sequence.peak
    assert meter.peak + states == pytest.approx(plan.sequence.peak, rel=0.06)
