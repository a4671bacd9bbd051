# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a program and measures it."""

import dataclasses
import os
import resource
import subprocess
import tempfile
import threading
import time

PLAIN = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "CLICOLOR_FORCE", "TERM")}


@dataclasses.dataclass(frozen=True)
class Outcome:
    code: int  # negative: the number of the signal
    seconds: float
    peak_bytes: int
    stdout: bytes
    stderr: bytes


def run(words, folder, most_seconds, most_address_bytes=None):
    """Runs a program. Its peak is right if this process is smaller, because a child starts with the peak of its
    parent."""

    def limit():
        if most_address_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (most_address_bytes, most_address_bytes))

    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        begin = time.monotonic()
        child = subprocess.Popen(
            words, cwd=folder, env=PLAIN, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, preexec_fn=limit
        )
        killer = threading.Timer(most_seconds, child.kill)
        killer.start()
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.monotonic() - begin
        killer.cancel()
        child.returncode = os.waitstatus_to_exitcode(status)  # so that Popen does not wait for it again
        stdout.seek(0)
        stderr.seek(0)
        return Outcome(child.returncode, seconds, usage.ru_maxrss * 1024, stdout.read(), stderr.read())


def own_peak_bytes():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))
