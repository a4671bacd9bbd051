# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""No kernel takes more stack than the table says from which the program computes its bound."""
import os
import pathlib
import re
import shutil

import exported
import library_stack
import pytest

TABLE = (exported.ROOT / "src/lowtide/c_source/c_writer/stack_bound.cc").read_text()
KNOWN = {name: int(size) for name, size in re.findall(r'\{"(\w+)", Bytes\((\d+)\)\}', TABLE)}
OTHER = int(re.search(r"kOther = Bytes\((\d+)\)", TABLE).group(1))
KERNELS = pathlib.Path(os.environ["LOWTIDE_KERNELS"])  # all kernels, each with a function that calls it
CALLS = dict(re.findall(r'^    \{"(\w+)", (call_\w+)\},$', KERNELS.read_text(), re.MULTILINE))


def test_the_table_has_only_kernels():
    assert len(CALLS) >= 10
    assert not KNOWN.keys() - CALLS.keys()


@pytest.mark.usefixtures("boards")
@pytest.mark.parametrize("board", exported.BOARDS)
@pytest.mark.parametrize("level", ["-O2", "-Os"])
def test_kernels_take_what_the_table_says(tmp_path, board, level):
    source = tmp_path / "kernels.c"
    shutil.copy(KERNELS, source)
    graph = exported.CallGraph(source, board, level, "-I", exported.ROOT / "src")
    library = library_stack.measured(tuple(graph.library), board)
    deepest = {name: graph.deepest(function, library) for name, function in CALLS.items()}
    too_deep = {name: size for name, size in deepest.items() if size > KNOWN.get(name, OTHER)}
    assert not too_deep
