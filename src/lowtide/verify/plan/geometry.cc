// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <utility>

#include "lowtide/verify/bytes/live_ranges.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

// Offsets beyond it are outside every possible buffer and region. Sums of two of them do not overflow.
constexpr std::int64_t kFarthest = std::int64_t{1} << 61;

bool is_within_reach(Offset offset) { return offset.position() >= -kFarthest && offset.position() <= kFarthest; }

Interval<std::int64_t> bytes_of(const Buffer& buffer) {
  const std::int64_t begin = buffer.placement->offset.position();
  return {begin, begin + buffer.size.count()};
}

class Geometry {
 public:
  explicit Geometry(const Subject& subject)
      : subject_(subject),
        plan_(subject.plan),
        holds_(plan_.layout.buffers.size()),
        highest_(plan_.machine.regions.size(), 0) {
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      std::optional<TensorId>& first = holds_[plan_.layout.values[id].buffer];
      if (!first) first = plan_.program.values[id].tensor;
    }
  }

  bool check() {
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      if (subject_.findings.is_full()) return false;
      if (plan_.layout.buffers[id].placement) check_placement(id);
    }
    check_arenas();
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      if (subject_.findings.is_full()) return false;
      check_value(id);
    }
    if (is_replayable_) check_overlaps();
    return is_replayable_;
  }

 private:
  // "buffer 2 (temporary) of 'x' (tensor 7)"
  std::string describe(BufferId id) const {
    return name_of(subject_, id) + (holds_[id] ? " of " + name_of(subject_, *holds_[id]) : "");
  }

  std::vector<TensorId> tensors_in(BufferId id) const {
    return holds_[id] ? std::vector<TensorId>{*holds_[id]} : std::vector<TensorId>{};
  }

  void check_placement(BufferId id) {
    const Buffer& buffer = plan_.layout.buffers[id];
    const Placement& place = *buffer.placement;
    const Region& region = plan_.machine.regions[place.region.index()];
    const auto add = [&](ViolationKind kind, std::optional<Interval<std::int64_t>> bytes, const std::string& what) {
      subject_.findings.add({.kind = kind,
                             .tensors = tensors_in(id),
                             .region = place.region,
                             .bytes = bytes,
                             .message = describe(id) + " " + what});
    };
    if (!is_within_reach(place.offset)) {
      is_replayable_ = false;
      add(ViolationKind::out_of_region, std::nullopt,
          "has offset " + std::to_string(place.offset.position()) + ", which is in no region");
      return;
    }
    const Interval<std::int64_t> bytes = bytes_of(buffer);
    const std::int64_t arena = plan_.layout.arena[place.region.index()].count();
    highest_[place.region.index()] = std::max(highest_[place.region.index()], bytes.end);
    if (bytes.begin < 0 || bytes.end > arena) {
      add(ViolationKind::out_of_region, bytes,
          "is at " + name_of(bytes) + " of " + name_of(subject_, place.region) + ", whose arena has " +
              std::to_string(arena));
    }
    if (bytes.begin % region.alignment.count() != 0) {
      add(ViolationKind::misaligned, bytes,
          "is at offset " + std::to_string(bytes.begin) + " of " + name_of(subject_, place.region) +
              ", whose alignment is " + std::to_string(region.alignment.count()));
    }
  }

  void check_arenas() {
    for (RegionId id : all_ids<RegionId>(plan_.machine.regions.size())) {
      if (subject_.findings.is_full()) return;
      const std::int64_t arena = plan_.layout.arena[id.index()].count();
      const std::optional<Bytes>& capacity = plan_.machine.regions[id.index()].capacity;
      if (capacity && arena > capacity->count()) {
        subject_.findings.add({.kind = ViolationKind::out_of_region,
                               .region = id,
                               .bytes = Interval<std::int64_t>{capacity->count(), arena},
                               .message = "the arena of " + name_of(subject_, id) + " has " + std::to_string(arena) +
                                          " bytes, but the region only " + std::to_string(capacity->count())});
      }
      if (is_replayable_ && arena > highest_[id.index()]) {
        subject_.findings.add({.kind = ViolationKind::wrong_claim,
                               .region = id,
                               .message = "the arena of " + name_of(subject_, id) + " claims " + std::to_string(arena) +
                                          " bytes, but its highest buffer ends at " +
                                          std::to_string(highest_[id.index()])});
      }
    }
  }

  void check_value(ValueId id) {
    const Value& value = plan_.program.values[id];
    const ValuePlace& place = plan_.layout.values[id];
    const std::int64_t size = subject_.tensor_of(id).size.count();
    const std::int64_t capacity = subject_.buffer_of(id).size.count();
    is_replayable_ = is_replayable_ && is_within_reach(place.offset);
    const std::int64_t offset = place.offset.position();
    if (offset >= 0 && offset <= capacity && size <= capacity - offset) return;
    std::optional<Interval<std::int64_t>> bytes;
    if (is_within_reach(place.offset)) bytes = Interval<std::int64_t>{offset, offset + size};
    subject_.findings.add({.kind = ViolationKind::out_of_buffer,
                           .step = value.written,
                           .tensors = {value.tensor},
                           .region = std::nullopt,
                           .bytes = bytes,
                           .message = name_of(subject_, value.tensor) + " has " + std::to_string(size) +
                                      " bytes at offset " + std::to_string(offset) + " of " +
                                      name_of(subject_, place.buffer) + ", which has " + std::to_string(capacity)});
  }

  // Bytes of the arena with one lifespan: a buffer, or a part of it.
  struct Block {
    BufferId buffer;
    Interval<std::int64_t> bytes;
    Lifespan life;
  };

  // A program without steps has one moment, at which all buffers live: its outputs are inputs.
  static Lifespan not_empty(const Lifespan& life) {
    return life.empty() ? Lifespan{life.begin, StepId(life.begin.value() + 1)} : life;
  }

  void add_blocks(BufferId id, std::vector<Block>& blocks) const {
    const Buffer& buffer = plan_.layout.buffers[id];
    std::int64_t begin = buffer.placement->offset.position();
    for (const BufferPart& part : buffer.parts) {
      blocks.push_back({id, {begin, begin + part.size.count()}, part.lifespan});
      begin += part.size.count();
    }
    if (buffer.parts.empty()) blocks.push_back({id, bytes_of(buffer), not_empty(buffer.lifespan)});
  }

  void check_overlaps() {
    std::vector<std::vector<Block>> by_region(plan_.machine.regions.size());
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      const Buffer& buffer = plan_.layout.buffers[id];
      if (buffer.placement && buffer.size.count() > 0) add_blocks(id, by_region[buffer.placement->region.index()]);
    }
    for (const std::vector<Block>& blocks : by_region) sweep(blocks);
  }

  // Sweeps over time. Among events of one step, ends come before begins.
  void sweep(const std::vector<Block>& blocks) {
    std::vector<LiveRanges::Range> ranges;
    std::vector<std::tuple<StepId, bool, std::size_t>> events;
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      ranges.push_back(blocks[at].bytes);
      events.emplace_back(blocks[at].life.begin, true, at);
      events.emplace_back(blocks[at].life.end, false, at);
    }
    std::sort(events.begin(), events.end());
    LiveRanges live(std::move(ranges));
    for (const auto& [step, begins, at] : events) {
      if (!begins) {
        live.erase(at);
        continue;
      }
      live.for_each_overlap(at, [&, now = step, newer = at](std::size_t other) {
        report_overlap(blocks[other], blocks[newer], now);
        return !subject_.findings.is_full();
      });
      if (subject_.findings.is_full()) return;
      live.insert(at);
    }
  }

  void report_overlap(const Block& one, const Block& other, StepId now) {
    const BufferId older = one.buffer;
    const BufferId newer = other.buffer;
    const Interval<std::int64_t> shared{std::max(one.bytes.begin, other.bytes.begin),
                                        std::min(one.bytes.end, other.bytes.end)};
    std::vector<TensorId> tensors = tensors_in(older);
    if (holds_[newer]) tensors.push_back(*holds_[newer]);
    const RegionId region = plan_.layout.buffers[newer].placement->region;
    subject_.findings.add({.kind = ViolationKind::overlap,
                           .step = plan_.program.steps.contains(now) ? std::optional(now) : std::nullopt,
                           .tensors = std::move(tensors),
                           .region = region,
                           .bytes = shared,
                           .message = describe(older) + " and " + describe(newer) + " share " + name_of(shared) +
                                      " of " + name_of(subject_, region) + " from step " + std::to_string(now.value()) +
                                      " on"});
  }

  const Subject& subject_;
  const Plan& plan_;
  IdVector<BufferId, std::optional<TensorId>> holds_;  // the first of its values, to name it
  std::vector<std::int64_t> highest_;                  // the highest end of a buffer, by region
  bool is_replayable_ = true;
};

}  // namespace

bool check_geometry(const Subject& subject) { return Geometry(subject).check(); }

}  // namespace lowtide::verify_internal
