# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C in lowtide.Session.run."""
import os
import signal
import threading
import time

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from conftest import save
from onnx import TensorProto

import lowtide


def test_an_interrupted_run_that_fails_raises_keyboard_interrupt(tmp_path):
    """The program of Python handles the signal while it makes the exception of the run."""
    f32 = TensorProto.FLOAT
    body = oh.make_graph(
        [oh.make_node("Identity", ["c"], ["d"]), oh.make_node("Neg", ["s"], ["t"])], "body",
        [oh.make_tensor_value_info("i", TensorProto.INT64, []), oh.make_tensor_value_info("c", TensorProto.BOOL, []),
         oh.make_tensor_value_info("s", f32, [4])],
        [oh.make_tensor_value_info("d", TensorProto.BOOL, []), oh.make_tensor_value_info("t", f32, [4])])
    constants = [onnx.numpy_helper.from_array(np.array(2**62), "n"),
                 onnx.numpy_helper.from_array(np.array(True), "always")]
    path = save(tmp_path, [oh.make_node("Loop", ["n", "always", "x"], ["y"], body=body)], [("x", f32, [4])],
                [("y", f32, [4])], constants)
    session = lowtide.Session(path)

    def interrupt():
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        session.stop()

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        session.run({"x": np.zeros(4, np.float32)})
    thread.join()
