// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>

#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

// The memory of a session: the bytes of the executable, ExecutableMemory::outside, Prepared::objects and
// Prepared::own_states. The second is nullptr if it has no bytes.
struct SessionBytes {
  std::span<std::byte> arena;
  std::byte* outside;
  std::byte* objects;
  std::byte* states;
};

// Where the memory of a session is.
class Addresses {
 public:
  Addresses(const Prepared& prepared, const SessionBytes& bytes) : prepared_(prepared), bytes_(bytes) {}
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;
  virtual ~Addresses() = default;

  // Requires: the buffer has a placement.
  [[nodiscard]] virtual std::byte* of_buffer(PreparedGraphId graph, BufferId buffer) const {
    const PreparedGraph& in = prepared_.graphs[graph];
    const Placement& place = *in.plan.layout.buffers[buffer].placement;
    const Bytes offset(place.offset.position());
    if (is_outside(in.plan.machine, place.region)) {
      return bytes_.outside + (prepared_.outside[place.region.index()] + offset).position();
    }
    return bytes_.arena.data() + (in.arena + offset).position();
  }
  // The address of a state that waits (LoopAction::waiting).
  [[nodiscard]] std::byte* of_extra(Offset offset) const { return bytes_.arena.data() + offset.position(); }
  [[nodiscard]] std::byte* of_object(Offset offset) const { return bytes_.objects + offset.position(); }
  [[nodiscard]] std::byte* states() const { return bytes_.states; }

 private:
  const Prepared& prepared_;
  const SessionBytes bytes_;
};

}  // namespace lowtide::runtime_internal
