// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_bound.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/verify/bounds/decide_order.h"
#include "lowtide/verify/bounds/order_count.h"

namespace lowtide {
namespace {

using verify_internal::OrderCount;
using Index = OrderCount::Index;

// The node, and all nodes that it reaches along `edges`.
Flags<Index> reached_from(const OrderCount& count, Index from, std::vector<Index> OrderCount::Node::*edges) {
  Flags<Index> is_reached(count.nodes.size());
  std::vector<Index> open = {from};
  is_reached.set(from);
  while (!open.empty()) {
    const Index node = open.back();
    open.pop_back();
    for (Index next : count.nodes[node].*edges) {
      if (is_reached.insert(next)) open.push_back(next);
    }
  }
  return is_reached;
}

// The bytes that live while a node runs, in every order: pieces that a node before it has touched, and that the node or
// one after it still needs.
std::int64_t live_bytes(const OrderCount& count, Index node) {
  const Flags<Index> before = reached_from(count, node, &OrderCount::Node::before);
  const Flags<Index> after = reached_from(count, node, &OrderCount::Node::after);
  Flags<Index> has_begun(count.pieces.size());
  Flags<Index> is_needed(count.pieces.size());        // by the node or later
  Flags<Index> is_needed_later(count.pieces.size());  // after the node
  for (Index piece = 0; piece < count.pieces.size(); ++piece) {
    if (count.pieces[piece].is_first) has_begun.set(piece);
    if (!count.pieces[piece].is_kept) continue;
    is_needed.set(piece);
    is_needed_later.set(piece);
  }
  for (Index other = 0; other < count.nodes.size(); ++other) {
    for (Index piece : count.nodes[other].pieces) {
      if (before.test(other)) has_begun.set(piece);
      if (after.test(other)) is_needed.set(piece);
      if (after.test(other) && other != node) is_needed_later.set(piece);
    }
  }
  std::int64_t sum = count.base + count.nodes[node].scratch;
  for (Index piece = 0; piece < count.pieces.size(); ++piece) {
    if (has_begun.test(piece) && is_needed.test(piece)) sum += count.pieces[piece].size;
  }
  std::int64_t saved = 0;
  for (const std::vector<Index>& operand : count.nodes[node].overwritten) {
    std::int64_t may_die = 0;
    for (Index piece : operand) may_die += is_needed_later.test(piece) ? 0 : count.pieces[piece].size;
    saved = std::max(saved, may_die);
  }
  return sum - std::min(saved, count.nodes[node].written);
}

}  // namespace

OrderBoundCheck check_order_bound(const Graph& graph, const OrderFacts& facts, Bytes claimed,
                                  std::optional<NodeId> node, std::int64_t effort) {
  LOWTIDE_CHECK(!node || graph.nodes().contains(*node), "a bound names a node of its graph");
  const OrderCount count = verify_internal::order_count(graph, facts);
  OrderBoundCheck check;
  std::int64_t proven = count.at_end;
  if (node) proven = std::max(proven, live_bytes(count, node->value()));
  check.live_set = Bytes(count.rounded(proven));
  if (claimed <= check.live_set) {
    check.verdict = OrderBoundVerdict::confirmed;
    return check;
  }
  if (graph.nodes().empty()) {
    check.verdict = OrderBoundVerdict::refuted;  // there is one moment, and all that lives in it is known
  } else if (effort > 0) {
    verify_internal::OrderDecision decision = verify_internal::decide_order(count, claimed.count() - 1, effort);
    check.verdict = decision.verdict;
    check.is_by_search = true;
    check.sets = decision.sets;
    check.order = std::move(decision.order);
  }
  if (check.verdict == OrderBoundVerdict::refuted) check.counted = verify_internal::counted_load(count, check.order);
  return check;
}

}  // namespace lowtide
