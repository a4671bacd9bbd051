// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"

namespace lowtide {

// Memory for sessions, of one model or of several. Sessions with the same arena run one after another; if two run at
// once, the second ends with RunCode::busy. What one run leaves in the arena is undefined after the next run in it, and
// after the next session that is opened in it. A copy shares the memory with the original. Owned memory is freed with
// the last copy; sessions have copies.
class Arena {
 public:
  // Memory whose pages are present. Errors: (no_memory) the system refuses it.
  [[nodiscard]] static Result<Arena> allocate(Bytes size);
  // The bytes of a file in `folder` that has no name, and that the system deletes with the last copy. The system may
  // write pages to the file and take their memory, so a run that uses it may have page faults. For
  // SessionOptions::outside, where memory is scarce. Errors: (io) there can be no such file, with the folder as place;
  // (no_memory).
  [[nodiscard]] static Result<Arena> in_file(const std::string& folder, Bytes size);
  // Memory of the caller, which must outlive all copies. Errors: (invalid) the address is not a multiple of 64;
  // (no_memory).
  [[nodiscard]] static Result<Arena> of_caller(std::span<std::byte> memory);

  [[nodiscard]] std::span<std::byte> memory() const;

  // Marks the arena as used by a run. Returns false if another run uses it. For sessions only.
  [[nodiscard]] bool acquire() const noexcept;
  void release() const noexcept;

 private:
  struct State;
  // Takes over a mapping of `count` bytes. MAP_FAILED gives no_memory.
  [[nodiscard]] static Result<Arena> own(void* data, std::size_t count);
  explicit Arena(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace lowtide
