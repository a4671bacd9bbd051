// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/elementwise.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/tensor_view.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::array kFloat{DType::f32};
constexpr std::array kOperators{SupportedOperator{"", "Relu", kFloat}};

struct NoParameters {};

// The maximum of 0 and x; a NaN stays a NaN.
RunStatus run_relu(const NoParameters& /*parameters*/, const Operands& operands, Team& /*team*/) {
  const BoundTensor& from = operands.reads[0];
  const BoundTensor& to = operands.writes[0];
  if (const RunStatus status = copy_extents(from, to); status.code != RunCode::ok) return status;
  const auto* x = elements<float>(from);
  auto* y = mutable_elements<float>(to);
  const std::int64_t count = count_of(from);
  for (std::int64_t at = 0; at < count; ++at) y[at] = std::max(x[at], 0.0F);
  return {};
}

Offer offer(const Graph& graph, NodeId node) {
  return offer_plain(graph, node, *find_operator(kOperators, graph.op(node)));
}

Result<std::unique_ptr<PreparedKernel>> prepare_elementwise(const PrepareInput& input) {
  return plain_kernel(input, &run_relu, NoParameters{});
}

}  // namespace

Family elementwise_family() {
  return {.name = "elementwise", .operators = kOperators, .offer = &offer, .prepare = &prepare_elementwise};
}

}  // namespace lowtide::kernels_internal
