// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/packing_check.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/live_ranges.h"

namespace lowtide {
namespace {

using verification::LiveRanges;

class PackingCheck {
 public:
  PackingCheck(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets, std::size_t most)
      : problem_(problem), offsets_(offsets), most_(most) {}

  std::vector<std::string> run() && {
    if (offsets_.size() != problem_.buffers.size()) {
      add(std::to_string(offsets_.size()) + " offsets for " + std::to_string(problem_.buffers.size()) + " buffers");
      return std::move(lines_);
    }
    bool is_sane = true;
    for (PackingId id : all_ids<PackingId>(offsets_.size())) {
      if (is_full()) return std::move(lines_);
      is_sane = check_buffer(id) && is_sane;
    }
    if (is_sane) sweep();
    return std::move(lines_);
  }

 private:
  [[nodiscard]] bool is_full() const { return lines_.size() >= most_; }
  void add(std::string line) {
    if (!is_full()) lines_.push_back(std::move(line));
  }

  std::string name(PackingId id) const {
    const bool is_named = problem_.names.contains(id) && !problem_.names[id].empty();
    return "buffer " + std::to_string(id.value()) + (is_named ? " " + quoted(problem_.names[id]) : "");
  }

  // Everything about one buffer. False: its end is not a number.
  bool check_buffer(PackingId id) {
    const PackingBuffer& buffer = problem_.buffers[id];
    const std::int64_t offset = offsets_[id].position();
    const std::int64_t alignment = buffer.alignment.count();
    const std::optional<std::int64_t> end = checked_add(offset, buffer.size.count());
    if (buffer.size.count() < 0 || !end) {
      add(name(id) + " with " + std::to_string(buffer.size.count()) + " bytes at offset " + std::to_string(offset) +
          " has no end");
      return false;
    }
    if (offset < 0) add(name(id) + " is at offset " + std::to_string(offset) + ", below 0");
    if (!is_power_of_two(alignment)) {
      add(name(id) + " has alignment " + std::to_string(alignment) + ", which is no power of two");
    } else if (offset % alignment != 0) {
      add(name(id) + " is at offset " + std::to_string(offset) + ", not a multiple of its alignment " +
          std::to_string(alignment));
    }
    if (buffer.fixed_offset && *buffer.fixed_offset != offsets_[id]) {
      add(name(id) + " is at offset " + std::to_string(offset) + ", but must be at " +
          std::to_string(buffer.fixed_offset->position()));
    }
    if (problem_.capacity && *end > problem_.capacity->count()) {
      add(name(id) + " ends at " + std::to_string(*end) + ", above the capacity of " +
          std::to_string(problem_.capacity->count()));
    }
    return true;
  }

  // What is left of a lifespan without its gaps; gaps out of order or range take away no more than they should.
  void add_events(PackingId id) {
    const PackingBuffer& buffer = problem_.buffers[id];
    std::int64_t from = buffer.lifespan.begin;
    const auto keep = [&](std::int64_t until) {
      if (from >= until) return;
      events_.emplace_back(from, true, id.index());
      events_.emplace_back(until, false, id.index());
    };
    for (const TimeSpan& gap : buffer.gaps) {
      if (gap.empty() || gap.begin < from) continue;
      keep(std::min(gap.begin, buffer.lifespan.end));
      from = gap.end;
    }
    keep(buffer.lifespan.end);
  }

  // Over time; at one moment what ends goes before what begins.
  void sweep() {
    std::vector<LiveRanges::Range> ranges;
    for (PackingId id : all_ids<PackingId>(offsets_.size())) {
      const std::int64_t begin = offsets_[id].position();
      ranges.push_back({begin, begin + problem_.buffers[id].size.count()});
      add_events(id);
    }
    std::sort(events_.begin(), events_.end());
    LiveRanges live(ranges);
    for (const auto& [time, begins, at] : events_) {
      if (!begins) {
        live.erase(at);
        continue;
      }
      live.for_each_meeting(at, [&, now = time, newer = at](std::size_t other) {
        const std::int64_t begin = std::max(ranges[other].begin, ranges[newer].begin);
        const std::int64_t end = std::min(ranges[other].end, ranges[newer].end);
        add(name(PackingId(static_cast<std::uint32_t>(other))) + " and " +
            name(PackingId(static_cast<std::uint32_t>(newer))) + " share bytes [" + std::to_string(begin) + ", " +
            std::to_string(end) + ") from time " + std::to_string(now) + " on");
        return !is_full();
      });
      if (is_full()) return;
      live.insert(at);
    }
  }

  const PackingProblem& problem_;
  const IdVector<PackingId, Offset>& offsets_;
  const std::size_t most_;
  std::vector<std::tuple<std::int64_t, bool, std::size_t>> events_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> check_packing(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets,
                                       std::size_t most) {
  return PackingCheck(problem, offsets, most).run();
}

}  // namespace lowtide
