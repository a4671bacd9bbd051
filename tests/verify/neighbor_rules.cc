// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "tests/verify/byte_oracle.h"

namespace lowtide::testing {
namespace {

class Neighbors {
 public:
  Neighbors(const Graph& graph, const Plan& plan) : graph_(graph), plan_(plan) {
    for (ValueId id : all_ids<ValueId>(plan.program.values.size())) label_.push_back(id.value());
    while (join_all()) {
    }
  }

  std::vector<std::string> check() const {
    for (ValueId a : all_ids<ValueId>(label_.size())) {
      for (ValueId b : all_ids<ValueId>(label_.size())) {
        if (label_[a] == label_[b] || !are_in_one_buffer(a, b) || !are_together(a, b)) continue;
        if (is_off(a) || is_off(b)) return {"values in one buffer that share no bytes begin at the alignment"};
      }
    }
    return {};
  }

 private:
  // Gives both values the smaller label. Returns whether one of them had the larger one.
  bool join(ValueId a, ValueId b) {
    if (label_[a] == label_[b]) return false;
    label_[a] = label_[b] = std::min(label_[a], label_[b]);
    return true;
  }

  bool join_all() {
    bool is_changed = false;
    for (const Step& step : plan_.program.steps) {
      std::vector<ValueId> all = step.reads;
      all.insert(all.end(), step.writes.begin(), step.writes.end());
      for (ValueId a : all) {
        for (ValueId b : all) {
          if (is_alias(step) || have_common_bytes(a, b)) is_changed = join(a, b) || is_changed;
        }
      }
    }
    return is_changed;
  }

  std::int64_t size(ValueId id) const { return graph_.tensor(plan_.program.values[id].tensor).size.count(); }
  std::int64_t begin(ValueId id) const { return plan_.layout.values[id].offset.position(); }

  bool have_common_bytes(ValueId a, ValueId b) const {
    return plan_.layout.values[a].buffer == plan_.layout.values[b].buffer && begin(a) < begin(b) + size(b) &&
           begin(b) < begin(a) + size(a) && size(a) > 0 && size(b) > 0;
  }

  bool are_in_one_buffer(ValueId a, ValueId b) const {
    const BufferId buffer = plan_.layout.values[a].buffer;
    return buffer == plan_.layout.values[b].buffer && plan_.layout.buffers[buffer].placement && size(a) > 0 &&
           size(b) > 0;
  }

  // The steps that touch the value; -1: it is there before the run; the number of steps: it is needed after the run.
  std::set<std::int64_t> steps_of(ValueId id) const {
    const auto has = [&](const std::vector<ValueId>& list) { return std::count(list.begin(), list.end(), id) > 0; };
    std::set<std::int64_t> steps;
    if (!plan_.program.values[id].written) steps.insert(-1);
    for (StepId step : all_ids<StepId>(plan_.program.steps.size())) {
      if (has(plan_.program.steps[step].reads) || has(plan_.program.steps[step].writes)) steps.insert(step.value());
    }
    if (has(plan_.program.outputs) || has(plan_.program.updates)) {
      steps.insert(static_cast<std::int64_t>(plan_.program.steps.size()));
    }
    return steps;
  }

  bool are_together(ValueId a, ValueId b) const {
    const std::set<std::int64_t> one = steps_of(a);
    const std::set<std::int64_t> other = steps_of(b);
    if (one.empty() || other.empty()) return false;
    return *one.begin() <= *other.rbegin() && *other.begin() <= *one.rbegin();
  }

  bool is_off(ValueId id) const {
    const Placement& place = *plan_.layout.buffers[plan_.layout.values[id].buffer].placement;
    return begin(id) % plan_.machine.regions[place.region.index()].alignment.count() != 0;
  }

  const Graph& graph_;
  const Plan& plan_;
  IdVector<ValueId, std::uint32_t> label_;
};

}  // namespace

std::vector<std::string> neighbor_faults(const Graph& graph, const Plan& plan) {
  return Neighbors(graph, plan).check();
}

}  // namespace lowtide::testing
