// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/parallel/stream_loads.h"

#include <algorithm>
#include <optional>

#include "lowtide/share/load.h"

namespace lowtide::schedule_internal {
namespace {

constexpr std::int64_t kNothing = -(std::int64_t{1} << 60);  // added to the load of a position that has started

std::vector<std::int64_t> counts(const std::vector<Bytes>& profile) {
  std::vector<std::int64_t> row;
  row.reserve(profile.size());
  for (Bytes load : profile) row.push_back(load.count());
  return row;
}

}  // namespace

StreamLoads::StreamLoads(const Graph& graph, const Schedule& sequential, const ChosenKernels& kernels,
                         const AliasOptions& options, Bytes cap)
    : touched_(sequential.order.size()),
      has_started_(sequential.order.size()),
      rest_(counts(load_profile(sequential.aliases, kernels, sequential.order, options))),
      cap_(std::max(cap, sequential.load).count()) {
  const AliasClasses& aliases = sequential.aliases;
  const auto steps = static_cast<std::uint32_t>(sequential.order.size());
  for (const AliasClass& alias : aliases.classes) add_parts(alias, options, steps);
  first_part_.push_back(static_cast<PartIndex>(parts_.size()));
  for (std::size_t at = 0; at < sequential.order.size(); ++at) {
    const NodeId id = sequential.order[at];
    scratch_.push_back(round_up(scratch_of(aliases, kernels, id), options.alignment).count());
    std::vector<PartIndex>& touched = touched_[at];
    for (TensorId read : graph.reads(id)) touch(aliases, graph.tensor(read), read, touched);
    for (const std::optional<TensorId>& output : graph.node(id).outputs) {
      if (output) touch(aliases, graph.tensor(*output), *output, touched);
    }
    std::sort(touched.begin(), touched.end());
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    for (PartIndex one : touched) {
      ++parts_[one].to_start;
      ++parts_[one].to_end;
    }
  }
}

void StreamLoads::add_parts(const AliasClass& alias, const AliasOptions& options, std::uint32_t steps) {
  first_part_.push_back(static_cast<PartIndex>(parts_.size()));
  std::int64_t end = 0;
  for_each_part(alias, options.alignment, [&](Bytes size, const Lifespan& lifespan) {
    ends_.push_back(end += size.count());
    const bool is_last = alias.is_kept && lifespan.end.value() == steps;
    parts_.push_back({.size = is_in_arena(alias, options) ? size.count() : 0,
                      .begin = lifespan.begin.value(),
                      .end = lifespan.end.value(),
                      .is_kept = !is_placed(alias.kind) || is_last,
                      .lifespan = {StepId(0), StepId(steps)}});
    if (is_placed(alias.kind)) return;
    // What exists before the run is live throughout.
    parts_.back().has_begun = true;
    live_ += parts_.back().size;
  });
}

void StreamLoads::touch(const AliasClasses& aliases, const Tensor& tensor, TensorId id,
                        std::vector<PartIndex>& touched) const {
  const AliasClassId in = aliases.class_of[id];
  const PartIndex first = first_part_[in];
  const PartIndex end = first_part_[AliasClassId(in.value() + 1)];
  if (end == first + 1) return touched.push_back(first);
  // A tensor without bytes counts as one byte (AliasClass::parts).
  const std::int64_t begin_byte = std::min(aliases.offset_in_class[id].position(), ends_[end - 1] - 1);
  const std::int64_t end_byte = begin_byte + std::max<std::int64_t>(tensor.size.count(), 1);
  auto part =
      static_cast<PartIndex>(std::upper_bound(ends_.begin() + first, ends_.begin() + end, begin_byte) - ends_.begin());
  for (; part < end && (part == first ? 0 : ends_[part - 1]) < end_byte; ++part) touched.push_back(part);
}

// Tries to start the node before earlier positions. What begins with it is then live at all positions in between. If
// the rest no longer fits, the change is undone and the result is false.
bool StreamLoads::may_start_early(std::uint32_t position) {
  const auto change = [&](int sign) {
    for (PartIndex index : touched_[position]) {
      const Part& one = parts_[index];
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
  for (PartIndex one : touched_[position]) added += parts_[one].has_begun ? 0 : parts_[one].size;
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
  has_started_.set(position);
  for (PartIndex index : touched_[position]) {
    Part& one = parts_[index];
    if (!one.has_begun) {
      one.has_begun = true;
      one.begin = std::min(one.begin, first_left_);
      one.lifespan.begin = StepId(started_);
    }
    if (--one.to_start == 0 && !one.is_kept) rest_.add(std::max(one.begin, first_left_), one.end, -one.size);
  }
  ++started_;
  while (first_left_ < has_started_.size() && has_started_.test(first_left_)) ++first_left_;
}

void StreamLoads::end(std::uint32_t position) {
  live_ -= scratch_[position];
  for (PartIndex index : touched_[position]) {
    Part& one = parts_[index];
    if (--one.to_end > 0 || one.is_kept) continue;
    live_ -= one.size;
    one.lifespan.end = StepId(started_);
  }
}

IdVector<AliasClassId, std::vector<Lifespan>> StreamLoads::lifespans() const {
  IdVector<AliasClassId, std::vector<Lifespan>> lifespans(first_part_.size() - 1);
  for (AliasClassId id : all_ids<AliasClassId>(lifespans.size())) {
    const PartIndex end = first_part_[AliasClassId(id.value() + 1)];
    for (PartIndex at = first_part_[id]; at < end; ++at) lifespans[id].push_back(parts_[at].lifespan);
  }
  return lifespans;
}

}  // namespace lowtide::schedule_internal
