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

struct Building {
  Trace trace;
  std::map<std::pair<TracedFrameId, std::size_t>, TracedFrameId> frames;  // by the frame around, and the step there
};

// Adds the events of one frame. The recursion over bodies is limited (limits::kMaxBodyNesting).
class Tracer {
 public:
  Tracer(const RuntimeSteps& steps, TracedFrameId frame, bool is_again, Building& all)
      : steps_(steps),
        choice_(choose_buffers(steps)),
        ends_(steps.steps.size()),
        block_of_(steps.values.size()),
        frame_(frame),
        is_again_(is_again),
        all_(all) {
    for (RuntimeValueId id : all_ids<RuntimeValueId>(steps.values.size())) {
      if (choice_.last_step[id]) ends_[*choice_.last_step[id]].push_back(id);
    }
  }

  // `outer`: the step of the main frame; nullopt in the main frame itself.
  void trace(std::optional<std::size_t> outer) {
    for (std::size_t at = 0; at < steps_.steps.size(); ++at) {
      at_ = outer.value_or(at);
      const RuntimeStep& step = steps_.steps[at];
      for (RuntimeValueId id : step.outputs) take_value(choice_.holder[id]);
      std::vector<TracedBlockId> scratch;
      for (Bytes size : step.scratch) scratch.push_back(take({.size = size, .frame = frame_, .is_scratch = true}));
      for (TracedBlockId block : scratch) give_back(block);
      if (step.body != nullptr) trace_body(at);
      for (RuntimeValueId id : ends_[at]) give_back_value(id);
    }
    if (!outer) return;
    for (RuntimeValueId id : all_ids<RuntimeValueId>(block_of_.size())) give_back_value(id);
  }

 private:
  void take_value(RuntimeValueId holder) {
    const RuntimeValue& value = steps_.values[holder];
    if (value.is_given || value.size == Bytes(0) || block_of_[holder]) return;
    block_of_[holder] = take({.size = value.size, .frame = frame_, .is_planned = !value.is_output});
  }

  void give_back_value(RuntimeValueId holder) {
    if (block_of_[holder]) give_back(*block_of_[holder]);
    block_of_[holder].reset();
  }

  void trace_body(std::size_t at) {
    const RuntimeStep& step = steps_.steps[at];
    const TracedFrameId next(static_cast<std::uint32_t>(all_.trace.frames));
    const auto [entry, is_new] = all_.frames.try_emplace({frame_, at}, next);
    if (is_new) ++all_.trace.frames;
    const TracedFrameId frame = entry->second;
    const int times = step.repeats_body && !is_again_ ? 2 : 1;
    for (int time = 0; time < times; ++time) {
      const bool is_again = is_again_ || time > 0;
      add({.action = is_again ? TraceAction::enter_again : TraceAction::enter, .frame = frame});
      Tracer(*step.body, frame, is_again, all_).trace(at_);
      add({.action = TraceAction::leave, .frame = frame});
    }
  }

  void add(TraceEvent event) {
    event.step = at_;
    all_.trace.events.push_back(event);
  }

  TracedBlockId take(TracedBlock block) {
    const TracedBlockId id = all_.trace.blocks.push_back(block);
    add({.action = TraceAction::take, .block = id});
    return id;
  }

  void give_back(TracedBlockId id) { add({.action = TraceAction::give_back, .block = id}); }

  const RuntimeSteps& steps_;
  BufferChoice choice_;
  std::vector<std::vector<RuntimeValueId>> ends_;  // by step
  IdVector<RuntimeValueId, std::optional<TracedBlockId>> block_of_;
  TracedFrameId frame_;
  bool is_again_ = false;  // a loop around the frame runs for the second time
  Building& all_;
  std::size_t at_ = 0;  // in the main frame
};

// The free ranges between blocks, and the end of the highest block.
class PatternSpace {
 public:
  Offset take(Bytes size) {
    const auto gap = by_length_.lower_bound({size, Offset(0)});
    const Bytes above = height_ - end_;
    const bool fits_above = above >= size && (gap == by_length_.end() || above < gap->first);
    if (gap == by_length_.end() || fits_above) {
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

Trace trace_of(const RuntimeSteps& steps) {
  Building all;
  Tracer(steps, kMainFrame, false, all).trace(std::nullopt);
  return std::move(all.trace);
}

Patterns patterns_of(const Trace& trace) {
  std::vector<PatternSpace> spaces(trace.frames);
  std::vector<bool> has_run(trace.frames);
  IdVector<TracedBlockId, std::optional<Offset>> places(trace.blocks.size());
  for (const TraceEvent& event : trace.events) {
    if (event.action == TraceAction::leave) has_run[event.frame.index()] = true;
    if (event.action != TraceAction::take && event.action != TraceAction::give_back) continue;
    const TracedBlock& block = trace.blocks[event.block];
    PatternSpace& space = spaces[block.frame.index()];
    const Bytes size = round_up(block.size, Bytes(256));
    if (event.action == TraceAction::take && block.is_planned && !has_run[block.frame.index()]) {
      places[event.block] = space.take(size);
    } else if (event.action == TraceAction::give_back && places[event.block]) {
      space.give_back(*places[event.block], size);
    }
  }
  Patterns patterns;
  for (const PatternSpace& space : spaces) patterns.push_back(space.height());
  return patterns;
}

std::vector<BlockRequest> requests_of(const Trace& trace, const std::optional<Patterns>& patterns, RunNumber run) {
  std::vector<BlockRequest> requests;
  std::vector<bool> has_block(trace.frames);
  const auto number_of_pattern = [&](TracedFrameId frame) { return trace.blocks.size() + frame.index(); };
  const auto begin = [&](TracedFrameId frame, bool has_run, std::size_t step) {
    has_block[frame.index()] = patterns && has_run;
    if (!has_block[frame.index()] || (*patterns)[frame] == Bytes(0)) return;
    requests.push_back(
        {.number = number_of_pattern(frame), .is_taken = true, .size = (*patterns)[frame], .step = step});
  };
  begin(kMainFrame, run == RunNumber::second, 0);
  for (const TraceEvent& event : trace.events) {
    if (event.action == TraceAction::enter || event.action == TraceAction::enter_again) {
      begin(event.frame, run == RunNumber::second || event.action == TraceAction::enter_again, event.step);
    } else if (event.action == TraceAction::leave) {
      if (!has_block[event.frame.index()] || (*patterns)[event.frame] == Bytes(0)) continue;
      requests.push_back({.number = number_of_pattern(event.frame), .size = (*patterns)[event.frame]});
    } else {
      const TracedBlock& block = trace.blocks[event.block];
      if (block.is_planned && has_block[block.frame.index()]) continue;
      requests.push_back({.number = event.block.index(),
                          .is_taken = event.action == TraceAction::take,
                          .size = block.size,
                          .is_scratch = block.is_scratch,
                          .step = event.step});
    }
  }
  return requests;
}

TracePeak peak_of(const std::vector<BlockRequest>& requests) {
  TracePeak now;
  TracePeak peak;
  for (const BlockRequest& request : requests) {
    const Bytes scratch = request.is_scratch ? request.size : Bytes(0);
    now.live = request.is_taken ? now.live + request.size : now.live - request.size;
    now.scratch = request.is_taken ? now.scratch + scratch : now.scratch - scratch;
    now.step = request.step;
    if (now.live > peak.live) peak = now;
  }
  return peak;
}

TracePeak peak_of(const Trace& trace) { return peak_of(requests_of(trace, std::nullopt, RunNumber::first)); }

}  // namespace lowtide::baselines_internal
