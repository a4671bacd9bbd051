// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>

#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// Where the memory of a session is.
class Addresses {
 public:
  // `objects` has Prepared::objects, `states` has Prepared::own_states, and `arena` has the bytes of the executable.
  Addresses(const Prepared& prepared, std::span<std::byte> arena, std::byte* objects, std::byte* states)
      : prepared_(prepared), arena_(arena), objects_(objects), states_(states) {}
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  virtual ~Addresses() = default;

  // Requires: the buffer has a placement.
  [[nodiscard]] virtual std::byte* of_buffer(PreparedGraphId graph, BufferId buffer) const {
    const PreparedGraph& in = prepared_.graphs[graph];
    return arena_.data() + (in.arena + Bytes(in.plan.layout.buffers[buffer].placement->offset.position())).position();
  }
  // Of states that wait (LoopAction::waiting).
  [[nodiscard]] std::byte* of_extra(Offset offset) const { return arena_.data() + offset.position(); }
  [[nodiscard]] std::byte* of_object(Offset offset) const { return objects_ + offset.position(); }
  [[nodiscard]] std::byte* states() const { return states_; }

 private:
  const Prepared& prepared_;
  std::span<std::byte> arena_;
  std::byte* objects_;
  std::byte* states_;
};

}  // namespace lowtide::runtime_internal
