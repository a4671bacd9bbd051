// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/session_memory.h"

#include <algorithm>

#include "lowtide/runtime/execute/own_kernels.h"

namespace lowtide::runtime_internal {

namespace {

void add_actions(PreparedGraphId id, AllTables& all, const Addresses& addresses, const RunControl& control) {
  GraphTables& tables = *all[id.index()];
  for (const Action& action : tables.graph().actions) {
    const StepId step = step_of(action);
    if (const auto* kernel = std::get_if<KernelAction>(&action)) {
      tables.add(*kernel, addresses);
    } else if (const auto* copy = std::get_if<CopyAction>(&action)) {
      tables.add(step, copy_run(*copy, tables));
    } else if (const auto* branch = std::get_if<IfAction>(&action)) {
      tables.add(step, if_run(*branch, tables, all));
    } else {
      tables.add(step, loop_run(std::get<LoopAction>(action), tables, all, {addresses, control}));
    }
  }
}

}  // namespace

AllTables make_tables(const Prepared& prepared, const Addresses& addresses, RunControl& control) {
  AllTables all;
  for (PreparedGraphId id : all_ids<PreparedGraphId>(prepared.graphs.size())) {
    all.push_back(std::make_unique<GraphTables>(prepared, id, addresses, control));
  }
  for (PreparedGraphId id : all_ids<PreparedGraphId>(prepared.graphs.size())) {
    add_actions(id, all, addresses, control);
  }
  return all;
}

Block::Block(Bytes size) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(size.count(), 1));
  bytes_.reset(static_cast<std::byte*>(::operator new[](count, std::align_val_t{64})));
  std::fill_n(bytes_.get(), count, std::byte{0});
}

SessionMemory::SessionMemory(const Prepared& prepared, std::span<std::byte> arena, std::span<std::byte> outside)
    : objects(prepared.objects),
      states(prepared.own_states),
      addresses(prepared, {arena, outside.data(), objects.data(), states.data()}),
      tables(make_tables(prepared, addresses, control)) {}

}  // namespace lowtide::runtime_internal
