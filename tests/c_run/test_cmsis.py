# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Source that calls CMSIS-NN passes what the library expects. A part of the interface, in plain loops, is in cmsis/."""
import exported
import pytest
import single
from conftest import KWS

FOLDER = exported.ROOT / "tests/c_run/cmsis"
KINDS = {"CONV_2D": "cmsis_conv_2d_i8", "DEPTHWISE_CONV_2D": "cmsis_depthwise_conv_2d_i8",
         "FULLY_CONNECTED": "cmsis_fully_connected_i8", "AVERAGE_POOL_2D": "cmsis_average_pool_2d_i8",
         "MAX_POOL_2D": "cmsis_max_pool_2d_i8"}
# Scratch of the first convolution (40 taps, two columns of 16 bits), of the mean over 64 channels, and of the others.
KWS_ARENA = {"cmsis-nn": 16_256, "cmsis-nn-vector": 20_464}


def case(data, folder, runtime, kernels, **options):
    made = exported.Case(data, folder, runtime, "--name", "kws", "--kernels", kernels, **options)
    made.sources.append(FOLDER / "functions.c")
    return made


@pytest.mark.parametrize("kernels", ["cmsis-nn", "cmsis-nn-vector"])
def test_kws_has_the_bits_of_the_runtime(tmp_path, runtime, kernels):
    made = case(KWS.read_bytes(), tmp_path, runtime, kernels)
    assert made.report["arena_bytes"] == KWS_ARENA[kernels]
    assert made.report["proven_optimal"]
    assert made.report["stack_bytes"] is None
    defined = ["-DARM_MATH_MVEI"] if kernels == "cmsis-nn-vector" else []
    made.run_here("gcc", *exported.SANITIZERS, "-I", FOLDER, *defined)


def test_the_vector_extension_must_be_that_of_the_export(tmp_path, runtime):
    made = case(KWS.read_bytes(), tmp_path, runtime, "cmsis-nn")
    with pytest.raises(AssertionError, match="export with --kernels cmsis-nn-vector"):
        made.run_here("gcc", "-I", FOLDER, "-DARM_MATH_MVEI")


@pytest.mark.parametrize("kind", KINDS)
def test_operators_have_the_bits_of_the_runtime(tmp_path, runtime, kind):
    called = set()
    for seed in range(3):
        folder = tmp_path / str(seed)
        folder.mkdir()
        made = case(single.make(kind, seed).data, folder, runtime, "cmsis-nn", runs=2)
        made.run_here("gcc", *exported.SANITIZERS, "-I", FOLDER)
        called.update(made.report["kernels"])
    assert KINDS[kind] in called
