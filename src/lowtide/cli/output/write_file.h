// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"

namespace lowtide::cli_internal {

// Checks before the work begins whether a file can be written. Its folder must exist. The file must not be a folder,
// disk, socket or symbolic link. "-" (stdout) is always accepted.
[[nodiscard]] Result<void> check_destination(const std::string& path);

// Whether two names denote the same file, also through links. The file need not exist yet.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

// Whether what is written to the path goes to stdout: "-", /dev/stdout, /dev/fd/1 or /proc/self/fd/1.
[[nodiscard]] bool is_stdout(const std::string& path);

// Whether the path is a device such as /dev/null, which may receive several outputs.
[[nodiscard]] bool is_device(const std::string& path);

// Puts the bytes of all pieces at `path` so that a reader always sees either the complete old file or the complete new
// one. The bytes go to a temporary file in the same folder (temporary_file.h), which is synced and renamed to `path`.
// Then the folder is synced. An existing file keeps its mode. On failure nothing is left behind. If a writer is killed,
// the next writer of the same path removes what it left.
//
// A path that is a symbolic link is refused, wherever it points to, so that a link in a shared folder cannot choose
// what is overwritten. Links in the folders before the last name are followed. The exceptions have no old content that
// could be lost:
//   - Devices such as /dev/null, and pipes with a reader, are written to directly, even through a link.
//   - /dev/stdout, /dev/stderr, /dev/fd/N and /proc/self/fd/N name an open file of this process. The bytes are
//     written to it, whatever it is, as with a redirection of a shell.
//
// `check` is called after all bytes are written, or could not be, and before they are put in place. If it returns an
// error, that is the result, and the old file stays. Streams have the bytes by then.
// Errors: io; those of `check`.
using BeforeRename = std::function<Result<void>()>;
[[nodiscard]] Result<void> write_file_atomically(const std::string& path, std::span<const std::string_view> pieces,
                                                 const BeforeRename& check = {});
[[nodiscard]] inline Result<void> write_file_atomically(const std::string& path, std::string_view bytes) {
  return write_file_atomically(path, std::span(&bytes, 1));
}

}  // namespace lowtide::cli_internal
