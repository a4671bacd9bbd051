// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/fuse_chains.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/chain.h"
#include "lowtide/lower/common/bodies.h"

namespace lowtide {
namespace {

using ChainId = Id<struct ChainTag>;

struct Chain {
  std::vector<NodeId> nodes;    // descending; the first one writes the result
  std::set<TensorId> operands;  // without the results of its nodes
};

// Collects the nodes of all chains, readers before producers.
class ChainFinder {
 public:
  // `ends_at_integers`: no chain has a node that reads integers which another node of it computes.
  ChainFinder(const Graph& graph, bool ends_at_integers)
      : graph_(graph),
        ends_at_integers_(ends_at_integers),
        chain_of_(graph.nodes().size()),
        is_waited_for_(graph.nodes().size()) {
    for (const Node& node : graph.nodes()) {
      for (NodeId before : node.control_inputs) is_waited_for_.set(before);
    }
  }

  IdVector<ChainId, Chain> find() {
    for (std::size_t at = graph_.nodes().size(); at-- > 0;) {
      const NodeId id(static_cast<std::uint32_t>(at));
      if (is_waited_for_.test(id) || !may_be_in_chain(graph_, id)) continue;
      const bool is_end = ends_at_integers_ && is_byte(graph_.tensor(result_of(id)).dtype);
      std::optional<ChainId> chain = is_end ? std::nullopt : chain_of_readers(id);
      if (!chain || !may_join(id, chains_[*chain])) chain = chains_.push_back({});
      join(id, chains_[*chain]);
      chain_of_[id] = chain;
    }
    return std::move(chains_);
  }

 private:
  [[nodiscard]] TensorId result_of(NodeId id) const { return *graph_.node(id).outputs[0]; }

  // The chain that has all readers of the result. Returns nullopt if there is none.
  [[nodiscard]] std::optional<ChainId> chain_of_readers(NodeId id) const {
    const TensorId result = result_of(id);
    const std::span<const NodeId> readers = graph_.readers(result);
    if (readers.empty() || graph_.is_needed_at_end(result)) return std::nullopt;
    const std::optional<ChainId> chain = chain_of_[readers[0]];
    const bool is_one = std::ranges::all_of(readers, [&](NodeId reader) { return chain_of_[reader] == chain; });
    return is_one ? chain : std::nullopt;
  }

  [[nodiscard]] bool may_join(NodeId id, const Chain& chain) const {
    const Tensor& result = graph_.tensor(result_of(id));
    if (result.shape != graph_.tensor(result_of(chain.nodes[0])).shape) return false;
    if (chain.nodes.size() == kMostFusedNodes) return false;
    std::set<TensorId> operands = chain.operands;
    operands.erase(result_of(id));
    Bytes added;
    for (TensorId read : graph_.reads(id)) {
      if (operands.insert(read).second && graph_.tensor(read).role == Role::temporary)
        added += graph_.tensor(read).size;
    }
    return operands.size() <= kMostChainOperands && (added <= result.size || has_operands_before(id, chain));
  }

  // Whether the other operands of a chain are there when the node runs, in the order as given.
  [[nodiscard]] bool has_operands_before(NodeId id, const Chain& chain) const {
    return std::ranges::all_of(chain.operands, [&](TensorId read) {
      const std::optional<NodeId> producer = graph_.tensor(read).producer;
      return !producer || *producer <= id;
    });
  }

  void join(NodeId id, Chain& chain) {
    chain.nodes.push_back(id);
    chain.operands.erase(result_of(id));
    for (TensorId read : graph_.reads(id)) chain.operands.insert(read);
  }

  const Graph& graph_;
  bool ends_at_integers_;
  IdVector<NodeId, std::optional<ChainId>> chain_of_;
  Flags<NodeId> is_waited_for_;
  IdVector<ChainId, Chain> chains_;
};

// Puts a chain in the place of its last node.
void replace(const Graph& graph, Chain chain, GraphRewriter& rewriter) {
  std::ranges::reverse(chain.nodes);
  const NodeId last = chain.nodes.back();
  rewriter.replace_node(last, chain_of(graph, chain.nodes));
  chain.nodes.pop_back();
  for (NodeId id : chain.nodes) rewriter.merge_node(id, last);
}

// Whether a chain reads and writes no real numbers, except those of constants.
bool is_on_integers(const Graph& graph, const Chain& chain) {
  if (!is_byte(graph.tensor(*graph.node(chain.nodes[0]).outputs[0]).dtype)) return false;
  return std::ranges::all_of(chain.operands, [&](TensorId id) {
    const Tensor& tensor = graph.tensor(id);
    return tensor.role == Role::constant || is_byte(tensor.dtype);
  });
}

}  // namespace

Result<std::optional<Rewritten>> fuse_chains(const Graph& graph) {
  GraphRewriter rewriter(graph);
  for (Chain& chain : ChainFinder(graph, false).find()) {
    if (chain.nodes.size() > 1) replace(graph, std::move(chain), rewriter);
  }
  return lower_internal::finish_with_bodies(graph, std::move(rewriter), &fuse_chains);
}

Result<std::optional<Rewritten>> fuse_integer_chains(const Graph& graph) {
  GraphRewriter rewriter(graph);
  for (Chain& chain : ChainFinder(graph, true).find()) {
    if (chain.nodes.size() > 1 && is_on_integers(graph, chain)) replace(graph, std::move(chain), rewriter);
  }
  return lower_internal::finish_with_bodies(graph, std::move(rewriter), &fuse_integer_chains);
}

}  // namespace lowtide
