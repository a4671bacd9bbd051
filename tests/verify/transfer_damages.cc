// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "tests/verify/damage_steps.h"

namespace lowtide::testing {
namespace {

std::optional<StepId> some_link_copy(Random& random, const Plan& plan) {
  return some_step(random, plan, [&](const Step& step) {
    return is_copy(step) && plan.program.streams[step.stream].link.has_value();
  });
}

bool is_whole(const Mutant& mutant, const Step& step) {
  const TensorId tensor = mutant.plan.program.values[step.reads[0]].tensor;
  return std::get<Copy>(step.work).bytes == Interval<std::int64_t>{0, mutant.graph->tensor(tensor).size.count()};
}

std::optional<StepId> reader_of(const Plan& plan, ValueId value) {
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    const std::vector<ValueId>& reads = plan.program.steps[id].reads;
    if (std::find(reads.begin(), reads.end(), value) != reads.end()) return id;
  }
  return std::nullopt;
}

Buffer& buffer_of(Plan& plan, ValueId value) { return plan.layout.buffers[plan.layout.values[value].buffer]; }

bool copy_before_its_source(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy) return false;
  const std::optional<StepId> written = plan.program.values[plan.program.steps[*copy].reads[0]].written;
  if (!written) return false;
  move_step(plan, *copy, *written);
  return true;
}

bool copy_after_its_reader(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy || !is_whole(mutant, plan.program.steps[*copy])) return false;
  const std::optional<StepId> reader = reader_of(plan, plan.program.steps[*copy].writes[0]);
  if (!reader) return false;
  move_step(plan, *copy, *reader);
  return true;
}

bool copy_from_a_dead_buffer(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy || *copy == StepId(0)) return false;
  Buffer& source = buffer_of(plan, plan.program.steps[*copy].reads[0]);
  if (!source.placement || source.lifespan.begin >= *copy) return false;
  source.lifespan.end = *copy;
  return true;
}

bool copy_into_a_dead_buffer(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy) return false;
  Buffer& target = buffer_of(plan, plan.program.steps[*copy].writes[0]);
  if (!target.placement || target.lifespan.end.value() <= copy->value() + 1) return false;
  target.lifespan.begin = StepId(copy->value() + 1);
  return true;
}

bool copy_half_the_bytes(Random& random, Mutant& mutant) {
  const auto copy = some_copy(random, mutant.plan);
  if (!copy) return false;
  Interval<std::int64_t>& bytes = std::get<Copy>(mutant.plan.program.steps[*copy].work).bytes;
  bytes.end = bytes.begin + (bytes.end - bytes.begin) / 2;
  return true;
}

bool copy_shifted_bytes(Random& random, Mutant& mutant) {
  const auto copy = some_copy(random, mutant.plan);
  if (!copy) return false;
  Interval<std::int64_t>& bytes = std::get<Copy>(mutant.plan.program.steps[*copy].work).bytes;
  const std::int64_t by = random.between(1, 64);
  bytes = {bytes.begin + by, bytes.end + by};
  return true;
}

bool copy_a_piece_twice(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_step(random, plan, [&](const Step& step) { return is_copy(step) && !is_whole(mutant, step); });
  if (!copy) return false;
  Interval<std::int64_t>& bytes = std::get<Copy>(plan.program.steps[*copy].work).bytes;
  bytes = bytes.begin == 0 ? Interval<std::int64_t>{0, bytes.end + 1} : Interval<std::int64_t>{0, bytes.end};
  return true;
}

bool a_piece_is_complete_too_soon(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_step(random, plan, [&](const Step& step) {
    return is_copy(step) && !is_whole(mutant, step) && std::get<Copy>(step.work).bytes.begin == 0;
  });
  if (!copy) return false;
  plan.program.values[plan.program.steps[*copy].writes[0]].written = *copy;
  return true;
}

bool copy_the_wrong_tensor(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy) return false;
  Step& step = plan.program.steps[*copy];
  const TensorId tensor = plan.program.values[step.writes[0]].tensor;
  const auto other = some_id<ValueId>(random, plan.program.values.size(),
                                      [&](ValueId id) { return plan.program.values[id].tensor != tensor; });
  step.reads[0] = *other;
  return true;
}

bool copy_to_itself(Random& random, Mutant& mutant) {
  const auto copy = some_copy(random, mutant.plan);
  if (!copy) return false;
  Step& step = mutant.plan.program.steps[*copy];
  step.reads[0] = step.writes[0];
  return true;
}

