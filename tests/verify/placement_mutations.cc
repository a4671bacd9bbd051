// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <limits>
#include <utility>

#include "tests/verify/mutations.h"

namespace lowtide::testing {
namespace {

constexpr std::int64_t kLastOffset = std::numeric_limits<std::int64_t>::max();

// A placed buffer with bytes.
Buffer* some_placed(Random& random, Plan& plan) {
  const auto id = some_id<BufferId>(random, plan.layout.buffers.size(), [&](BufferId at) {
    return plan.layout.buffers[at].placement && plan.layout.buffers[at].size.count() > 0;
  });
  return id ? &plan.layout.buffers[*id] : nullptr;
}

template <typename NewOffset>
bool move_buffer(Random& random, Mutant& mutant, const NewOffset& new_offset) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer == nullptr) return false;
  Offset& offset = buffer->placement->offset;
  const Region& region = mutant.plan.machine.regions[buffer->placement->region.index()];
  const std::int64_t moved = new_offset(*buffer, region.alignment.count());
  return std::exchange(offset, Offset(moved)) != offset;
}

bool offset_plus_1(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant,
                     [](const Buffer& buffer, auto) { return buffer.placement->offset.position() + 1; });
}

bool offset_minus_1(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant,
                     [](const Buffer& buffer, auto) { return buffer.placement->offset.position() - 1; });
}

bool offset_minus_alignment(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant, [](const Buffer& buffer, auto alignment) {
    return buffer.placement->offset.position() - alignment;
  });
}

bool offset_plus_alignment(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant, [](const Buffer& buffer, auto alignment) {
    return buffer.placement->offset.position() + alignment;
  });
}

bool offset_plus_size(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant, [](const Buffer& buffer, auto) {
    return buffer.placement->offset.position() + buffer.size.count();
  });
}

bool offset_of_another(Random& random, Mutant& mutant) {
  const Buffer* other = some_placed(random, mutant.plan);
  if (other == nullptr) return false;
  const Offset target = other->placement->offset;
  return move_buffer(random, mutant, [&](const Buffer&, auto) { return target.position(); });
}

bool offset_below_zero(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant, [&](const Buffer&, auto alignment) { return -alignment * random.between(1, 3); });
}

bool offset_that_wraps(Random& random, Mutant& mutant) {
  return move_buffer(random, mutant, [&](const Buffer&, auto) { return kLastOffset - random.between(0, 63); });
}

bool size_minus_1(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer != nullptr) buffer->size -= Bytes(1);
  return buffer != nullptr;
}

bool size_zero(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer != nullptr) buffer->size = Bytes(0);
  return buffer != nullptr;
}

bool size_grows(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer != nullptr) buffer->size += Bytes(random.between(1, 64));
  return buffer != nullptr;
}

bool size_is_negative(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer != nullptr) buffer->size = Bytes(random.chance(50) ? -1 : std::numeric_limits<std::int64_t>::min());
  return buffer != nullptr;
}

bool life_ends_early(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer == nullptr || mutant.plan.program.steps.empty()) return false;
  buffer->lifespan.end = StepId(buffer->lifespan.end.value() - 1);
  return true;
}

bool life_starts_late(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer == nullptr) return false;
  buffer->lifespan.begin = StepId(buffer->lifespan.begin.value() + 1);
  return true;
}

bool life_moves(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer == nullptr || mutant.plan.program.steps.size() < 2) return false;
  const auto steps = mutant.plan.program.steps.size();
  const auto begin = static_cast<std::uint32_t>(random.below(steps));
  const auto end = static_cast<std::uint32_t>(random.between(begin + 1, static_cast<std::int64_t>(steps)));
  return std::exchange(buffer->lifespan, {StepId(begin), StepId(end)}) != buffer->lifespan;
}

// Lets the buffer live to the end, so that it overlaps everything that is placed there later.
bool life_grows(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer == nullptr) return false;
  const Lifespan all{StepId(0), StepId(static_cast<std::uint32_t>(mutant.plan.program.steps.size()))};
  return std::exchange(buffer->lifespan, all) != all;
}

// A buffer with parts; nullptr if there is none.
Buffer* some_divided(Random& random, Plan& plan) {
  const auto id = some_id<BufferId>(random, plan.layout.buffers.size(),
                                    [&](BufferId at) { return plan.layout.buffers[at].parts.size() > 1; });
  return id ? &plan.layout.buffers[*id] : nullptr;
}

