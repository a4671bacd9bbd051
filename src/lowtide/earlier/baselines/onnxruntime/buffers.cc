// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/buffers.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace lowtide::baselines_internal {
namespace {

class BufferPlanner {
 public:
  explicit BufferPlanner(const RuntimeSteps& steps)
      : steps_(steps),
        uses_(steps.values.size()),
        choice_{{}, IdVector<RuntimeValueId, std::optional<std::size_t>>(uses_.size())} {
    for (RuntimeValueId id : all_ids<RuntimeValueId>(steps.values.size())) choice_.holder.push_back(id);
    count_uses();
  }

  BufferChoice plan() {
    for (std::size_t at = 0; at < steps_.steps.size(); ++at) {
      const RuntimeStep& step = steps_.steps[at];
      for (std::size_t output = 0; output < step.outputs.size(); ++output) decide(step, output);
      for (RuntimeValueId id : step.inputs) {
        const RuntimeValueId holder = choice_.holder[id];
        if (is_own(holder)) choice_.last_step[holder] = at;
        drop_use(holder);
      }
      for (RuntimeValueId id : step.outputs) drop_use(choice_.holder[id]);
    }
    return std::move(choice_);
  }

 private:
  using ShapeKey = std::pair<int, ShapeForm>;

  // Counts one use per read and per write, and one more for a value that exists before or after the run.
  void count_uses() {
    for (RuntimeValueId id : all_ids<RuntimeValueId>(steps_.values.size())) {
      const RuntimeValue& value = steps_.values[id];
      uses_[id] = value.is_given || value.is_output ? 1 : 0;
    }
    for (const RuntimeStep& step : steps_.steps) {
      for (RuntimeValueId id : step.inputs) ++uses_[id];
      for (RuntimeValueId id : step.outputs) ++uses_[id];
    }
  }

  bool is_own(RuntimeValueId holder) const {
    return !steps_.values[holder].is_given && !steps_.values[holder].is_output;
  }

  bool has_same_form(RuntimeValueId a, RuntimeValueId b) const {
    const RuntimeValue& one = steps_.values[a];
    const RuntimeValue& other = steps_.values[b];
    return one.element_bits == other.element_bits && one.form && one.form == other.form;
  }

  void share(RuntimeValueId id, RuntimeValueId holder) {
    choice_.holder[id] = holder;
    uses_[holder] += uses_[id];
  }

  void decide(const RuntimeStep& step, std::size_t output) {
    const RuntimeValueId id = step.outputs[output];
    if (steps_.values[id].is_output) return;
    if (output == 0 && step.rule_input && follow_rule(step, id)) return;
    take_dead(id);
  }

  bool follow_rule(const RuntimeStep& step, RuntimeValueId id) {
    const RuntimeValueId input = *step.rule_input;
    const RuntimeValueId holder = choice_.holder[input];
    const bool is_followed = step.rule == OutputRule::is_input ||
                             (step.rule == OutputRule::may_replace && uses_[holder] == 1 && has_same_form(input, id));
    if (is_followed) share(id, holder);
    return is_followed;
  }

  void take_dead(RuntimeValueId id) {
    const RuntimeValue& value = steps_.values[id];
    if (!value.form || value.form->empty()) return;
    const auto dead = dead_.find(key(value));
    if (dead == dead_.end() || dead->second.empty()) return;
    const RuntimeValueId holder = dead->second.back();
    dead->second.pop_back();
    share(id, holder);
  }

  void drop_use(RuntimeValueId holder) {
    const RuntimeValue& value = steps_.values[holder];
    if (--uses_[holder] == 0 && value.form) dead_[key(value)].push_back(holder);
  }

  static ShapeKey key(const RuntimeValue& value) { return {value.element_bits, *value.form}; }

  const RuntimeSteps& steps_;
  IdVector<RuntimeValueId, std::int64_t> uses_;  // by holder, those that remain
  BufferChoice choice_;
  std::map<ShapeKey, std::vector<RuntimeValueId>> dead_;  // the most recent is last
};

}  // namespace

BufferChoice choose_buffers(const RuntimeSteps& steps) { return BufferPlanner(steps).plan(); }

}  // namespace lowtide::baselines_internal
