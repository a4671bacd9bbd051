# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest that loads the library of fake_cuda.cc, which must be there before PyTorch."""
import ctypes
import os

ctypes.CDLL(os.environ["LOWTIDE_FAKE_CUDA"])
