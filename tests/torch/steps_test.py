#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel as tests/python/wheel_test.py does, and runs the tests of a folder with PyTorch.

The extension is for the interpreter that runs this file, so PyTorch must be installed for the same version.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from wheel_test import build_wheel, run  # noqa: E402


def make_environment(pythons, folder, wheel):
    """Makes a virtual environment with the wheel, and with the packages of other environments."""
    run(pythons[0], "-m", "venv", folder)
    python = folder / "bin/python"
    show = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = pathlib.Path(run(python, "-c", show).strip())
    (packages / "tests.pth").write_text("".join(run(one, "-c", show) for one in pythons))
    run(python, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", wheel)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--torch-python", required=True)
    parser.add_argument("--more-python", action="append", default=[], help="an environment with more packages")
    parser.add_argument("--tests", default=HERE, type=pathlib.Path, help="default: this folder")
    given, pytest_arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        pythons = [given.torch_python, *given.more_python]
        python = make_environment(pythons, folder / "environment", build_wheel(given, folder))
        # The folder of the tests must not be the checkout, whose python/lowtide has no extension.
        done = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:logging",
                               "--tb=short", given.tests, *pytest_arguments],
                              cwd=folder, env={**os.environ, "OMP_NUM_THREADS": "1", "CXX": given.compiler})
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
