// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/range.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/engine/open_sharing.h"

namespace lowtide {
namespace {

bool has_extents(const Port& port, std::span<const std::int64_t> extents) {
  if (static_cast<int>(extents.size()) != port.shape.rank()) return false;
  for (int axis = 0; axis < port.shape.rank(); ++axis) {
    const std::int64_t extent = extents[static_cast<std::size_t>(axis)];
    if (extent > port.shape[axis] || (extent < port.shape[axis] && !port.shape.is_at_most(axis))) return false;
  }
  return true;
}

}  // namespace

Bytes OpenedRange::required_bytes() const {
  Bytes most;
  for (const OpenedModel& member : members) most = std::max(most, member.executable->required_bytes());
  return most;
}

const OpenedModel* OpenedRange::find(const std::map<std::string, std::vector<std::int64_t>>& inputs) const {
  for (const OpenedModel& member : members) {
    std::size_t fitting = 0;
    for (const Port& port : member.executable->inputs()) {
      const auto given = inputs.find(port.name);
      if (given != inputs.end() && has_extents(port, given->second)) ++fitting;
    }
    if (fitting == inputs.size()) return &member;
  }
  return nullptr;
}

Result<OpenedRange> open_members(const std::string& path, std::span<const OpenOptions> options) {
  LOWTIDE_CHECK(!options.empty(), "a range has at least one member");
  OpenedRange range;
  {
    engine_internal::SharedWeights shared;
    for (const OpenOptions& one : options) {
      Result<OpenedModel> member = engine_internal::open_sharing(path, one, shared);
      if (!member) return member.error();
      range.members.push_back(*std::move(member));
    }
  }
  engine_internal::give_back_memory();
  return range;
}

Result<OpenedRange> open_range(const std::string& path, std::span<const SizeChoice> choices,
                               const OpenOptions& options) {
  std::vector<OpenOptions> all;
  for (const SizeChoice& choice : choices) {
    OpenOptions& one = all.emplace_back(options);
    add_sizes(choice, one.import);
    add_written_sizes(choice, one.plan.dims);
  }
  return open_members(path, all);
}

}  // namespace lowtide
