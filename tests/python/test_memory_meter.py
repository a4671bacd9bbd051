# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The meter counts the blocks of a library to the byte."""
import ctypes
import os
import pathlib
import shutil
import subprocess
import sys
import threading

import pytest
from lowtide import InvalidError, _core
from lowtide._memory_meter import MemoryMeter

HERE = pathlib.Path(__file__).resolve().parent
LIBC = ctypes.CDLL(None)
LIBC.malloc_usable_size.restype = ctypes.c_size_t
LIBC.malloc.restype = ctypes.c_void_p
KIB = 1024


def usable(block):
    return LIBC.malloc_usable_size(ctypes.c_void_p(block))


class Probe:
    """A library from heap_probe.cc. Its functions take sizes and blocks."""

    def __init__(self, path):
        self._library = ctypes.CDLL(str(path))

    def take(self, name, *arguments):
        function = self._library["probe_" + name]
        function.restype = ctypes.c_void_p
        return function(*arguments)

    def malloc(self, size):
        return self.take("malloc", ctypes.c_size_t(size))

    def realloc(self, block, size):
        return self.take("realloc", ctypes.c_void_p(block), ctypes.c_size_t(size))

    def free(self, block, name="free"):
        self._library["probe_" + name](ctypes.c_void_p(block))

    def repeat(self, times, size):
        self._library.probe_repeat(times, ctypes.c_size_t(size))


@pytest.fixture(scope="module")
def probe_file(tmp_path_factory):
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    assert compiler, "the tests need the compiler of the build; set CXX"
    path = tmp_path_factory.mktemp("probe") / "libheap_probe.so"
    subprocess.run([compiler, "-std=c++20", "-O1", "-shared", "-fPIC", "-o", path, HERE / "heap_probe.cc"], check=True)
    return path


@pytest.fixture
def probe(probe_file):
    return Probe(probe_file)


def is_about(measured, size):
    """The heap gives blocks of whole pages at most."""
    return size <= measured < size + 8 * KIB


def meter():
    return MemoryMeter(["libheap_probe"])


@pytest.mark.parametrize("name", ["malloc", "calloc", "memalign", "aligned_alloc", "posix_memalign", "table_malloc"])
def test_each_way_to_take_a_block_is_counted(probe, name):
    with meter() as measured:
        block = probe.take(name, ctypes.c_size_t(64 * KIB))
        assert is_about(usable(block), 64 * KIB)
        assert (measured.live, measured.peak) == (usable(block), usable(block))
        size = usable(block)
        probe.free(block, "table_free" if name == "table_malloc" else "free")
        assert (measured.live, measured.peak) == (0, size)


def test_realloc_counts_the_change(probe):
    with meter() as measured:
        block = probe.realloc(None, 4 * KIB)
        block = probe.realloc(block, 40 * KIB)
        large = usable(block)
        assert large >= 40 * KIB
        assert (measured.live, measured.peak) == (large, large)
        block = probe.realloc(block, KIB)
        assert (measured.live, measured.peak) == (usable(block), large)
        assert probe.realloc(block, 1 << 62) is None  # the block is as before
        assert (measured.live, measured.peak) == (usable(block), large)
        assert probe.realloc(block, 0) is None  # releases it
        assert (measured.live, measured.peak) == (0, large)


def test_a_failed_request_counts_nothing(probe):
    with meter() as measured:
        assert probe.malloc(1 << 62) is None
        probe.free(None)
        assert (measured.live, measured.peak) == (0, 0)


def test_blocks_from_before_lower_the_level(probe):
    block = probe.malloc(64 * KIB)
    size = usable(block)
    with meter() as measured:
        probe.free(block)
        assert (measured.live, measured.peak) == (-size, 0)
        block = probe.malloc(64 * KIB)
        assert (measured.live, measured.peak) == (0, 0)
        probe.free(block)


