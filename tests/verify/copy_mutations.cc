// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "tests/verify/mutations.h"

namespace lowtide::testing {
namespace {

Step* any_copy(Random& random, Plan& plan) {
  const auto id =
      some_id<StepId>(random, plan.program.steps.size(), [&](StepId at) { return is_copy(plan.program.steps[at]); });
  return id ? &plan.program.steps[*id] : nullptr;
}

bool copy_other_bytes(Random& random, Mutant& mutant) {
  Step* step = any_copy(random, mutant.plan);
  if (step == nullptr) return false;
  Interval<std::int64_t>& bytes = std::get<Copy>(step->work).bytes;
  std::int64_t& end = random.chance(50) ? bytes.begin : bytes.end;
  end += random.chance(50) ? 1 : -1;
  return true;
}

bool copy_another_value(Random& random, Mutant& mutant) {
  Step* step = any_copy(random, mutant.plan);
  if (step == nullptr) return false;
  const ValueId other(static_cast<std::uint32_t>(random.below(mutant.plan.program.values.size())));
  ValueId& changed = random.chance(50) ? step->reads[0] : step->writes[0];
  return std::exchange(changed, other) != other;
}

// Reads another value of the same tensor, which is often right as well.
bool read_another_value_of_the_tensor(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  std::vector<std::pair<ValueId*, ValueId>> changes;
  for (Step& step : program.steps) {
    for (ValueId& read : step.reads) {
      for (ValueId other : all_ids<ValueId>(program.values.size())) {
        const bool is_same = program.values[other].tensor == program.values[read].tensor;
        if (is_same && other != read) changes.emplace_back(&read, other);
      }
    }
  }
  if (changes.empty()) return false;
  const auto& [read, other] = changes[random.below(changes.size())];
  *read = other;
  return true;
}

bool value_is_there_too_early(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  Step* step = any_copy(random, plan);
  if (step == nullptr) return false;
  std::optional<StepId>& written = plan.program.values[step->writes[0]].written;
  if (!written || *written == StepId(0)) return false;
  written = StepId(static_cast<std::uint32_t>(random.below(written->value())));
  return true;
}

bool step_on_another_stream(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  if (program.streams.size() < 2 || program.steps.empty()) return false;
  Step& step = program.steps[StepId(static_cast<std::uint32_t>(random.below(program.steps.size())))];
  const StreamId other(static_cast<std::uint32_t>(random.below(program.streams.size())));
  return std::exchange(step.stream, other) != other;
}

bool wait_is_forgotten(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  const auto id =
      some_id<StepId>(random, program.steps.size(), [&](StepId at) { return !program.steps[at].after.empty(); });
  if (id) program.steps[*id].after.clear();
  return id.has_value();
}

bool wait_for_another_step(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  const auto id =
      some_id<StepId>(random, program.steps.size(), [&](StepId at) { return !program.steps[at].after.empty(); });
  if (!id) return false;
  StepId& before = program.steps[*id].after.back();
  const StepId other(static_cast<std::uint32_t>(random.below(program.steps.size())));
  return std::exchange(before, other) != other;
}

bool home_changes(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_id<BufferId>(random, plan.layout.buffers.size(),
                                    [&](BufferId at) { return !plan.layout.buffers[at].placement; });
  if (!id || plan.machine.regions.size() < 2) return false;
  const auto choice = static_cast<std::uint32_t>(random.below(3));
  const std::optional<RegionId> home = choice == 2 ? std::nullopt : std::optional(RegionId(choice));
  return std::exchange(plan.layout.buffers[*id].home, home) != home;
}

bool worker_addresses_less(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.machine.regions.size() < 2) return false;
  const std::vector<RegionId> one{RegionId(static_cast<std::uint32_t>(random.below(2)))};
  return std::exchange(plan.machine.workers[WorkerId(0)].addressable, one) != one;
}

bool link_turns_round(Random& random, Mutant& mutant) {
  auto& links = mutant.plan.machine.links;
  if (links.empty()) return false;
  Link& link = links[LinkId(static_cast<std::uint32_t>(random.below(links.size())))];
  if (random.chance(20)) return std::exchange(link.to, link.from) != link.from;
  std::swap(link.from, link.to);
  return true;
}

bool stream_changes(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  Stream& stream =
      plan.program.streams[StreamId(static_cast<std::uint32_t>(random.below(plan.program.streams.size())))];
  const Stream old = stream;
  if (random.chance(50)) stream.worker = random.chance(50) ? std::nullopt : std::optional(WorkerId(0));
  if (random.chance(50)) stream.link = LinkId(static_cast<std::uint32_t>(random.below(plan.machine.links.size() + 1)));
  return stream != old;
}

bool another_output(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  if (program.outputs.empty()) return false;
  const ValueId other(static_cast<std::uint32_t>(random.below(program.values.size())));
  return std::exchange(program.outputs[random.below(program.outputs.size())], other) != other;
}

bool another_update(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  if (program.updates.empty()) return false;
  ValueId& update = program.updates[random.below(program.updates.size())];
  const auto same = some_id<ValueId>(random, program.values.size(), [&](ValueId id) {
    return program.values[id].tensor == program.values[update].tensor && id != update;
  });
  const ValueId any(static_cast<std::uint32_t>(random.below(program.values.size())));
  const ValueId other = same && random.chance(70) ? *same : any;
  return std::exchange(update, other) != other;
}

bool output_is_forgotten(Random& random, Mutant& mutant) {
  Program& program = mutant.plan.program;
  std::vector<ValueId>& list = random.chance(50) ? program.outputs : program.updates;
  if (random.chance(30)) {
    list.push_back(ValueId(0));
  } else if (list.empty()) {
    return false;
  } else {
    list.pop_back();
  }
  return true;
}

// The state's bytes are written in the middle of the program instead of at its end.
bool state_is_written_early(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  if (plan.program.updates.empty()) return false;
  const ValueId next = plan.program.updates[random.below(plan.program.updates.size())];
  const std::optional<StepId>& written = plan.program.values[next].written;
  if (!written || !is_copy(plan.program.steps[*written]) || *written == StepId(0)) return false;
  const StepId to(static_cast<std::uint32_t>(random.below(written->value())));
  for (StepId at = *written; at > to; at = StepId(at.value() - 1)) {
    const StepId before(at.value() - 1);
    std::swap(plan.program.steps[at], plan.program.steps[before]);
    std::swap(plan.layout.steps[at], plan.layout.steps[before]);
  }
  for (StepId id : all_ids<StepId>(plan.program.steps.size())) {
    for (ValueId write : plan.program.steps[id].writes) plan.program.values[write].written = id;
    plan.program.steps[id].after.clear();
    if (id == StepId(0)) continue;
    const StepId last(id.value() - 1);
    if (plan.program.steps[last].stream != plan.program.steps[id].stream) plan.program.steps[id].after = {last};
  }
  const Lifespan all{StepId(0), StepId(static_cast<std::uint32_t>(plan.program.steps.size()))};
  for (Region& region : plan.machine.regions) region.capacity = std::nullopt;
  Offset free(0);
  for (Buffer& buffer : plan.layout.buffers) {
    buffer.lifespan = all;
    buffer.parts.clear();
    if (!buffer.placement) continue;
    buffer.placement->offset = round_up(free, plan.machine.regions[buffer.placement->region.index()].alignment);
    free = buffer.placement->offset + buffer.size;
  }
  return true;
}

}  // namespace

std::vector<MutationKind> copy_mutations() {
  return {{"copy_other_bytes", copy_other_bytes},
          {"copy_another_value", copy_another_value},
          {"read_another_value_of_the_tensor", read_another_value_of_the_tensor},
          {"value_is_there_too_early", value_is_there_too_early},
          {"step_on_another_stream", step_on_another_stream},
          {"wait_is_forgotten", wait_is_forgotten},
          {"wait_for_another_step", wait_for_another_step},
          {"home_changes", home_changes},
          {"worker_addresses_less", worker_addresses_less},
          {"link_turns_round", link_turns_round},
          {"stream_changes", stream_changes},
          {"another_output", another_output},
          {"another_update", another_update},
          {"output_is_forgotten", output_is_forgotten},
          {"state_is_written_early", state_is_written_early}};
}

}  // namespace lowtide::testing
