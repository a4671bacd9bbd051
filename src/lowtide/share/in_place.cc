// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/share/in_place.h"

#include <algorithm>
#include <cstddef>

namespace lowtide::share_internal {
namespace {

class TakeOver {
 public:
  TakeOver(const InPlaceInput& input, AliasForest& forest)
      : graph_(input.graph),
        kernels_(input.kernels),
        has_parts_(input.parts),
        lives_(input.lives),
        forest_(forest),
        examinations_left_(most_examined(graph_)) {}

  // Joins the first pair that the kernel permits and that can be joined.
  void run(NodeId node, std::uint32_t step) {
    for (const std::pair<int, int>& pair : kernels_[node].in_place) {
      if (join(node, pair, step)) return;
    }
  }

 private:
  // The bytes of an input, for a node that may overwrite them.
  struct Overwriting {
    NodeId node;
    std::pair<int, int> pair;  // of Kernel::in_place
    TensorId root;             // of the input's set
    Interval<std::int64_t> bytes;
    std::uint32_t step = 0;
  };

  bool join(NodeId id, const std::pair<int, int>& pair, std::uint32_t step) {
    const Node& node = graph_.node(id);
    const TensorId input = *node.inputs[static_cast<std::size_t>(pair.first)];
    const TensorId output = *node.outputs[static_cast<std::size_t>(pair.second)];
    const AliasForest::Place from = forest_.find(input);
    const AliasForest::Place to = forest_.find(output);
    if (from.root == to.root) return false;
    const AliasForest::Root& dying = forest_.root(from.root);
    const AliasForest::Root& result = forest_.root(to.root);
    const std::int64_t size = graph_.tensor(output).size.count();
    // The bytes of a state are written once.
    if (dying.is_external || result.is_external || graph_.tensor(input).size.count() != size) return false;
    const Overwriting what{id, pair, from.root, {from.offset, from.offset + size}, step};
    if (dying.size == size && !dying.is_kept && dying.end == step + 1) {
      if (!has_only_permitted_inputs(what)) return false;
      const bool result_begins_here = result.begin == step && result.size == size && to.offset == 0;
      // Without parts, a larger buffer would be kept for longer.
      if (!has_parts_ && !result_begins_here && dying.begin < result.begin) return false;
      forest_.attach(from.root, to.root, to.offset);
      return true;
    }
    if (!has_parts_ || dying.size == size || result.size != size || size == 0) return false;
    if (!has_only_permitted_inputs(what) || !dies(what)) return false;
    forest_.attach(to.root, from.root, from.offset);
    return true;
  }

  // Whether the overwritten bytes hold no other input of the node, except one that the kernel may overwrite as well.
  bool has_only_permitted_inputs(const Overwriting& what) {
    const Node& node = graph_.node(what.node);
    const std::vector<std::pair<int, int>>& permitted = kernels_[what.node].in_place;
    for (std::size_t at = 0; at < node.inputs.size(); ++at) {
      if (!node.inputs[at]) continue;
      const AliasForest::Place place = forest_.find(*node.inputs[at]);
      if (place.root != what.root) continue;
      const Interval<std::int64_t> bytes{place.offset, place.offset + graph_.tensor(*node.inputs[at]).size.count()};
      if (!bytes.overlaps(what.bytes)) continue;
      const std::pair pair(static_cast<int>(at), what.pair.second);
      if (bytes != what.bytes || std::find(permitted.begin(), permitted.end(), pair) == permitted.end()) return false;
    }
    return node.bodies.empty();
  }

  // Whether no tensor needs these bytes after the step. Examines every tensor of the set, and returns false if the
  // limit is reached.
  bool dies(const Overwriting& what) {
    bool is_free = true;
    forest_.for_each_member(what.root, [&](TensorId member) {
      const std::int64_t begin = forest_.find(member).offset;
      const Interval<std::int64_t> bytes{begin, begin + graph_.tensor(member).size.count()};
      const bool is_needed = lives_[member].end.value() > what.step + 1 || graph_.is_needed_at_end(member);
      if (--examinations_left_ < 0 || (is_needed && bytes.overlaps(what.bytes))) is_free = false;
      return is_free;
    });
    return is_free;
  }

  const Graph& graph_;
  const ChosenKernels& kernels_;
  const bool has_parts_;
  const IdVector<TensorId, Lifespan>& lives_;
  AliasForest& forest_;
  std::int64_t examinations_left_;  // of members, by dies
};

}  // namespace

void take_over_inputs(const InPlaceInput& input, const IdVector<NodeId, StepKind>& step_kinds, AliasForest& forest) {
  TakeOver take_over(input, forest);
  for (std::size_t step = 0; step < input.order.size(); ++step) {
    const NodeId id = input.order[step];
    if (step_kinds[id] == StepKind::compute) take_over.run(id, static_cast<std::uint32_t>(step));
  }
}

}  // namespace lowtide::share_internal
