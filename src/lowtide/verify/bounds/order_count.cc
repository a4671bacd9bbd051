// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/order_count.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/bytes.h"

namespace lowtide::verify_internal {
namespace {

using Index = OrderCount::Index;

}  // namespace

std::int64_t OrderCount::rounded(std::int64_t bytes) const { return round_up(Bytes(bytes), Bytes(alignment)).count(); }

// Uses no state that a search keeps. It counts from the first and the last step that touches each piece.
Bytes counted_load(const OrderCount& count, const std::vector<NodeId>& order) {
  std::vector<std::size_t> first(count.pieces.size(), order.size());
  std::vector<std::size_t> last(count.pieces.size(), 0);
  for (std::size_t step = 0; step < order.size(); ++step) {
    for (Index piece : count.nodes[order[step].index()].pieces) {
      first[piece] = std::min(first[piece], step);
      last[piece] = step;
    }
  }
  std::vector<std::int64_t> change(order.size() + 1, 0);
  for (Index piece = 0; piece < count.pieces.size(); ++piece) {
    const OrderCount::Piece& one = count.pieces[piece];
    if (one.users == 0) continue;
    change[one.is_first ? 0 : first[piece]] += one.size;
    if (!one.is_kept) change[last[piece] + 1] -= one.size;
  }
  std::int64_t live = count.base;
  std::int64_t most = count.at_end;
  for (std::size_t step = 0; step < order.size(); ++step) {
    live += change[step];
    const OrderCount::Node& node = count.nodes[order[step].index()];
    std::int64_t saved = 0;
    for (const std::vector<Index>& operand : node.overwritten) {
      std::int64_t dies = 0;
      for (Index piece : operand)
        dies += last[piece] == step && !count.pieces[piece].is_kept ? count.pieces[piece].size : 0;
      saved = std::max(saved, dies);
    }
    most = std::max(most, live + node.scratch - std::min(saved, node.written));
  }
  return Bytes(count.rounded(most));
}

OrderCount turned(const OrderCount& count) {
  OrderCount out = count;
  const auto last = static_cast<Index>(count.nodes.size()) - 1;
  std::reverse(out.nodes.begin(), out.nodes.end());
  for (OrderCount::Node& node : out.nodes) {
    std::swap(node.before, node.after);
    for (std::vector<Index>* edges : {&node.before, &node.after}) {
      for (Index& edge : *edges) edge = last - edge;
      std::reverse(edges->begin(), edges->end());
    }
  }
  for (OrderCount::Piece& piece : out.pieces) std::swap(piece.is_first, piece.is_kept);
  out.is_turned = !count.is_turned;
  return out;
}

}  // namespace lowtide::verify_internal
