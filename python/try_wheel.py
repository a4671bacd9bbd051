#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Plans and runs a model with an installed wheel, and checks where its libraries come from.

    python -I try_wheel.py MODEL

Run it with the Python of a fresh environment, in which only the wheel is installed.
"""
import importlib.metadata
import pathlib
import platform
import re
import sys

import numpy as np

import lowtide

SHAPES = {"x": [1, 3, 320, 320]}
# What scripts/build_wheel copies into the wheel. libcrypto is missing here, because Python itself may load that of the
# system.
INSIDE = ("libprotobuf", "libgomp", "libdnnl")


def check_libraries():
    """Each library that the wheel contains is loaded from it, and from nowhere else."""
    environment = pathlib.Path(sys.prefix).resolve()
    loaded = set(re.findall(r" (/\S+)$", pathlib.Path("/proc/self/maps").read_text(), re.M))
    for name in INSIDE:
        paths = [path for path in loaded if pathlib.Path(path).name.startswith(name)]
        if not paths:
            raise SystemExit(f"{name} is not loaded")
        for path in paths:
            if environment not in pathlib.Path(path).resolve().parents:
                raise SystemExit(f"{name} is loaded from {path} and not from {environment}")


def check_licenses():
    """Each library that the wheel contains has its licence there."""
    files = [str(path) for path in importlib.metadata.distribution("lowtide").files]
    texts = [pathlib.Path(name).name for name in files if name.startswith("lowtide/licenses/")]
    for library in (pathlib.Path(name).name for name in files if name.startswith("lowtide.libs/")):
        package = re.match(r"lib[a-z]+", library).group(0).replace("libcrypto", "libssl")
        if not any(text.startswith(package) for text in texts):
            raise SystemExit(f"{library} has no licence among {', '.join(sorted(texts))}")
    for text in ("LICENSE-onnx", "SOURCES.txt", "nanobind.txt"):
        if text not in texts:
            raise SystemExit(f"the wheel lacks {text}")
    if not any("onednn" in text.lower() or text == "LICENSE" for text in texts):
        raise SystemExit("the wheel lacks the licence of oneDNN")


def main():
    model = sys.argv[1]
    plan = lowtide.plan(model, shapes=SHAPES, target="cpu")
    if not plan.verified or lowtide.verify(model, plan):
        raise SystemExit("the plan is wrong")
    session = lowtide.Session(model, plan)
    image = np.random.default_rng(1).standard_normal(SHAPES["x"]).astype(np.float32)
    (result,) = session.run({"x": image}).values()
    if result.shape != (1, 1, 320, 320) or not (0 <= result.min() < result.max() <= 1):
        raise SystemExit(f"the detector gives {result.shape} from {result.min()} to {result.max()}")
    check_libraries()
    check_licenses()
    print(f"lowtide {lowtide.__version__} plans {plan.arena:,} bytes and runs, on Python {platform.python_version()} "
          f"and {' '.join(platform.libc_ver())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
