// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/half_kernel.h"

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/check.h"
#include "lowtide/kernels/common/narrow_floats.h"
#include "lowtide/kernels/common/tensor_view.h"

namespace lowtide::kernels_internal {
namespace {

constexpr Bytes kCopyAlignment(64);

// Where the f32 copies are in scratch: one entry per operand, then one per result; nullopt without a copy.
struct FloatCopies {
  std::vector<std::optional<Bytes>> begins;
  Bytes end;
};

FloatCopies float_copies(const Graph& graph, const Node& node, Bytes own) {
  FloatCopies copies{{}, own};
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const std::optional<TensorId>& id : *list) {
      const bool is_half = id && is_narrow_float(graph.tensor(*id).dtype);
      if (is_half) copies.end = round_up(copies.end, kCopyAlignment);
      copies.begins.push_back(is_half ? std::optional(copies.end) : std::nullopt);
      if (is_half) copies.end += graph.tensor(*id).size * 2;
    }
  }
  return copies;
}

bool has_copy(const std::optional<Bytes>& begin) { return begin.has_value(); }

class HalfKernel final : public PreparedKernel {
 public:
  HalfKernel(FloatCopies copies, std::unique_ptr<PreparedKernel> wide)
      : copies_(std::move(copies)), wide_(std::move(wide)) {}

  [[nodiscard]] Bytes bound_bytes() const override { return wide_begin() + wide_->bound_bytes(); }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* halves = reinterpret_cast<BoundTensor*>(at + sizeof(Bound));
    std::uninitialized_copy(reads.begin(), reads.end(), halves);
    std::uninitialized_copy(writes.begin(), writes.end(), halves + reads.size());
    auto* floats = halves + count();
    std::uninitialized_copy_n(halves, count(), floats);
    auto* cells = reinterpret_cast<std::byte**>(floats + count());
    for (std::size_t tensor = 0; tensor < count(); ++tensor) {
      const std::optional<Bytes> begin = copies_.begins[tensor];
      std::construct_at(cells + tensor, begin ? scratch + begin->count() : nullptr);
      if (!begin) continue;
      floats[tensor].bytes = cells + tensor;
      floats[tensor].dtype = DType::f32;
      floats[tensor].capacity_bytes = 2 * halves[tensor].capacity_bytes;
    }
    BoundKernel* wide =
        wide_->bind(at + wide_begin().count(), {floats, reads.size()}, {floats + reads.size(), writes.size()}, scratch);
    LOWTIDE_CHECK(wide->rebind == nullptr && wide->destroy == nullptr, "a plain kernel reads the cells in each run");
    return new (at) Bound{{.run = &Bound::call}, wide, halves, floats, reads.size(), count()};
  }

 private:
  // The tensors, the cells of the copies and the bound kernel of f32 follow it in memory.
  struct Bound : BoundKernel {
    BoundKernel* wide = nullptr;
    const BoundTensor* halves = nullptr;
    const BoundTensor* floats = nullptr;
    std::size_t reads = 0;
    std::size_t all = 0;

    [[nodiscard]] bool is_copied(std::size_t tensor) const { return halves[tensor].bytes != floats[tensor].bytes; }

    static RunStatus call(BoundKernel* self, Team& team) {
      const auto* bound = static_cast<const Bound*>(self);
      for (std::size_t at = 0; at < bound->reads; ++at) {
        if (!bound->is_copied(at)) continue;
        widen_floats(bound->halves[at].dtype, *bound->halves[at].bytes, count_of(bound->halves[at]),
                     mutable_elements<float>(bound->floats[at]));
      }
      const RunStatus status = bound->wide->run(bound->wide, team);
      if (status.code != RunCode::ok) return status;
      for (std::size_t at = bound->reads; at < bound->all; ++at) {
        if (!bound->is_copied(at)) continue;
        narrow_floats(bound->halves[at].dtype, elements<float>(bound->floats[at]), count_of(bound->halves[at]),
                      *bound->halves[at].bytes);
      }
      return {};
    }
  };

  [[nodiscard]] std::size_t count() const { return copies_.begins.size(); }
  [[nodiscard]] Bytes wide_begin() const {
    const std::size_t tensors = count() * (2 * sizeof(BoundTensor) + sizeof(std::byte*));
    return round_up(Bytes(static_cast<std::int64_t>(sizeof(Bound) + tensors)), kCopyAlignment);
  }

  FloatCopies copies_;
  std::unique_ptr<PreparedKernel> wide_;
};

}  // namespace

Bytes scratch_with_floats(const Graph& graph, const Node& node, Bytes own) {
  const FloatCopies copies = float_copies(graph, node, own);
  return std::ranges::any_of(copies.begins, &has_copy) ? copies.end : own;
}

std::unique_ptr<PreparedKernel> widened(const Graph& graph, const Node& node, Bytes own,
                                        std::unique_ptr<PreparedKernel> wide) {
  FloatCopies copies = float_copies(graph, node, own);
  if (std::ranges::none_of(copies.begins, &has_copy)) return wide;
  return std::make_unique<HalfKernel>(std::move(copies), std::move(wide));
}

}  // namespace lowtide::kernels_internal
