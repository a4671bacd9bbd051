# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Programs of the tests, and ExecuTorch's own check of each plan."""
import copy

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.memory_planning import Verifier
from executorch.runtime import Runtime

from lowtide import executorch as door


@pytest.fixture(autouse=True)
def verified(monkeypatch):
    """ExecuTorch replays the lifetimes of each plan and looks for tensors that share bytes."""
    run = door.PlanningPass.run

    def run_and_verify(self, graph_module, graph_signature=None):
        result = run(self, graph_module, graph_signature)
        Verifier(graph_module, self.alloc_graph_input, self.alloc_graph_output, self.alloc_mutable_buffers,
                 graph_signature).verify_storage_reuse()
        return result
    monkeypatch.setattr(door.PlanningPass, "run", run_and_verify)


class Case:
    """A module that ExecuTorch has lowered, with the program of its own planner."""

    def __init__(self, module, arguments, config=None, **options):
        self.arguments, self.config = arguments, config
        # The checks of the dialect take a quarter of the time.
        edge = to_edge(torch.export.export(module, arguments, **options),
                       compile_config=EdgeCompileConfig(_check_ir_validity=False))
        self.edge = copy.deepcopy(edge)
        program = edge.to_executorch(config)
        self.greedy = size_of(program)
        self.expected = self.run(program)

    def plan(self, **options):
        """Lowtide's plan of the same program."""
        return door.plan(copy.deepcopy(self.edge), config=self.config, **options)

    def run(self, program, arguments=None):
        """The outputs of three runs, of which later ones see what earlier ones left."""
        method = Runtime.get().load_program(program.buffer).load_method("forward")
        given = list(self.arguments if arguments is None else arguments)
        return [[one.clone() for one in method.execute(given)] for _ in range(3)]

    def check(self, planned):
        """The program has the bits of the one of ExecuTorch's planner, and no more bytes. Returns its memory."""
        memory, = planned.memories["forward"]
        assert planned.fits and size_of(planned.program) == memory.size <= self.greedy
        assert memory.live <= memory.bound <= memory.size
        for expected, found in zip(self.expected, self.run(planned.program), strict=True):
            assert all(map(torch.equal, expected, found))
        return memory


def size_of(program):
    """The bytes of memory 1."""
    return program.executorch_program.execution_plan[0].non_const_buffer_sizes[1]
