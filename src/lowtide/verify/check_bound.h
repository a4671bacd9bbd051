// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// The facts about kernels on which a claim about all orders of a graph is based. The type is here because `verify` may
// not include `target`. Each vector has one entry per node. An empty one means no scratch, nothing in place, or no
// copies.
struct OrderFacts {
  Bytes alignment = Bytes(1);           // every buffer takes a multiple of it
  bool inputs_live_throughout = false;  // own inputs are placed and kept (bodies of Loop and Scan)
  // Bytes that every plan needs while the node runs. Of a node with bodies, their proven bound.
  IdVector<NodeId, Bytes> scratch;
  // Pairs of an input and an output that the kernel may put in the same bytes if the input dies at the node.
  IdVector<NodeId, std::vector<std::pair<TensorId, TensorId>>> in_place;
  // Nodes whose kernel writes separate bytes even if the operator is a view.
  Flags<NodeId> copies;
};

enum class OrderBoundVerdict : std::uint8_t {  // best first
  confirmed,  // every order has a step that needs at least the claimed bytes, no matter how tensors share
  undecided,  // the effort or the memory ran out first
  refuted,    // `order` counts less than the claim
};

template <>
inline constexpr auto kEnumNames<OrderBoundVerdict> =
    enum_names<OrderBoundVerdict>({{OrderBoundVerdict::confirmed, "confirmed"},
                                   {OrderBoundVerdict::undecided, "undecided"},
                                   {OrderBoundVerdict::refuted, "refuted"}});

struct OrderBoundCheck {
  OrderBoundVerdict verdict = OrderBoundVerdict::undecided;
  bool is_by_search = false;  // false: the bytes that must be live at the named node or at the end prove the claim
  Bytes live_set;             // what these two prove
  std::int64_t sets = 0;      // sets of nodes that the search found
  std::vector<NodeId> order;  // of a refuted claim; otherwise empty
  Bytes counted;              // the largest load of `order`, its end included
};

// Checks the claim "no order of this graph has a load below `claimed`". Shares no code with the planner. There are two
// steps:
//   - The bytes that must be live while `node` runs in any order, and those at the end of the run. O(nodes +
//     edges + pieces).
//   - If that does not prove the claim, and `effort` is positive: a search for an order below the claim. It joins nodes
//     that may run one right after another, and divides the graph where every order has run the same nodes
//     (bounds/decide_order.h). The claim is confirmed if one subproblem has no such order, and refuted if all have
//     one.
//
// No plan takes fewer bytes than are counted (bounds/order_count.h). A plan may take more, because not all slices and
// concats can always share bytes at once. So `refuted` means that the claim does not follow from the count. In a graph
// without slices and concats, it means that the claim is wrong.
// `effort`: nodes and pieces that the search may look at, about 1 ns each; 0: no search. The search takes at most 256
// MiB for sets, and nodes^2 / 8 bytes in a graph of up to 20,000 nodes. Requires: `facts` fits the graph, and `node`,
// if given, is in it.
[[nodiscard]] OrderBoundCheck check_order_bound(const Graph& graph, const OrderFacts& facts, Bytes claimed,
                                                std::optional<NodeId> node, std::int64_t effort);

}  // namespace lowtide
