// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"

namespace lowtide {

// Memory for constants, at a multiple of 64, all zero. From kLeastMapped bytes on, it consists of whole pages of the
// system, which become resident when they are first used and which the system has back as soon as they are freed. The
// heap may keep what is freed, so that a process would stay as large as it was while it loaded a model. Move-only; the
// address stays the same.
class OwnedBytes {
 public:
  static constexpr Bytes kLeastMapped{65'536};

  // nullopt: the system has no memory.
  [[nodiscard]] static std::optional<OwnedBytes> allocate(Bytes size) noexcept;

  OwnedBytes() = default;  // no bytes
  OwnedBytes(OwnedBytes&& other) noexcept;
  OwnedBytes& operator=(OwnedBytes&& other) noexcept;
  OwnedBytes(const OwnedBytes&) = delete;
  OwnedBytes& operator=(const OwnedBytes&) = delete;
  ~OwnedBytes();

  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

  // Returns the whole pages in `range` to the system. Afterwards their bytes are zero. Bytes of the heap stay.
  void drop(Interval<std::size_t> range) const noexcept;

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_mapped_ = false;
};

}  // namespace lowtide
