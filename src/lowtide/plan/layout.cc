// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/layout.h"

#include <algorithm>

#include "lowtide/base/checked.h"

namespace lowtide {

BufferKind buffer_kind_of(Role role) {
  switch (role) {
    case Role::input:
      return BufferKind::input;
    case Role::constant:
      return BufferKind::constant;
    case Role::state:
      return BufferKind::state;
    case Role::output:
      return BufferKind::output;
    case Role::temporary:
      break;
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

std::vector<Bytes> load_by_step(const Layout& layout) {
  const std::size_t moments = std::max<std::size_t>(layout.steps.size(), 1);
  std::vector<std::int64_t> change(moments + 1, 0);
  for (const Buffer& buffer : layout.buffers) {
    if (!buffer.placement) continue;
    for_each_part(buffer, [&](const Interval<std::int64_t>& bytes, const Lifespan& lifespan) {
      change[lifespan.begin.index()] += bytes.end - bytes.begin;
      change[layout.steps.empty() ? moments : lifespan.end.index()] -= bytes.end - bytes.begin;
    });
  }
  std::vector<Bytes> loads;
  std::int64_t live = 0;
  for (std::size_t moment = 0; moment < moments; ++moment) {
    live = must_add(live, change[moment]);
    loads.emplace_back(live);
  }
  return loads;
}

Bytes arena_bytes(const Layout& layout) {
  Bytes total;
  for (Bytes bytes : layout.arena) total += bytes;
  return total;
}

}  // namespace lowtide
