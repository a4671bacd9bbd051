#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that tests/tools/synthetic.py makes the same synthetic values as the library, bit for bit.

usage: compare_synthetic.py PRINT_SYNTHETIC
"""

import pathlib
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import synthetic

CASES = [
    ("conv1.weight", "f32", np.float32, (64, 3, 7, 7), 1),
    ("fc.bias", "f32", np.float32, (1000,), 2**64 - 1),
    ("scalar", "f32", np.float32, (), 7),
    ("bn.running_var", "f32", np.float32, (50,), 3),
    ("änderung", "f64", np.float64, (3, 5), 4),
    ("half.weight", "f16", np.float16, (64, 3, 7, 7), 8),
    ("half.norm.weight", "f16", np.float16, (200,), 9),
    ("empty", "f32", np.float32, (0, 4), 5),
    ("index", "i64", np.int64, (9,), 6),
]


def main() -> int:
    """Compares all cases."""
    wrong = 0
    for name, text, dtype, shape, seed in CASES:
        command = [sys.argv[1], name, text, str(seed), *map(str, shape)]
        printed = subprocess.run(command, check=True, capture_output=True).stdout
        expected = synthetic.synthetic(name, np.dtype(dtype), shape, seed).tobytes()
        if printed != expected:
            wrong += 1
            print(f"{name}: {len(printed)} bytes of the library differ from {len(expected)} bytes of numpy")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
