// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/interleavings.h"

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace lowtide::testing {
namespace {

// Memory is one row: the arenas one after another, then each buffer that is not placed.
struct Run {
  std::uint32_t begun = 0;  // a bit a step
  std::uint32_t ended = 0;
  std::vector<std::int64_t> memory;
  std::vector<std::vector<std::int64_t>> held;  // by value: its tags when it was put there; bytes + 1 of them, or none
  friend bool operator<(const Run& a, const Run& b) {
    return std::tie(a.begun, a.ended, a.memory, a.held) < std::tie(b.begun, b.ended, b.memory, b.held);
  }
};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool contains(std::size_t at) const { return begin <= at && at < end; }
};

class Machine {
 public:
  Machine(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan), buffer_at_(plan.buffers.size()) {
    std::vector<std::size_t> region_at;
    for (Bytes arena : plan.arena) {
      region_at.push_back(memory_);
      memory_ += static_cast<std::size_t>(arena.count());
    }
    for (BufferId id : all_ids<BufferId>(plan.buffers.size())) {
      const Buffer& buffer = plan.buffers[id];
      if (buffer.placement) {
        buffer_at_[id] =
            region_at[buffer.placement->region.index()] + static_cast<std::size_t>(buffer.placement->offset.position());
      } else {
        buffer_at_[id] = memory_;
        memory_ += static_cast<std::size_t>(buffer.size.count());
      }
    }
  }

  std::string look_at_every_run() {
    Run start;
    start.memory.assign(memory_, -1);
    start.held.resize(plan_.values.size());
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      if (!plan_.values[id].written) produce(start, id);
    }
    std::vector<Run> open{start};
    std::set<Run> known{start};
    while (!open.empty()) {
      const Run run = std::move(open.back());
      open.pop_back();
      for (StepId id : all_ids<StepId>(plan_.program.size())) {
        Run next = run;
        const bool is_running = is_in(run.begun, id) && !is_in(run.ended, id);
        if (!is_running && !may_begin(run, id)) continue;
        const std::string fault = is_running ? end(next, id) : begin(next, id);
        if (!fault.empty()) return fault + " of step " + std::to_string(id.value());
        if (known.insert(next).second) open.push_back(std::move(next));
      }
      if (run.ended + 1U == (1U << plan_.program.size()) && !outputs_hold(run)) return "an output is lost";
    }
    return {};
  }

 private:
  static bool is_in(std::uint32_t set, StepId id) { return (set >> id.value() & 1U) != 0; }

  [[nodiscard]] bool may_begin(const Run& run, StepId id) const {
    if (is_in(run.begun, id)) return false;
    const Step& step = plan_.program[id];
    for (StepId other : all_ids<StepId>(id.index())) {
      if (plan_.program[other].stream == step.stream && !is_in(run.ended, other)) return false;
    }
    for (StepId other : step.after) {
      if (!is_in(run.ended, other)) return false;
    }
    return true;
  }

  [[nodiscard]] Range range_of(ValueId id) const {
    const Value& value = plan_.values[id];
    const std::size_t begin = buffer_at_[value.buffer] + static_cast<std::size_t>(value.offset.position());
    return {begin, begin + static_cast<std::size_t>(graph_.tensor(value.tensor).size.count())};
  }

  [[nodiscard]] std::vector<Range> written_by(const Step& step) const {
    std::vector<Range> ranges;
    for (ValueId write : step.writes) ranges.push_back(range_of(write));
    if (step.scratch) {
      const std::size_t at = buffer_at_[*step.scratch];
      ranges.push_back({at, at + static_cast<std::size_t>(plan_.buffers[*step.scratch].size.count())});
    }
    return ranges;
  }

  void hold(Run& run, ValueId id) const {
    const Range range = range_of(id);
    run.held[id.index()] = {0};
    for (std::size_t at = range.begin; at < range.end; ++at) run.held[id.index()].push_back(run.memory[at]);
  }

  void produce(Run& run, ValueId id) const {
    const Range range = range_of(id);
    for (std::size_t at = range.begin; at < range.end; ++at) {
      run.memory[at] = std::int64_t{id.value()} * 65'536 + static_cast<std::int64_t>(at - range.begin);
    }
    hold(run, id);
  }

  // But for what the step itself overwrites, where `own` names that.
  [[nodiscard]] bool is_intact(const Run& run, ValueId id, const std::vector<Range>& own = {}) const {
    const std::vector<std::int64_t>& held = run.held[id.index()];
    if (held.empty()) return false;
    const Range range = range_of(id);
    for (std::size_t at = range.begin; at < range.end; ++at) {
      bool is_own = false;
      for (const Range& one : own) is_own = is_own || one.contains(at);
      if (!is_own && run.memory[at] != held[at - range.begin + 1]) return false;
    }
    return true;
  }

  std::string begin(Run& run, StepId id) const {
    const Step& step = plan_.program[id];
    run.begun |= 1U << id.value();
    for (ValueId read : step.reads) {
      if (!is_intact(run, read)) return "a read at the begin";
    }
    for (NodeId before : graph_.node(step.node).control_inputs) {
      for (StepId other : all_ids<StepId>(plan_.program.size())) {
        if (plan_.program[other].node == before && !is_in(run.ended, other)) return "a control input";
      }
    }
    if (step.kind == StepKind::alias) return {};
    for (const Range& range : written_by(step)) {
      for (std::size_t at = range.begin; at < range.end; ++at) run.memory[at] = useless(id);
    }
    return {};
  }

  std::string end(Run& run, StepId id) const {
    const Step& step = plan_.program[id];
    run.ended |= 1U << id.value();
    const std::vector<Range> own = step.kind == StepKind::alias ? std::vector<Range>{} : written_by(step);
    for (ValueId read : step.reads) {
      if (!is_intact(run, read, own)) return "a read at the end";
    }
    for (const Range& range : own) {
      for (std::size_t at = range.begin; at < range.end; ++at) {
        if (run.memory[at] != useless(id)) return "a write";
      }
    }
    for (ValueId write : step.writes) {
      if (step.kind == StepKind::alias) {
        hold(run, write);
      } else {
        produce(run, write);
      }
    }
    return {};
  }

  static std::int64_t useless(StepId id) { return -2 - std::int64_t{id.value()}; }

  [[nodiscard]] bool outputs_hold(const Run& run) const {
    for (ValueId id : all_ids<ValueId>(plan_.values.size())) {
      if (graph_.tensor(plan_.values[id].tensor).role == Role::output && !is_intact(run, id)) return false;
    }
    return true;
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<BufferId, std::size_t> buffer_at_;
  std::size_t memory_ = 0;
};

}  // namespace

std::string fault_of_some_run(const Graph& graph, const Plan& plan) { return Machine(graph, plan).look_at_every_run(); }

}  // namespace lowtide::testing
