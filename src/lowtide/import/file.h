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

// The bytes of a file, copied into memory. They do not change with the file.
struct FileBytes {
  std::unique_ptr<char[]> data;
  std::size_t size = 0;

  [[nodiscard]] std::string_view view() const { return {data.get(), size}; }
};

// Reads a regular file of at most `most_bytes`. A pipe, a device or a folder is refused at once, and a file that is too
// large is refused without reading it. The file is opened once, so a later change of the path has no effect. If the
// file is longer than kHeadBytes, `check_head` gets its first kHeadBytes and its size. It can refuse a large file of
// another kind before memory is allocated for the rest.
// Errors: io; over_limit, whose message names the limit `limit`; those of `check_head`, with the path before their
// place.
using CheckHead = Result<void> (*)(std::string_view head, std::int64_t file_bytes);
inline constexpr std::size_t kHeadBytes = std::size_t{64} << 10;
[[nodiscard]] Result<FileBytes> read_file(const std::string& path, std::int64_t most_bytes, std::string_view limit,
                                          CheckHead check_head = nullptr);

}  // namespace lowtide::import_internal