void fit_to_parts(Buffer& buffer) {
  buffer.lifespan = buffer.parts[0].lifespan;
  for (const BufferPart& part : buffer.parts) {
    buffer.lifespan.begin = std::min(buffer.lifespan.begin, part.lifespan.begin);
    buffer.lifespan.end = std::max(buffer.lifespan.end, part.lifespan.end);
  }
}

bool part_ends_early(Random& random, Mutant& mutant) {
  Buffer* buffer = some_divided(random, mutant.plan);
  if (buffer == nullptr) return false;
  Lifespan& life = buffer->parts[random.below(buffer->parts.size())].lifespan;
  if (life.end.value() - life.begin.value() < 2) return false;
  life.end = StepId(life.end.value() - 1);
  fit_to_parts(*buffer);
  return true;
}

bool part_starts_late(Random& random, Mutant& mutant) {
  Buffer* buffer = some_divided(random, mutant.plan);
  if (buffer == nullptr) return false;
  Lifespan& life = buffer->parts[random.below(buffer->parts.size())].lifespan;
  if (life.end.value() - life.begin.value() < 2) return false;
  life.begin = StepId(life.begin.value() + 1);
  fit_to_parts(*buffer);
  return true;
}

// Lets the part overlap everything that is placed there.
bool part_lives_throughout(Random& random, Mutant& mutant) {
  Buffer* buffer = some_divided(random, mutant.plan);
  if (buffer == nullptr) return false;
  const Lifespan all{StepId(0), StepId(static_cast<std::uint32_t>(mutant.plan.program.steps.size()))};
  const bool is_other = std::exchange(buffer->parts[random.below(buffer->parts.size())].lifespan, all) != all;
  fit_to_parts(*buffer);
  return is_other;
}

bool parts_trade_a_byte(Random& random, Mutant& mutant) {
  Buffer* buffer = some_divided(random, mutant.plan);
  if (buffer == nullptr) return false;
  const std::size_t at = random.below(buffer->parts.size() - 1);
  const bool is_up = random.chance(50);
  buffer->parts[at].size += Bytes(is_up ? 1 : -1);
  buffer->parts[at + 1].size += Bytes(is_up ? -1 : 1);
  return true;
}

bool part_is_lost(Random& random, Mutant& mutant) {
  Buffer* buffer = some_divided(random, mutant.plan);
  if (buffer == nullptr) return false;
  buffer->parts.erase(buffer->parts.begin() + static_cast<std::ptrdiff_t>(random.below(buffer->parts.size())));
  return true;
}

// Divides a buffer without parts into two halves. The lifespan of one of them lacks a step.
bool parts_are_made_up(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer == nullptr || !buffer->parts.empty() || buffer->size < Bytes(2)) return false;
  if (buffer->lifespan.end.value() - buffer->lifespan.begin.value() < 2) return false;
  const Bytes half(buffer->size.count() / 2);
  buffer->parts = {{half, buffer->lifespan}, {buffer->size - half, buffer->lifespan}};
  Lifespan& life = buffer->parts[random.below(2)].lifespan;
  if (random.chance(50)) {
    life.end = StepId(life.end.value() - 1);
  } else {
    life.begin = StepId(life.begin.value() + 1);
  }
  return true;
}

bool other_region(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  Buffer* buffer = some_placed(random, plan);
  if (buffer == nullptr) return false;
  if (plan.machine.regions.size() == 1) {
    buffer->placement->region = RegionId(random.chance(50) ? 1 : ~0U);  // does not exist
    return true;
  }
  buffer->placement->region = RegionId(1 - buffer->placement->region.value());
  return true;
}

bool region_aligns_more(Random& random, Mutant& mutant) {
  Region& region = mutant.plan.machine.regions[random.below(mutant.plan.machine.regions.size())];
  region.alignment = Bytes(region.alignment.count() << random.between(1, 3));
  return true;
}

bool region_becomes_read_only(Random& random, Mutant& mutant) {
  mutant.plan.machine.regions[random.below(mutant.plan.machine.regions.size())].is_read_only = true;
  return true;
}

// The region of the arena also gets the constants. It may be too small for both.
bool constants_get_a_region(Random& random, Mutant& mutant) {
  Machine& machine = mutant.plan.machine;
  Bytes constants;
  for (const Tensor& tensor : mutant.graph->tensors()) {
    if (tensor.role == Role::constant) constants += tensor.size;
  }
  if (constants == Bytes(0)) return false;
  const std::size_t at = random.below(machine.regions.size());
  machine.constants = RegionId(static_cast<std::uint32_t>(at));
  const std::int64_t most = constants.count() + 2 * machine.regions[at].alignment.count();
  machine.regions[at].capacity = mutant.plan.layout.arena[at] + Bytes(random.between(0, most));
  return true;
}

