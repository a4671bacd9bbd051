// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <utility>

#include "lowtide/target/target.h"

namespace lowtide {
namespace {

bool may_overwrite(const Graph& graph, const Node& node, std::size_t input, TensorId output) {
  if (!node.inputs[input]) return false;
  const Tensor& source = graph.tensor(*node.inputs[input]);
  const Tensor& result = graph.tensor(output);
  return source.shape == result.shape && source.size == result.size && bits_of(source.dtype) == bits_of(result.dtype);
}

class DenseCatalogue final : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId id) const override {
    const Node& node = graph.node(id);
    Kernel kernel{.name = "dense"};
    const InPlaceKind rule = graph.op(id).traits.in_place;
    if (rule != InPlaceKind::none && !node.outputs.empty() && node.outputs[0]) {
      const std::size_t candidates =
          rule == InPlaceKind::first_input ? std::min<std::size_t>(1, node.inputs.size()) : node.inputs.size();
      for (std::size_t input = 0; input < candidates; ++input) {
        if (may_overwrite(graph, node, input, *node.outputs[0]))
          kernel.in_place.emplace_back(static_cast<int>(input), 0);
      }
    }
    return {std::move(kernel)};
  }
};

}  // namespace

std::shared_ptr<const Catalogue> dense_catalogue() {
  static const std::shared_ptr<const Catalogue> catalogue = std::make_shared<DenseCatalogue>();
  return catalogue;
}

Target dense_target() {
  return {.name = "dense",
          .regions = {Region{.name = "arena"}},
          .links = {},
          .workers = {Worker{.name = "cpu"}},
          .catalogue = dense_catalogue()};
}

}  // namespace lowtide
