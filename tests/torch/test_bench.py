# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison on one GPU, as far as the CPU can run it."""
import json
import os
import pathlib
import subprocess
import sys

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

from torch_checks import checks_of  # noqa: E402


def run(*arguments, **environment):
    return subprocess.run([sys.executable, BENCH / "torch_cuda.py", *arguments], text=True, capture_output=True,
                          env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})


def test_a_small_model_passes_the_checks_on_the_cpu():
    done = run("--device", "cpu", "--quick", "--only", "resnet18")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    rows = found["models"]["resnet18"]
    assert found["device"] == "cpu" and list(found["models"]) == ["resnet18"]
    assert {"eager", "no limit", "checkpoints", "budget 0.1, offload", "activation_memory_budget 0.5"} <= rows.keys()
    assert found["checks"]["bits of eager steps"]["measured"] >= 8
    assert rows["AdamW, one sample, updates in the backward pass"]["same_bits"]
    assert "budget kept True" in done.stderr


def test_what_does_not_begin_in_time_is_named():
    done = run("--device", "cpu", "--quick", "--only", "resnet18", "--seconds", "0.01")
    assert done.returncode == 1, "no budget was measured"
    found = json.loads(done.stdout)
    assert found["checks"]["all ways measured"]["measured"] == ["resnet18: no limit"]
    assert "the time of this model was up" in done.stderr


def test_without_a_gpu_it_says_so():
    done = run(CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 2 and done.stdout == ""
    assert "there is no GPU that PyTorch can use; --device cpu" in done.stderr


def row(peak, **more):
    return {"peak": peak, **more}


def test_checks_say_what_failed():
    good = {"eager": row(100, same_bits=True, seconds=1.0),
            "no limit": row(100, budget=200, predicted=100, kept=True, same_bits=True, seconds=1.0,
                            predicted_overhead=0.0),
            "checkpoints": row(60, seconds=1.5),
            "at the peak of checkpoints": row(60, budget=60, predicted=60, kept=True, same_bits=True, seconds=1.2,
                                              predicted_overhead=0.2),
            "updates": row(20, kept=True, predicted=20, same_bits=True, saved=0.81)}
    found = checks_of({"net": good}, {"net": True}, has_times=True)
    assert all(one["passed"] for one in found.values())
    worse = {**good, "updates": row(20, kept=False, predicted=19, same_bits=False, saved=0.5),
             "at the peak of checkpoints": row(61, budget=60, predicted=60, kept=False, same_bits=True, seconds=1.7,
                                               predicted_overhead=0.2)}
    failed = {name for name, one in checks_of({"net": worse}, {"net": True}, has_times=True).items()
              if not one["passed"]}
    assert failed == {"peaks at most the budget", "bits of eager steps", "error of the predicted peak",
                      "updates save of the bytes of gradients", "faster than checkpoints at their peak",
                      "difference of added time"}
    unsteady = checks_of({"net": worse}, {"net": False}, has_times=False)
    assert unsteady["bits of eager steps"] == {"asked": "some ways", "measured": 0, "passed": False, "decides": False}
    assert not unsteady["updates save of the bytes of gradients"]["decides"]


def test_a_run_that_measured_nothing_fails():
    found = checks_of({"net": {"eager": row(100, seconds=1.0)}}, {"net": True}, has_times=True)
    failed = {name for name, one in found.items() if one["decides"] and not one["passed"]}
    assert failed == {"peaks at most the budget", "bits of eager steps"}


def test_a_refused_budget_above_the_least_one_fails():
    rows = {"eager": row(100, same_bits=True, seconds=1.0),
            "no limit": row(100, budget=200, predicted=100, kept=True, same_bits=True, seconds=1.0),
            "budget 0.1": {"budget": 50, "refused": "no sequence keeps it"},
            "below reruns, offload": {"budget": 40, "refused": "no sequence keeps it"}}
    found = checks_of({"net": rows}, {"net": True}, has_times=False)["budgets above the least one planned"]
    assert found == {"asked": "none refused", "measured": ["net: budget 0.1"], "passed": False, "decides": True}
