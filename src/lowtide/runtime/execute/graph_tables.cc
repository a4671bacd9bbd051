// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/graph_tables.h"

#include <algorithm>
#include <utility>

#include "lowtide/runtime/execute/tensors.h"

namespace lowtide::runtime_internal {
GraphTables::GraphTables(const Prepared& prepared, PreparedGraphId id, const Addresses& addresses, RunControl& control)
    : graph_(prepared.graphs[id]), id_(id), control_(control), seen_bytes_(graph_.dynamic_tensors.size()) {
  find_extents();
  find_addresses(addresses);
  rows_.reserve(graph_.actions.size());
}

GraphTables::~GraphTables() {
  for (const Row& row : rows_) {
    if (row.kernel->destroy != nullptr) row.kernel->destroy(row.kernel);
  }
}

RunStatus GraphTables::run() noexcept {
  if (control_.observer != nullptr) control_.observer->begin(id_);
  for (const Row& row : rows_) {
    const RunPlace place{id_, row.step};
    RunStatus status{RunCode::stopped, 0};
    if (control_.observer != nullptr) control_.observer->before(place);
    if (!control_.is_stopped.load(std::memory_order_relaxed)) {
      try {
        status = row.run(row.kernel, control_.team);
      } catch (...) {
        status = {RunCode::kernel_failed, 0};
      }
    }
    const bool is_ok = status.code == RunCode::ok;
    if (is_ok && control_.observer != nullptr && !control_.observer->after(place)) status = {RunCode::stopped, 0};
    if (status.code == RunCode::ok) continue;
    if (!control_.failed) control_.failed = place;
    return status;
  }
  note_sizes();
  return {};
}

void GraphTables::touch() noexcept {
  for (const Row& row : rows_) {
    try {
      static_cast<void>(row.run(row.kernel, control_.team));
    } catch (...) {
      continue;
    }
  }
}

void GraphTables::forget_sizes() { std::fill(seen_bytes_.begin(), seen_bytes_.end(), 0); }

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

BoundTensor GraphTables::bound(ValueId value) {
  const TensorId id = graph_.plan.program.values[value].tensor;
  const Tensor& tensor = graph_.graph.tensor(id);
  return {.bytes = &cells_[value],
          .extents = extents_.data() + first_extent_[id],
          .rank = static_cast<std::int32_t>(tensor.shape.rank()),
          .dtype = tensor.dtype,
          .is_dynamic = tensor.shape.has_upper_bounds(),
          .capacity_bytes = tensor.size.count()};
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
