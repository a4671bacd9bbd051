# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Exported source computes the bits of TFLite Micro, here and on boards, and needs what it says."""
import re
import shutil
import subprocess

import build
import calls
import exported
import files
import library_stack
import numpy as np
import pytest
import schema
import single
import stateful
from conftest import KWS

KWS_ARENA = 16_000
MOST_CODE = 8 * 1024
MOST_STACK = 512
BOUND = (exported.ROOT / "src/lowtide/c_source/c_writer/stack_bound.cc").read_text()
RUN = int(re.search(r"kRun = Bytes\((\d+)\)", BOUND)[1])
# The developers' machines have clang, too.
COMPILERS = ["gcc", *(["clang-19"] if shutil.which("clang-19") else [])]
needs_boards = pytest.mark.usefixtures("boards")


def test_kws_has_the_bits_of_the_runtime(kws):
    assert kws.report["arena_bytes"] == KWS_ARENA
    assert kws.report["proven_optimal"]
    kws.run_here("gcc", *exported.SANITIZERS)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_compilers_have_no_warning(kws, compiler, standard):
    kws.run_here(compiler, f"-std={standard}", "-O2")


@pytest.mark.parametrize("options", [["--reentrant"], ["--weights", "blob"], ["--reentrant", "--weights", "blob"]])
def test_other_forms_compute_the_same(tmp_path, runtime, options):
    exported.Case(KWS.read_bytes(), tmp_path, runtime, "--name", "kws", *options).run_here("gcc", *exported.SANITIZERS)


def test_two_models_are_one_program(tmp_path, runtime, kws):
    other = exported.Case(KWS.read_bytes(), tmp_path, runtime, "--name", "other")
    main = tmp_path / "both.c"
    main.write_text(f'#include "{kws.folder}/model.h"\n#include "{tmp_path}/model.h"\n'
                    "int main(void) {\n  kws_init();\n  other_init();\n  kws_run();\n  other_run();\n  return 0;\n}\n")
    exported.call("gcc", "-std=c99", *exported.WARNINGS, main, *kws.sources[1:], *other.sources[1:], "-o",
                  tmp_path / "both")
    exported.call(tmp_path / "both")


def test_the_caller_may_have_the_arena(tmp_path, kws):
    flag = "-DKWS_EXTERNAL_ARENA"
    arena = tmp_path / "arena.c"
    arena.write_text(f'#include "{kws.folder}/model.h"\nkws_arena_type kws_arena;\n')
    exported.call("gcc", "-std=c99", *exported.WARNINGS, flag, arena, *kws.sources, "-o", tmp_path / "program")
    exported.call(tmp_path / "program")


