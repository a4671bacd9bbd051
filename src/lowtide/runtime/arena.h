// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>

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
  // Memory of the caller, which must outlive all copies. Errors: (invalid) the address is not a multiple of 64;
  // (no_memory).
  [[nodiscard]] static Result<Arena> of_caller(std::span<std::byte> memory);

  [[nodiscard]] std::span<std::byte> memory() const;

  // Marks the arena as used by a run. Returns false if another run uses it. For sessions only.
  [[nodiscard]] bool acquire() const noexcept;
  void release() const noexcept;

 private:
  struct State;
  explicit Arena(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace lowtide
