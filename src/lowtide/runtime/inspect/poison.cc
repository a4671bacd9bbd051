// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect/poison.h"

#include <algorithm>
#include <cstring>

#include "lowtide/base/quote.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

constexpr std::byte kDead{0xFF};

// The position of the first byte in [begin, end) that should have the pattern and does not; `end` if there is none.
std::size_t first_changed(std::span<const std::byte> arena, const std::byte* expected, const std::byte* mask,
                          std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; ++at) {
    if (((arena[at] ^ expected[at]) & mask[at]) != std::byte{0}) return at;
  }
  return end;
}

}  // namespace

PoisonObserver::PoisonObserver(Probe& probe, const Lives& lives, const Pattern& pattern, Recorder& recorder)
    : probe_(probe),
      lives_(lives),
      recorder_(recorder),
      arena_(probe.arena()),
      expected_(arena_.size()),
      mask_(arena_.size(), kDead),
      progress_(probe.prepared().graphs.size()),
      written_(lives.parts().size(), 0) {
  probe.fill(pattern);
  std::ranges::copy(arena_, expected_.begin());
  // States of loops that wait are beyond the plan.
  const ExecutableMemory& memory = probe.prepared().memory;
  const auto extra = mask_.begin() + memory.arena.count();
  std::fill(extra, extra + memory.extra.count(), std::byte{0});
}

void PoisonObserver::fill(Interval<std::int64_t> bytes) {
  const auto begin = static_cast<std::ptrdiff_t>(bytes.begin);
  const auto end = static_cast<std::ptrdiff_t>(bytes.end);
  std::copy(expected_.begin() + begin, expected_.begin() + end, arena_.begin() + begin);
  std::fill(mask_.begin() + begin, mask_.begin() + end, kDead);
}

// The inputs of a body are in place already, and live throughout. Everything else in its arena is dead.
void PoisonObserver::fill_dead(PreparedGraphId graph) {
  const PreparedGraph& in = probe_.prepared().graphs[graph];
  Interval<std::int64_t> dead = {lives_.arena(graph).begin, lives_.arena(graph).begin};
  std::vector<Interval<std::int64_t>> kept;
  for (std::size_t at : lives_.by_begin(graph)) {
    const LivePart& part = lives_.parts()[at];
    if (in.plan.layout.buffers[part.buffer].kind == BufferKind::input)
      kept.push_back({part.bytes.begin, part.used_end});
  }
  std::ranges::sort(kept);
  for (const Interval<std::int64_t>& bytes : kept) {
    dead.end = bytes.begin;
    if (!dead.empty()) fill(dead);
    dead.begin = std::max(dead.begin, bytes.end);
  }
  dead.end = lives_.arena(graph).end;
  if (!dead.empty()) fill(dead);
}

// An input in the arena that no step reads is dead before the first action.
void PoisonObserver::begin(PreparedGraphId graph) {
  progress_[graph] = {};
  if (graph != kMainGraph) fill_dead(graph);
  if (const std::optional<StepId> first = lives_.first_action(graph)) end_lives(graph, *first);
}

void PoisonObserver::end_lives(PreparedGraphId graph, StepId next) {
  const std::vector<std::size_t>& parts = lives_.by_end(graph);
  std::size_t& ended = progress_[graph].ended;
  for (; ended < parts.size() && lives_.parts()[parts[ended]].lifespan.end <= next; ++ended) {
    note_written(parts[ended]);
    fill(lives_.parts()[parts[ended]].bytes);
  }
}

void PoisonObserver::before(const RunPlace& place) {
  const std::vector<std::size_t>& parts = lives_.by_begin(place.graph);
  std::size_t& begun = progress_[place.graph].begun;
  for (; begun < parts.size() && lives_.parts()[parts[begun]].lifespan.begin <= place.step; ++begun) {
    const LivePart& part = lives_.parts()[parts[begun]];
    const StepId last = std::max(part.lifespan.begin, StepId(part.lifespan.end.value() - 1));
    if (last < place.step) continue;  // it has ended already
    std::fill(mask_.begin() + part.bytes.begin, mask_.begin() + part.used_end, std::byte{0});
  }
}

bool PoisonObserver::after(const RunPlace& place) {
  check(place);
  if (fault_ || !recorder_.note_step(probe_.tables(), place)) return false;
  const std::optional<StepId> next = lives_.next_action(place);
  if (!next) {
    end(place.graph);
    return true;
  }
  end_lives(place.graph, *next);
  return true;
}

void PoisonObserver::end(PreparedGraphId graph) {
  const std::vector<std::size_t>& parts = lives_.by_end(graph);
  for (std::size_t at = progress_[graph].ended; at < parts.size(); ++at) note_written(parts[at]);
}

void PoisonObserver::note_written(std::size_t part) {
  const LivePart& of = lives_.parts()[part];
  std::int64_t end = of.used_end;
  while (end > of.bytes.begin &&
         arena_[static_cast<std::size_t>(end - 1)] == expected_[static_cast<std::size_t>(end - 1)]) {
    --end;
  }
  written_[part] = std::max(written_[part], end - of.bytes.begin);
}

void PoisonObserver::check(const RunPlace& place) {
  const std::size_t changed = first_changed(arena_, expected_.data(), mask_.data(), 0, arena_.size());
  if (changed == arena_.size() || fault_) return;
  const PreparedGraph& in = probe_.prepared().graphs[place.graph];
  fault_ = place_of(in, place.step) + ": writes byte " + std::to_string(changed) +
           " of the arena, which no tensor has at this step";
  // The result that ends next below the byte is the likely culprit.
  std::int64_t nearest = -1;
  for (ValueId value : in.plan.program.steps[place.step].writes) {
    const BoundTensor tensor = probe_.tables()[place.graph.index()]->bound(value);
    const std::int64_t end = *tensor.bytes - arena_.data() + tensor.capacity_bytes;
    if (end > static_cast<std::int64_t>(changed) || end <= nearest) continue;
    nearest = end;
    *fault_ = place_of(in, place.step) + ": writes byte " + std::to_string(changed) +
              " of the arena, which no tensor has at this step; its result " +
              quoted(in.graph.tensor(in.plan.program.values[value].tensor).name) + " ends at byte " +
              std::to_string(end);
  }
}

}  // namespace lowtide::runtime_internal
