// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide::detail {

// Whether a file may be written there, as far as that can be told before the work begins: its folder exists, it is not
// a folder, disk or socket, and it is none of `inputs` under another name. "-" (stdout) always may.
[[nodiscard]] Result<void> check_destination(const std::string& path, const std::vector<std::string>& inputs);

// Whether it is a device such as /dev/null, to which any number of outputs may go.
[[nodiscard]] bool is_device(const std::string& path);

// Puts `bytes` at `path` so that a reader, at any moment, sees the old file or the new one, whole: a temporary file in
// the same folder, written, synced, renamed over it, the folder synced. A symbolic link is followed, so the link stays
// and what it points to is replaced; the mode of a file that is there is kept.
// On failure nothing is left behind; what a killed writer left for the same path is removed by the next one. The
// temporary file is locked while its writer lives, so that a writer at work is told from a dead one. A pipe that
// somebody reads from, and a device such as /dev/null, are written straight to. Errors: io.
[[nodiscard]] Result<void> write_file_atomically(const std::string& path, std::string_view bytes);

}  // namespace lowtide::detail
