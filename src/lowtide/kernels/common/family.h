// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/supported.h"

namespace lowtide::kernels_internal {

// The kernels of one family for a node, the fastest one first, or the reason why there is none.
struct Offer {
  std::vector<Kernel> kernels;
  std::string missing;  // not empty if and only if there are no kernels: "input 'x' is i64, and kernels have f32"
};

struct OfferInput {
  const Graph& graph;
  NodeId node;
  int threads = 1;              // of the team that will run the kernel
  CacheSizes caches = {};       // of the target
  bool includes_onednn = true;  // otherwise the offer has no kernel of oneDNN, which is then not loaded
};

// Operators that one file implements. A row of kernels/families.cc.
struct Family {
  std::string_view name;                         // "elementwise"
  std::span<const SupportedOperator> operators;  // sorted by domain and type
  // Requires of both: the node has one of the operators. `prepare` gets only kernels that `offer` has.
  Offer (*offer)(const OfferInput& input);
  Result<std::unique_ptr<PreparedKernel>> (*prepare)(const PrepareInput& input);
  bool is_of_onednn = false;  // its kernels are those of oneDNN (onednn/onednn.h)
};

// The kernels of all families that have the operator. If there are none, the reason is that of the last family, which
// is the plain one and has the most types.
[[nodiscard]] Offer offer_of_all(const OfferInput& input);

// The most axes that plain kernels handle.
inline constexpr int kMostAxes = 8;

// Offers the kernel "plain", without scratch and with the in-place rules of the target `dense`. The element type of the
// first operand (without operands: of the first result) must be one of the row's, and ranks at most kMostAxes. If the
// row has f32, all real numbers of further operands and of results must be of its types, unless `takes_any_others`.
[[nodiscard]] Offer offer_plain(const OfferInput& input, const SupportedOperator& row, bool takes_any_others = false);

}  // namespace lowtide::kernels_internal
