// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/convolution_shape.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lowtide/base/enum_names.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::kernels_internal {
namespace {

using ExtentList = std::vector<std::int64_t>;

std::optional<ExtentList> integers(const Node& node, std::string_view name) {
  const auto* found = find_attribute<std::vector<std::int64_t>>(node.attributes, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

// Reads what Conv and lowtide::Conv have in common. Their defaults are 1, or 0 for padding.
void read_window(const Node& node, std::size_t spatial, ConvolutionShape& convolution) {
  convolution.strides = integers(node, "strides").value_or(ExtentList(spatial, 1));
  convolution.gaps = integers(node, "dilations").value_or(ExtentList(spatial, 1));
  for (std::int64_t& gap : convolution.gaps) --gap;
  const auto* automatic = find_attribute<std::string>(node.attributes, "auto_pad");
  ExtentList pads(2 * spatial, 0);
  if (automatic == nullptr || *automatic != "VALID") pads = integers(node, "pads").value_or(pads);
  pads.resize(2 * spatial);
  convolution.pads_begin.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(spatial));
  convolution.pads_end.assign(pads.begin() + static_cast<std::ptrdiff_t>(spatial), pads.end());
  if (const auto* group = find_attribute<std::int64_t>(node.attributes, "group")) convolution.group = *group;
  convolution.has_bias = node.inputs.size() > 2 && node.inputs[2].has_value();
}

// The extent of the result along one spatial axis, or 0 if the window does not fit.
std::int64_t result_extent(const ConvolutionShape& convolution, std::size_t axis) {
  const std::int64_t window = (convolution.weights[axis + 2] - 1) * (convolution.gaps[axis] + 1) + 1;
  const std::int64_t padded = convolution.source[axis + 2] + convolution.pads_begin[axis] + convolution.pads_end[axis];
  return padded < window ? 0 : (padded - window) / convolution.strides[axis] + 1;
}

// Whether all extents agree, so that oneDNN cannot be asked for what does not exist.
bool is_consistent(const ConvolutionShape& convolution) {
  const ConvolutionShape& c = convolution;
  const std::size_t spatial = c.source.size() - 2;
  if ((spatial != 1 && spatial != 2) || c.weights.size() != c.source.size() || c.result.size() != c.source.size()) {
    return false;
  }
  for (const ExtentList* list : {&c.strides, &c.gaps, &c.pads_begin, &c.pads_end}) {
    const auto is_negative = [](std::int64_t value) { return value < 0; };
    if (list->size() != spatial || std::ranges::any_of(*list, is_negative)) return false;
  }
  for (const ExtentList* list : {&c.source, &c.weights, &c.result, &c.strides}) {
    if (std::ranges::any_of(*list, [](std::int64_t value) { return value < 1; })) return false;
  }
  if (c.group < 1 || c.weights[0] % c.group != 0 || c.weights[1] * c.group != c.source[1]) return false;
  if (c.result[0] != c.source[0] || c.result[1] != c.weights[0]) return false;
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    if (c.result[axis + 2] != result_extent(c, axis)) return false;
  }
  return true;
}

// The tensors of a node that a convolution has, all f32 with known extents.
bool has_known_floats(const Graph& graph, const Node& node) {
  if (node.inputs.size() < 2 || !node.inputs[0] || !node.inputs[1] || node.outputs.empty() || !node.outputs[0]) {
    return false;
  }
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const std::optional<TensorId>& id : *list) {
      if (id && (graph.tensor(*id).dtype != DType::f32 || graph.tensor(*id).shape.has_upper_bounds())) return false;
    }
  }
  return graph.tensor(*node.inputs[0]).shape.rank() >= 3;
}

std::optional<Format> format_in(const Node& node, std::string_view name) {
  const auto* text = find_attribute<std::string>(node.attributes, name);
  return text == nullptr ? std::nullopt : from_string<Format>(*text);
}

// Whether the bias, if there is one, fits. If not, `missing` says why.
bool has_fitting_bias(const Graph& graph, const Node& node, const ConvolutionShape& convolution, std::string& missing) {
  std::string misfit = misfit_of_bias(graph, node, convolution.weights[0]);
  if (misfit.empty()) return true;
  missing = std::move(misfit);
  return false;
}

// Whether the algorithm of a lowtide::Conv is Winograd's. nullopt: it has one that kernels do not know.
std::optional<bool> winograd_of(const Node& node) {
  const auto named = std::ranges::find(node.attributes, kAlgorithmAttribute, &Attribute::name);
  if (named == node.attributes.end()) return false;
  const auto* algorithm = find_attribute<std::string>(node.attributes, kAlgorithmAttribute);
  return algorithm != nullptr && *algorithm == kWinogradAlgorithm ? std::optional(true) : std::nullopt;
}

}  // namespace

std::string misfit_of_bias(const Graph& graph, const Node& node, std::int64_t channels) {
  if (node.inputs.size() < 3 || !node.inputs[2]) return "";
  const Shape& given = graph.tensor(*node.inputs[2]).shape;
  const Shape needed({channels});
  if (given == needed) return "";
  return "its bias has the shape " + to_string(given) + " and needs " + to_string(needed) +
         ", one value per channel of the result";
}

std::optional<ConvolutionShape> standard_convolution_shape(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  const auto* automatic = find_attribute<std::string>(node.attributes, "auto_pad");
  missing = "kernels compute convolutions of f32 with one or two spatial axes, known extents and padding";
  if (!has_known_floats(graph, node)) return std::nullopt;
  if (automatic != nullptr && *automatic != "NOTSET" && *automatic != "VALID") return std::nullopt;
  ConvolutionShape convolution{.source = graph.tensor(*node.inputs[0]).shape.extents(),
                               .weights = graph.tensor(*node.inputs[1]).shape.extents(),
                               .result = graph.tensor(*node.outputs[0]).shape.extents()};
  read_window(node, convolution.source.size() - 2, convolution);
  if (!is_consistent(convolution) || !has_fitting_bias(graph, node, convolution, missing)) return std::nullopt;
  missing.clear();
  return convolution;
}

std::optional<ConvolutionShape> lowered_convolution_shape(const Graph& graph, NodeId id, std::string& missing) {
  const Node& node = graph.node(id);
  missing = "its attributes do not describe a convolution of its tensors";
  if (!has_known_floats(graph, node)) return std::nullopt;
  const std::optional<ExtentList> weights = integers(node, kWeightsAttribute);
  const std::optional<Format> input = format_in(node, kInputFormatAttribute);
  const std::optional<Format> output = format_in(node, kOutputFormatAttribute);
  if (!weights || weights->size() < 3 || !input || !output) return std::nullopt;
  ConvolutionShape convolution{.weights = *weights, .input = *input, .output = *output};
  read_window(node, weights->size() - 2, convolution);
  const std::optional<Shape> source =
      model_shape(*input, graph.tensor(*node.inputs[0]).shape, (*weights)[1] * convolution.group);
  const std::optional<Shape> result = model_shape(*output, graph.tensor(*node.outputs[0]).shape, (*weights)[0]);
  if (!source || !result) return std::nullopt;
  convolution.source = source->extents();
  convolution.result = result->extents();
  if (!is_consistent(convolution) || !has_fitting_bias(graph, node, convolution, missing)) return std::nullopt;
  missing = "its algorithm is another one than 'winograd'";
  const std::optional<bool> has_winograd = winograd_of(node);
  if (!has_winograd) return std::nullopt;
  convolution.has_winograd = *has_winograd;
  missing.clear();
  return convolution;
}

}  // namespace lowtide::kernels_internal
