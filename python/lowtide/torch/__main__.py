# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""python -m lowtide.torch MODULE:FUNCTION: what the training step of a program needs."""
from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import Any

from .._errors import Error, InvalidError
from ._estimate import estimate

EXAMPLES = """examples:
  python -m lowtide.torch train:step                 what the step of train.py needs
  python -m lowtide.torch train:step --json          the same as JSON
  python -m lowtide.torch train:step --gradients keep --points 20
  python -m lowtide.torch train:step --device cuda   what it needs on a GPU, which need not be there

train.py has a function that returns what lowtide.torch.train_step() takes:
  def step(): return model, loss_fn, optimizer, (x, y)
"""


def _called(place: str) -> tuple[Any, ...]:
    name, _, function = place.partition(":")
    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(name), function)
    except (ImportError, AttributeError) as error:
        raise InvalidError(f"cannot be found: {error}", place) from None
    try:
        made = found()
    except RuntimeError as error:
        if "not linked with support" not in str(error):
            raise
        raise InvalidError("this PyTorch is built without CUDA, which even tensors without memory need there; make the "
                           "module on the CPU and give --device cuda", place) from None
    if not isinstance(made, tuple) or len(made) != 4:
        raise InvalidError("must return (module, loss_fn, optimizer, example)", place)
    return made


def main(arguments: list[str] | None = None) -> int:
    """Prints an estimate. Returns 0, 2 for a wrong command line, or 3 if the step cannot be planned."""
    parser = argparse.ArgumentParser(prog="python -m lowtide.torch", description=__doc__, epilog=EXAMPLES,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", metavar="MODULE:FUNCTION",
                        help="a function that returns (module, loss_fn, optimizer, example)")
    parser.add_argument("--gradients", choices=("update", "keep"), default="update",
                        help="whether a gradient ends at its update; default: update")
    parser.add_argument("--points", type=int, default=12, help="budgets that are tried, at least 2; default: 12")
    parser.add_argument("--device", help="count a module on the CPU as if it were on this device, such as cuda; "
                                         "default: where the module is")
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args(arguments)
    if ":" not in given.step or given.points < 2:
        print("error: give MODULE:FUNCTION, such as train:step, and at least 2 points", file=sys.stderr)
        return 2
    try:
        module, loss_fn, optimizer, example = _called(given.step)
        found = estimate(module, loss_fn, optimizer, example=example, gradients=given.gradients, points=given.points,
                         device=given.device)
    except Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    print(json.dumps(found.as_dict(), indent=2) if given.json else found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
