# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""What Lowtide may do to its process."""
from __future__ import annotations

from . import _core


def configure_process(*, catch_file_faults: bool | None = None, keep_runs_off_heap: bool | None = None,
                      load_onednn: bool | None = None, make_memory_files: bool | None = None,
                      trim_heap: bool | None = None) -> None:
    """Sets what Lowtide may do to its process. Call it before the first session.

    Args:
        catch_file_faults: a handler for SIGBUS, so that a model file that becomes shorter does not end the process. At
            first True. The handler stays once there was a session.
        keep_runs_off_heap: five import entries of oneDNN are replaced, so that no run calls malloc. At first False.
            They stay replaced.
        load_onednn: the library is loaded when its kernels are asked for. At first True.
        make_memory_files: planning for several threads may map a memory file of 1 MiB. At first True.
        trim_heap: free memory of the heap goes back to the system when a session has been opened. At first True.

    None leaves an option as it is. docs/embedding.md of the sources has the reasons.
    """
    given = {"catch_file_faults": catch_file_faults, "keep_runs_off_heap": keep_runs_off_heap,
             "load_onednn": load_onednn, "make_memory_files": make_memory_files, "trim_heap": trim_heap}
    _core.configure_process({name: value for name, value in given.items() if value is not None})
