// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"

namespace lowtide::cli_internal {

struct FileInFolder {
  std::string name;  // without a slash
  std::string_view bytes;
};

// Puts several files into a folder that exists. All bytes are written and synced under temporary names
// (temporary_file.h) before the first file gets its name. So if the disk is full or a file cannot be written, no file
// of the folder changes. An existing file keeps its mode. Links and folders in the place of a file are refused.
// Errors: io.
[[nodiscard]] Result<void> write_together(const std::string& folder, std::span<const FileInFolder> files);

}  // namespace lowtide::cli_internal
