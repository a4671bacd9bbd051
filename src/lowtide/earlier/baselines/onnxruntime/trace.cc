// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/trace.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lowtide/earlier/baselines/onnxruntime/buffers.h"

namespace lowtide::baselines_internal {
namespace {

class Tracer {
 public:
  explicit Tracer(const RuntimeSteps& steps)
      : steps_(steps), choice_(choose_buffers(steps)), ends_(steps.steps.size()), block_of_(steps.values.size()) {
    for (RuntimeValueId id : all_ids<RuntimeValueId>(steps.values.size())) {
      if (choice_.last_step[id]) ends_[*choice_.last_step[id]].push_back(id);
    }
  }

  Trace trace() {
    for (at_ = 0; at_ < steps_.steps.size(); ++at_) {
      for (RuntimeValueId id : steps_.steps[at_].outputs) take_value(choice_.holder[id]);
      std::vector<TracedBlockId> scratch;
      for (Bytes size : steps_.steps[at_].scratch) scratch.push_back(take({.size = size, .is_scratch = true}));
      for (TracedBlockId block : scratch) give_back(block);
      for (RuntimeValueId id : ends_[at_]) {
        if (block_of_[id]) give_back(*block_of_[id]);
        block_of_[id].reset();
      }
    }
    return std::move(trace_);
  }

 private:
  void take_value(RuntimeValueId holder) {
    const RuntimeValue& value = steps_.values[holder];
    if (value.is_given || value.size == Bytes(0) || block_of_[holder]) return;
    block_of_[holder] = take({.size = value.size, .is_planned = !value.is_output});
  }

  TracedBlockId take(TracedBlock block) {
    const TracedBlockId id = trace_.blocks.push_back(block);
    trace_.events.push_back({id, true, at_});
    return id;
  }

  void give_back(TracedBlockId id) { trace_.events.push_back({id, false, at_}); }

  const RuntimeSteps& steps_;
  BufferChoice choice_;
  std::vector<std::vector<RuntimeValueId>> ends_;  // by step
  IdVector<RuntimeValueId, std::optional<TracedBlockId>> block_of_;
  std::size_t at_ = 0;
  Trace trace_;
};

// The free ranges between blocks, and the end of the highest block.
class PatternSpace {
 public:
  Offset take(Bytes size) {
    const auto gap = by_length_.lower_bound({size, Offset(0)});
    if (gap == by_length_.end()) {
      const Offset begin = end_;
      end_ = end_ + size;
      height_ = std::max(height_, end_);
      return begin;
    }
    const auto [length, begin] = *gap;
    remove_gap(begin, length);
    if (length > size) add_gap(begin + size, begin + length);
    return begin;
  }

  void give_back(Offset begin, Bytes size) {
    Offset end = begin + size;
    const auto after = gaps_.find(end);
    if (after != gaps_.end()) {
      const Offset joined = after->second;
      remove_gap(end, joined - end);
      end = joined;
    }
    const auto before = gaps_.lower_bound(begin);
    if (before != gaps_.begin() && std::prev(before)->second == begin) {
      const Offset joined = std::prev(before)->first;
      remove_gap(joined, begin - joined);
      begin = joined;
    }
    if (end == end_) {
      end_ = begin;
    } else {
      add_gap(begin, end);
    }
  }

  [[nodiscard]] Bytes height() const { return height_ - Offset(0); }

 private:
  void add_gap(Offset begin, Offset end) {
    gaps_.emplace(begin, end);
    by_length_.emplace(end - begin, begin);
  }
  void remove_gap(Offset begin, Bytes length) {
    gaps_.erase(begin);
    by_length_.erase({length, begin});
  }

  std::map<Offset, Offset> gaps_;  // begin to end; all are below end_, and no two are adjacent
  std::set<std::pair<Bytes, Offset>> by_length_;
  Offset end_;  // of the highest block
  Offset height_;
};

}  // namespace

Trace trace_of(const RuntimeSteps& steps) { return Tracer(steps).trace(); }

TracePeak peak_of(const Trace& trace, std::optional<Bytes> pattern) {
  TracePeak now{.live = pattern.value_or(Bytes(0))};
  TracePeak peak = now;
  for (const TraceEvent& event : trace.events) {
    const TracedBlock& block = trace.blocks[event.block];
    if (pattern && block.is_planned) continue;
    const Bytes scratch = block.is_scratch ? block.size : Bytes(0);
    now.live = event.is_taken ? now.live + block.size : now.live - block.size;
    now.scratch = event.is_taken ? now.scratch + scratch : now.scratch - scratch;
    now.step = event.step;
    if (now.live > peak.live) peak = now;
  }
  return peak;
}

Bytes pattern_size(const Trace& trace) {
  PatternSpace space;
  IdVector<TracedBlockId, Offset> place(trace.blocks.size());
  for (const TraceEvent& event : trace.events) {
    if (!trace.blocks[event.block].is_planned) continue;
    const Bytes size = round_up(trace.blocks[event.block].size, Bytes(256));
    if (event.is_taken) {
      place[event.block] = space.take(size);
    } else {
      space.give_back(place[event.block], size);
    }
  }
  return space.height();
}

}  // namespace lowtide::baselines_internal
