// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/check_bound.h"

#include <algorithm>
#include <utility>

#include "lowtide/verify/bounds/downset_walk.h"
#include "lowtide/verify/bounds/order_count.h"

namespace lowtide {
namespace {

using verify_internal::DownsetWalk;
using verify_internal::OrderCount;
using verify_internal::turned;
using Index = OrderCount::Index;

// The node and all that lead to it, or all that it leads to. A plain walk.
std::vector<char> reach(const OrderCount& count, Index from, std::vector<Index> OrderCount::Node::*edges) {
  std::vector<char> is_reached(count.nodes.size(), 0);
  std::vector<Index> open = {from};
  is_reached[from] = 1;
  while (!open.empty()) {
    const Index node = open.back();
    open.pop_back();
    for (Index next : count.nodes[node].*edges) {
      if (std::exchange(is_reached[next], 1) == 0) open.push_back(next);
    }
  }
  return is_reached;
}

// What lives while a node runs, whatever the order: pieces that somebody has touched who must have run, and somebody
// will who cannot have.
std::int64_t must_be_live(const OrderCount& count, Index node) {
  const std::vector<char> before = reach(count, node, &OrderCount::Node::before);
  const std::vector<char> after = reach(count, node, &OrderCount::Node::after);
  std::vector<char> has_begun(count.pieces.size(), 0);
  std::vector<char> is_needed(count.pieces.size(), 0);       // by the node or later
  std::vector<char> is_needed_more(count.pieces.size(), 0);  // later
  for (Index piece = 0; piece < count.pieces.size(); ++piece) {
    has_begun[piece] = count.pieces[piece].is_first ? 1 : 0;
    is_needed_more[piece] = is_needed[piece] = count.pieces[piece].is_kept ? 1 : 0;
  }
  for (Index other = 0; other < count.nodes.size(); ++other) {
    for (Index piece : count.nodes[other].pieces) {
      if (before[other] != 0) has_begun[piece] = 1;
      if (after[other] != 0) is_needed[piece] = 1;
      if (after[other] != 0 && other != node) is_needed_more[piece] = 1;
    }
  }
  std::int64_t sum = count.base + count.nodes[node].scratch;
  for (Index piece = 0; piece < count.pieces.size(); ++piece) {
    if (has_begun[piece] != 0 && is_needed[piece] != 0) sum += count.pieces[piece].size;
  }
  std::int64_t saved = 0;
  for (const std::vector<Index>& operand : count.nodes[node].overwritten) {
    std::int64_t may_die = 0;
    for (Index piece : operand) may_die += is_needed_more[piece] == 0 ? count.pieces[piece].size : 0;
    saved = std::max(saved, may_die);
  }
  return sum - std::min(saved, count.nodes[node].written);
}

// Both directions by turns, each turn twice as long: the quicker one decides, at no more than four times its work.
void search(const OrderCount& count, Bytes claimed, std::int64_t effort, OrderBoundCheck& check) {
  const OrderCount backwards = turned(count);
  DownsetWalk walks[] = {{count, claimed.count() - 1}, {backwards, claimed.count() - 1}};
  const auto finish = [&](OrderBoundVerdict verdict) {
    check.verdict = verdict;
    check.is_by_search = true;
    check.sets = walks[0].sets() + walks[1].sets();
  };
  std::int64_t turn = 1'000'000;
  for (std::int64_t left = effort; left > 0; turn = turn * 2) {
    for (std::size_t way = 0; way < 2 && left > 0; ++way) {
      const std::int64_t share = std::min(turn, left);
      const DownsetWalk::End end = walks[way].run(share);
      left -= share;
      if (end == DownsetWalk::End::open) continue;
      if (end == DownsetWalk::End::exhausted) return finish(OrderBoundVerdict::confirmed);
      const auto last = static_cast<Index>(count.nodes.size()) - 1;
      for (Index node : walks[way].order()) check.order.emplace_back(way == 0 ? node : last - node);
      if (way == 1) std::reverse(check.order.begin(), check.order.end());
      return finish(OrderBoundVerdict::refuted);
    }
    if (walks[0].is_full() && walks[1].is_full()) break;
  }
  finish(OrderBoundVerdict::undecided);
}

}  // namespace

std::string_view to_string(OrderBoundVerdict verdict) {
  switch (verdict) {
    case OrderBoundVerdict::confirmed:
      return "confirmed";
    case OrderBoundVerdict::refuted:
      return "refuted";
    case OrderBoundVerdict::undecided:
      break;
  }
  return "undecided";
}

OrderBoundCheck check_order_bound(const Graph& graph, const OrderFacts& facts, Bytes claimed,
                                  std::optional<NodeId> node, std::int64_t effort) {
  LOWTIDE_CHECK(!node || graph.nodes().contains(*node), "a bound names a node of its graph");
  const OrderCount count = verify_internal::order_count(graph, facts);
  OrderBoundCheck check;
  std::int64_t proven = count.at_end;
  if (node) proven = std::max(proven, must_be_live(count, node->value()));
  check.must_be_live = Bytes(count.rounded(proven));
  if (claimed <= check.must_be_live) {
    check.verdict = OrderBoundVerdict::confirmed;
    return check;
  }
  // Without a node there is one moment, and all that lives in it is known.
  if (effort > 0 || graph.nodes().empty()) {
    if (graph.nodes().empty()) check.verdict = OrderBoundVerdict::refuted;
    if (!graph.nodes().empty()) search(count, claimed, effort, check);
  }
  if (check.verdict == OrderBoundVerdict::refuted) check.counted = verify_internal::counted_load(count, check.order);
  return check;
}

}  // namespace lowtide
