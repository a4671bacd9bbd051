// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/id.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// What a claim about all orders of a graph rests on besides the graph: data of `verify`'s own, since kernels belong to
// a target. Vectors may be empty: no scratch, nothing in place.
struct OrderFacts {
  Bytes alignment = Bytes(1);       // every buffer takes a multiple of it
  bool inputs_take_room = false;    // own inputs are placed and kept throughout (bodies of Loop and Scan)
  IdVector<NodeId, Bytes> scratch;  // what no plan saves: of a node with bodies, what is proven of these
  // Input and output of each node whose bytes may be the same, where the input dies there.
  IdVector<NodeId, std::vector<std::pair<TensorId, TensorId>>> in_place;
  IdVector<NodeId, char> copies;  // 1: the kernel writes bytes of its own even where the operator only renames them
};

enum class OrderBoundVerdict : std::uint8_t {  // the best first
  confirmed,  // every order, whatever shares bytes, has a step that needs as much as the claim, or more
  undecided,  // the effort ended first
  refuted,    // there is an order that counts less, see `order`
};

[[nodiscard]] std::string_view to_string(OrderBoundVerdict verdict);

struct OrderBoundCheck {
  OrderBoundVerdict verdict = OrderBoundVerdict::undecided;
  bool is_by_search = false;  // no: what must live at the named node, or at the end of the run, shows it
  Bytes must_be_live;         // there; what that alone shows
  std::int64_t sets = 0;      // of nodes that the search looked at
  std::vector<NodeId> order;  // of a refuted claim; else empty
  Bytes counted;              // of that order
};

// Holds the claim "no order of this graph has a load below `claimed`" against the graph, sharing no code with what made
// it. First what is cheap: the bytes that must live while `node` runs, whatever came before it, and those at the end.
// Then, if there is effort, every set of nodes that can have run while all loads were below the claim, from either end
// (downset_walk.h): if all have run in one of them, the claim is refuted, and if there is none left, confirmed.
//
// Bytes are counted so that no plan takes less (order_count.h). A plan may take more than is counted, where slices and
// concats cannot all share at once; so `refuted` says that the claim does not follow, and only in a graph without such
// nodes that it is wrong.
// `effort`: nodes and pieces looked at, about 1 ns each; 0: no search. Memory: at most 512 MiB for the sets.
[[nodiscard]] OrderBoundCheck check_order_bound(const Graph& graph, const OrderFacts& facts, Bytes claimed,
                                                std::optional<NodeId> node, std::int64_t effort);

}  // namespace lowtide
