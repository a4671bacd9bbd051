// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "tests/verify/mutations.h"

namespace lowtide::testing {
namespace {

std::optional<StepId> some_step(Random& random, const Plan& plan) {
  return some_id<StepId>(random, plan.program.size(), [](StepId) { return true; });
}

// After steps moved: values say again where they are written, so that only the order is wrong.
void rewrite_steps(Plan& plan) {
  for (StepId id : all_ids<StepId>(plan.program.size())) {
    for (ValueId write : plan.program[id].writes) plan.values[write].written = id;
  }
}

// Every buffer lives all the time, so that lifespans have nothing to say against the damage. May make some overlap.
void live_always(Plan& plan) {
  const Lifespan all{StepId(0), StepId(static_cast<std::uint32_t>(plan.program.size()))};
  for (Buffer& buffer : plan.buffers) {
    buffer.lifespan = all;
    buffer.parts.clear();
  }
}

// Also at addresses of their own, so that only data flow is wrong.
void live_apart(Plan& plan) {
  live_always(plan);
  for (Region& region : plan.regions) region.capacity = std::nullopt;
  Offset next(0);
  for (Buffer& buffer : plan.buffers) {
    if (!buffer.placement) continue;
    const Bytes alignment = plan.regions[buffer.placement->region.index()].alignment;
    buffer.placement->offset = round_up(next, alignment);
    next = buffer.placement->offset + buffer.size;
  }
}

bool depends(const Plan& plan, StepId later, StepId earlier) {
  for (ValueId read : plan.program[later].reads) {
    if (plan.values[read].written == earlier) return true;
  }
  return false;
}

bool swap_dependent_steps(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto first = some_id<StepId>(random, plan.program.size(), [&](StepId id) {
    return id.index() + 1 < plan.program.size() && depends(plan, StepId(id.value() + 1), id);
  });
  if (!first) return false;
  std::swap(plan.program[*first], plan.program[StepId(first->value() + 1)]);
  rewrite_steps(plan);
  live_apart(plan);
  return true;
}

bool swap_any_steps(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto a = some_step(random, plan);
  const auto b = some_step(random, plan);
  if (!a || *a == *b) return false;
  std::swap(plan.program[*a], plan.program[*b]);
  if (random.chance(80)) rewrite_steps(plan);
  if (random.chance(50)) live_apart(plan);
  return true;
}

bool drop_a_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto dropped = some_step(random, plan);
  if (!dropped) return false;
  IdVector<StepId, Step> program;
  for (StepId id : all_ids<StepId>(plan.program.size())) {
    if (id != *dropped) program.push_back(plan.program[id]);
  }
  plan.program = program;
  const auto steps = static_cast<std::uint32_t>(program.size());
  for (Value& value : plan.values) {
    if (value.written && *value.written > *dropped) value.written = StepId(value.written->value() - 1);
    if (value.written && value.written->value() >= steps) value.written = StepId(0);
  }
  live_apart(plan);
  return true;
}

bool repeat_a_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_step(random, plan);
  if (!id) return false;
  plan.program.push_back(plan.program[*id]);
  if (random.chance(50)) rewrite_steps(plan);
  live_apart(plan);
  return true;
}

// The second run also has values of its own: a recomputation, which nobody asked for.
bool recompute_a_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_step(random, plan);
  if (!id) return false;
  Step again = plan.program[*id];
  const StepId at(static_cast<std::uint32_t>(plan.program.size()));
  for (ValueId& write : again.writes) {
    Value copy = plan.values[write];
    copy.written = at;
    copy.buffer = plan.buffers.push_back(plan.buffers[copy.buffer]);
    write = plan.values.push_back(copy);
  }
  if (again.scratch) again.scratch = plan.buffers.push_back(plan.buffers[*again.scratch]);
  plan.program.push_back(again);
  live_apart(plan);
  return true;
}

