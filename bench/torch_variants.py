# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Training steps of one module in different ways, their peaks and their times."""
import ctypes
import functools
import gc
import hashlib
import time

import torch
from torch._functorch import config as functorch
from torch.nn import functional

from lowtide._memory_meter import MemoryMeter
from lowtide.torch import train_step

ROUNDS = 5
IN_A_ROW = 2  # steps of a variant before the next one, so that the second finds the heap as it left it

_heap = ctypes.CDLL(None)
_heap.malloc_usable_size.argtypes = [ctypes.c_void_p]
_heap.malloc_usable_size.restype = ctypes.c_size_t


class Case:
    """A module with an optimizer and batches. Every variant of its step uses the same tensors."""

    def __init__(self, model, seed=1, steps=1, optimizer=torch.optim.SGD):
        self.module = model.module(seed)
        self.batches = model.batches(steps, seed + 1)
        self.optimizer = optimizer(self.module.parameters(), lr=1e-3)
        self.eager(*self.batches[0])
        self.optimizer.step()  # makes the state of the optimizer, which counts
        self.clear()
        self._begin = [one.detach().clone() for one in self.changing()]

    def eager(self, *batch):
        """Forward and backward pass. Returns the loss."""
        self.clear()
        loss = functional.cross_entropy(self.module(*batch[:-1]), batch[-1])
        loss.backward()
        return loss.detach()

    def checkpointed(self, group):
        """The eager step with each `group` of blocks inside a checkpoint."""
        def step(*batch):
            self.module.group = group
            try:
                return self.eager(*batch)
            finally:
                self.module.group = 0

        return step

    def compiled(self, share):
        """The eager step compiled under activation_memory_budget."""
        def forward(*batch):
            return functional.cross_entropy(self.module(*batch[:-1]), batch[-1])

        # Compilations belong to the code of a function, and each variant has its own.
        forward.__code__ = forward.__code__.replace(co_name=f"forward_{int(100 * share)}")
        compiled = torch.compile(forward, backend="aot_eager")

        def step(*batch):
            self.clear()
            with functorch.patch(activation_memory_budget=share):
                loss = compiled(*batch)
            loss.backward()
            return loss.detach()

        return step

    def planned(self, budget=None, arena=False):
        """The step of lowtide.torch, and its plan."""
        planned = train_step(self.module, functional.cross_entropy, self.optimizer, budget=budget,
                             example=self.batches[0], gradients="keep", arena=arena)

        def step(*batch):
            self.clear()
            return planned(*batch)

        return step, planned.last_plan

    def clear(self):
        self.optimizer.zero_grad(set_to_none=True)

    def restart(self):
        """Goes back to the first parameters, statistics and state of the optimizer."""
        self.clear()
        torch.manual_seed(7)
        with torch.no_grad():
            for one, begin in zip(self.changing(), self._begin, strict=True):
                one.copy_(begin)

    def trajectory(self, step):
        """Digests of losses, gradients and all that changes, after each of the batches."""
        self.restart()
        lines = []
        for batch in self.batches:
            loss = step(*batch)
            gradients = [one.grad for one in self.module.parameters()]
            lines.append([digest([loss]), digest(gradients)])
            self.optimizer.step()
            lines[-1].append(digest(self.changing()))
        return lines

    def peak(self, step):
        """Bytes of parameters, buffers, optimizer, batch, and the most that the step adds to them."""
        self.warm(step)
        with MemoryMeter() as meter:
            step(*self.batches[0])
            added = meter.peak
        self.clear()
        return self.held() + added

    def warm(self, step):
        """Runs the step until libraries and allocators have what they keep."""
        for _ in range(2):
            step(*self.batches[0])
        self.clear()
        gc.collect()

    def held(self):
        """What the heap gave for tensors that exist before the step, and for their objects."""
        present = {one.untyped_storage().data_ptr() for one in (*self.changing(), *self.batches[0])}
        return sum(_heap.malloc_usable_size(address) for address in present if address) + len(present) * object_bytes()

    def times(self, steps):
        """CPU seconds of each variant: the minimum of ROUNDS rounds in which all of them take turns."""
        found = {}
        for step in steps.values():
            step(*self.batches[0])
        for _ in range(ROUNDS):
            for name, step in steps.items():
                for _ in range(IN_A_ROW):
                    begin = time.process_time()
                    step(*self.batches[0])
                    found[name] = min(found.get(name, float("inf")), time.process_time() - begin)
        return found

    def changing(self):
        """Parameters, buffers and what the optimizer keeps."""
        kept = [value for one in self.module.parameters() for value in self.optimizer.state[one].values()]
        return [*self.module.parameters(), *self.module.buffers(), *kept]


@functools.cache
def object_bytes():
    """What a tensor takes beside its content."""
    count = 1000
    with MemoryMeter() as meter:
        kept = [torch.empty(16) for _ in range(count)]
        added = meter.live
    return added // count - _heap.malloc_usable_size(kept[0].data_ptr())


def digest(tensors):
    """Of the bits of tensors."""
    total = hashlib.blake2b(digest_size=8)
    for one in tensors:
        if one is not None:
            total.update(one.detach().cpu().contiguous().numpy().tobytes())
    return total.hexdigest()
