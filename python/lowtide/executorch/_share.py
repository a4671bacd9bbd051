# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Results of element-wise operators in the bytes of an operand."""
from __future__ import annotations

import operator

import torch
from executorch.exir.schema import TensorShapeDynamism
from executorch.exir.tensor import TensorSpec
from torch.fx import GraphModule, Node

from ._graph import Run, is_planned, runs_of, specs_of, storage_of

ELEMENT_WISE = frozenset({
    "abs", "add", "ceil", "clamp", "cos", "div", "elu", "erf", "exp", "floor", "gelu", "hardtanh", "leaky_relu", "log",
    "log1p", "maximum", "minimum", "mul", "neg", "pow", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sign",
    "sin", "sqrt", "sub", "tan", "tanh", "trunc",
})
"""ATen operators. Their portable and optimized kernels read operands at an index, then write the result there."""


def share_in_place(graph_module: GraphModule) -> int:
    """Marks element-wise operators whose result may be in the bytes of an operand that nothing needs afterwards.

    `PlanningPass` does this after it has ordered the graph. The mark is ExecuTorch's `_share_alloc_with_arg_idx`.
    Inputs, outputs, constants and mutable buffers of the graph are not overwritten.

    Returns how many operators were marked.
    """
    graph = runs_of(graph_module)
    last_use: dict[int, int] = {}
    for at, run in enumerate(graph.runs):
        last_use.update((id(spec), at) for spec in (*run.reads, *run.writes, *run.updates))
    kept = {id(spec) for spec in (*graph.inputs, *graph.outputs)}
    marked = 0
    for at, run in enumerate(graph.runs):
        number = _operand_of(run, graph.sources)
        if number is None or id(run.writes[0]) in kept:
            continue
        operand = specs_of(run.node.args[number], graph.sources)[0]
        if id(operand) not in kept and last_use[id(operand)] == at and is_planned(operand):
            run.node.meta["_share_alloc_with_arg_idx"] = number
            marked += 1
    return marked


def _operand_of(run: Run, sources: dict[Node, Node]) -> int | None:
    """The position of an operand whose bytes the result of an element-wise operator could have, or None."""
    node = run.node
    if "_share_alloc_with_arg_idx" in node.meta or len(run.allocations) != 1 or len(run.writes) != 1:
        return None
    namespace, _, name = node.target._schema.name.partition("::")
    result = node.meta.get("spec")
    if namespace != "aten" or name not in ELEMENT_WISE or type(result) is not TensorSpec or not is_planned(result):
        return None
    for number, operand in enumerate(node.args):
        if not isinstance(operand, Node) or not _is_result_of_operator(operand, sources):
            continue
        spec = operand.meta.get("spec")
        if type(spec) is TensorSpec and spec is not result and _is_same_form(spec, result, operand, node) and all(
                other is operand or storage_of(one) is not spec
                for other in node.all_input_nodes if other not in run.allocations
                for one in specs_of(other, sources)):
            return number
    return None


def _is_result_of_operator(node: Node, sources: dict[Node, Node]) -> bool:
    """Whether ATen computes it. Delegates and branches have rules of their own for where their results are."""
    while node.target is operator.getitem:
        node = node.args[0]
        node = sources.get(node, node)
    return node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)


def _is_same_form(operand: TensorSpec, result: TensorSpec, operand_node: Node, result_node: Node) -> bool:
    """Whether an element has the same place in both."""
    if (operand.dtype, list(operand.shape), list(operand.dim_order)) != (result.dtype, list(result.shape),
                                                                         list(result.dim_order)):
        return False
    if operand.shape_dynamism == result.shape_dynamism == TensorShapeDynamism.STATIC:
        return True
    # Upper bounds may be equal where extents differ.
    return str(operand_node.meta["val"].shape) == str(result_node.meta["val"].shape)
