// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "tests/verify/mutations.h"

namespace lowtide::testing {
namespace {

std::optional<StepId> any_step(Random& random, const Plan& plan) {
  return some_id<StepId>(random, plan.program.steps.size(), [](StepId) { return true; });
}

// To be called after steps have moved. Makes each value name the step that writes it, and each step wait for the one
// before it. So only the order is wrong.
void rewrite_steps(Plan& plan) {
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    Step& step = plan.program.steps[id];
    for (ValueId write : step.writes) plan.program.values[write].written = id;
    step.after.clear();
    if (id == StepId(0)) continue;
    const StepId last(id.value() - 1);
    if (plan.program.steps[last].stream != step.stream) step.after = {last};
  }
}

void swap_steps(Plan& plan, StepId a, StepId b) {
  std::swap(plan.program.steps[a], plan.program.steps[b]);
  std::swap(plan.layout.steps[a], plan.layout.steps[b]);
}

// Makes every buffer live throughout, so that no lifespan reveals the damage. Some buffers may then overlap.
void live_always(Plan& plan) {
  const Lifespan all{StepId(0), StepId(static_cast<std::uint32_t>(plan.program.steps.size()))};
  for (Buffer& buffer : plan.layout.buffers) {
    buffer.lifespan = all;
    buffer.parts.clear();
  }
}

// Also gives all buffers addresses of their own, so that only data flow is wrong.
void live_apart(Plan& plan) {
  live_always(plan);
  for (Region& region : plan.machine.regions) region.capacity = std::nullopt;
  Offset next(0);
  for (Buffer& buffer : plan.layout.buffers) {
    if (!buffer.placement || buffer.placement->region.index() >= plan.machine.regions.size()) continue;
    const Bytes alignment = plan.machine.regions[buffer.placement->region.index()].alignment;
    buffer.placement->offset = round_up(next, alignment);
    next = buffer.placement->offset + buffer.size;
  }
}

bool depends(const Plan& plan, StepId later, StepId earlier) {
  for (ValueId read : plan.program.steps[later].reads) {
    if (plan.program.values[read].written == earlier) return true;
  }
  return false;
}

bool swap_dependent_steps(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto first = some_id<StepId>(random, plan.program.steps.size(), [&](StepId id) {
    return id.index() + 1 < plan.program.steps.size() && depends(plan, StepId(id.value() + 1), id);
  });
  if (!first) return false;
  swap_steps(plan, *first, StepId(first->value() + 1));
  rewrite_steps(plan);
  live_apart(plan);
  return true;
}

bool swap_any_steps(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto a = any_step(random, plan);
  const auto b = any_step(random, plan);
  if (!a || *a == *b) return false;
  swap_steps(plan, *a, *b);
  if (random.chance(80)) rewrite_steps(plan);
  if (random.chance(50)) live_apart(plan);
  return true;
}

bool drop_a_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto dropped = any_step(random, plan);
  if (!dropped) return false;
  IdVector<StepId, Step> steps;
  IdVector<StepId, StepSpace> spaces;
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    if (id == *dropped) continue;
    steps.push_back(plan.program.steps[id]);
    spaces.push_back(plan.layout.steps[id]);
  }
  plan.program.steps = steps;
  plan.layout.steps = spaces;
  const auto count = static_cast<std::uint32_t>(steps.size());
  for (Value& value : plan.program.values) {
    if (value.written && *value.written > *dropped) value.written = StepId(value.written->value() - 1);
    if (value.written && value.written->value() >= count) value.written = StepId(0);
  }
  rewrite_steps(plan);
  live_apart(plan);
  return true;
}

bool repeat_a_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = any_step(random, plan);
  if (!id) return false;
  plan.program.steps.push_back(Step(plan.program.steps[*id]));
  plan.layout.steps.push_back(StepSpace(plan.layout.steps[*id]));
  if (random.chance(50)) rewrite_steps(plan);
  live_apart(plan);
  return true;
}

