#!/usr/bin/env python3
# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What the meter says of PyTorch: blocks of known sizes, and networks beside a heap that counts every library.

It needs PyTorch, the package lowtide, and a C++ compiler (CXX, by default c++).
"""
import ctypes
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch
import torch.nn.functional as F
from lowtide._memory_meter import MemoryMeter
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
SMALL = 64 << 10  # bytes for what is not a tensor: objects of C++, pages at the ends of blocks
TOLERANCE = 0.005  # of two counts


class Block(nn.Module):
    """A residual block of two convolutions."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(after)
        self.shortcut = nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x):
        inside = F.relu(self.first_norm(self.first(x)))
        return F.relu(self.second_norm(self.second(inside)) + self.shortcut(x))


def residual_network():
    return nn.Sequential(nn.Conv2d(3, 32, 7, 2, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(3, 2, 1),
                         Block(32, 32, 1), Block(32, 64, 2), Block(64, 128, 2), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(128, 10))


def works():
    """[(name, work)]. The work returns what it keeps."""
    torch.manual_seed(1)
    network, images, classes = residual_network(), torch.randn(4, 3, 128, 128), torch.randint(10, (4,))

    def step():
        for parameter in network.parameters():
            parameter.grad = None
        F.cross_entropy(network(images), classes).backward()

    square, heads = torch.randn(2, 256, 256), torch.randn(2, 4, 256, 64)
    return [("first step", step), ("step", step), ("forward", lambda: network(images)),
            ("product", lambda: square @ square),
            ("attention", lambda: F.scaled_dot_product_attention(heads, heads, heads)),
            ("decomposition", lambda: torch.linalg.svd(square)), ("transform", lambda: torch.fft.fft2(square)),
            ("sort", lambda: square.sort())]


class KnownSizes(unittest.TestCase):
    def assert_about(self, measured, size):
        self.assertGreaterEqual(measured, size)
        self.assertLess(measured, size + SMALL)

    def setUp(self):
        torch.empty(1)  # what PyTorch makes once

    def test_a_tensor_counts_while_it_lives(self):
        with MemoryMeter() as meter:
            tensor = torch.empty(MIB, dtype=torch.float32)
            self.assert_about(meter.live, 4 * MIB)
            del tensor
            self.assertLess(abs(meter.live), SMALL)
            self.assert_about(meter.peak, 4 * MIB)

    def test_temporaries_count_at_their_peak(self):
        one = torch.ones(MIB)
        with MemoryMeter() as meter:
            kept = (one + one) * one  # the sum and the product are there together
            self.assert_about(meter.live, kept.nbytes)
            self.assert_about(meter.peak, 2 * kept.nbytes)

    def test_the_result_of_a_product_counts(self):
        left, right = torch.randn(512, 1024), torch.randn(1024, 512)
        left @ right
        with MemoryMeter() as meter:
            kept = left @ right
            self.assert_about(meter.live, kept.nbytes)

    def test_scratch_of_a_convolution_counts(self):
        with torch.no_grad():
            images, layer = torch.randn(2, 64, 56, 56), nn.Conv2d(64, 64, 3, padding=1)
            layer(images)
            with MemoryMeter() as meter:
                kept = layer(images)
                self.assert_about(meter.live, kept.nbytes)
                self.assertGreater(meter.peak, kept.nbytes + layer.weight.nbytes)  # both in blocks of channels

    def test_other_tensors_are_as_before(self):
        before = torch.arange(MIB)
        with MemoryMeter():
            inside = before + 1
        self.assertTrue(torch.equal(inside, before + 1))
        del before, inside


class BesideATracedHeap(unittest.TestCase):
    def test_live_bytes_and_peaks_agree(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "heap_trace.so"
            subprocess.run([os.environ.get("CXX", "c++"), "-std=c++20", "-O2", "-shared", "-fPIC", "-o", trace,
                            HERE / "heap_trace.cc"], check=True)
            done = subprocess.run([sys.executable, __file__, "--compare", trace], text=True, capture_output=True,
                                  check=False, env={**os.environ, "LD_PRELOAD": str(trace)})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line.split("\t") for line in done.stdout.splitlines()]
        self.assertEqual([row[0] for row in rows], [name for name, _ in works()])
        for name, *counts in rows:
            live, peak, traced_live, traced_peak = map(int, counts)
            with self.subTest(name):
                self.assertGreater(traced_peak, MIB // 2)
                self.assertLessEqual(abs(peak - traced_peak), TOLERANCE * traced_peak)
                self.assertLessEqual(abs(live - traced_live), TOLERANCE * traced_peak)


def compare(path):
    """Prints per work: its name, and what it keeps and takes, by the meter and by the traced heap of this process."""
    trace = ctypes.CDLL(path)
    trace.heap_trace_live.restype = trace.heap_trace_peak.restype = ctypes.c_int64
    for name, work in works():
        with MemoryMeter() as meter:
            trace.heap_trace_reset()
            level = trace.heap_trace_live()
            meter.reset()
            kept = work()
            counts = meter.live, meter.peak, trace.heap_trace_live() - level, trace.heap_trace_peak() - level
        print(name, *counts, sep="\t")
        del kept


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compare"]:
        compare(sys.argv[2])
    else:
        unittest.main()
