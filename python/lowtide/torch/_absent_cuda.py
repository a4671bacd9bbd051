# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Records steps of CUDA on tensors of the CPU, with the dropout and the attention that CUDA has."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn import functional

_plain_dropout = functional.dropout
_plain_attention = functional.scaled_dot_product_attention


@contextmanager
def operators_of_cuda() -> Iterator[None]:
    """Within it, two functions that call other operators on the CPU than on CUDA call such as take the same bytes.
    Names that a module has imported from torch.nn.functional itself, and torch.dropout(), stay as they are.

    Dropout is one operator with a mask of a byte per element. Attention keeps no matrix of weights although it has a
    dropout, because kernels of CUDA compute it again from a seed.
    """
    before = functional.dropout, functional.scaled_dot_product_attention
    functional.dropout, functional.scaled_dot_product_attention = _dropout, _attention
    try:
        yield
    finally:
        functional.dropout, functional.scaled_dot_product_attention = before


def _dropout(input: torch.Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> torch.Tensor:
    if training and 0 < p < 1 and input.numel() > 0 and not inplace:
        return torch.native_dropout(input, p, True)[0]
    return _plain_dropout(input, p, training, inplace)


def _attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None = None,
               dropout_p: float = 0.0, is_causal: bool = False, **options: Any) -> torch.Tensor:
    return _plain_attention(query, key, value, attn_mask, 0.0, is_causal, **options)