// The second run has values of its own. The plan is right if the operator gives the same result again and nothing has
// taken over the bytes of its operands.
bool recompute_a_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = any_step(random, plan);
  if (!id) return false;
  Step again = plan.program.steps[*id];
  StepSpace space = plan.layout.steps[*id];
  const StepId at(static_cast<std::uint32_t>(plan.program.steps.size()));
  for (ValueId& write : again.writes) {
    ValuePlace place = plan.layout.values[write];
    const Value value{plan.program.values[write].tensor, at};
    place.buffer = plan.layout.buffers.push_back(Buffer(plan.layout.buffers[place.buffer]));
    if (plan.layout.buffers[place.buffer].kind == BufferKind::output) {
      plan.layout.buffers[place.buffer].kind = BufferKind::temporary;
    }
    plan.layout.values.push_back(place);
    write = plan.program.values.push_back(value);
  }
  if (space.scratch) space.scratch = plan.layout.buffers.push_back(Buffer(plan.layout.buffers[*space.scratch]));
  plan.program.steps.push_back(again);
  plan.layout.steps.push_back(space);
  rewrite_steps(plan);
  live_apart(plan);
  return true;
}

bool reverse_the_program(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.steps.size() < 2) return false;
  std::reverse(plan.program.steps.begin(), plan.program.steps.end());
  std::reverse(plan.layout.steps.begin(), plan.layout.steps.end());
  rewrite_steps(plan);
  live_apart(plan);
  return true;
}

bool rotate_the_program(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.steps.size() < 2) return false;
  const auto by =
      static_cast<std::ptrdiff_t>(random.between(1, static_cast<std::int64_t>(plan.program.steps.size()) - 1));
  std::rotate(plan.program.steps.begin(), plan.program.steps.begin() + by, plan.program.steps.end());
  std::rotate(plan.layout.steps.begin(), plan.layout.steps.begin() + by, plan.layout.steps.end());
  rewrite_steps(plan);
  if (random.chance(50)) live_apart(plan);
  return true;
}

bool alias_instead_of_compute(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id =
      some_id<StepId>(random, plan.program.steps.size(), [&](StepId at) { return is_compute(plan.program.steps[at]); });
  if (!id) return false;
  plan.program.steps[*id].work = Alias{*node_of(plan.program.steps[*id])};
  if (random.chance(80)) plan.layout.steps[*id] = {};
  return true;
}

bool compute_instead_of_alias(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id =
      some_id<StepId>(random, plan.program.steps.size(), [&](StepId at) { return is_alias(plan.program.steps[at]); });
  if (id) plan.program.steps[*id].work = Compute{*node_of(plan.program.steps[*id]), KernelId(0)};
  return id.has_value();
}

std::vector<ValueId>* some_list(Random& random, Plan& plan, bool of_reads, std::size_t least) {
  const auto id = some_id<StepId>(random, plan.program.steps.size(), [&](StepId at) {
    return (of_reads ? plan.program.steps[at].reads : plan.program.steps[at].writes).size() >= least;
  });
  if (!id) return nullptr;
  return of_reads ? &plan.program.steps[*id].reads : &plan.program.steps[*id].writes;
}

bool read_another_value(Random& random, Mutant& mutant) {
  std::vector<ValueId>* reads = some_list(random, mutant.plan, true, 1);
  if (reads == nullptr) return false;
  const ValueId other(static_cast<std::uint32_t>(random.below(mutant.plan.program.values.size())));
  return std::exchange((*reads)[random.below(reads->size())], other) != other;
}

bool forget_a_read(Random& random, Mutant& mutant) {
  std::vector<ValueId>* reads = some_list(random, mutant.plan, true, 1);
  if (reads != nullptr) reads->pop_back();
  return reads != nullptr;
}

bool swap_reads(Random& random, Mutant& mutant) {
  std::vector<ValueId>* reads = some_list(random, mutant.plan, true, 2);
  if (reads != nullptr) std::swap(reads->front(), reads->back());
  return reads != nullptr;
}

bool repeat_a_read(Random& random, Mutant& mutant) {
  std::vector<ValueId>* reads = some_list(random, mutant.plan, true, 1);
  if (reads != nullptr) reads->push_back(reads->front());
  return reads != nullptr;
}

bool swap_writes(Random& random, Mutant& mutant) {
  std::vector<ValueId>* writes = some_list(random, mutant.plan, false, 2);
  if (writes != nullptr) std::swap(writes->front(), writes->back());
  return writes != nullptr;
}

