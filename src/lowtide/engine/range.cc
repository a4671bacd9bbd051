// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/engine/range.h"

#include <algorithm>
#include <utility>

#include "lowtide/adapt/prepared_mark.h"
#include "lowtide/base/check.h"
#include "lowtide/engine/open_prepared.h"
#include "lowtide/engine/open_sharing.h"
#include "lowtide/engine/takes_extents.h"

namespace lowtide {
namespace {

// The members of a model that is not prepared.
Result<OpenedRange> open_each(const std::string& path, std::span<const OpenOptions> options) {
  OpenedRange range;
  engine_internal::SharedWeights shared;
  for (const OpenOptions& one : options) {
    Result<OpenedModel> member = engine_internal::open_sharing(path, one, shared);
    if (!member) return member.error();
    range.members.push_back(*std::move(member));
  }
  return range;
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
      if (given != inputs.end() && engine_internal::takes_extents(port.shape, given->second)) ++fitting;
    }
    if (fitting == inputs.size()) return &member;
  }
  return nullptr;
}

Result<OpenedRange> open_members(const std::string& path, std::span<const OpenOptions> options) {
  LOWTIDE_CHECK(!options.empty(), "a range has at least one member");
  Result<OpenedRange> range = engine_internal::or_no_memory(path, [&] {
    return is_prepared_file(path) ? engine_internal::open_prepared_members(path, options) : open_each(path, options);
  });
  engine_internal::give_back_memory();
  return range;
}

Result<OpenedRange> open_range(const std::string& path, std::span<const SizeChoice> choices,
                               const OpenOptions& options) {
  return engine_internal::or_no_memory(path, [&] {
    std::vector<OpenOptions> all;
    for (const SizeChoice& choice : choices) {
      OpenOptions& one = all.emplace_back(options);
      add_sizes(choice, one.import);
      add_written_sizes(choice, one.plan.dims);
    }
    return open_members(path, all);
  });
}

Result<OpenedRange> open_range(const std::string& path, const OpenOptions& options) {
  return open_members(path, std::span(&options, 1));
}

}  // namespace lowtide
