// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <utility>

#include "tests/verify/mutations.h"

namespace lowtide::testing {
namespace {

std::int64_t size_of(const Mutant& mutant, ValueId id) {
  return mutant.graph->tensor(mutant.plan.program.values[id].tensor).size.count();
}

bool is_written(const Mutant& mutant, ValueId id) {
  return mutant.plan.program.values[id].written.has_value() && size_of(mutant, id) > 0;
}

std::optional<ValueId> some_written(Random& random, const Mutant& mutant) {
  return some_id<ValueId>(random, mutant.plan.program.values.size(),
                          [&](ValueId id) { return is_written(mutant, id); });
}

bool is_given(const Buffer& buffer) {
  return buffer.kind == BufferKind::input || buffer.kind == BufferKind::constant || buffer.kind == BufferKind::state;
}

// Puts a value over the bytes of another one. The buffer is large enough and, if requested, lives long enough. So only
// the reads and writes reveal the damage.
void put_over(Mutant& mutant, ValueId moved, ValueId onto, bool covers_lifespans) {
  Plan& plan = mutant.plan;
  const BufferId old_buffer = plan.layout.values[moved].buffer;
  plan.layout.values[moved].buffer = plan.layout.values[onto].buffer;
  plan.layout.values[moved].offset = plan.layout.values[onto].offset;
  Buffer& buffer = plan.layout.buffers[plan.layout.values[onto].buffer];
  if (is_given(buffer)) return;
  const std::int64_t end = plan.layout.values[moved].offset.position() + size_of(mutant, moved);
  if (end > buffer.size.count()) buffer.size = Bytes(end);
  if (!covers_lifespans) return;
  const Lifespan& old = plan.layout.buffers[old_buffer].lifespan;
  buffer.lifespan = {std::min(buffer.lifespan.begin, old.begin), std::max(buffer.lifespan.end, old.end)};
  const std::vector<ValueId>& outputs = plan.program.outputs;
  if (std::count(outputs.begin(), outputs.end(), moved) > 0) buffer.kind = BufferKind::output;
}

bool merge_two_buffers(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto moved = some_written(random, mutant);
  const auto onto = some_written(random, mutant);
  if (!moved || plan.layout.values[*moved].buffer == plan.layout.values[*onto].buffer) return false;
  const BufferId from = plan.layout.values[*moved].buffer;
  const BufferId into = plan.layout.values[*onto].buffer;
  if (is_given(plan.layout.buffers[from]) || is_given(plan.layout.buffers[into])) return false;
  for (ValuePlace& place : plan.layout.values) {
    if (place.buffer == from) place.buffer = into;
  }
  Buffer& buffer = plan.layout.buffers[into];
  const Buffer& old = plan.layout.buffers[from];
  buffer.size = std::max(buffer.size, old.size);
  buffer.lifespan = {std::min(buffer.lifespan.begin, old.lifespan.begin),
                     std::max(buffer.lifespan.end, old.lifespan.end)};
  if (old.kind == BufferKind::output) buffer.kind = BufferKind::output;
  plan.layout.buffers[from].kind = BufferKind::temporary;
  return true;
}

bool value_offset_plus_1(Random& random, Mutant& mutant) {
  const auto id = some_written(random, mutant);
  if (!id) return false;
  ValuePlace& place = mutant.plan.layout.values[*id];
  place.offset = place.offset + Bytes(1);
  Buffer& buffer = mutant.plan.layout.buffers[place.buffer];
  const std::int64_t end = place.offset.position() + size_of(mutant, *id);
  // Makes space for the value, so that the damage is not found at once.
  if (!is_given(buffer) && random.chance(70)) buffer.size = std::max(buffer.size, Bytes(end));
  return true;
}

bool value_offset_elsewhere(Random& random, Mutant& mutant) {
  const auto id = some_written(random, mutant);
  if (!id) return false;
  ValuePlace& place = mutant.plan.layout.values[*id];
  const std::int64_t space = mutant.plan.layout.buffers[place.buffer].size.count();
  const std::int64_t offset = random.between(-1, random.chance(80) ? space - size_of(mutant, *id) : space);
  return std::exchange(place.offset, Offset(offset)) != place.offset;
}

bool value_in_another_buffer(Random& random, Mutant& mutant) {
  const auto id = some_written(random, mutant);
  if (!id) return false;
  const BufferId other(static_cast<std::uint32_t>(random.below(mutant.plan.layout.buffers.size())));
  return std::exchange(mutant.plan.layout.values[*id].buffer, other) != other;
}

bool two_values_swap_places(Random& random, Mutant& mutant) {
  const auto a = some_written(random, mutant);
  const auto b = some_written(random, mutant);
  if (!a || *a == *b) return false;
  std::swap(mutant.plan.layout.values[*a], mutant.plan.layout.values[*b]);
  return true;
}

// Puts a random result of a kernel over an operand of the same step that `wanted` accepts, `shift` bytes further on.
template <typename Wanted>
bool write_over_operand(Random& random, Mutant& mutant, std::int64_t shift, const Wanted& wanted) {
  Plan& plan = mutant.plan;
  std::vector<std::pair<ValueId, ValueId>> pairs;
  for (StepId at : all_ids<StepId>(plan.program.steps.size())) {
    if (!is_compute(plan.program.steps[at])) continue;
    for (ValueId read : plan.program.steps[at].reads) {
      for (ValueId write : plan.program.steps[at].writes) {
        const bool is_usable = is_written(mutant, read) && is_written(mutant, write);
        const bool is_apart = plan.layout.values[read].buffer != plan.layout.values[write].buffer;
        if (is_usable && is_apart && wanted(at, read)) pairs.emplace_back(read, write);
      }
    }
  }
  if (pairs.empty()) return false;
  const auto [read, write] = pairs[random.below(pairs.size())];
  const BufferId target = plan.layout.values[read].buffer;
  if (is_given(plan.layout.buffers[target])) return false;
  put_over(mutant, write, read, true);
  ValuePlace& place = plan.layout.values[write];
  place.offset = place.offset + Bytes(shift);
  plan.layout.buffers[target].size =
      std::max(plan.layout.buffers[target].size, Bytes(place.offset.position() + size_of(mutant, write)));
  return true;
}

bool in_place_with_a_second_reader(Random& random, Mutant& mutant) {
  return write_over_operand(random, mutant, 0, [&](StepId step, ValueId read) {
    for (StepId later = StepId(step.value() + 1); later.index() < mutant.plan.program.steps.size();
         later = StepId(later.value() + 1)) {
      const auto& reads = mutant.plan.program.steps[later].reads;
      if (std::find(reads.begin(), reads.end(), read) != reads.end()) return true;
    }
    return false;
  });
}

bool in_place_whatever_the_operator(Random& random, Mutant& mutant) {
  return write_over_operand(random, mutant, 0, [](StepId, ValueId) { return true; });
}

bool in_place_one_byte_further(Random& random, Mutant& mutant) {
  return write_over_operand(random, mutant, random.chance(50) ? 1 : 4, [](StepId, ValueId) { return true; });
}

bool alias_to_a_dead_root(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto alias = some_id<ValueId>(random, plan.program.values.size(), [&](ValueId id) {
    return is_written(mutant, id) && plan.program.steps.contains(*plan.program.values[id].written) &&
           is_alias(plan.program.steps[*plan.program.values[id].written]);
  });
  const auto root = some_written(random, mutant);
  if (!alias || plan.layout.values[*alias].buffer == plan.layout.values[*root].buffer) return false;
  put_over(mutant, *alias, *root, random.chance(50));
  return true;
}

bool result_over_an_older_value(Random& random, Mutant& mutant) {
  const auto moved = some_written(random, mutant);
  const auto onto = some_written(random, mutant);
  if (!moved || *moved == *onto) return false;
  put_over(mutant, *moved, *onto, true);
  return true;
}

bool activation_in_a_constant(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto moved = some_written(random, mutant);
  const auto onto = some_id<ValueId>(random, plan.program.values.size(), [&](ValueId id) {
    return !plan.program.values[id].written && moved && size_of(mutant, id) >= size_of(mutant, *moved);
  });
  if (!onto || plan.layout.values[*moved].buffer == plan.layout.values[*onto].buffer) return false;
  put_over(mutant, *moved, *onto, false);
  return true;
}

bool constant_in_an_activation(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto given = some_id<ValueId>(random, plan.program.values.size(),
                                      [&](ValueId id) { return !plan.program.values[id].written; });
  const auto onto = some_written(random, mutant);
  if (!given || !onto) return false;
  put_over(mutant, *given, *onto, true);
  return true;
}

bool kind_changes(Random& random, Mutant& mutant) {
  Buffer& buffer =
      mutant.plan.layout.buffers[BufferId(static_cast<std::uint32_t>(random.below(mutant.plan.layout.buffers.size())))];
  const auto kind = static_cast<BufferKind>(random.below(6));
  return std::exchange(buffer.kind, kind) != kind;
}

bool output_becomes_temporary(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_id<BufferId>(random, plan.layout.buffers.size(),
                                    [&](BufferId at) { return plan.layout.buffers[at].kind == BufferKind::output; });
  if (id) plan.layout.buffers[*id].kind = BufferKind::temporary;
  return id.has_value();
}

bool two_outputs_in_one_place(Random& random, Mutant& mutant) {
  const auto is_output = [&](ValueId id) {
    const std::vector<ValueId>& outputs = mutant.plan.program.outputs;
    return is_written(mutant, id) && std::count(outputs.begin(), outputs.end(), id) > 0;
  };
  const auto a = some_id<ValueId>(random, mutant.plan.program.values.size(), is_output);
  const auto b = some_id<ValueId>(random, mutant.plan.program.values.size(), is_output);
  if (!a || *a == *b) return false;
  put_over(mutant, *a, *b, true);
  return true;
}

bool given_twice(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_id<ValueId>(random, plan.program.values.size(),
                                   [&](ValueId at) { return !plan.program.values[at].written; });
  if (!id) return false;
  ValuePlace place = plan.layout.values[*id];
  if (random.chance(70)) place.buffer = plan.layout.buffers.push_back(Buffer(plan.layout.buffers[place.buffer]));
  plan.program.values.push_back(Value(plan.program.values[*id]));
  plan.layout.values.push_back(place);
  return true;
}

}  // namespace

std::vector<MutationKind> sharing_mutations() {
  return {{"merge_two_buffers", merge_two_buffers},
          {"value_offset_plus_1", value_offset_plus_1},
          {"value_offset_elsewhere", value_offset_elsewhere},
          {"value_in_another_buffer", value_in_another_buffer},
          {"two_values_swap_places", two_values_swap_places},
          {"in_place_with_a_second_reader", in_place_with_a_second_reader},
          {"in_place_whatever_the_operator", in_place_whatever_the_operator},
          {"in_place_one_byte_further", in_place_one_byte_further},
          {"alias_to_a_dead_root", alias_to_a_dead_root},
          {"result_over_an_older_value", result_over_an_older_value},
          {"activation_in_a_constant", activation_in_a_constant},
          {"constant_in_an_activation", constant_in_an_activation},
          {"kind_changes", kind_changes},
          {"output_becomes_temporary", output_becomes_temporary},
          {"two_outputs_in_one_place", two_outputs_in_one_place},
          {"given_twice", given_twice}};
}

}  // namespace lowtide::testing