bool write_another_value(Random& random, Mutant& mutant) {
  std::vector<ValueId>* writes = some_list(random, mutant.plan, false, 1);
  if (writes == nullptr) return false;
  const ValueId other(static_cast<std::uint32_t>(random.below(mutant.plan.program.values.size())));
  return std::exchange((*writes)[random.below(writes->size())], other) != other;
}

bool written_in_another_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = any_step(random, plan);
  if (!step) return false;
  Value& value = plan.program.values[ValueId(static_cast<std::uint32_t>(random.below(plan.program.values.size())))];
  const std::optional<StepId> other = random.chance(80) ? step : std::nullopt;
  return std::exchange(value.written, other) != other;
}

bool another_tensor(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  Value& value = plan.program.values[ValueId(static_cast<std::uint32_t>(random.below(plan.program.values.size())))];
  const TensorId other(static_cast<std::uint32_t>(random.below(mutant.graph->tensors().size())));
  return std::exchange(value.tensor, other) != other;
}

void set_node(Step& step, NodeId node) {
  if (Compute* compute = std::get_if<Compute>(&step.work)) compute->node = node;
  if (Alias* alias = std::get_if<Alias>(&step.work)) alias->node = node;
}

bool another_node(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step =
      some_id<StepId>(random, plan.program.steps.size(), [&](StepId at) { return !is_copy(plan.program.steps[at]); });
  if (!step) return false;
  const NodeId other(static_cast<std::uint32_t>(random.below(mutant.graph->nodes().size())));
  const bool changes = node_of(plan.program.steps[*step]) != other;
  set_node(plan.program.steps[*step], other);
  return changes;
}

bool scratch_of_another_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = any_step(random, plan);
  if (!step) return false;
  const BufferId other(static_cast<std::uint32_t>(random.below(plan.layout.buffers.size())));
  plan.layout.steps[*step].scratch = other;
  return true;
}

bool id_out_of_range(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const std::uint32_t far = random.chance(50) ? ~0U : static_cast<std::uint32_t>(1000 + random.below(1000));
  const ValueId value(static_cast<std::uint32_t>(random.below(plan.program.values.size())));
  const auto step = any_step(random, plan);
  const std::uint64_t choice = random.below(step ? 12 : 5);
  if (choice == 0) plan.program.values[value].tensor = TensorId(far);
  if (choice == 1) plan.layout.values[value].buffer = BufferId(far);
  if (choice == 2) plan.program.values[value].written = StepId(far);
  if (choice == 3) plan.program.outputs.back() = ValueId(far);
  if (choice == 4) plan.machine.workers[WorkerId(0)].addressable.emplace_back(far);
  if (choice < 5) return true;
  Step& damaged = plan.program.steps[*step];
  if (choice == 5) damaged.work = Compute{NodeId(far), KernelId(0)};
  if (choice == 6) damaged.reads.emplace_back(far);
  if (choice == 7) damaged.writes.emplace_back(far);
  if (choice == 8) plan.layout.steps[*step].scratch = BufferId(far);
  if (choice == 9) damaged.stream = StreamId(far);
  if (choice == 10) damaged.after.emplace_back(far);
  if (choice == 11) damaged.work = Compute{node_of(damaged).value_or(NodeId(0)), KernelId(far)};
  return true;
}

}  // namespace

std::vector<MutationKind> program_mutations() {
  return {{"swap_dependent_steps", swap_dependent_steps},
          {"swap_any_steps", swap_any_steps},
          {"drop_a_step", drop_a_step},
          {"repeat_a_step", repeat_a_step},
          {"recompute_a_step", recompute_a_step},
          {"reverse_the_program", reverse_the_program},
          {"rotate_the_program", rotate_the_program},
          {"alias_instead_of_compute", alias_instead_of_compute},
          {"compute_instead_of_alias", compute_instead_of_alias},
          {"read_another_value", read_another_value},
          {"forget_a_read", forget_a_read},
          {"swap_reads", swap_reads},
          {"repeat_a_read", repeat_a_read},
          {"swap_writes", swap_writes},
          {"write_another_value", write_another_value},
          {"written_in_another_step", written_in_another_step},
          {"another_tensor", another_tensor},
          {"another_node", another_node},
          {"scratch_of_another_step", scratch_of_another_step},
          {"id_out_of_range", id_out_of_range}};
}

}  // namespace lowtide::testing
