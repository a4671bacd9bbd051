// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/onnxruntime/kernels.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"

namespace lowtide::baselines_internal {
namespace {

constexpr std::array<std::string_view, 15> kReplacing = {
    "Cast", "Celu",    "Clip",    "Elu",      "HardSigmoid", "LeakyRelu", "LogSoftmax",     "Relu",
    "Selu", "Sigmoid", "Softmax", "Softplus", "Softsign",    "Tanh",      "ThresholdedRelu"};
constexpr std::array<std::string_view, 5> kRenaming = {"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"};

constexpr std::int64_t kFloat = 4;
constexpr std::int64_t kConvPart = 16'384;  // floats of a working buffer for one part of a convolution

template <typename Names>
bool contains(const Names& names, std::string_view type) {
  return std::find(names.begin(), names.end(), type) != names.end();
}

const Tensor* tensor_at(const Graph& graph, const std::vector<std::optional<TensorId>>& list, std::size_t at) {
  return at < list.size() && list[at] ? &graph.tensor(*list[at]) : nullptr;
}

// A product of extents, which saturates. Both factors are at least 0.
std::int64_t times(std::int64_t a, std::int64_t b) { return checked_multiply(a, b).value_or(limits::kMaxTotalBytes); }

std::int64_t elements(const Shape& shape, int first) {
  std::int64_t product = 1;
  for (int axis = first; axis < shape.rank(); ++axis) product = times(product, shape[axis]);
  return product;
}

bool are_all(const Node& node, std::string_view name, std::int64_t wanted) {
  const auto* values = find_attribute<std::vector<std::int64_t>>(node.attributes, name);
  return values == nullptr || std::all_of(values->begin(), values->end(), [&](auto value) { return value == wanted; });
}

// A convolution, as the kernel sees it: a product of matrices per image and group.
struct Convolution {
  std::int64_t filters = 0;    // per group
  std::int64_t positions = 0;  // of the output, per filter
  std::int64_t depth = 0;      // of the product: input channels per group x kernel positions
  bool is_direct = false;      // the input is already the second matrix
};

bool has_no_padding(const Node& node, const Shape& input, const Shape& output, const Shape& weight) {
  const auto* automatic = find_attribute<std::string>(node.attributes, "auto_pad");
  if (automatic == nullptr || *automatic == "NOTSET") return are_all(node, "pads", 0);
  if (*automatic == "VALID") return true;
  // Otherwise, there is no padding if every extent of the output is that of a convolution without padding.
  for (int axis = 2; axis < input.rank(); ++axis) {
    if (output[axis] != input[axis] - weight[axis] + 1) return false;
  }
  return true;
}

bool is_direct(const Node& node, const Shape& input, const Shape& output, const Shape& weight) {
  if (!are_all(node, "strides", 1) || !has_no_padding(node, input, output, weight)) return false;
  if (elements(weight, 2) == 1) return true;
  if (weight.rank() > 4 || !are_all(node, "dilations", 1) || weight[1] != 1) return false;
  // The kernel covers the whole width, or the whole height with a width of 1.
  const int last = weight.rank() - 1;
  return weight[last] == input[last] || (weight.rank() == 4 && weight[2] == input[2] && weight[3] == 1);
}

std::optional<Convolution> convolution_of(const Graph& graph, const Node& node) {
  const Tensor* input = tensor_at(graph, node.inputs, 0);
  const Tensor* weight = tensor_at(graph, node.inputs, 1);
  const Tensor* output = tensor_at(graph, node.outputs, 0);
  if (input == nullptr || weight == nullptr || output == nullptr || input->shape.rank() < 3 ||
      weight->shape.rank() != input->shape.rank()) {
    return std::nullopt;
  }
  const auto* group = find_attribute<std::int64_t>(node.attributes, "group");
  const std::int64_t groups = std::max<std::int64_t>(1, group == nullptr ? 1 : *group);
  return Convolution{.filters = weight->shape[0] / groups,
                     .positions = elements(output->shape, 2),
                     .depth = elements(weight->shape, 1),
                     .is_direct = is_direct(node, input->shape, output->shape, weight->shape)};
}

// MLAS unfolds the input for a product of matrices: all of it if there are more filters than positions, otherwise in
// parts of a fixed size. Images and groups come one after another.
std::int64_t conv_floats(const Convolution& conv) {
  if (conv.is_direct || conv.positions == 0) return 0;
  return conv.filters > conv.positions ? times(conv.positions, conv.depth) : kConvPart;
}

std::int64_t conv_transpose_floats(const Graph& graph, const Node& node) {
  const Tensor* input = tensor_at(graph, node.inputs, 0);
  const Tensor* weight = tensor_at(graph, node.inputs, 1);
  if (input == nullptr || weight == nullptr || input->shape.rank() < 3) return 0;
  return times(elements(weight->shape, 1), elements(input->shape, 2));
}

// One block per choice: it is broadcast with the condition, and is 0 where the other choice is taken.
std::vector<Bytes> where_blocks(const Graph& graph, const Node& node) {
  const Tensor* condition = tensor_at(graph, node.inputs, 0);
  std::vector<Bytes> blocks;
  for (const std::size_t at : {1, 2}) {
    const Tensor* choice = tensor_at(graph, node.inputs, at);
    if (condition == nullptr || choice == nullptr) continue;
    const Shape& a = condition->shape;
    const Shape& b = choice->shape;
    std::int64_t count = 1;
    for (int back = 1; back <= std::max(a.rank(), b.rank()); ++back) {
      const std::int64_t one = back <= a.rank() ? a[a.rank() - back] : 1;
      const std::int64_t other = back <= b.rank() ? b[b.rank() - back] : 1;
      count = times(count, one == 1 ? other : one);
    }
    blocks.push_back(Bytes(times(count, bits_of(choice->dtype).value_or(0) / 8)));
  }
  return blocks;
}

// A block per direction for the gates of all steps. With a backward direction, also the reversed input and output.
std::vector<Bytes> lstm_blocks(const Graph& graph, const Node& node) {
  const Tensor* input = tensor_at(graph, node.inputs, 0);
  const Tensor* recurrence = tensor_at(graph, node.inputs, 2);
  if (input == nullptr || recurrence == nullptr || input->shape.rank() != 3 || recurrence->shape.rank() != 3) return {};
  const std::int64_t hidden = recurrence->shape[2];
  const std::int64_t steps = times(input->shape[0], input->shape[1]);
  const auto floats = [&](std::int64_t per_step) { return Bytes(times(times(steps, per_step), kFloat)); };
  const auto* direction = find_attribute<std::string>(node.attributes, "direction");
  const bool is_forward = direction == nullptr || *direction == "forward";
  std::vector<Bytes> blocks = {floats(times(4, hidden))};
  if (direction != nullptr && *direction == "bidirectional") blocks.push_back(blocks.front());
  if (!is_forward) blocks.insert(blocks.end(), {floats(input->shape[2]), floats(hidden)});
  return blocks;
}

}  // namespace

KernelRule kernel_rule(const Operator& op) {
  if (op.domain.empty() && contains(kRenaming, op.type)) return {OutputRule::is_input, 0};
  if (op.domain.empty() && contains(kReplacing, op.type)) return {OutputRule::may_replace, 0};
  const bool adds_input = (op.domain == "com.microsoft" && op.type == "FusedConv") ||
                          (op.domain == "com.microsoft.nchwc" && op.type == "Conv");
  if (adds_input) return {OutputRule::may_replace, 3};
  return {};
}

std::vector<Bytes> kernel_scratch(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  const Node& node = graph.node(id);
  const Tensor* output = tensor_at(graph, node.outputs, 0);
  std::vector<Bytes> blocks;
  if ((op.domain.empty() && op.type == "Conv") || op.type == "FusedConv") {
    if (const auto conv = convolution_of(graph, node)) blocks.push_back(Bytes(times(conv_floats(*conv), kFloat)));
  } else if (op.domain.empty() && op.type == "ConvTranspose") {
    blocks.push_back(Bytes(times(conv_transpose_floats(graph, node), kFloat)));
  } else if (op.domain.empty() && op.type == "Where") {
    blocks = where_blocks(graph, node);
  } else if (op.domain.empty() && op.type == "LSTM") {
    blocks = lstm_blocks(graph, node);
  } else if (op.type == "BiasGelu" && output != nullptr) {
    blocks = {output->size};
  }
  return blocks;
}

Bytes kernel_packed(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  if (!op.domain.empty() || op.type != "ConvTranspose") return Bytes(0);
  const Tensor* weight = tensor_at(graph, graph.node(id).inputs, 1);
  if (weight == nullptr || weight->role != Role::constant || weight->shape.rank() < 3) return Bytes(0);
  const auto* group = find_attribute<std::int64_t>(graph.node(id).attributes, "group");
  const std::int64_t rows = weight->shape[0] / std::max<std::int64_t>(1, group == nullptr ? 1 : *group);
  return rows > 1 && elements(weight->shape, 1) > 1 ? weight->size : Bytes(0);
}

}  // namespace lowtide::baselines_internal