// Puts the target into the buffer of the source, one byte further on.
bool copy_over_itself(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_step(random, plan, [&](const Step& step) {
    return is_copy(step) && is_whole(mutant, step) && !plan.program.streams[step.stream].link &&
           buffer_of(plan, step.reads[0]).placement && buffer_of(plan, step.writes[0]).placement;
  });
  if (!copy) return false;
  const Step& step = plan.program.steps[*copy];
  plan.layout.values[step.writes[0]].buffer = plan.layout.values[step.reads[0]].buffer;
  plan.layout.values[step.writes[0]].offset = plan.layout.values[step.reads[0]].offset + Bytes(1);
  return true;
}

bool copy_twice(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy) return false;
  const StepId again = add_step(plan, plan.program.steps[*copy]);
  plan.program.steps[again].after.clear();
  plan.program.values[plan.program.steps[*copy].writes[0]].written = again;
  for (Buffer& buffer : plan.layout.buffers) {
    if (buffer.lifespan.end.value() + 1 == step_count(plan)) buffer.lifespan.end = StepId(step_count(plan));
  }
  return true;
}

bool copy_into_the_wrong_region(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_link_copy(random, plan);
  if (!copy) return false;
  Buffer& target = buffer_of(plan, plan.program.steps[*copy].writes[0]);
  target.placement = Placement{RegionId(1 - target.placement->region.value()), Offset(4096)};
  return true;
}

bool copy_over_the_wrong_link(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_link_copy(random, plan);
  if (!copy || plan.machine.links.size() < 2) return false;
  for (Stream& stream : plan.program.streams) {
    if (stream.link) stream.link = LinkId(1 - stream.link->value());
  }
  return true;
}

bool link_leads_the_other_way(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.machine.links.empty()) return false;
  Link& link = plan.machine.links[LinkId(static_cast<std::uint32_t>(random.below(plan.machine.links.size())))];
  std::swap(link.from, link.to);
  return true;
}

bool kernel_on_a_link(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_step(random, plan, [](const Step& one) { return is_compute(one); });
  if (plan.machine.links.empty()) return false;
  Step& moved = plan.program.steps[*step];
  moved.stream = StreamId(1);
  std::erase_if(moved.after, [&](StepId before) { return plan.program.steps[before].stream == moved.stream; });
  for (Step& other : plan.program.steps) {
    std::erase_if(other.after, [&](StepId before) { return plan.program.steps[before].stream == other.stream; });
  }
  return true;
}

bool worker_cannot_reach(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.machine.regions.size() < 2) return false;
  Worker& worker = plan.machine.workers[WorkerId(0)];
  worker.addressable = {RegionId(1)};
  return random.chance(100);
}

bool read_what_was_swapped_out(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_link_copy(random, plan);
  if (!copy) return false;
  const ValueId from = plan.program.steps[*copy].reads[0];
  const ValueId to = plan.program.steps[*copy].writes[0];
  const std::optional<StepId> reader = reader_of(plan, to);
  if (!reader || !is_compute(plan.program.steps[*reader])) return false;
  std::vector<ValueId>& reads = plan.program.steps[*reader].reads;
  std::replace(reads.begin(), reads.end(), to, from);
  return true;
}

bool home_is_unknown(Random&, Mutant& mutant) {
  bool had_one = false;
  for (Buffer& buffer : mutant.plan.layout.buffers) had_one = std::exchange(buffer.home, std::nullopt) || had_one;
  return had_one;
}

bool home_is_elsewhere(Random&, Mutant& mutant) {
  bool had_one = false;
  for (Buffer& buffer : mutant.plan.layout.buffers) {
    if (!buffer.home) continue;
    buffer.home = RegionId(0);
    had_one = true;
  }
  return had_one;
}

bool random_node_runs_twice(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto drawn = some_step(random, plan, [&](const Step& step) {
    return is_compute(step) && mutant.graph->op(*node_of(step)).traits.is_random;
  });
  if (!drawn) return false;
  // A correct recomputation, if the operator permitted one: a value of its own, in bytes of its own.
  Step again = plan.program.steps[*drawn];
  const ValueId first = again.writes[0];
  Buffer buffer = buffer_of(plan, first);
  buffer.placement->offset = buffer.placement->offset + Bytes(4096);
  const BufferId place = plan.layout.buffers.push_back(buffer);
  plan.layout.values.push_back({.buffer = place});
  again.writes[0] = plan.program.values.push_back({.tensor = plan.program.values[first].tensor});
  const StepId id = add_step(plan, again);
  plan.program.values[again.writes[0]].written = id;
  leave_only_order(plan);
  return true;
}

