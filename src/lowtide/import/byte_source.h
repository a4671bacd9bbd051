// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lowtide/base/result.h"

namespace lowtide {

// Bytes that can be read in any order.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  [[nodiscard]] virtual std::int64_t size() const = 0;
  // Fills `to` with the bytes from `offset` on. Requires: size() includes them. Errors: io, without a place.
  [[nodiscard]] virtual Result<void> read(std::int64_t offset, std::span<char> to) const = 0;
};

// Opens a regular file of at most limits::kMaxFileBytes. Errors: io, over_limit; the place is the path.
[[nodiscard]] Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

}  // namespace lowtide
