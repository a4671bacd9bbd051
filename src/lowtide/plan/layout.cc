// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/layout.h"

namespace lowtide {

BufferKind buffer_kind_of(Role role) {
  switch (role) {
    case Role::input: return BufferKind::input;
    case Role::constant: return BufferKind::constant;
    case Role::state: return BufferKind::state;
    case Role::output: return BufferKind::output;
    case Role::temporary: break;
  }
  return BufferKind::temporary;
}

Bytes living_bytes(const Buffer& buffer, StepId step) {
  Bytes living;
  for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
    if (lifespan.contains(step)) living += Bytes(bytes.end - bytes.begin);
  });
  return living;
}

Bytes arena_bytes(const Machine& machine, const Layout& layout) {
  Bytes total;
  for (RegionId id : all_ids<RegionId>(layout.arena.size())) {
    if (!is_outside(machine, id)) total += layout.arena[id.index()];
  }
  return total;
}

Bytes outside_bytes(const Machine& machine, const Layout& layout) {
  Bytes total;
  for (RegionId id : all_ids<RegionId>(layout.arena.size())) {
    if (is_outside(machine, id)) total += layout.arena[id.index()];
  }
  return total;
}

}  // namespace lowtide
