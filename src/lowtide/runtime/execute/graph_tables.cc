// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/graph_tables.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/runtime/execute/tensors.h"

namespace lowtide::runtime_internal {
GraphTables::GraphTables(const Prepared& prepared, PreparedGraphId id, const Addresses& addresses, RunControl& control)
    : graph_(prepared.graphs[id]),
      id_(id),
      kernel_threads_(prepared.options.threads),
      control_(control),
      seen_bytes_(graph_.dynamic_tensors.size()),
      side_by_side_(graph_.order) {
  find_extents();
  find_addresses(addresses);
  rows_.reserve(graph_.actions.size());
}

GraphTables::~GraphTables() {
  for (const Row& row : rows_) {
    if (row.kernel->destroy != nullptr) row.kernel->destroy(row.kernel);
  }
}

RunStatus GraphTables::run_action(std::size_t at, Team& team) noexcept {
  if (control_.should_stop()) return {RunCode::stopped, 0};
  try {
    return rows_[at].run(rows_[at].kernel, team);
  } catch (...) {
    return {RunCode::kernel_failed, 0};
  }
}

RunStatus GraphTables::run_in_order(Interval<std::size_t> actions, Team& team) noexcept {
  for (std::size_t at = actions.begin; at < actions.end; ++at) {
    const RunPlace place{id_, rows_[at].step};
    if (control_.observer != nullptr) control_.observer->before(place);
    RunStatus status = run_action(at, team);
    if (status.code == RunCode::ok && control_.observer != nullptr && !control_.observer->after(place)) {
      status = {RunCode::stopped, 0};
    }
    if (status.code == RunCode::ok) continue;
    failed_ = place.step;
    return status;
  }
  return {};
}

RunStatus GraphTables::run(Team& team) noexcept {
  if (control_.observer != nullptr) control_.observer->begin(id_);
  const RunAction run_one = [](void* tables, std::size_t at, Team& alone) noexcept {
    return static_cast<GraphTables*>(tables)->run_action(at, alone);
  };
  const bool is_alone = team.threads() == 1 || control_.observer != nullptr;
  for (const Stretch& stretch : graph_.order.stretches) {
    if (is_alone || !stretch.is_side_by_side) {
      const RunStatus status = run_in_order(stretch.actions, kernel_team(team));
      if (status.code != RunCode::ok) return status;
    } else if (const auto failure = side_by_side_.run(stretch.actions, run_one, this, team)) {
      failed_ = rows_[failure->action].step;
      return failure->status;
    }
  }
  note_sizes();
  return {};
}

void GraphTables::touch(Team& team) noexcept {
  for (const Row& row : rows_) {
    try {
      static_cast<void>(row.run(row.kernel, kernel_team(team)));
    } catch (...) {
      continue;
    }
  }
}

void GraphTables::forget_runs() {
  std::fill(seen_bytes_.begin(), seen_bytes_.end(), 0);
  failed_.reset();
}

std::optional<RunPlace> take_failed_place(AllTables& all) {
  std::optional<RunPlace> place;
  for (std::size_t at = 0; at < all.size(); ++at) {  // a body comes after the graph around it
    GraphTables& one = *all[at];
    if (!one.failed()) continue;
    const std::optional<AroundBody>& around = one.graph().around;
    if (!around || place == RunPlace{around->graph, around->step}) {
      place = RunPlace{PreparedGraphId(static_cast<std::uint32_t>(at)), *one.failed()};
    }
    one.forget_failure();
  }
  return place;
}

void GraphTables::note_sizes() {
  for (std::size_t at = 0; at < seen_bytes_.size(); ++at) {
    const TensorId id = graph_.dynamic_tensors[at];
    seen_bytes_[at] = std::max(seen_bytes_[at], dense_bytes(graph_.graph.tensor(id).dtype, extents(id)));
  }
}

void GraphTables::take_captures(GraphTables& around) {
  for (const PreparedCapture& capture : graph_.captures) {
    std::byte* address = around.address(capture.outer);
    if (base(capture.inner) != address) set_base(capture.inner, address);
    if (graph_.graph.tensor(capture.inner).shape.has_upper_bounds()) {
      set_extents(capture.inner, around.extents(around.graph_.plan.program.values[capture.outer].tensor));
    }
  }
}

void GraphTables::find_extents() {
  first_extent_.reserve(graph_.graph.tensors().size());
  for (const Tensor& tensor : graph_.graph.tensors()) {
    first_extent_.push_back(extents_.size());
    extents_.insert(extents_.end(), tensor.shape.extents().begin(), tensor.shape.extents().end());
  }
}

void GraphTables::find_addresses(const Addresses& addresses) {
  const Plan& plan = graph_.plan;
  const std::size_t buffers = plan.layout.buffers.size();
  bases_ = IdVector<BufferId, std::byte*>(buffers, nullptr);
  values_ = IdVector<BufferId, std::vector<ValueId>>(buffers);
  rebinds_ = IdVector<BufferId, std::vector<BoundKernel*>>(buffers);
  std::byte* next_state = addresses.states();
  for (TensorId id : all_ids<TensorId>(graph_.graph.tensors().size())) {
    const std::optional<BufferId> buffer = graph_.buffer_of[id];
    if (!buffer) continue;
    const Tensor& tensor = graph_.graph.tensor(id);
    if (tensor.role == Role::constant) {
      // No kernel writes a constant (verify).
      bases_[*buffer] = const_cast<std::byte*>(graph_.constants[id].data());
    } else if (tensor.role == Role::state && !tensor.is_captured) {
      bases_[*buffer] = next_state;
      next_state += round_up(tensor.size, Bytes(64)).count();
    }
  }
  cells_ = IdVector<ValueId, std::byte*>(plan.program.values.size(), nullptr);
  for (ValueId id : all_ids<ValueId>(cells_.size())) {
    const ValuePlace& place = plan.layout.values[id];
    if (plan.layout.buffers[place.buffer].placement) {
      cells_[id] = addresses.of_buffer(id_, place.buffer) + place.offset.position();
      continue;
    }
    values_[place.buffer].push_back(id);
    if (bases_[place.buffer] != nullptr) cells_[id] = bases_[place.buffer] + place.offset.position();
  }
}

std::span<const std::int64_t> GraphTables::extents(TensorId tensor) const {
  return {extents_.data() + first_extent_[tensor], graph_.graph.tensor(tensor).shape.extents().size()};
}

void GraphTables::set_extents(TensorId tensor, std::span<const std::int64_t> extents) {
  std::ranges::copy(extents, extents_.begin() + static_cast<std::ptrdiff_t>(first_extent_[tensor]));
}

std::byte* GraphTables::base(TensorId tensor) const {
  const std::optional<BufferId> buffer = graph_.buffer_of[tensor];
  return buffer ? bases_[*buffer] : nullptr;
}

void GraphTables::set_base(TensorId tensor, std::byte* address) {
  const std::optional<BufferId> buffer = graph_.buffer_of[tensor];
  if (!buffer) return;
  bases_[*buffer] = address;
  for (ValueId id : values_[*buffer]) {
    const std::int64_t offset = graph_.plan.layout.values[id].offset.position();
    cells_[id] = address == nullptr ? nullptr : address + offset;
  }
  for (BoundKernel* kernel : rebinds_[*buffer]) kernel->rebind(kernel);
}

const std::byte* GraphTables::set_input(TensorId tensor, std::span<const std::byte> bytes) {
  static constexpr std::max_align_t kNoBytes{};
  const auto* address = bytes.data() == nullptr ? reinterpret_cast<const std::byte*>(&kNoBytes) : bytes.data();
  set_base(tensor, const_cast<std::byte*>(address));
  return address;
}

BoundTensor GraphTables::bound(ValueId value) {
  const TensorId id = graph_.plan.program.values[value].tensor;
  const Tensor& tensor = graph_.graph.tensor(id);
  return {.bytes = &cells_[value],
          .extents = extents_.data() + first_extent_[id],
          .rank = static_cast<std::int32_t>(tensor.shape.rank()),
          .dtype = tensor.dtype,
          .is_dynamic = tensor.shape.has_upper_bounds(),
          .capacity_bytes = tensor.size.count(),
          .bounds = tensor.shape.has_upper_bounds() ? tensor.shape.extents().data() : nullptr};
}

void GraphTables::note_rebind(ValueId value, BoundKernel* kernel) {
  std::vector<BoundKernel*>& list = rebinds_[graph_.plan.layout.values[value].buffer];
  if (kernel->rebind != nullptr && (list.empty() || list.back() != kernel)) list.push_back(kernel);
}

void GraphTables::add(const KernelAction& action, const Addresses& addresses) {
  std::vector<BoundTensor> tensors;
  for (const auto* list : {&action.operands.reads, &action.operands.writes}) {
    for (const std::optional<ValueId>& value : *list) tensors.push_back(value ? bound(*value) : BoundTensor{});
  }
  const std::span<const BoundTensor> all = tensors;
  const std::size_t reads = action.operands.reads.size();
  std::byte* scratch = action.scratch ? addresses.of_buffer(id_, *action.scratch) : nullptr;
  BoundKernel* kernel =
      action.kernel->bind(addresses.of_object(action.object), all.first(reads), all.subspan(reads), scratch);
  rows_.push_back({kernel->run, kernel, action.step});
  for (const auto* list : {&action.operands.reads, &action.operands.writes}) {
    for (const std::optional<ValueId>& value : *list) {
      if (value) note_rebind(*value, kernel);
    }
  }
}

void GraphTables::add(StepId step, std::unique_ptr<OwnKernel> kernel) {
  rows_.push_back({kernel->run, kernel.get(), step});
  own_.push_back(std::move(kernel));
}

}  // namespace lowtide::runtime_internal
