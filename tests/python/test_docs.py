# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md, and what the package says about itself."""
import inspect
import pathlib
import re
import shutil

import pytest
from conftest import PPOCR

import lowtide

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/python.md").read_text()


def test_examples_run_in_order(tmp_path, monkeypatch, capsys, mlp, batched):
    (tmp_path / "models").mkdir()
    shutil.copy(PPOCR, tmp_path / "models")
    shutil.copy(mlp, tmp_path / "model.onnx")
    assert batched == tmp_path / "batched.onnx"
    monkeypatch.chdir(tmp_path)
    names = {}
    for example in re.findall(r"```python\n(.*?)```", TEXT, re.S):
        exec(compile(example, "docs/python.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "False" in shown.splitlines()[4]  # the budget is not met
    assert "io absent.onnx" in shown


def test_version_is_that_of_the_project():
    assert f"VERSION {lowtide.__version__} " in (ROOT / "CMakeLists.txt").read_text()


def test_document_lists_every_error():
    for name in dir(lowtide):
        one = getattr(lowtide, name)
        if isinstance(one, type) and issubclass(one, lowtide.Error) and one is not lowtide.Error:
            assert f"| `{name}` | {one.code} |" in TEXT


@pytest.mark.parametrize("name", lowtide.__all__)
def test_everything_public_has_a_docstring(name):
    one = getattr(lowtide, name)
    assert inspect.getdoc(one)
    for member_name, member in vars(one).items() if isinstance(one, type) else ():
        if not member_name.startswith("_") and (callable(member) or isinstance(member, property)):
            assert inspect.getdoc(member), f"{name}.{member_name}"


def test_kernels_find_their_library(mlp):
    has_library = (pathlib.Path(lowtide.__file__).parent / "libdnnl.so.3").exists()
    assert ("library=onednn" in lowtide.plan(mlp, target="cpu").to_json()) == has_library


def test_package_is_typed():
    folder = pathlib.Path(lowtide.__file__).parent
    assert ROOT not in folder.parents
    assert (folder / "py.typed").exists()
    assert "class SessionHandle" in (folder / "_core.pyi").read_text()
