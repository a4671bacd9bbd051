// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "lowtide/graph/epilogue.h"
#include "lowtide/target/target.h"

namespace lowtide {
namespace {

// Whether broadcasting adds only leading extents of 1, which change neither the bytes nor their order. Where an extent
// of the source is exact, that of the result has the same value at run time, even if its shape states an upper bound.
bool have_same_elements(const Shape& source, const Shape& result) {
  const auto first_extent = [](const Shape& shape) {
    return std::find_if(shape.extents().begin(), shape.extents().end(),
                        [](std::int64_t extent) { return extent != 1; });
  };
  return std::equal(first_extent(source), source.extents().end(), first_extent(result), result.extents().end());
}

bool may_overwrite(const Graph& graph, const Node& node, std::size_t input, TensorId output, InPlaceKind rule) {
  if (!node.inputs[input]) return false;
  const Tensor& source = graph.tensor(*node.inputs[input]);
  const Tensor& result = graph.tensor(output);
  const bool is_same =
      rule == InPlaceKind::any_input ? have_same_elements(source.shape, result.shape) : source.shape == result.shape;
  return is_same && source.size == result.size && bits_of(source.dtype) == bits_of(result.dtype);
}

// An extent that is only an upper bound may be 1 at run time. Then its only element is broadcast along a larger
// operand. The kernel reads it several times and must not overwrite it.
bool may_be_repeated(const Graph& graph, const Node& node, TensorId source) {
  const Shape& shape = graph.tensor(source).shape;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!shape.is_at_most(axis)) continue;
    for (const std::optional<TensorId>& input : node.inputs) {
      if (!input || *input == source) continue;
      const Shape& other = graph.tensor(*input).shape;
      const int aligned = axis + other.rank() - shape.rank();  // broadcasting aligns the last axes
      if (aligned >= 0 && other[aligned] > 1) return true;
    }
  }
  return false;
}

class DenseCatalogue final : public Catalogue {
 public:
  [[nodiscard]] std::vector<Kernel> kernels(const Graph& graph, NodeId id) const override {
    const Node& node = graph.node(id);
    Kernel kernel{.name = "dense", .is_memory_known = graph.op(id).traits.is_known};
    const InPlaceKind rule = graph.op(id).traits.in_place;
    if (rule != InPlaceKind::none && !node.outputs.empty() && node.outputs[0]) {
      const std::size_t candidates =
          rule == InPlaceKind::first_input ? std::min<std::size_t>(1, node.inputs.size()) : node.inputs.size();
      for (std::size_t input = rule == InPlaceKind::epilogue ? kProductOperands : 0; input < candidates; ++input) {
        if (!may_overwrite(graph, node, input, *node.outputs[0], rule)) continue;
        if (may_be_repeated(graph, node, *node.inputs[input])) continue;
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
          .machine = {.regions = {Region{.name = "arena"}}, .workers = {Worker{.name = "cpu"}}},
          .catalogue = dense_catalogue()};
}

}  // namespace lowtide
