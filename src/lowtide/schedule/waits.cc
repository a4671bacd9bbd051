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
        bytes_(plan.regions.size()),
        step_of_(graph.nodes().size()),
        clocks_(plan.program.size() * plan.streams, 0),
        last_(plan.streams) {}

  void add() {
    for (StepId id : all_ids<StepId>(plan_.program.size())) {
      const Step& step = plan_.program[id];
      std::vector<StepId> needed;
      for (ValueId read : step.reads) {
        if (plan_.values[read].written) needed.push_back(*plan_.values[read].written);
      }
      for (NodeId control : graph_.node(step.node).control_inputs) needed.push_back(step_of_[control]);
      touch(id, needed);
      step_of_[step.node] = id;
      wait_for(id, std::move(needed));
    }
  }

 private:
  // An alias touches nothing but what it names: that must stay.
  void touch(StepId id, std::vector<StepId>& needed) {
    const Step& step = plan_.program[id];
    const bool computes = step.kind == StepKind::compute;
    for (ValueId read : step.reads) {
      with_place(read, [&](TouchedBytes& bytes, std::int64_t begin, std::int64_t end) {
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
    if (!computes) return;
    for (ValueId write : step.writes) with_place(write, overwrite);
    if (step.scratch) with_bytes(*step.scratch, 0, plan_.buffers[*step.scratch].size.count(), overwrite);
  }

  // Of each stream only the last reader matters: the others come before it.
  void add_reader(TouchedBytes::Range& range, StepId id) {
    for (StepId& reader : range.readers) {
      if (plan_.program[reader].stream == plan_.program[id].stream) {
        reader = id;
        return;
      }
    }
    range.readers.push_back(id);
  }

  template <typename Function>
  void with_place(ValueId id, Function function) {
    const Value& value = plan_.values[id];
    with_bytes(value.buffer, value.offset.position(), graph_.tensor(value.tensor).size.count(), function);
  }
  template <typename Function>
  void with_bytes(BufferId id, std::int64_t offset, std::int64_t size, Function function) {
    const std::optional<Placement>& placement = plan_.buffers[id].placement;
    if (!placement) return;  // nobody writes there
    const std::int64_t begin = placement->offset.position() + offset;
    function(bytes_[placement->region.index()], begin, begin + size);
  }

  // The latest first: what comes before it is known with it.
  void wait_for(StepId id, std::vector<StepId> needed) {
    Step& step = plan_.program[id];
    std::uint32_t* known = clock(id);
    if (last_[step.stream]) std::copy_n(clock(*last_[step.stream]), plan_.streams, known);
    last_[step.stream] = id;
    std::sort(needed.begin(), needed.end(), std::greater<>());
    step.after.clear();
    for (StepId before : needed) {
      if (before == id || known[plan_.program[before].stream] > before.value()) continue;
      if (plan_.program[before].stream != step.stream) step.after.push_back(before);
      const std::uint32_t* theirs = clock(before);
      for (std::uint32_t stream = 0; stream < plan_.streams; ++stream) {
        known[stream] = std::max(known[stream], theirs[stream]);
      }
    }
    known[step.stream] = id.value() + 1;
    std::reverse(step.after.begin(), step.after.end());
  }

  // Of each stream, the number + 1 of the last step that is known to have ended before this one's end.
  std::uint32_t* clock(StepId id) { return clocks_.data() + id.index() * plan_.streams; }

  const Graph& graph_;
  Plan& plan_;
  std::vector<TouchedBytes> bytes_;  // by region
  IdVector<NodeId, StepId> step_of_;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::optional<StepId>> last_;  // by stream
};

}  // namespace

void add_waits(const Graph& graph, Plan& plan) { Waits(graph, plan).add(); }

}  // namespace lowtide
