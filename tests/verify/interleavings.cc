// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/verify/interleavings.h"

#include <cstdint>
#include <limits>
#include <set>
#include <tuple>
#include <vector>

namespace lowtide::testing {
namespace {

// Memory is one range of bytes: the arenas one after another, then each buffer that is not placed.
struct Run {
  std::uint32_t begun = 0;  // one bit per step
  std::uint32_t ended = 0;
  std::vector<std::int64_t> memory;
  std::vector<std::vector<std::int64_t>> held;  // by value: the tags of its bytes when they were put there, or kNothing
  friend bool operator<(const Run& a, const Run& b) {
    return std::tie(a.begun, a.ended, a.memory, a.held) < std::tie(b.begun, b.ended, b.memory, b.held);
  }
};

constexpr std::int64_t kNothing = std::numeric_limits<std::int64_t>::min();

struct Touched {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] bool contains(std::size_t at) const { return begin <= at && at < end; }
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

class Interpreter {
 public:
  Interpreter(const Graph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), buffer_at_(plan.layout.buffers.size()) {
    std::vector<std::size_t> region_at;
    for (Bytes arena : plan.layout.arena) {
      region_at.push_back(memory_);
      memory_ += static_cast<std::size_t>(arena.count());
    }
    for (BufferId id : all_ids<BufferId>(plan.layout.buffers.size())) {
      const Buffer& buffer = plan.layout.buffers[id];
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
    start.held.resize(plan_.program.values.size());
    for (ValueId id : all_ids<ValueId>(plan_.program.values.size())) {
      start.held[id.index()].assign(range_of(id).size(), kNothing);
      if (!plan_.program.values[id].written) produce(start, id, range_of(id));
    }
    std::vector<Run> open{start};
    std::set<Run> known{start};
    while (!open.empty()) {
      const Run run = std::move(open.back());
      open.pop_back();
      for (StepId id : all_ids<StepId>(plan_.program.steps.size())) {
        Run next = run;
        const bool is_running = is_in(run.begun, id) && !is_in(run.ended, id);
        if (!is_running && !may_begin(run, id)) continue;
        const std::string fault = is_running ? end(next, id) : begin(next, id);
        if (!fault.empty()) return fault + " of step " + std::to_string(id.value());
        if (known.insert(next).second) open.push_back(std::move(next));
      }
      if (run.ended + 1U == (1U << plan_.program.steps.size()) && !outputs_hold(run)) return "an output is lost";
    }
    return {};
  }

 private:
  static bool is_in(std::uint32_t set, StepId id) { return (set >> id.value() & 1U) != 0; }

  [[nodiscard]] bool may_begin(const Run& run, StepId id) const {
    if (is_in(run.begun, id)) return false;
    const Step& step = plan_.program.steps[id];
    for (StepId other : all_ids<StepId>(id.index())) {
      if (plan_.program.steps[other].stream == step.stream && !is_in(run.ended, other)) return false;
    }
    for (StepId other : step.after) {
      if (!is_in(run.ended, other)) return false;
    }
    return true;
  }

  [[nodiscard]] Touched range_of(ValueId id) const {
    const ValuePlace& place = plan_.layout.values[id];
    const std::size_t begin = buffer_at_[place.buffer] + static_cast<std::size_t>(place.offset.position());
    return {begin, begin + static_cast<std::size_t>(graph_.tensor(plan_.program.values[id].tensor).size.count())};
  }

  // The bytes of a value that a step reads or writes.
  [[nodiscard]] Touched range_of(const Step& step, ValueId id) const {
    const Touched all = range_of(id);
    const Copy* copy = std::get_if<Copy>(&step.work);
    if (copy == nullptr) return all;
    return {all.begin + static_cast<std::size_t>(copy->bytes.begin),
            all.begin + static_cast<std::size_t>(copy->bytes.end)};
  }

  [[nodiscard]] std::vector<Touched> written_by(StepId id) const {
    const Step& step = plan_.program.steps[id];
    std::vector<Touched> ranges;
    if (is_alias(step)) return ranges;
    for (ValueId write : step.writes) ranges.push_back(range_of(step, write));
    if (const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch) {
      const std::size_t at = buffer_at_[*scratch];
      ranges.push_back({at, at + static_cast<std::size_t>(plan_.layout.buffers[*scratch].size.count())});
    }
    return ranges;
  }

  void hold(Run& run, ValueId id, const Touched& range) const {
    for (std::size_t at = range.begin; at < range.end; ++at) {
      run.held[id.index()][at - range_of(id).begin] = run.memory[at];
    }
  }

  void produce(Run& run, ValueId id, const Touched& range) const {
    for (std::size_t at = range.begin; at < range.end; ++at) {
      run.memory[at] = std::int64_t{id.value()} * 65'536 + static_cast<std::int64_t>(at - range_of(id).begin);
    }
    hold(run, id, range);
  }

  // Whether all bytes of a range of a value are intact. Ignores those in `own`, which the step itself overwrites.
  [[nodiscard]] bool is_intact(const Run& run, ValueId id, const Touched& range,
                               const std::vector<Touched>& own = {}) const {
    const std::vector<std::int64_t>& held = run.held[id.index()];
    for (std::size_t at = range.begin; at < range.end; ++at) {
      bool is_own = false;
      for (const Touched& one : own) is_own = is_own || one.contains(at);
      if (!is_own && run.memory[at] != held[at - range_of(id).begin]) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_there(const Run& run, ValueId id) const {
    const std::optional<StepId>& written = plan_.program.values[id].written;
    return !written || is_in(run.ended, *written);
  }

  // Only the first run of a node counts, because the others give the same results.
  [[nodiscard]] bool has_run(const Run& run, NodeId node) const {
    for (StepId other : all_ids<StepId>(plan_.program.steps.size())) {
      if (node_of(plan_.program.steps[other]) == node) return is_in(run.ended, other);
    }
    return false;
  }

  std::string begin(Run& run, StepId id) const {
    const Step& step = plan_.program.steps[id];
    run.begun |= 1U << id.value();
    for (ValueId read : step.reads) {
      if (!is_there(run, read) || !is_intact(run, read, range_of(step, read))) return "a read at the beginning";
    }
    if (const std::optional<NodeId> node = node_of(step)) {
      for (NodeId before : graph_.node(*node).control_inputs) {
        if (!has_run(run, before)) return "a control input";
      }
    }
    for (const Touched& range : written_by(id)) {
      for (std::size_t at = range.begin; at < range.end; ++at) run.memory[at] = useless(id);
    }
    return {};
  }

  std::string end(Run& run, StepId id) const {
    const Step& step = plan_.program.steps[id];
    run.ended |= 1U << id.value();
    const std::vector<Touched> own = written_by(id);
    for (ValueId read : step.reads) {
      if (!is_intact(run, read, range_of(step, read), own)) return "a read at the end";
    }
    for (const Touched& range : own) {
      for (std::size_t at = range.begin; at < range.end; ++at) {
        if (run.memory[at] != useless(id)) return "a write";
      }
    }
    for (ValueId write : step.writes) {
      if (is_alias(step)) {
        hold(run, write, range_of(write));
      } else {
        produce(run, write, range_of(step, write));
      }
    }
    return {};
  }

  static std::int64_t useless(StepId id) { return -2 - std::int64_t{id.value()}; }

  [[nodiscard]] bool outputs_hold(const Run& run) const {
    for (const auto* list : {&plan_.program.outputs, &plan_.program.updates}) {
      for (ValueId id : *list) {
        if (!is_there(run, id) || !is_intact(run, id, range_of(id))) return false;
      }
    }
    return true;
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<BufferId, std::size_t> buffer_at_;
  std::size_t memory_ = 0;
};

}  // namespace

std::string fault_of_some_run(const Graph& graph, const Plan& plan) {
  return Interpreter(graph, plan).look_at_every_run();
}

}  // namespace lowtide::testing
