// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/runtime/execute/tables.h"

#include <algorithm>
#include <cstring>

#include "lowtide/runtime/prepare/prepare.h"

namespace lowtide::runtime_internal {

struct Tables::BoundCopy : BoundKernel {
  std::byte* const* from = nullptr;
  std::byte* const* to = nullptr;
  Interval<std::int64_t> bytes;

  // The ranges may be equal or overlap, because a result may lie over the bytes from which it is copied.
  static RunStatus call(BoundKernel* self, Team& /*team*/) {
    const auto* copy = static_cast<const BoundCopy*>(self);
    const auto count = static_cast<std::size_t>(copy->bytes.end - copy->bytes.begin);
    std::memmove(*copy->to + copy->bytes.begin, *copy->from + copy->bytes.begin, count);
    return {};
  }
};

Tables::Tables(const Prepared& prepared, std::span<std::byte> arena) : prepared_(prepared) {
  find_extents();
  find_addresses(arena);
  objects_ = new_block(prepared.objects);
  const auto is_copy = [](const Action& action) { return std::holds_alternative<CopyAction>(action); };
  copies_.reserve(static_cast<std::size_t>(std::count_if(prepared.actions.begin(), prepared.actions.end(), is_copy)));
  rows_.reserve(prepared.actions.size());
  for (const Action& action : prepared.actions) {
    if (const auto* copy = std::get_if<CopyAction>(&action)) {
      bind(*copy);
    } else {
      bind(std::get<KernelAction>(action), arena);
    }
  }
}

Tables::~Tables() {
  for (const Row& row : rows_) {
    if (row.kernel->destroy != nullptr) row.kernel->destroy(row.kernel);
  }
}

Tables::Block Tables::new_block(Bytes size) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(size.count(), 1));
  Block block(static_cast<std::byte*>(::operator new[](count, std::align_val_t{64})));
  std::fill_n(block.get(), count, std::byte{0});
  return block;
}

void Tables::find_extents() {
  first_extent_.reserve(prepared_.graph.tensors().size());
  for (const Tensor& tensor : prepared_.graph.tensors()) {
    first_extent_.push_back(extents_.size());
    extents_.insert(extents_.end(), tensor.shape.extents().begin(), tensor.shape.extents().end());
  }
}

void Tables::find_addresses(std::span<std::byte> arena) {
  const Plan& plan = prepared_.plan;
  const std::size_t buffers = plan.layout.buffers.size();
  bases_ = IdVector<BufferId, std::byte*>(buffers, nullptr);
  values_ = IdVector<BufferId, std::vector<ValueId>>(buffers);
  rebinds_ = IdVector<BufferId, std::vector<BoundKernel*>>(buffers);
  states_ = new_block(prepared_.own_states);
  std::byte* next_state = states_.get();
  for (TensorId id : all_ids<TensorId>(prepared_.graph.tensors().size())) {
    const std::optional<BufferId> buffer = prepared_.buffer_of[id];
    if (!buffer) continue;
    const Tensor& tensor = prepared_.graph.tensor(id);
    if (tensor.role == Role::constant) {
      // No kernel writes a constant (verify).
      bases_[*buffer] = const_cast<std::byte*>(prepared_.constants[id].data());
    } else if (tensor.role == Role::state) {
      bases_[*buffer] = next_state;
      next_state += round_up(tensor.size, Bytes(64)).count();
    }
  }
  cells_ = IdVector<ValueId, std::byte*>(plan.program.values.size(), nullptr);
  for (ValueId id : all_ids<ValueId>(cells_.size())) {
    const ValuePlace& place = plan.layout.values[id];
    if (plan.layout.buffers[place.buffer].placement) {
      cells_[id] = arena.data() + offset_in_arena(plan, id).position();
      continue;
    }
    values_[place.buffer].push_back(id);
    if (bases_[place.buffer] != nullptr) cells_[id] = bases_[place.buffer] + place.offset.position();
  }
}

std::span<const std::int64_t> Tables::extents(TensorId tensor) const {
  return {extents_.data() + first_extent_[tensor], prepared_.graph.tensor(tensor).shape.extents().size()};
}

std::byte* Tables::base(TensorId tensor) const {
  const std::optional<BufferId> buffer = prepared_.buffer_of[tensor];
  return buffer ? bases_[*buffer] : nullptr;
}

void Tables::set_base(TensorId tensor, std::byte* address) {
  const std::optional<BufferId> buffer = prepared_.buffer_of[tensor];
  if (!buffer) return;
  bases_[*buffer] = address;
  for (ValueId id : values_[*buffer]) cells_[id] = address + prepared_.plan.layout.values[id].offset.position();
  for (BoundKernel* kernel : rebinds_[*buffer]) kernel->rebind(kernel);
}

BoundTensor Tables::bound(ValueId value) {
  const TensorId id = prepared_.plan.program.values[value].tensor;
  const Tensor& tensor = prepared_.graph.tensor(id);
  return {.bytes = &cells_[value],
          .extents = extents_.data() + first_extent_[id],
          .rank = static_cast<std::int32_t>(tensor.shape.rank()),
          .dtype = tensor.dtype,
          .is_dynamic = tensor.shape.has_upper_bounds(),
          .capacity_bytes = tensor.size.count()};
}

void Tables::note_rebind(ValueId value, BoundKernel* kernel) {
  std::vector<BoundKernel*>& list = rebinds_[prepared_.plan.layout.values[value].buffer];
  if (kernel->rebind != nullptr && (list.empty() || list.back() != kernel)) list.push_back(kernel);
}

void Tables::bind(const KernelAction& action, std::span<std::byte> arena) {
  std::vector<BoundTensor> tensors;
  for (const auto* list : {&action.reads, &action.writes}) {
    for (const std::optional<ValueId>& value : *list) tensors.push_back(value ? bound(*value) : BoundTensor{});
  }
  const std::span<const BoundTensor> all = tensors;
  std::byte* scratch = action.scratch ? arena.data() + action.scratch->position() : nullptr;
  BoundKernel* kernel = action.kernel->bind(objects_.get() + action.object.position(), all.first(action.reads.size()),
                                            all.subspan(action.reads.size()), scratch);
  rows_.push_back({kernel->run, kernel, action.step});
  for (const auto* list : {&action.reads, &action.writes}) {
    for (const std::optional<ValueId>& value : *list) {
      if (value) note_rebind(*value, kernel);
    }
  }
}

void Tables::bind(const CopyAction& action) {
  BoundCopy& copy = copies_.emplace_back();
  copy.run = &BoundCopy::call;
  copy.from = &cells_[action.from];
  copy.to = &cells_[action.to];
  copy.bytes = action.bytes;
  rows_.push_back({copy.run, &copy, action.step});
}

}  // namespace lowtide::runtime_internal
