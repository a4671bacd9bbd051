// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/flags.h"
#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

Bytes bytes_of(std::size_t count, std::size_t size) { return Bytes(static_cast<std::int64_t>(count * size)); }

// Counts each entry of the table once, although several tensors may have it.
void count_constants(Prepared& prepared) {
  Flags<ConstantId> is_counted(prepared.weights->table().sources.size());
  for (TensorId id : all_ids<TensorId>(prepared.graph.tensors().size())) {
    const Tensor& tensor = prepared.graph.tensor(id);
    if (!prepared.buffer_of[id] || tensor.role != Role::constant) continue;
    if (prepared.is_copied.test(id) || !prepared.weights->is_mapped(*tensor.constant)) {
      prepared.memory.copied += tensor.size;
    } else if (is_counted.insert(*tensor.constant)) {
      prepared.memory.mapped += tensor.size;
    }
  }
}

}  // namespace

void measure(Prepared& prepared) {
  const Layout& layout = prepared.plan.layout;
  if (!layout.arena.empty()) prepared.memory.arena = layout.arena[0];
  count_constants(prepared);
  for (Action& action : prepared.actions) {
    auto* kernel = std::get_if<KernelAction>(&action);
    if (kernel == nullptr) continue;
    kernel->object = Offset(prepared.objects.count());
    prepared.objects += round_up(kernel->kernel->bound_bytes(), Bytes(64));
  }
  for (const Port& state : prepared.states) prepared.own_states += round_up(state.size, Bytes(64));
  prepared.memory.session = prepared.objects + prepared.own_states +
                            bytes_of(layout.values.size(), sizeof(std::byte*)) +
                            bytes_of(prepared.actions.size(), 3 * sizeof(void*));
}

}  // namespace lowtide::runtime_internal
