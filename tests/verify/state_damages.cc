// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "tests/verify/damage_steps.h"

namespace lowtide::testing {
namespace {

bool state_is_written_twice(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.updates.empty()) return false;
  const ValueId next = plan.program.updates[0];
  const StepId writer = *plan.program.values[next].written;
  const ValueId again = plan.program.values.push_back(plan.program.values[next]);
  plan.layout.values.push_back(plan.layout.values[next]);
  Step step = plan.program.steps[writer];
  if (!is_copy(step)) return false;
  step.writes = {again};
  const StepId id = add_step(plan, step);
  plan.program.values[again].written = id;
  plan.program.updates[0] = again;
  leave_only_order(plan);
  return true;
}

// Moves the update before the last step, which still reads the old content.
bool state_is_updated_too_early(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.updates.empty()) return false;
  const StepId writer = *plan.program.values[plan.program.updates[0]].written;
  if (!is_copy(plan.program.steps[writer])) return false;
  move_step(plan, writer, StepId(1));
  return true;
}

bool state_keeps_its_content(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.updates.empty()) return false;
  const ValueId next = plan.program.updates[0];
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    if (id != next && plan.program.values[id].tensor == plan.program.values[next].tensor) {
      plan.program.updates[0] = id;
      return true;
    }
  }
  return false;
}

bool state_becomes_another_tensor(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.updates.empty()) return false;
  plan.program.updates[0] = plan.program.outputs[0];
  return true;
}

bool update_is_missing(Random&, Mutant& mutant) {
  if (mutant.plan.program.updates.empty()) return false;
  mutant.plan.program.updates.clear();
  return true;
}

bool constant_is_written(Random&, Mutant& mutant) {
  Plan& plan = mutant.plan;
  for (ValueId id : all_ids<ValueId>(plan.program.values.size())) {
    const bool is_given = !plan.program.values[id].written;
    if (!is_given || mutant.graph->tensor(plan.program.values[id].tensor).role == Role::state) continue;
    const BufferId home = plan.layout.values[id].buffer;
    for (StepId step : all_ids<StepId>(step_count(plan))) {
      if (!is_compute(plan.program.steps[step])) continue;
      plan.layout.values[plan.program.steps[step].writes[0]] = {.buffer = home};
      return plan.layout.buffers[home].size >= Bytes(1);
    }
  }
  return false;
}

bool part_is_not_copied(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto alias = some_step(random, plan, [](const Step& step) { return is_alias(step); });
  if (!alias) return false;
  Step& step = plan.program.steps[*alias];
  for (ValueId& read : step.reads) {
    const std::optional<StepId> writer = plan.program.values[read].written;
    if (writer && is_copy(plan.program.steps[*writer])) read = plan.program.steps[*writer].reads[0];
  }
  return true;
}

bool part_is_beside_its_place(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  const auto alias = some_step(random, plan, [](const Step& step) { return is_alias(step); });
  if (!copy || !alias) return false;
  Offset& offset = plan.layout.values[plan.program.steps[*copy].writes[0]].offset;
  offset = Offset(offset.position() - 1);
  return true;
}

bool parts_change_places(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto alias = some_step(random, plan, [](const Step& step) { return is_alias(step); });
  if (!alias) return false;
  std::vector<ValueId>& reads = plan.program.steps[*alias].reads;
  if (plan.program.values[reads[0]].tensor != plan.program.values[reads[1]].tensor) return false;
  std::swap(reads[0], reads[1]);
  return true;
}

bool stream_runs_on_nothing(Random& random, Mutant& mutant) {
  auto& streams = mutant.plan.program.streams;
  streams[StreamId(static_cast<std::uint32_t>(random.below(streams.size())))] = {};
  return true;
}

bool two_streams_drive_a_link(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.machine.links.empty()) return false;
  plan.program.streams.push_back({.link = LinkId(static_cast<std::uint32_t>(random.below(plan.machine.links.size())))});
  for (Stream& stream : plan.program.streams) {
    if (stream.link) stream.link = LinkId(0);
  }
  return true;
}

bool link_leads_nowhere(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.machine.links.empty()) return false;
  Link& link = plan.machine.links[LinkId(static_cast<std::uint32_t>(random.below(plan.machine.links.size())))];
  link.to = random.chance(50) ? link.from : RegionId(7);
  return true;
}

bool kernel_does_not_exist(Random& random, Mutant& mutant) {
  const auto step = some_step(random, mutant.plan, [](const Step& one) { return is_compute(one); });
  std::get<Compute>(mutant.plan.program.steps[*step].work).kernel = KernelId(random.chance(50) ? 1 : ~0U);
  return true;
}

bool copy_has_scratch(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto copy = some_copy(random, plan);
  if (!copy) return false;
  plan.layout.steps[*copy].scratch = BufferId(0);
  return true;
}

bool copy_reads_two_values(Random& random, Mutant& mutant) {
  const auto copy = some_copy(random, mutant.plan);
  if (!copy) return false;
  std::vector<ValueId>& reads = mutant.plan.program.steps[*copy].reads;
  reads.push_back(reads[0]);
  return true;
}

bool output_is_another_value(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto other = some_id<ValueId>(random, plan.program.values.size(), [&](ValueId id) {
    return plan.program.values[id].tensor != plan.program.values[plan.program.outputs[0]].tensor;
  });
  plan.program.outputs[0] = *other;
  return true;
}

}  // namespace

std::vector<Damage> state_damages() {
  using enum ViolationKind;
  return {{"state_is_written_twice", role, state_is_written_twice},
          {"state_is_updated_too_early", clobbered, state_is_updated_too_early},
          {"state_keeps_its_content", output_lost, state_keeps_its_content},
          {"state_becomes_another_tensor", output_lost, state_becomes_another_tensor},
          {"update_is_missing", malformed, update_is_missing},
          {"constant_is_written", role, constant_is_written},
          {"part_is_not_copied", bad_alias, part_is_not_copied},
          {"part_is_beside_its_place", bad_alias, part_is_beside_its_place},
          {"parts_change_places", bad_alias, parts_change_places},
          {"stream_runs_on_nothing", malformed, stream_runs_on_nothing},
          {"two_streams_drive_a_link", malformed, two_streams_drive_a_link},
          {"link_leads_nowhere", malformed, link_leads_nowhere},
          {"kernel_does_not_exist", malformed, kernel_does_not_exist},
          {"copy_has_scratch", malformed, copy_has_scratch},
          {"copy_reads_two_values", malformed, copy_reads_two_values},
          {"output_is_another_value", output_lost, output_is_another_value}};
}

}  // namespace lowtide::testing
