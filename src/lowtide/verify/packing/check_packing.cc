// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_packing.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/bytes/live_ranges.h"
#include "lowtide/verify/findings.h"

namespace lowtide {
namespace {

using verify_internal::Findings;
using verify_internal::LiveRanges;

class PackingCheck {
 public:
  PackingCheck(const PackingProblem& problem, std::optional<Bytes> capacity, const IdVector<PackingId, Offset>& offsets,
               Findings& findings)
      : problem_(problem), capacity_(capacity), offsets_(offsets), findings_(findings) {}

  void run() && {
    if (offsets_.size() != problem_.buffers.size()) {
      add(malformed, with_count(offsets_.size(), "offset") + " for " + with_count(problem_.buffers.size(), "buffer"));
      return;
    }
    bool is_sane = true;
    for (PackingId id : all_ids<PackingId>(offsets_.size())) {
      if (findings_.is_full()) return;
      is_sane = check_buffer(id) && is_sane;
    }
    is_sane = check_pairs_exist() && is_sane;
    if (!is_sane) return;
    check_groups();
    if (problem_.conflicts) {
      check_pairs(*problem_.conflicts);
    } else {
      sweep();
    }
  }

 private:
  using enum ViolationKind;

  void add(ViolationKind kind, std::string message) { findings_.add(kind, std::move(message)); }
  void add_overlap(PackingId a, PackingId b, const LiveRanges::Range& bytes, const std::string& when) {
    findings_.add({.kind = overlap,
                   .bytes = bytes,
                   .message = name(a) + " and " + name(b) + " share bytes [" + std::to_string(bytes.begin) + ", " +
                              std::to_string(bytes.end) + ")" + when});
  }

  std::string name(PackingId id) const {
    const bool is_named = problem_.names.contains(id) && !problem_.names[id].empty();
    return "buffer " + std::to_string(id.value()) + (is_named ? " " + quoted(problem_.names[id]) : "");
  }

  // Checks one buffer by itself. Returns false if its end overflows.
  bool check_buffer(PackingId id) {
    const PackingBuffer& buffer = problem_.buffers[id];
    const std::int64_t offset = offsets_[id].position();
    const std::int64_t alignment = buffer.alignment.count();
    const std::optional<std::int64_t> end = checked_add(offset, buffer.size.count());
    if (buffer.size.count() < 0 || !end) {
      add(malformed, name(id) + " with " + std::to_string(buffer.size.count()) + " bytes at offset " +
                         std::to_string(offset) + " overflows 64 bits");
      return false;
    }
    if (offset < 0) add(out_of_region, name(id) + " is at offset " + std::to_string(offset) + ", below 0");
    if (!is_power_of_two(alignment)) {
      add(malformed, name(id) + " has alignment " + std::to_string(alignment) + ", which is not a power of two");
    } else if (offset % alignment != 0) {
      add(misaligned, name(id) + " is at offset " + std::to_string(offset) + ", not a multiple of its alignment " +
                          std::to_string(alignment));
    }
    if (buffer.fixed_offset && *buffer.fixed_offset != offsets_[id]) {
      add(misplaced, name(id) + " is at offset " + std::to_string(offset) + ", but must be at " +
                         std::to_string(buffer.fixed_offset->position()));
    }
    if (capacity_ && *end > capacity_->count()) {
      add(out_of_region, name(id) + " ends at " + std::to_string(*end) + ", above the capacity of " +
                             std::to_string(capacity_->count()));
    }
    return true;
  }

  // Returns false if some pair names a buffer that does not exist.
  bool check_pairs_exist() {
    const std::size_t before = findings_.count();
    const auto check = [&](PackingId id) {
      if (problem_.buffers.contains(id)) return;
      add(malformed, "a pair names buffer " + std::to_string(id.value()) + ", but the number of buffers is " +
                         std::to_string(problem_.buffers.size()));
    };
    const auto check_both = [&](const auto& pair) {
      check(pair.first);
      check(pair.second);
    };
    if (problem_.conflicts) std::for_each(problem_.conflicts->begin(), problem_.conflicts->end(), check_both);
    std::for_each(problem_.colocations.begin(), problem_.colocations.end(), check_both);
    return findings_.count() == before;
  }

