// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/synchronize/waits.h"

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

// The bytes of one region, in ranges that begin and end where a user of them does.
class TouchedBytes {
 public:
  struct Range {
    std::int64_t end = 0;
    std::optional<StepId> writer;
    std::vector<StepId> readers;  // since the last write
  };

  // Calls `visit` with each range in [begin, end). Adds ranges for bytes that nothing has touched.
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

  // Makes [begin, end) one range.
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
  Waits(const Graph& graph, Program program, const Layout& layout)
      : graph_(graph),
        program_(std::move(program)),
        layout_(layout),
        writers_(program_.values.size()),
        in_regions_(layout.arena.size()),
        first_step_(graph.nodes().size()),
        clocks_(program_.steps.size() * program_.streams.size(), 0),
        last_(program_.streams.size()) {}

  Program add() && {
    find_written_buffers();
    for (StepId id : all_ids<StepId>(program_.steps.size())) {
      const Step& step = program_.steps[id];
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
    return std::move(program_);
  }

 private:
  // Buffers without a placement need ranges only if a step writes them: reads of inputs and constants never wait.
  void find_written_buffers() {
    for (const Step& step : program_.steps) {
      if (is_alias(step)) continue;
      for (ValueId write : step.writes) {
        const BufferId buffer = layout_.values[write].buffer;
        if (!layout_.buffers[buffer].placement) (void)elsewhere_[buffer];
      }
    }
  }

  // An alias writes no bytes, but the bytes of its operands must not change before it.
  void touch(StepId id, std::vector<StepId>& needed) {
    const Step& step = program_.steps[id];
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
    const std::optional<BufferId>& scratch = layout_.steps[id].scratch;
    if (scratch) with_bytes(*scratch, 0, layout_.buffers[*scratch].size.count(), overwrite);
  }

  // Keeps the last reader of each stream, because the earlier ones come before it.
  void add_reader(TouchedBytes::Range& range, StepId id) {
    for (StepId& reader : range.readers) {
      if (program_.steps[reader].stream == program_.steps[id].stream) {
        reader = id;
        return;
      }
    }
    range.readers.push_back(id);
  }

  // The bytes of a value that the step touches.
  template <typename Function>
  void with_place(const Step& step, ValueId id, Function function) {
    const ValuePlace& place = layout_.values[id];
    Interval<std::int64_t> bytes{0, graph_.tensor(program_.values[id].tensor).size.count()};
    if (const Copy* copy = std::get_if<Copy>(&step.work)) bytes = copy->bytes;
    with_bytes(place.buffer, place.offset.position() + bytes.begin, bytes.end - bytes.begin, function);
  }
  template <typename Function>
  void with_bytes(BufferId id, std::int64_t offset, std::int64_t size, Function function) {
    const std::optional<Placement>& placement = layout_.buffers[id].placement;
    if (placement) {
      const std::int64_t begin = placement->offset.position() + offset;
      function(in_regions_[placement->region.index()], begin, begin + size);
    } else if (const auto written = elsewhere_.find(id); written != elsewhere_.end()) {
      function(written->second, offset, offset + size);
    }
  }

  // Adds the waits of a step. The latest step comes first, because waiting for it makes many earlier ones unnecessary.
  void wait_for(StepId id, std::vector<StepId> needed) {
    Step& step = program_.steps[id];
    const std::size_t streams = program_.streams.size();
    std::uint32_t* known = clock(id);
    if (last_[step.stream]) std::copy_n(clock(*last_[step.stream]), streams, known);
    last_[step.stream] = id;
    std::sort(needed.begin(), needed.end(), std::greater<>());
    step.after.clear();
    for (StepId before : needed) {
      const StreamId other = program_.steps[before].stream;
      if (before == id || known[other.index()] > before.value()) continue;
      if (other != step.stream) step.after.push_back(before);
      const std::uint32_t* theirs = clock(before);
      for (std::size_t at = 0; at < streams; ++at) known[at] = std::max(known[at], theirs[at]);
    }
    known[step.stream.index()] = id.value() + 1;
    std::reverse(step.after.begin(), step.after.end());
  }

  // By stream: the number of steps in the list up to the last step that is known to have ended when this one ends.
  std::uint32_t* clock(StepId id) { return clocks_.data() + id.index() * program_.streams.size(); }

  const Graph& graph_;
  Program program_;
  const Layout& layout_;
  IdVector<ValueId, std::vector<StepId>> writers_;  // several if copies fill the value piece by piece
  std::vector<TouchedBytes> in_regions_;            // by region
  std::map<BufferId, TouchedBytes> elsewhere_;      // buffers without a placement that some step writes
  IdVector<NodeId, std::optional<StepId>> first_step_;
  std::vector<std::uint32_t> clocks_;
  IdVector<StreamId, std::optional<StepId>> last_;
};

}  // namespace

Program with_waits(const Graph& graph, Program program, const Layout& layout) {
  return Waits(graph, std::move(program), layout).add();
}

}  // namespace lowtide
