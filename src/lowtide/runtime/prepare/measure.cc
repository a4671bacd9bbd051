// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {
namespace {

constexpr Bytes kKernelAlignment{64};  // of scratch, bound objects and states

Bytes bytes_of(std::size_t count, std::size_t size) { return Bytes(static_cast<std::int64_t>(count * size)); }

// Counts bytes once, although several tensors may have them.
void count_constants(Prepared& prepared) {
  std::set<const std::byte*> counted;
  for (const PreparedGraph& one : prepared.graphs) {
    for (TensorId id : all_ids<TensorId>(one.graph.tensors().size())) {
      const Tensor& tensor = one.graph.tensor(id);
      if (!one.buffer_of[id] || tensor.role != Role::constant || tensor.is_captured) continue;
      if (!counted.insert(one.constants[id].data()).second) continue;
      const bool is_mapped = !one.is_copied.test(id) && prepared.weights->is_mapped(*tensor.constant);
      (is_mapped ? prepared.memory.mapped : prepared.memory.copied) += tensor.size;
    }
  }
}

bool runs_side_by_side(const PreparedGraph& one) {
  return std::ranges::any_of(one.order.stretches, &Stretch::is_side_by_side);
}

// Sets where the states of loops wait. A loop in a body has its bytes beyond those of the step that runs the body.
// Others share theirs, unless steps run side by side.
void place_waiting_states(Prepared& prepared) {
  const bool is_shared = std::ranges::none_of(prepared.graphs, runs_side_by_side);
  const Bytes begin = round_up(prepared.memory.arena, kKernelAlignment);
  Bytes end = begin;
  prepared.graphs[kMainGraph].extra = Offset(begin.count());
  for (PreparedGraph& one : prepared.graphs) {
    for (Action& action : one.actions) {
      auto* loop = std::get_if<LoopAction>(&action);
      if (loop == nullptr) continue;
      PreparedGraph& body = prepared.graphs[loop->body];
      body.extra = is_shared ? one.extra : Offset(end.count());
      for (std::size_t state = 0; state < loop->states; ++state) {
        if (!loop->waiting[state]) continue;
        loop->waiting[state] = body.extra;
        const TensorId input = body.graph.inputs()[loop->first_input() + state];
        body.extra = body.extra + round_up(body.graph.tensor(input).size, kKernelAlignment);
        end = std::max(end, Bytes(body.extra.position()));
      }
    }
    for (const Action& action : one.actions) {
      const auto* branch = std::get_if<IfAction>(&action);
      if (branch == nullptr) continue;
      for (const std::optional<PreparedGraphId>& body : {branch->then_body, branch->else_body}) {
        if (body) prepared.graphs[*body].extra = one.extra;
      }
    }
  }
  if (begin < end) prepared.memory.extra = end - prepared.memory.arena;
}

// The regions that only links reach, one after another.
void place_outside(Prepared& prepared) {
  const std::vector<Bytes>& arenas = prepared.plan.layout.arena;
  for (RegionId id : all_ids<RegionId>(arenas.size())) {
    prepared.outside.emplace_back(prepared.memory.outside.count());
    if (!is_outside(prepared.plan.machine, id)) continue;
    prepared.memory.outside += round_up(arenas[id.index()], kKernelAlignment);
  }
}

}  // namespace

void measure(Prepared& prepared) {
  const Layout& layout = prepared.plan.layout;
  if (!layout.arena.empty()) prepared.memory.arena = layout.arena[0];
  place_outside(prepared);
  count_constants(prepared);
  place_waiting_states(prepared);
  for (const Port& state : prepared.states) prepared.own_states += round_up(state.size, kKernelAlignment);
  prepared.memory.session = prepared.own_states;
  for (PreparedGraph& one : prepared.graphs) {
    for (Action& action : one.actions) {
      auto* kernel = std::get_if<KernelAction>(&action);
      if (kernel == nullptr) continue;
      kernel->object = Offset(prepared.objects.count());
      prepared.objects += round_up(kernel->kernel->bound_bytes(), kKernelAlignment);
    }
    prepared.memory.session +=
        bytes_of(one.plan.layout.values.size(), sizeof(std::byte*)) + bytes_of(one.actions.size(), 3 * sizeof(void*));
  }
  prepared.memory.session += prepared.objects;
}

}  // namespace lowtide::runtime_internal