@pytest.mark.parametrize("standard", ["c99", "c11"])
def test_a_budget_stops_the_compiler(kws, standard):
    words = ["gcc", f"-std={standard}", "-fsyntax-only", kws.folder / "model.c"]
    exported.call(*words, f"-DKWS_ARENA_BUDGET={KWS_ARENA}")
    done = subprocess.run([*words, f"-DKWS_ARENA_BUDGET={KWS_ARENA - 1}"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "exceeds the budget" in done.stderr or "exceeds_the_budget" in done.stderr


def exports(data, folder):
    """Whether a model becomes C source. Otherwise it has an operator without a kernel, which the program names."""
    model = folder / "tried.tflite"
    model.write_bytes(data)
    done = subprocess.run([exported.PROGRAM, "export", model, "-o", folder / "tried"], capture_output=True, text=True)
    assert done.returncode == 0 or (done.returncode == 3 and "C source cannot be made" in done.stderr), done.stderr
    return done.returncode == 0


def test_single_operators_have_the_bits_of_the_runtime(tmp_path, runtime):
    """A part of the operators that have kernels. Tests of the kernels run all of them."""
    models = {name: single.make(name, 3).data for name in single.OPERATORS}
    with_kernels = [name for name, data in models.items() if exports(data, tmp_path)]
    for name in with_kernels[::1 + len(with_kernels) // 12]:
        exported.Case(models[name], tmp_path, runtime, "--force", runs=2).run_here("gcc", *exported.SANITIZERS)
    assert models.keys() - set(with_kernels) == set(calls.WITHOUT)


def test_variables_keep_their_content(tmp_path, runtime):
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        case = exported.Case(stateful.make("variables", seed).data, folder, runtime, runs=4)
        case.run_here("gcc", *exported.SANITIZERS)


def with_hostile_constants(data):
    """The model with biases that let every sum overflow, and states with the weights of the largest products."""
    model = files.read(data)
    for tensor in model.subgraphs[0].tensors:
        stored = model.buffers[tensor.buffer]
        if stored.data is None or tensor.type not in (schema.INT32, schema.INT16) or tensor.quantization is None:
            continue
        limits = np.iinfo(build.NUMPY[tensor.type])
        values = np.resize([limits.max, limits.min], tensor.shape).astype(build.NUMPY[tensor.type])
        stored.data = np.frombuffer(values.tobytes(), np.uint8)
    return files.write(model)


@pytest.mark.parametrize("make, name, seed", [(single.make, "CONV_2D", 3), (single.make, "DEPTHWISE_CONV_2D", 3),
                                              (single.make, "FULLY_CONNECTED", 2), (single.make, "TRANSPOSE_CONV", 3),
                                              (stateful.make, "SVDF", 3)])
def test_sums_of_hostile_constants_wrap_around(tmp_path, runtime, make, name, seed):
    """Sanitizers find no sum without a meaning."""
    data = make(name, seed).data
    hostile = with_hostile_constants(data)
    assert hostile != files.write(files.read(data))
    exported.Case(hostile, tmp_path, runtime).run_here("gcc", *exported.SANITIZERS)


@needs_boards
@pytest.mark.parametrize("board", exported.BOARDS)
def test_boards_compute_the_bits_of_the_runtime(kws, board):
    kws.run_on(board)


@needs_boards
def test_the_linked_sections_are_those_of_the_plan(kws):
    program = kws.link("mps2-an385", f"-Wl,-Map={kws.folder / 'model.map'}")
    sizes = exported.sections(program)
    assert sizes[".arena"] == kws.report["arena_bytes"]
    compiled = kws.folder / "model.o"
    name = '-DKWS_ARENA_ATTRIBUTES=__attribute__((section(".arena"),aligned(16)))'
    for level in ("-O2", "-Os"):
        exported.call(exported.ARM + "gcc", "-mcpu=cortex-m3", "-mthumb", "-std=c99", level, name, "-c",
                      kws.folder / "model.c", "-o", compiled)
        sizes = exported.sections(compiled)
        assert sizes.get(".data", 0) == sizes.get(".bss", 0) == 0
        code = sum(size for section, size in sizes.items() if section.startswith((".text", ".rodata")))
        assert 0 < code <= MOST_CODE


@needs_boards
@pytest.mark.parametrize("board", exported.BOARDS)
def test_stack_is_within_the_printed_bound(kws, board):
    bound = kws.report["stack_bytes"]
    assert bound <= MOST_STACK
    for level in ("-O2", "-Os"):
        graph = exported.CallGraph(kws.folder / "model.c", board, level)
        library = library_stack.measured(tuple(graph.library), board)
        assert 0 < graph.deepest("kws_run", library) <= bound, level
        assert graph.own_of("kws_run") <= RUN, level


@needs_boards
@pytest.mark.parametrize("board", ["mps2-an385", "mps3-an547"])
def test_the_example_answers(tmp_path, board):
    text = subprocess.run([exported.BOARD_FILES / "run", "--lowtide", exported.PROGRAM, "--board", board, "--to",
                           tmp_path / "out"], capture_output=True, text=True, timeout=120)
    shown = text.stdout + text.stderr
    assert text.returncode == 0, shown
    assert "the model hears: " in shown
    assert f"arena {KWS_ARENA} bytes" in shown
    assert 0 < int(re.search(r"stack of the run (\d+) bytes", shown).group(1)) <= MOST_STACK