bool reverse_the_program(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.size() < 2) return false;
  std::reverse(plan.program.begin(), plan.program.end());
  rewrite_steps(plan);
  live_apart(plan);
  return true;
}

bool rotate_the_program(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.size() < 2) return false;
  const auto by = static_cast<std::ptrdiff_t>(random.between(1, static_cast<std::int64_t>(plan.program.size()) - 1));
  std::rotate(plan.program.begin(), plan.program.begin() + by, plan.program.end());
  rewrite_steps(plan);
  if (random.chance(50)) live_apart(plan);
  return true;
}

bool alias_instead_of_compute(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_id<StepId>(random, plan.program.size(),
                                  [&](StepId at) { return plan.program[at].kind == StepKind::compute; });
  if (!id) return false;
  plan.program[*id].kind = StepKind::alias;
  if (random.chance(80)) plan.program[*id].scratch.reset();
  return true;
}

bool compute_instead_of_alias(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id =
      some_id<StepId>(random, plan.program.size(), [&](StepId at) { return plan.program[at].kind == StepKind::alias; });
  if (id) plan.program[*id].kind = StepKind::compute;
  return id.has_value();
}

std::vector<ValueId>* some_list(Random& random, Plan& plan, bool of_reads, std::size_t least) {
  const auto id = some_id<StepId>(random, plan.program.size(), [&](StepId at) {
    return (of_reads ? plan.program[at].reads : plan.program[at].writes).size() >= least;
  });
  if (!id) return nullptr;
  return of_reads ? &plan.program[*id].reads : &plan.program[*id].writes;
}

bool read_another_value(Random& random, Mutant& mutant) {
  std::vector<ValueId>* reads = some_list(random, mutant.plan, true, 1);
  if (reads == nullptr) return false;
  const ValueId other(static_cast<std::uint32_t>(random.below(mutant.plan.values.size())));
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
  const ValueId other(static_cast<std::uint32_t>(random.below(mutant.plan.values.size())));
  return std::exchange((*writes)[random.below(writes->size())], other) != other;
}

bool written_in_another_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_step(random, plan);
  if (!step) return false;
  Value& value = plan.values[ValueId(static_cast<std::uint32_t>(random.below(plan.values.size())))];
  const std::optional<StepId> other = random.chance(80) ? step : std::nullopt;
  return std::exchange(value.written, other) != other;
}

bool another_tensor(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  Value& value = plan.values[ValueId(static_cast<std::uint32_t>(random.below(plan.values.size())))];
  const TensorId other(static_cast<std::uint32_t>(random.below(mutant.graph->tensors().size())));
  return std::exchange(value.tensor, other) != other;
}

bool another_node(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_step(random, plan);
  if (!step) return false;
  const NodeId other(static_cast<std::uint32_t>(random.below(mutant.graph->nodes().size())));
  return std::exchange(plan.program[*step].node, other) != other;
}

bool scratch_of_another_step(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_step(random, plan);
  if (!step) return false;
  const BufferId other(static_cast<std::uint32_t>(random.below(plan.buffers.size())));
  plan.program[*step].scratch = other;
  return true;
}

bool id_out_of_range(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const std::uint32_t far = random.chance(50) ? ~0U : static_cast<std::uint32_t>(1000 + random.below(1000));
  Value& value = plan.values[ValueId(static_cast<std::uint32_t>(random.below(plan.values.size())))];
  const auto step = some_step(random, plan);
  const std::uint64_t choice = random.below(step ? 7 : 3);
  if (choice == 0) value.tensor = TensorId(far);
  if (choice == 1) value.buffer = BufferId(far);
  if (choice == 2) value.written = StepId(far);
  if (choice == 3) plan.program[*step].node = NodeId(far);
  if (choice == 4) plan.program[*step].reads.emplace_back(far);
  if (choice == 5) plan.program[*step].writes.emplace_back(far);
  if (choice == 6) plan.program[*step].scratch = BufferId(far);
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
