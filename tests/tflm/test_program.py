# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Asking a program about .tflite files. Programs of a few lines stand in for it, so that a wrong answer is seen."""
import argparse
import sys

import campaign
import program
import pytest
import single

FRAME = """
import pathlib, sys
arguments = sys.argv[1:]
assert arguments[0] == "run" and pathlib.Path(arguments[1]).read_bytes()[4:8] == b"TFL3"
folder = pathlib.Path(arguments[arguments.index("--output-dir") + 1])
folder.mkdir()
name, _, file = arguments[arguments.index("--input") + 1].partition("=")
assert name == "t0"
"""


@pytest.fixture
def script(tmp_path):
    """Makes a program of the lines of its body."""
    def make(body):
        path = tmp_path / "program"
        path.write_text(f"#!{sys.executable}\n{body}")
        path.chmod(0o755)
        return str(path)
    return make


def computing(script, body):
    """A program that reads the input x and writes the output y."""
    return script(f"{FRAME}\nimport numpy as np\nx = np.load(file)\n{body}\nnp.save(folder / 't1.npy', y)\n")


def answers(runtime, tmp_path, path):
    """The failures of a campaign with a program."""
    given = argparse.Namespace(program=path, first=0, count=1, keep=str(tmp_path), files=[])
    return list(campaign.runs(runtime, given))


@pytest.fixture
def only_squeeze(monkeypatch):
    monkeypatch.setattr(campaign, "of_all_kinds", lambda given: [("SQUEEZE", single.make("SQUEEZE", 3))])


def test_equal_bits_are_no_failure(runtime, tmp_path, script, only_squeeze, capsys):
    assert answers(runtime, tmp_path, computing(script, "y = x.reshape(x.shape[0], -1)")) == []
    assert "SQUEEZE: 1 the same" in capsys.readouterr().out


def test_one_other_bit_is_a_failure(runtime, tmp_path, script, only_squeeze):
    found = answers(runtime, tmp_path, computing(script, "y = x.reshape(x.shape[0], -1); y[0, 0] ^= 1"))
    assert len(found) == 1
    assert "SQUEEZE 3: other bits" in found[0]
    assert (tmp_path / "SQUEEZE_3.tflite").read_bytes() == single.make("SQUEEZE", 3).data


def test_another_shape_is_a_failure(runtime, tmp_path, script, only_squeeze):
    assert len(answers(runtime, tmp_path, computing(script, "y = x"))) == 1


def test_a_refusal_is_counted_with_its_reason(runtime, tmp_path, script, only_squeeze, capsys):
    path = script("import sys\nprint('no kernel for SQUEEZE', file=sys.stderr)\nsys.exit(3)")
    assert answers(runtime, tmp_path, path) == []
    assert "SQUEEZE: 1 refused, such as: no kernel for SQUEEZE" in capsys.readouterr().out


def test_a_crash_ends_the_campaign(runtime, tmp_path, script, only_squeeze):
    path = script("import os\nos.abort()")
    with pytest.raises(RuntimeError, match="run ended with -6"):
        answers(runtime, tmp_path, path)


def test_verify_follows_the_exit_code(script):
    data = single.make("ADD", 0).data
    assert program.verify(script("import sys\nassert sys.argv[1] == 'verify'"), data)
    assert not program.verify(script("import sys\nsys.exit(1)"), data)
    with pytest.raises(RuntimeError, match="verify ended with 7"):
        program.verify(script("import sys\nsys.exit(7)"), data)
