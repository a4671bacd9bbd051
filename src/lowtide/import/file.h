// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"

namespace lowtide::import_internal {

// The bytes of a file, in memory of their own: a file that shrinks later cannot take them away.
struct FileBytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  [[nodiscard]] std::string_view view() const { return {data.get(), size}; }
};

// Reads a regular file of at most `most_bytes`. A pipe, device or folder is refused without waiting for it, a file that
// is too large without reading it. What is opened is what is checked, so the path may change meanwhile.
// `check_head`, if any, sees the first kHeadBytes of a longer file and its size, before the rest is read and memory for
// it is taken: a large file of another kind is refused there.
// Errors: io; over_limit (`limit` is the name of the limit in the message); those of `check_head`, the path put before
// their place.
using CheckHead = Result<void> (*)(std::string_view head, std::int64_t file_bytes);
inline constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
[[nodiscard]] Result<FileBytes> read_file(const std::string& path, std::int64_t most_bytes, std::string_view limit,
                                          CheckHead check_head = nullptr);

// The path as it stands in front of messages: as given where that is plain text, else quoted.
[[nodiscard]] std::string shown_path(const std::string& path);

}  // namespace lowtide::import_internal
