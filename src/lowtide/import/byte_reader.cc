// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/byte_reader.h"

#include <algorithm>

namespace lowtide::import_internal {

ByteReader::ByteReader(const ByteSource& source)
    : source_(source),
      size_(static_cast<std::size_t>(source.size())),
      window_(std::make_unique<char[]>(std::min(size_, kWindowBytes))) {}

void ByteReader::refill() {
  window_begin_ += window_size_;
  window_size_ = std::min(size_ - window_begin_, kWindowBytes);
  in_window_ = 0;
  const std::span<char> window(window_.get(), window_size_);
  Result<void> filled;
  if (!error_) filled = source_.read(static_cast<std::int64_t>(window_begin_), window);
  if (!filled) error_ = filled.error();
  if (error_) std::fill(window.begin(), window.end(), '\0');
  hash_.add({window.data(), window.size()});
}

void ByteReader::take(std::size_t count, char* to) {
  while (count > 0) {
    if (in_window_ == window_size_) refill();
    const std::size_t part = std::min(count, window_size_ - in_window_);
    if (to != nullptr) to = std::copy_n(window_.get() + in_window_, part, to);
    in_window_ += part;
    count -= part;
  }
}

}  // namespace lowtide::import_internal