  // Checks the distance of each pair, and finds the groups.
  void check_groups() {
    group_.reserve(offsets_.size());
    for (PackingId id : all_ids<PackingId>(offsets_.size())) group_.push_back(id);
    for (const PackingColocation& pair : problem_.colocations) {
      const std::optional<std::int64_t> distance =
          checked_subtract(offsets_[pair.second].position(), offsets_[pair.first].position());
      if (distance != pair.delta.count()) {
        add(misplaced, name(pair.second) + " is at offset " + std::to_string(offsets_[pair.second].position()) +
                           ", not " + std::to_string(pair.delta.count()) + " above " + name(pair.first) +
                           " at offset " + std::to_string(offsets_[pair.first].position()));
      }
      group_[root(pair.first)] = root(pair.second);
    }
  }

  PackingId root(PackingId id) {
    while (group_[id] != id) id = group_[id] = group_[group_[id]];
    return id;
  }

  void check_pairs(std::vector<PackingPair> pairs) {
    for (PackingPair& pair : pairs) pair = {std::min(pair.first, pair.second), std::max(pair.first, pair.second)};
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    for (const PackingPair& pair : pairs) {
      if (findings_.is_full()) return;
      const LiveRanges::Range shared = shared_by(pair.first, pair.second);
      if (shared.empty() || root(pair.first) == root(pair.second)) continue;
      add_overlap(pair.first, pair.second, shared, ", but are in conflict");
    }
  }

  [[nodiscard]] LiveRanges::Range range_of(PackingId id) const {
    const std::int64_t begin = offsets_[id].position();
    return {begin, begin + problem_.buffers[id].size.count()};
  }

  [[nodiscard]] LiveRanges::Range shared_by(PackingId a, PackingId b) const {
    return {std::max(range_of(a).begin, range_of(b).begin), std::min(range_of(a).end, range_of(b).end)};
  }

  // Adds the parts of a lifespan between its gaps. A gap is ignored if it is empty, or if it begins before the lifespan
  // or before the previous gap has ended.
  void add_events(PackingId id) {
    const PackingBuffer& buffer = problem_.buffers[id];
    std::int64_t from = buffer.lifespan.begin;
    const auto keep = [&](std::int64_t until) {
      if (from >= until) return;
      events_.push_back({from, true, id.value()});
      events_.push_back({until, false, id.value()});
    };
    for (const TimeSpan& gap : buffer.gaps) {
      if (gap.empty() || gap.begin < from) continue;
      keep(std::min(gap.begin, buffer.lifespan.end));
      from = gap.end;
    }
    keep(buffer.lifespan.end);
  }

  void sweep() {
    std::vector<LiveRanges::Range> ranges;
    ranges.reserve(offsets_.size());
    events_.reserve(2 * offsets_.size());
    for (PackingId id : all_ids<PackingId>(offsets_.size())) {
      ranges.push_back(range_of(id));
      add_events(id);
    }
    std::sort(events_.begin(), events_.end());
    LiveRanges live(std::move(ranges));
    for (const Event& event : events_) {
      if (!event.begins) {
        live.erase(event.buffer);
        continue;
      }
      const PackingId newer(event.buffer);
      live.for_each_overlap(event.buffer, [&](std::size_t at) {
        const PackingId other(static_cast<std::uint32_t>(at));
        if (root(other) == root(newer)) return true;
        add_overlap(other, newer, shared_by(other, newer), " from time " + std::to_string(event.time) + " on");
        return !findings_.is_full();
      });
      if (findings_.is_full()) return;
      live.insert(event.buffer);
    }
  }

  // A buffer becomes live or dead. An end sorts before a begin of the same time.
  struct Event {
    std::int64_t time = 0;
    bool begins = false;
    std::uint32_t buffer = 0;
    friend auto operator<=>(const Event&, const Event&) = default;
  };

  const PackingProblem& problem_;
  std::optional<Bytes> capacity_;
  const IdVector<PackingId, Offset>& offsets_;
  Findings& findings_;
  IdVector<PackingId, PackingId> group_;  // another member of the same group, or itself
  std::vector<Event> events_;
};

}  // namespace

std::vector<Violation> check_packing(const PackingProblem& problem, const IdVector<PackingId, Offset>& offsets,
                                     const VerifyOptions& options) {
  Findings findings(options);
  PackingCheck(problem, problem.capacity, offsets, findings).run();
  return std::move(findings).take();
}

std::vector<Violation> check_packing_without_capacity(const PackingProblem& problem,
                                                      const IdVector<PackingId, Offset>& offsets,
                                                      const VerifyOptions& options) {
  Findings findings(options);
  PackingCheck(problem, std::nullopt, offsets, findings).run();
  return std::move(findings).take();
}

}  // namespace lowtide