bool alignment_is_no_power_of_two(Random& random, Mutant& mutant) {
  static constexpr std::int64_t kWrong[] = {0, -1, 3, 12, kLastOffset};
  mutant.plan.machine.regions[0].alignment = Bytes(kWrong[random.below(5)]);
  return true;
}

bool capacity_below_the_arena(Random& random, Mutant& mutant) {
  const std::size_t at = random.below(mutant.plan.machine.regions.size());
  const std::int64_t arena = mutant.plan.layout.arena[at].count();
  if (arena == 0) return false;
  mutant.plan.machine.regions[at].capacity = Bytes(random.chance(50) ? arena - 1 : random.between(0, arena - 1));
  return true;
}

bool placement_is_lost(Random& random, Mutant& mutant) {
  Buffer* buffer = some_placed(random, mutant.plan);
  if (buffer != nullptr) buffer->placement.reset();
  return buffer != nullptr;
}

// Gives a buffer of the caller a place in the arena, whether the place is free or not.
bool placement_is_added(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto id = some_id<BufferId>(random, plan.layout.buffers.size(),
                                    [&](BufferId at) { return !plan.layout.buffers[at].placement; });
  const Buffer* other = some_placed(random, plan);
  if (!id) return false;
  plan.layout.buffers[*id].placement =
      other != nullptr && random.chance(50) ? *other->placement : Placement{RegionId(0), Offset(1 << 14)};
  return true;
}

bool scratch_in_a_live_buffer(Random& random, Mutant& mutant) {
  Plan& plan = mutant.plan;
  const auto step = some_id<StepId>(random, plan.layout.steps.size(), [&](StepId at) {
    const std::optional<BufferId>& scratch = plan.layout.steps[at].scratch;
    return scratch && plan.layout.buffers[*scratch].size.count() > 0;
  });
  if (!step) return false;
  Buffer& scratch = plan.layout.buffers[*plan.layout.steps[*step].scratch];
  const auto victim = some_id<BufferId>(random, plan.layout.buffers.size(), [&](BufferId at) {
    const Buffer& buffer = plan.layout.buffers[at];
    return buffer.placement && &buffer != &scratch && buffer.size.count() > 0 && buffer.lifespan.contains(*step);
  });
  if (!victim) return false;
  scratch.placement = plan.layout.buffers[*victim].placement;
  // Sometimes the lifespans hide the damage, so that only the replay can find it.
  if (random.chance(50)) plan.layout.buffers[*victim].lifespan.end = *step;
  return true;
}

}  // namespace

std::vector<MutationKind> placement_mutations() {
  return {{"offset_plus_1", offset_plus_1},
          {"offset_minus_1", offset_minus_1},
          {"offset_minus_alignment", offset_minus_alignment},
          {"offset_plus_alignment", offset_plus_alignment},
          {"offset_plus_size", offset_plus_size},
          {"offset_plus_size_in_a_fixed_arena", offset_plus_size, false},
          {"offset_of_another", offset_of_another},
          {"offset_below_zero", offset_below_zero},
          {"offset_that_wraps", offset_that_wraps},
          {"size_minus_1", size_minus_1},
          {"size_zero", size_zero},
          {"size_grows", size_grows},
          {"size_is_negative", size_is_negative},
          {"life_ends_early", life_ends_early},
          {"life_starts_late", life_starts_late},
          {"life_moves", life_moves},
          {"life_grows", life_grows},
          {"part_ends_early", part_ends_early},
          {"part_starts_late", part_starts_late},
          {"part_lives_throughout", part_lives_throughout},
          {"parts_trade_a_byte", parts_trade_a_byte},
          {"part_is_lost", part_is_lost},
          {"parts_are_made_up", parts_are_made_up},
          {"other_region", other_region},
          {"region_aligns_more", region_aligns_more},
          {"region_becomes_read_only", region_becomes_read_only},
          {"constants_get_a_region", constants_get_a_region, false},
          {"alignment_is_no_power_of_two", alignment_is_no_power_of_two},
          {"capacity_below_the_arena", capacity_below_the_arena, false},
          {"placement_is_lost", placement_is_lost},
          {"placement_is_added", placement_is_added},
          {"scratch_in_a_live_buffer", scratch_in_a_live_buffer}};
}

}  // namespace lowtide::testing
