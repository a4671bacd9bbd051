// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/random.h"
#include "tests/verify/program_plans.h"
#include "tests/verify/small_plans.h"

// Helpers for damages of programs.
namespace lowtide::testing {

inline std::uint32_t step_count(const Plan& plan) { return static_cast<std::uint32_t>(plan.program.steps.size()); }

template <typename Predicate>
std::optional<StepId> some_step(Random& random, const Plan& plan, const Predicate& predicate) {
  return some_id<StepId>(random, plan.program.steps.size(),
                         [&](StepId id) { return predicate(plan.program.steps[id]); });
}

inline std::optional<StepId> some_copy(Random& random, const Plan& plan) {
  return some_step(random, plan, [](const Step& step) { return is_copy(step); });
}

// Makes all buffers live throughout at addresses of their own. Then only the order of the steps can be wrong.
inline void leave_only_order(Plan& plan) {
  Offset next(0);
  for (Buffer& buffer : plan.layout.buffers) {
    buffer.lifespan = {StepId(0), StepId(step_count(plan))};
    if (!buffer.placement) continue;
    buffer.placement->offset = next;
    next = round_up(next + buffer.size, Bytes(64));
  }
}

// Moves a step to another position of the list. Everything that names steps is updated. Waits that would point forwards
// are removed.
inline void move_step(Plan& plan, StepId from, StepId to) {
  std::vector<std::uint32_t> order(step_count(plan));
  for (std::uint32_t at = 0; at < order.size(); ++at) order[at] = at;
  order.erase(order.begin() + from.value());
  order.insert(order.begin() + to.value(), from.value());
  std::vector<std::uint32_t> position(order.size());
  for (std::uint32_t at = 0; at < order.size(); ++at) position[order[at]] = at;
  const Plan old = plan;
  for (std::uint32_t at = 0; at < order.size(); ++at) {
    Step& step = plan.program.steps[StepId(at)];
    step = old.program.steps[StepId(order[at])];
    plan.layout.steps[StepId(at)] = old.layout.steps[StepId(order[at])];
    for (StepId& before : step.after) before = StepId(position[before.index()]);
    std::erase_if(step.after, [&](StepId before) { return before >= StepId(at); });
    std::sort(step.after.begin(), step.after.end());
  }
  for (Value& value : plan.program.values) {
    if (value.written) value.written = StepId(position[value.written->index()]);
  }
  leave_only_order(plan);
}

// Appends a step, with nothing else changed.
inline StepId add_step(Plan& plan, Step step) {
  plan.layout.steps.push_back({});
  return plan.program.steps.push_back(std::move(step));
}

// Damages of state updates, of operands of concats, and of streams and kernels. transfer_damages() contains them.
[[nodiscard]] std::vector<Damage> state_damages();

}  // namespace lowtide::testing
