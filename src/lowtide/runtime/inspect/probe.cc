// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/inspect/probe.h"

#include <algorithm>
#include <cstring>

namespace lowtide::runtime_internal {
namespace {

// A kernel that writes a little too much damages nothing else.
constexpr Bytes kMargin{64};

// With the margin behind it.
Bytes arena_size(const Prepared& prepared) {
  return Bytes(outside_begin(prepared).position()) + prepared.memory.outside + kMargin;
}

}  // namespace

Offset outside_begin(const Prepared& prepared) {
  const Bytes inside = prepared.memory.arena + prepared.memory.extra;
  return Offset(prepared.memory.outside == Bytes(0) ? inside.count() : round_up(inside, Bytes(64)).count());
}

std::unique_ptr<Addresses> plain_addresses(const Prepared& prepared, const SessionBytes& memory) {
  return std::make_unique<Addresses>(prepared, memory);
}

Probe::Probe(const Prepared& prepared, const MakeAddresses& make_addresses)
    : prepared_(prepared),
      arena_(kMargin + arena_size(prepared)),
      objects_(prepared.objects),
      states_(prepared.own_states),
      addresses_(make_addresses(
          prepared, {arena(), arena().data() + outside_begin(prepared).position(), objects_.data(), states_.data()})),
      tables_(make_tables(prepared, *addresses_, control_)) {}

std::span<std::byte> Probe::arena() const {
  return {arena_.data() + kMargin.count(), static_cast<std::size_t>(arena_size(prepared_).count())};
}

void Probe::fill(const Pattern& pattern) {
  const std::span<std::byte> bytes = arena();
  for (std::size_t at = 0; at < bytes.size(); ++at) bytes[at] = pattern[at % pattern.size()];
}

void Probe::set_inputs(std::span<const TensorRef> inputs) {
  std::fill_n(states_.data(), prepared_.own_states.count(), std::byte{0});
  GraphTables& main = *tables_.front();
  for (std::size_t at = 0; at < inputs.size(); ++at) {
    const Port& port = prepared_.inputs[at];
    if (!port.is_in_arena) {
      main.set_input(port.tensor, inputs[at].bytes);
      main.set_extents(port.tensor, inputs[at].extents);
      continue;
    }
    for (ValueId id : all_ids<ValueId>(prepared_.plan.program.values.size())) {
      if (prepared_.plan.program.values[id].tensor != port.tensor) continue;
      std::memcpy(main.address(id), inputs[at].bytes.data(), inputs[at].bytes.size());
      break;
    }
  }
}

RunStatus Probe::run(StepObserver& observer, Team& team) {
  control_.is_stopped.store(false);
  control_.observer = &observer;
  return tables_.front()->run(team);
}

}  // namespace lowtide::runtime_internal