bool recomputed_value_is_forgotten(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (!recomputes(plan.program)) return false;
  Step& last = plan.program.steps[StepId(step_count(plan) - 1)];
  const ValueId now = last.reads[1];
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    const bool is_first = id != now && plan.program.values[id].tensor == plan.program.values[now].tensor;
    if (is_first) last.reads[1] = id;
  }
  buffer_of(plan, last.reads[1]).lifespan.end = StepId(step_count(plan));
  return true;
}

bool recomputation_writes_the_first_value(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (!recomputes(plan.program)) return false;
  plan.program.steps[StepId(3)].writes = plan.program.steps[StepId(0)].writes;
  return true;
}

// Two copies of the same bytes on two streams, without an order between them.
bool two_copies_race(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_link_copy(random, plan);
  if (!copy || !is_whole(mutant, plan.program.steps[*copy])) return false;
  const Step first = plan.program.steps[*copy];
  plan.machine.links.push_back(plan.machine.links[*plan.program.streams[first.stream].link]);
  const StreamId stream =
      plan.program.streams.push_back({.link = LinkId(static_cast<std::uint32_t>(plan.machine.links.size() - 1))});
  // A second value in the same bytes, written in addition to the first one.
  const ValueId twin = plan.program.values.push_back(plan.program.values[first.writes[0]]);
  plan.layout.values.push_back(plan.layout.values[first.writes[0]]);
  const StepId last(step_count(plan));
  const StepId id = add_step(plan, {.work = first.work, .reads = first.reads, .writes = {twin}, .stream = stream});
  plan.program.values[twin].written = id;
  for (Buffer& buffer : plan.layout.buffers) buffer.lifespan.end = StepId(step_count(plan));
  move_step(plan, id, StepId(copy->value() + 1));
  return last == id;
}

bool a_wait_is_dropped(Random& random, Mutant& mutant) {
  const auto step = some_step(random, mutant.plan, [](const Step& one) { return !one.after.empty(); });
  if (!step) return false;
  std::vector<StepId>& after = mutant.plan.program.steps[*step].after;
  after.erase(after.begin() + static_cast<std::ptrdiff_t>(random.below(after.size())));
  return true;
}

}  // namespace

const std::vector<Damage>& transfer_damages() {
  using enum ViolationKind;
  static const std::vector<Damage> kDamages = [] {
    std::vector<Damage> all = {
        {"copy_before_its_source", data_flow, copy_before_its_source},
        {"copy_after_its_reader", data_flow, copy_after_its_reader},
        {"copy_from_a_dead_buffer", dead_access, copy_from_a_dead_buffer},
        {"copy_into_a_dead_buffer", dead_access, copy_into_a_dead_buffer},
        {"copy_half_the_bytes", data_flow, copy_half_the_bytes},
        {"copy_shifted_bytes", data_flow, copy_shifted_bytes},
        {"copy_a_piece_twice", data_flow, copy_a_piece_twice},
        {"a_piece_is_complete_too_soon", data_flow, a_piece_is_complete_too_soon},
        {"copy_the_wrong_tensor", data_flow, copy_the_wrong_tensor},
        {"copy_to_itself", data_flow, copy_to_itself},
        {"copy_over_itself", clobbered, copy_over_itself},
        {"copy_twice", data_flow, copy_twice},
        {"copy_into_the_wrong_region", unreachable, copy_into_the_wrong_region},
        {"copy_over_the_wrong_link", unreachable, copy_over_the_wrong_link},
        {"link_leads_the_other_way", unreachable, link_leads_the_other_way},
        {"kernel_on_a_link", unreachable, kernel_on_a_link},
        {"worker_cannot_reach", unreachable, worker_cannot_reach},
        {"read_what_was_swapped_out", unreachable, read_what_was_swapped_out},
        {"home_is_unknown", unreachable, home_is_unknown},
        {"home_is_elsewhere", unreachable, home_is_elsewhere},
        {"random_node_runs_twice", repeated_step, random_node_runs_twice},
        {"recomputed_value_is_forgotten", clobbered, recomputed_value_is_forgotten},
        {"recomputation_writes_the_first_value", data_flow, recomputation_writes_the_first_value},
        {"two_copies_race", race, two_copies_race},
        {"a_wait_is_dropped", race, a_wait_is_dropped}};
    for (Damage& damage : state_damages()) all.push_back(std::move(damage));
    return all;
  }();
  return kDamages;
}

}  // namespace lowtide::testing
