// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "lowtide/kernels/kernel.h"

namespace lowtide::kernels_internal {

// What a plain kernel has while it runs.
struct Operands {
  std::span<const BoundTensor> reads;   // one per entry of Node::inputs
  std::span<const BoundTensor> writes;  // one per entry of Node::outputs
  std::byte* scratch = nullptr;
};

// A kernel as one function. `parameters` are what prepare() read from the attributes.
template <typename Parameters>
using PlainRun = RunStatus (*)(const Parameters& parameters, const Operands& operands, Team& team);

template <typename Parameters>
class PlainKernel final : public PreparedKernel {
 public:
  PlainKernel(Parameters parameters, PlainRun<Parameters> run, const Node& node)
      : parameters_(std::move(parameters)), run_(run), tensors_(node.inputs.size() + node.outputs.size()) {}

  [[nodiscard]] Bytes bound_bytes() const override {
    return Bytes{static_cast<std::int64_t>(sizeof(Bound) + tensors_ * sizeof(BoundTensor))};
  }

  BoundKernel* bind(std::byte* at, std::span<const BoundTensor> reads, std::span<const BoundTensor> writes,
                    std::byte* scratch) const override {
    auto* tensors = reinterpret_cast<BoundTensor*>(at + sizeof(Bound));
    std::uninitialized_copy(reads.begin(), reads.end(), tensors);
    std::uninitialized_copy(writes.begin(), writes.end(), tensors + reads.size());
    const Operands operands{{tensors, reads.size()}, {tensors + reads.size(), writes.size()}, scratch};
    return new (at) Bound{{.run = &Bound::call}, this, operands};
  }

 private:
  // The tensors follow it in memory.
  struct Bound : BoundKernel {
    const PlainKernel* kernel;
    Operands operands;
    static RunStatus call(BoundKernel* self, Team& team) {
      const auto* bound = static_cast<const Bound*>(self);
      return bound->kernel->run_(bound->kernel->parameters_, bound->operands, team);
    }
  };

  Parameters parameters_;
  PlainRun<Parameters> run_;
  std::size_t tensors_;
};

// Makes the kernel of a node from its function and its parameters.
template <typename Parameters>
[[nodiscard]] std::unique_ptr<PreparedKernel> plain_kernel(const PrepareInput& input, PlainRun<Parameters> run,
                                                           Parameters parameters) {
  return std::make_unique<PlainKernel<Parameters>>(std::move(parameters), run, input.graph.node(input.node));
}

}  // namespace lowtide::kernels_internal
