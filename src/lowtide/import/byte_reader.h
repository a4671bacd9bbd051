// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "lowtide/import/file.h"
#include "lowtide/import/sha256.h"

namespace lowtide::import_internal {

// Reads a source once, from its first byte to its last, and computes the SHA-256 of what it has read. It holds only
// kWindowBytes of the source in memory.
class ByteReader {
 public:
  static constexpr std::size_t kWindowBytes = std::size_t{128} << 10;

  explicit ByteReader(const ByteSource& source);

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t at() const { return window_begin_ + in_window_; }

  // The next byte. Requires: at() < size().
  char next() {
    if (in_window_ == window_size_) refill();
    return window_[in_window_++];
  }
  // Copies the next `count` bytes to `to`. If `to` is nullptr, they are only hashed. Requires: the source has them.
  void take(std::size_t count, char* to);

  // The first error of the source. After an error, all bytes are 0.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  // The digest of the source, as 64 lower-case hex digits. Requires: at() == size(). Called once.
  [[nodiscard]] std::string sha256() { return hash_.finish(); }

 private:
  void refill();

  const ByteSource& source_;
  std::size_t size_;
  std::unique_ptr<char[]> window_;
  std::size_t window_begin_ = 0;
  std::size_t window_size_ = 0;
  std::size_t in_window_ = 0;
  Sha256 hash_;
  std::optional<Error> error_;
};

}  // namespace lowtide::import_internal
