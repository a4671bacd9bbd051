// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/stream_loads.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/analysis/load.h"

namespace lowtide::detail {
namespace {

constexpr std::int64_t kNothing = -(std::int64_t{1} << 60);  // added where a position has started

std::vector<std::int64_t> counts(const std::vector<Bytes>& profile) {
  std::vector<std::int64_t> row;
  row.reserve(profile.size());
  for (Bytes load : profile) row.push_back(load.count());
  return row;
}

}  // namespace

StreamLoads::StreamLoads(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                         const AliasOptions& options, Bytes cap)
    : classes_(sequential.aliases.classes.size()),
      lifespans_(sequential.aliases.classes.size()),
      touched_(sequential.order.size()),
      has_started_(sequential.order.size(), 0),
      rest_(counts(load_profile(sequential.aliases, kernels, sequential.order, options))),
      cap_(std::max(cap, sequential.load).count()) {
  const AliasClasses& aliases = sequential.aliases;
  const auto steps = static_cast<std::uint32_t>(sequential.order.size());
  for (AliasClassId id : all_ids<AliasClassId>(classes_.size())) {
    const AliasClass& alias = aliases.classes[id];
    const bool has_room = takes_room(alias, options);
    classes_[id] = {.size = has_room ? round_up(alias.size, options.alignment).count() : 0,
                    .begin = alias.lifespan.begin.value(),
                    .end = alias.lifespan.end.value(),
                    .is_kept = !is_placed(alias.kind) || alias.kind == BufferKind::output};
    lifespans_[id] = {StepId(0), StepId(steps)};
    // What is there before the run is there throughout.
    if (!is_placed(alias.kind)) {
      classes_[id].has_begun = true;
      live_ += classes_[id].size;
    }
  }
  for (std::size_t at = 0; at < sequential.order.size(); ++at) {
    const NodeId id = sequential.order[at];
    scratch_.push_back(round_up(kernels[id].scratch, options.alignment).count());
    std::vector<AliasClassId>& touched = touched_[at];
    for (TensorId read : graph.reads(id)) touched.push_back(aliases.class_of[read]);
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) touched.push_back(aliases.class_of[*output]);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (AliasClassId one : touched) {
      ++classes_[one].to_start;
      ++classes_[one].to_end;
    }
  }
}

// Out of turn, what begins with it is there for all that comes in between.
bool StreamLoads::may_start_early(std::uint32_t position) {
  const auto change = [&](int sign) {
    for (AliasClassId id : touched_[position]) {
      const Class& one = classes_[id];
      if (!one.has_begun) rest_.add(first_left_, std::max(one.begin, first_left_), sign * one.size);
    }
    rest_.add(position, position + 1, sign * kNothing);
  };
  change(1);
  if (rest_.most(first_left_, has_started_.size()) <= cap_) return true;
  change(-1);
  return false;
}

bool StreamLoads::start_if_it_fits(std::uint32_t position) {
  std::int64_t added = scratch_[position];
  for (AliasClassId id : touched_[position]) added += classes_[id].has_begun ? 0 : classes_[id].size;
  if (live_ + added > cap_) return false;
  if (position == first_left_) {
    rest_.add(position, position + 1, kNothing);
  } else if (!may_start_early(position)) {
    return false;
  }
  live_ += added;
  highest_ = std::max(highest_, live_);
  mark_started(position);
  return true;
}

void StreamLoads::mark_started(std::uint32_t position) {
  has_started_[position] = 1;
  for (AliasClassId id : touched_[position]) {
    Class& one = classes_[id];
    if (!one.has_begun) {
      one.has_begun = true;
      one.begin = std::min(one.begin, first_left_);
      lifespans_[id].begin = StepId(started_);
    }
    if (--one.to_start == 0 && !one.is_kept) rest_.add(std::max(one.begin, first_left_), one.end, -one.size);
  }
  ++started_;
  while (first_left_ < has_started_.size() && has_started_[first_left_] != 0) ++first_left_;
}

void StreamLoads::end(std::uint32_t position) {
  live_ -= scratch_[position];
  for (AliasClassId id : touched_[position]) {
    Class& one = classes_[id];
    if (--one.to_end > 0 || one.is_kept) continue;
    live_ -= one.size;
    lifespans_[id].end = StepId(started_);
  }
}

IdVector<AliasClassId, Lifespan> StreamLoads::take_lifespans() { return std::move(lifespans_); }

}  // namespace lowtide::detail
