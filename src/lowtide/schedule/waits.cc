// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/schedule/waits.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace lowtide {
namespace {

// Bytes of one region, cut where users begin and end.
class TouchedBytes {
 public:
  struct Range {
    std::int64_t end = 0;
    std::optional<StepId> writer;
    std::vector<StepId> readers;  // since then
  };

  // Calls `visit` with each range in [begin, end), all of which is covered.
  template <typename Visit>
  void for_each(std::int64_t begin, std::int64_t end, Visit visit) {
    if (begin >= end) return;
    cut(begin);
    cut(end);
    auto at = ranges_.lower_bound(begin);
    for (std::int64_t here = begin; here < end; ++at) {
      if (at == ranges_.end() || at->first > here) {
        const std::int64_t next = at == ranges_.end() ? end : std::min(at->first, end);
        at = ranges_.emplace_hint(at, here, Range{next, std::nullopt, {}});
      }
      visit(at->second);
      here = at->second.end;
    }
  }

  // From now on one range.
  void write(std::int64_t begin, std::int64_t end, StepId writer) {
    if (begin >= end) return;
    ranges_.erase(ranges_.lower_bound(begin), ranges_.lower_bound(end));
    ranges_[begin] = {end, writer, {}};
  }

 private:
  void cut(std::int64_t at) {
    auto next = ranges_.lower_bound(at);
    if (next == ranges_.begin()) return;
    Range& before = std::prev(next)->second;
    if (before.end <= at) return;
    Range rest = before;
    before.end = at;
    ranges_.emplace_hint(next, at, std::move(rest));
  }

  std::map<std::int64_t, Range> ranges_;  // by begin
};

class Waits {
 public:
  Waits(const Graph& graph, Plan& plan)
      : graph_(graph),
        plan_(plan),
        writers_(plan.program.values.size()),
        in_regions_(plan.machine.regions.size()),
        first_step_(graph.nodes().size()),
        clocks_(plan.program.steps.size() * plan.program.streams.size(), 0),
        last_(plan.program.streams.size()) {}

  void add() {
    find_written_buffers();
    for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
      const Step& step = plan_.program.steps[id];
      std::vector<StepId> needed;
      for (ValueId read : step.reads) needed.insert(needed.end(), writers_[read].begin(), writers_[read].end());
      if (const std::optional<NodeId> node = node_of(step)) {
        for (NodeId control : graph_.node(*node).control_inputs) needed.push_back(*first_step_[control]);
        if (!first_step_[*node]) first_step_[*node] = id;
      }
      touch(id, needed);
      for (ValueId write : step.writes) writers_[write].push_back(id);
      wait_for(id, std::move(needed));
    }
  }

 private:
  // Nothing writes inputs and constants, so nothing waits for what reads them.
  void find_written_buffers() {
    for (const Step& step : plan_.program.steps) {
      if (is_alias(step)) continue;
      for (ValueId write : step.writes) {
        const BufferId buffer = plan_.layout.values[write].buffer;
        if (!plan_.layout.buffers[buffer].placement) (void)elsewhere_[buffer];
      }
    }
  }

  // An alias touches nothing but what it names: that must stay.
  void touch(StepId id, std::vector<StepId>& needed) {
    const Step& step = plan_.program.steps[id];
    for (ValueId read : step.reads) {
      with_place(step, read, [&](TouchedBytes& bytes, std::int64_t begin, std::int64_t end) {
        bytes.for_each(begin, end, [&](TouchedBytes::Range& range) {
          if (range.writer) needed.push_back(*range.writer);
          add_reader(range, id);
        });
      });
    }
    const auto overwrite = [&](TouchedBytes& bytes, std::int64_t begin, std::int64_t end) {
      bytes.for_each(begin, end, [&](TouchedBytes::Range& range) {
        if (range.writer) needed.push_back(*range.writer);
        needed.insert(needed.end(), range.readers.begin(), range.readers.end());
      });
      bytes.write(begin, end, id);
    };
    if (is_alias(step)) return;
    for (ValueId write : step.writes) with_place(step, write, overwrite);
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    if (scratch) with_bytes(*scratch, 0, plan_.layout.buffers[*scratch].size.count(), overwrite);
  }

  // Of each stream only the last reader matters: the others come before it.
  void add_reader(TouchedBytes::Range& range, StepId id) {
    for (StepId& reader : range.readers) {
      if (plan_.program.steps[reader].stream == plan_.program.steps[id].stream) {
        reader = id;
        return;
      }
    }
    range.readers.push_back(id);
  }

  // The bytes of a value that the step touches.
  template <typename Function>
  void with_place(const Step& step, ValueId id, Function function) {
    const ValuePlace& place = plan_.layout.values[id];
    Interval<std::int64_t> bytes{0, graph_.tensor(plan_.program.values[id].tensor).size.count()};
    if (const Copy* copy = std::get_if<Copy>(&step.work)) bytes = copy->bytes;
    with_bytes(place.buffer, place.offset.position() + bytes.begin, bytes.end - bytes.begin, function);
  }
  template <typename Function>
  void with_bytes(BufferId id, std::int64_t offset, std::int64_t size, Function function) {
    const std::optional<Placement>& placement = plan_.layout.buffers[id].placement;
    if (placement) {
      const std::int64_t begin = placement->offset.position() + offset;
      function(in_regions_[placement->region.index()], begin, begin + size);
    } else if (const auto written = elsewhere_.find(id); written != elsewhere_.end()) {
      function(written->second, offset, offset + size);
    }
  }

  // The latest first: what comes before it is known with it.
  void wait_for(StepId id, std::vector<StepId> needed) {
    Step& step = plan_.program.steps[id];
    const std::size_t streams = plan_.program.streams.size();
    std::uint32_t* known = clock(id);
    if (last_[step.stream]) std::copy_n(clock(*last_[step.stream]), streams, known);
    last_[step.stream] = id;
    std::sort(needed.begin(), needed.end(), std::greater<>());
    step.after.clear();
    for (StepId before : needed) {
      const StreamId other = plan_.program.steps[before].stream;
      if (before == id || known[other.index()] > before.value()) continue;
      if (other != step.stream) step.after.push_back(before);
      const std::uint32_t* theirs = clock(before);
      for (std::size_t at = 0; at < streams; ++at) known[at] = std::max(known[at], theirs[at]);
    }
    known[step.stream.index()] = id.value() + 1;
    std::reverse(step.after.begin(), step.after.end());
  }

  // Of each stream, the number + 1 of the last step that is known to have ended before this one's end.
  std::uint32_t* clock(StepId id) { return clocks_.data() + id.index() * plan_.program.streams.size(); }

  const Graph& graph_;
  Plan& plan_;
  IdVector<ValueId, std::vector<StepId>> writers_;  // several, if copies fill the value piece by piece
  std::vector<TouchedBytes> in_regions_;            // by region
  std::map<BufferId, TouchedBytes> elsewhere_;      // of buffers without placement, those that some step writes
  IdVector<NodeId, std::optional<StepId>> first_step_;
  std::vector<std::uint32_t> clocks_;
  IdVector<StreamId, std::optional<StepId>> last_;
};

}  // namespace

void add_waits(const Graph& graph, Plan& plan) { Waits(graph, plan).add(); }

}  // namespace lowtide
