# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""The exceptions of the package."""
from __future__ import annotations

import contextlib
import errno
import os
import pathlib
import secrets
import shutil


class Error(Exception):
    """An input was refused. The cause is always the input or the environment, never a bug in Lowtide.

    `str(error)` is "place: message", or only the message if there is no place.
    """

    code: str = "error"
    """The name of the reason, such as "unsupported". Each code has a subclass."""
    place: str
    """Where in the input: "model.onnx: graph 'main': node 12 'conv1'". It may be empty."""
    message: str
    """What is wrong with which thing, and what to do."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(f"{place}: {message}" if place else message)
        self.message = message
        self.place = place

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return type(self), (self.message, self.place)


class MalformedError(Error):
    """An input is not of the format that it claims to be."""

    code = "malformed"


class InvalidError(Error, ValueError):
    """An input is well-formed, but violates the rules of its format, or a value is out of range."""

    code = "invalid"


class UnsupportedError(Error):
    """An input is valid, but Lowtide does not support it."""

    code = "unsupported"


class UnresolvedError(Error):
    """Sizes remain unknown. The message lists them; `shapes`, `dims`, `at_most` and `inputs` bind or bound them."""

    code = "unresolved"


class OverLimitError(Error):
    """An input is beyond a named limit."""

    code = "over_limit"


class MismatchError(Error):
    """Two inputs do not belong together, such as a plan and a model."""

    code = "mismatch"


class IoError(Error):
    """A file could not be read or written."""

    code = "io"


class NoMemoryError(Error, MemoryError):
    """The system refused memory."""

    code = "no_memory"


class InternalError(RuntimeError):
    """A bug in Lowtide. The message names the invariant that does not hold."""


_BY_CODE = {
    one.code: one
    for one in (MalformedError, InvalidError, UnsupportedError, UnresolvedError, OverLimitError, MismatchError, IoError,
                NoMemoryError)
}


def error_of(code: str, message: str, place: str) -> Error:
    """Returns the exception of an error of the library, which speaks of the options of the program."""
    for option, arguments in (("--shape", "shapes={...}, or inputs={...} of a Session"),
                              ("--at-most", "at_most={...}")):
        if code == "unresolved" and option in message:
            message += f"\n  In Python, {option} is {arguments}."
    return _BY_CODE[code](message, place)


def read_text(path: pathlib.Path) -> str:
    """Returns the content of a file in UTF-8. Raises IoError or MalformedError."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise IoError(f"cannot be read: {error.strerror}", str(path)) from error
    except UnicodeDecodeError as error:
        raise MalformedError(f"is not UTF-8 at byte {error.start}", str(path)) from error


def write_text(path: pathlib.Path, text: str) -> None:
    """Writes a file in UTF-8, completely or not at all. Raises IoError."""
    target = pathlib.Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.lowtide-python-tmp")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device has no old content
            target.write_text(text, encoding="utf-8")
            return
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary.write_text(text, encoding="utf-8")
        if target.exists():
            shutil.copymode(target, temporary)
        temporary.replace(target)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise IoError(f"cannot be written: {error.strerror}", str(path)) from error
