#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel, installs it into a fresh virtual environment, checks its types, and runs the tests of this folder.

The extension is linked with the libraries of the build, so only its own sources are compiled. What was compiled stays
in the build folder, and the next call compiles what has changed.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **options)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def build_wheel(given, folder):
    """Builds the wheel against an installation of the build, offline. Returns its path."""
    prefix = given.build / "python/prefix"
    for component in ("lowtide_headers", "lowtide_static"):
        run("cmake", "--install", given.build, "--prefix", prefix, "--component", component)
    environment = {**os.environ, "CXX": given.compiler, "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    run(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--wheel-dir", folder,
        f"--config-settings=build-dir={given.build / 'python/extension'}",
        f"--config-settings=cmake.define.lowtide_DIR={prefix / 'lib/cmake/lowtide'}", env=environment)
    return next(folder.glob("lowtide-*.whl"))


def make_environment(folder, wheel):
    """Makes a virtual environment with the wheel. numpy, onnx and pytest come from the environment of the tests."""
    run(sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    packages = pathlib.Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    run(python, "-m", "pip", "install", "--no-index", "--disable-pip-version-check", wheel)
    return python


# The environment has neither torch nor what exports its modules.
TYPE_CHECKS = """
[mypy]
[mypy-torch.*,executorch.*,onnx_ir.*,onnxscript.*]
ignore_missing_imports = True
[mypy-lowtide.torch.*,lowtide.executorch.*]
warn_unused_ignores = False
disallow_subclassing_any = False
"""


def check_types(python, folder):
    """The types of the package are consistent with the stubs, which nanobind makes of the extension."""
    (folder / "mypy.ini").write_text(TYPE_CHECKS)
    run(python, "-m", "mypy", "--strict", "--config-file", "mypy.ini", "-p", "lowtide", cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    parser.add_argument("--program", required=True)
    parser.add_argument("--compiler", required=True)
    given, pytest_arguments = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        wheel = build_wheel(given, folder)
        python = make_environment(folder / "environment", wheel)
        # The folder of the tests must not be the checkout, whose python/lowtide has no extension.
        check_types(python, folder)
        done = subprocess.run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", HERE, *pytest_arguments],
                              cwd=folder, env={**os.environ, "LOWTIDE_PROGRAM": given.program})
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