def test_blocks_may_come_from_and_go_to_other_libraries(probe):
    with meter() as measured:
        block = LIBC.malloc(ctypes.c_size_t(64 * KIB))
        assert measured.live == 0
        size = usable(block)
        probe.free(block)
        assert measured.live == -size
        block = probe.malloc(64 * KIB)
        LIBC.free(ctypes.c_void_p(block))
        assert measured.live == 0


def test_nothing_is_counted_after_exit(probe):
    with meter() as measured:
        block = probe.malloc(64 * KIB)
    size = usable(block)
    assert (measured.live, measured.peak) == (size, size)
    before = _core.meter_live()
    probe.free(block)
    probe.free(probe.take("table_malloc", ctypes.c_size_t(KIB)), "table_free")
    assert _core.meter_live() == before
    assert (measured.live, measured.peak) == (size, size)


def test_overlapping_meters_have_levels_and_peaks_of_their_own(probe):
    first, second = meter(), meter()
    first.__enter__()
    probe.repeat(1, 256 * KIB)
    kept = probe.malloc(64 * KIB)
    second.__enter__()
    probe.repeat(1, 32 * KIB)
    assert (first.live, second.live) == (usable(kept), 0)
    assert is_about(first.peak, 256 * KIB)
    assert is_about(second.peak, 32 * KIB)
    first.__exit__(None, None, None)
    probe.repeat(1, 512 * KIB)
    assert is_about(first.peak, 256 * KIB)
    assert is_about(second.peak, 512 * KIB)
    probe.free(kept)
    second.__exit__(None, None, None)
    assert second.live == -first.live


def test_reset_begins_again(probe):
    with meter() as measured:
        block = probe.malloc(64 * KIB)
        measured.reset()
        assert (measured.live, measured.peak) == (0, 0)
        probe.free(block)
    with pytest.raises(InvalidError, match="the meter is not open"):
        measured.reset()


def test_threads_are_counted_together(probe):
    with meter() as measured:
        threads = [threading.Thread(target=probe.repeat, args=(20000, 8 * KIB)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert measured.live == 0
        assert 8 * KIB <= measured.peak < 4 * 9 * KIB


def test_a_library_loaded_later_counts_from_the_next_entry(probe, probe_file, tmp_path):
    with meter() as measured:
        later = Probe(shutil.copy(probe_file, tmp_path / "libheap_probe_later.so"))
        later.free(later.malloc(64 * KIB))
        assert measured.peak == 0
        with meter() as inner:
            later.free(later.malloc(64 * KIB))
            probe.free(probe.malloc(KIB))
            assert inner.peak >= 64 * KIB
        assert measured.peak == inner.peak


def test_installing_twice_counts_once(probe):
    with meter() as measured:
        assert _core.meter_install(["libheap_probe", "libunknown"]) == ["libheap_probe"]
        block = probe.malloc(64 * KIB)
        assert measured.live == usable(block)
        probe.free(block)


def test_every_library_of_the_process_may_be_counted(probe):
    with MemoryMeter(["lib", "_", "ld"]) as measured:
        block = probe.malloc(1024 * KIB)
        assert measured.peak >= usable(block)
        probe.free(block)


def test_what_cannot_be_measured_is_refused(probe):
    with pytest.raises(InvalidError, match="no library of libunknown that calls the heap is loaded"):
        MemoryMeter(["libunknown"]).__enter__()
    with pytest.raises(InvalidError, match=r"give a list: \['libheap_probe'\]"):
        MemoryMeter("libheap_probe")
    with pytest.raises(InvalidError, match="a library has no name; give its first letters"):
        MemoryMeter([""]).__enter__()
    if "torch" not in sys.modules:
        with pytest.raises(InvalidError, match="import PyTorch"):
            MemoryMeter().__enter__()
    with meter() as measured, pytest.raises(InvalidError, match="the meter is open already"):
        measured.__enter__()
    before = _core.meter_live()
    probe.free(probe.malloc(KIB))
    assert _core.meter_live() == before
