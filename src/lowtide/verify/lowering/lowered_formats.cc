// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/lowered_formats.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "lowtide/base/quote.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::verify_internal {
namespace {

using Numbers = std::vector<std::int64_t>;

std::string_view format_name(std::int64_t lanes) { return lanes == 1 ? "plain" : lanes == 8 ? "nchw8c" : "nchw16c"; }

bool has_text(const Node& node, std::string_view name, std::string_view text) {
  const auto* found = find_attribute<std::string>(node.attributes, name);
  return found != nullptr && *found == text;
}
bool has_number(const Node& node, std::string_view name, std::int64_t number) {
  const auto* found = find_attribute<std::int64_t>(node.attributes, name);
  return found != nullptr && *found == number;
}

bool is_single(const Tensor& tensor) {
  return std::ranges::all_of(tensor.shape.extents(), [](std::int64_t extent) { return extent == 1; });
}

// The lanes of an operand or result. nullopt: it is missing in one of both nodes, or has another type.
std::optional<std::int64_t> lanes_at(const ModelTensors& tensors, const Graph& lowered,
                                     const std::optional<TensorId>& now, const std::optional<TensorId>& was) {
  if (!now || !was) return std::nullopt;
  return lanes_of(lowered.tensor(*now), tensors.model().tensor(*was));
}

bool is_plain(const ModelTensors& tensors, const Graph& lowered, const std::optional<TensorId>& now,
              const std::optional<TensorId>& was) {
  return !now || lanes_at(tensors, lowered, now, was) == 1;
}

bool is_concat(const Operator& op) { return (op.domain.empty() || op.domain == "ai.onnx") && op.type == "Concat"; }

// Whether a Concat joins its operands along the channels.
bool joins_channels(const Node& concat, int rank) {
  const auto* axis = find_attribute<std::int64_t>(concat.attributes, "axis");
  return axis != nullptr && (*axis == 1 || *axis == 1 - rank);
}

Numbers numbers_or(const Node& node, std::string_view name, const Numbers& otherwise) {
  const auto* found = find_attribute<Numbers>(node.attributes, name);
  return found == nullptr ? otherwise : *found;
}

// Whether a convolution has the padding of its attribute `pads`. Off: it has none. nullopt: the padding follows from
// the extents.
std::optional<bool> has_given_padding(const Node& conv) {
  for (const Attribute& attribute : conv.attributes) {
    if (attribute.name != "auto_pad") continue;
    const auto* automatic = std::get_if<std::string>(&attribute.value);
    if (automatic != nullptr && *automatic == "VALID") return false;
    if (automatic == nullptr || *automatic != "NOTSET") return std::nullopt;
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> lanes_of(const Tensor& now, const Tensor& was) {
  if (now.dtype != was.dtype) return std::nullopt;
  if (now.shape == was.shape) return 1;
  const int rank = was.shape.rank();
  if ((rank != 3 && rank != 4) || now.shape.rank() != rank + 1) return std::nullopt;
  if (was.shape.has_upper_bounds() || now.shape.has_upper_bounds()) return std::nullopt;
  const std::int64_t lanes = now.shape[rank];
  if (lanes != 8 && lanes != 16) return std::nullopt;
  for (int axis = 0; axis < rank; ++axis) {
    const std::int64_t extent = was.shape[axis];
    const std::int64_t wanted = axis == 1 ? extent / lanes + (extent % lanes == 0 ? 0 : 1) : extent;
    if (now.shape[axis] != wanted) return std::nullopt;
  }
  return lanes;
}

bool is_aligned(const Tensor& now, const Tensor& was, const BlockedResult& with) {
  const std::optional<std::int64_t> lanes = lanes_of(now, was);
  if (lanes == 1) return is_single(now);
  return lanes == with.lanes && was.shape.rank() == with.result.shape.rank() && was.shape[1] == with.result.shape[1];
}

bool have_fitting_formats(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId original) {
  const Graph& model = tensors.model();
  const Node& now = lowered.node(node);
  const Node& was = model.node(original);
  bool are_plain = true;
  for (std::size_t at = 0; at < now.inputs.size(); ++at)
    are_plain = are_plain && is_plain(tensors, lowered, now.inputs[at], was.inputs[at]);
  for (std::size_t at = 0; at < now.outputs.size(); ++at)
    are_plain = are_plain && is_plain(tensors, lowered, now.outputs[at], was.outputs[at]);
  if (are_plain) return true;

  const bool joins = is_concat(lowered.op(node));
  if (now.outputs.size() != 1 || !(joins || may_be_in_chain(lowered, node))) return false;
  const std::optional<std::int64_t> lanes = lanes_at(tensors, lowered, now.outputs[0], was.outputs[0]);
  if (!lanes || *lanes == 1) return false;
  const BlockedResult blocked{model.tensor(*was.outputs[0]), *lanes};
  if (blocked.result.shape[1] % *lanes != 0) return false;  // nothing would write the zeros
  if (joins && !joins_channels(was, blocked.result.shape.rank())) return false;
  for (std::size_t at = 0; at < now.inputs.size(); ++at) {
    if (!now.inputs[at]) continue;
    const Tensor& operand = model.tensor(*was.inputs[at]);
    const bool fits = joins ? lanes_at(tensors, lowered, now.inputs[at], was.inputs[at]) == lanes &&
                                  operand.shape.rank() == blocked.result.shape.rank() && operand.shape[1] % *lanes == 0
                            : is_aligned(lowered.tensor(*now.inputs[at]), operand, blocked);
    if (!fits) return false;
  }
  return true;
}

bool have_attributes_of_model(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId original) {
  const Node& now = lowered.node(node);
  const Node& was = tensors.model().node(original);
  if (have_same_attributes(now, was)) return true;
  if (!is_concat(lowered.op(node)) || now.attributes.size() != 1 || was.attributes.size() != 1) return false;
  return has_number(now, "axis", 1) && joins_channels(was, tensors.model().tensor(*was.outputs[0]).shape.rank());
}

bool is_image_operator_of(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId original) {
  const Operator& op = lowered.op(node);
  const Operator& old_op = tensors.model().op(original);
  const bool is_norm = op.type == kBatchNormalizationType;
  const bool is_pool = op.type == kMaxPoolType || op.type == kAveragePoolType || op.type == kGlobalAveragePoolType;
  if (op.domain != kOwnDomain || !(is_pool || is_norm) || old_op.type != op.type) return false;
  if (!old_op.domain.empty() && old_op.domain != "ai.onnx") return false;
  Node now = lowered.node(node);
  const Node& was = tensors.model().node(original);
  const std::size_t operands = is_norm ? 5 : 1;
  if (now.inputs.size() != operands || was.inputs.size() != operands) return false;
  if (now.outputs.size() != 1 || was.outputs.empty() || (is_norm && !reads_statistics(was))) return false;
  for (std::size_t at = 1; at < operands; ++at) {
    if (!now.inputs[at] || !is_plain(tensors, lowered, now.inputs[at], was.inputs[at])) return false;
  }
  for (std::size_t at = 1; at < was.outputs.size(); ++at) {
    if (was.outputs[at]) return false;
  }
  const std::optional<std::int64_t> lanes = lanes_at(tensors, lowered, now.inputs[0], was.inputs[0]);
  if (!lanes || *lanes == 1 || lanes_at(tensors, lowered, now.outputs[0], was.outputs[0]) != lanes) return false;
  if (!has_text(now, kFormatAttribute, format_name(*lanes)) ||
      !has_number(now, kChannelsAttribute, tensors.model().tensor(*was.inputs[0]).shape[1]))
    return false;
  std::erase_if(now.attributes,
                [](const Attribute& one) { return one.name == kFormatAttribute || one.name == kChannelsAttribute; });
  return have_same_attributes(now, was);
}

bool is_padded_concat_of(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId original) {
  const Graph& model = tensors.model();
  const Node& now = lowered.node(node);
  const Node& was = model.node(original);
  const Operator& op = lowered.op(node);
  if (op.domain != kOwnDomain || op.type != kConcatType || !is_concat(model.op(original))) return false;
  if (now.inputs.size() != was.inputs.size() || now.outputs.size() != 1 || was.outputs.size() != 1) return false;
  const std::optional<std::int64_t> lanes = lanes_at(tensors, lowered, now.outputs[0], was.outputs[0]);
  if (!lanes || *lanes == 1 || !joins_channels(was, model.tensor(*was.outputs[0]).shape.rank())) return false;
  Numbers channels;
  for (std::size_t at = 0; at < now.inputs.size(); ++at) {
    if (lanes_at(tensors, lowered, now.inputs[at], was.inputs[at]) != lanes) return false;
    channels.push_back(model.tensor(*was.inputs[at]).shape[1]);
  }
  const auto* given = find_attribute<Numbers>(now.attributes, kChannelsAttribute);
  return now.attributes.size() == 2 && given != nullptr && *given == channels &&
         has_text(now, kFormatAttribute, format_name(*lanes));
}

bool is_transpose_of(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId original) {
  const Graph& model = tensors.model();
  const Node& now = lowered.node(node);
  const Node& was = model.node(original);
  const Operator& op = lowered.op(node);
  const Operator& old_op = model.op(original);
  const bool is_standard = old_op.domain.empty() || old_op.domain == "ai.onnx";
  if (op.domain != kOwnDomain || op.type != kTransposeType || !is_standard || old_op.type != op.type) return false;
  if (now.inputs.size() != 1 || was.inputs.size() != 1 || now.outputs.size() != 1 || was.outputs.size() != 1)
    return false;
  const std::optional<std::int64_t> read = lanes_at(tensors, lowered, now.inputs[0], was.inputs[0]);
  const std::optional<std::int64_t> written = lanes_at(tensors, lowered, now.outputs[0], was.outputs[0]);
  if (!read || !written || (*read == 1) == (*written == 1)) return false;
  const std::int64_t channels = model.tensor(*read == 1 ? *was.outputs[0] : *was.inputs[0]).shape[1];
  Node rest = now;
  std::erase_if(rest.attributes, [](const Attribute& one) { return one.name != "perm"; });
  return now.attributes.size() == 4 && rest.attributes.size() == 1 && have_same_attributes(rest, was) &&
         has_text(now, kInputFormatAttribute, format_name(*read)) &&
         has_text(now, kOutputFormatAttribute, format_name(*written)) && has_number(now, kChannelsAttribute, channels);
}

bool is_formatted_convolution(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId original) {
  const Graph& model = tensors.model();
  const Node& now = lowered.node(node);
  const Node& was = model.node(original);
  if (was.inputs.size() < 2 || !was.inputs[0] || !was.inputs[1] || was.outputs.size() != 1 || now.outputs.size() != 1)
    return false;
  const std::optional<bool> is_padded = has_given_padding(was);
  if (!is_padded) return false;
  const Shape& weights = model.tensor(*was.inputs[1]).shape;
  if (weights.rank() < 3) return false;
  const auto spatial = static_cast<std::size_t>(weights.rank() - 2);
  for (std::string_view name : {"strides", "dilations", "pads"}) {
    const bool is_pads = name == "pads";
    const Numbers otherwise(is_pads ? 2 * spatial : spatial, is_pads ? 0 : 1);
    const auto* given = find_attribute<Numbers>(now.attributes, name);
    if (given == nullptr || *given != (is_pads && !*is_padded ? otherwise : numbers_or(was, name, otherwise)))
      return false;
  }
  const auto* group = find_attribute<std::int64_t>(was.attributes, "group");
  const auto* of_model = find_attribute<Numbers>(now.attributes, kWeightsAttribute);
  const std::optional<std::int64_t> read = lanes_at(tensors, lowered, now.inputs[0], was.inputs[0]);
  const std::optional<std::int64_t> written = lanes_of(lowered.tensor(*now.outputs[0]), model.tensor(*was.outputs[0]));
  const bool has_algorithm = find_attribute<std::string>(now.attributes, kAlgorithmAttribute) != nullptr;
  if (has_algorithm && !has_text(now, kAlgorithmAttribute, kWinogradAlgorithm)) return false;
  return now.attributes.size() == (has_algorithm ? 9 : 8) && has_number(now, "group", group == nullptr ? 1 : *group) &&
         of_model != nullptr && *of_model == weights.extents() && read && written &&
         has_text(now, kInputFormatAttribute, format_name(*read)) &&
         has_text(now, kOutputFormatAttribute, format_name(*written));
}

std::string reorder_fault(const ModelTensors& tensors, const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::string name = "node " + quoted(node.name) + " (Reorder)";
  if (node.inputs.size() != 1 || !node.inputs[0] || node.outputs.size() != 1 || !node.outputs[0])
    return name + " has other operands than one tensor";
  const std::optional<TensorId> from = tensors.find(graph, *node.inputs[0]);
  const std::optional<TensorId> to = tensors.find(graph, *node.outputs[0]);
  if (!from || !to || !tensors.have_same_content(*from, *to)) return name + " writes another tensor than it reads";
  const Tensor& was = tensors.model().tensor(*from);
  const std::optional<std::int64_t> read = lanes_of(graph.tensor(*node.inputs[0]), was);
  const std::optional<std::int64_t> written = lanes_of(graph.tensor(*node.outputs[0]), was);
  const bool has_formats = read && written && was.shape.rank() >= 3 &&
                           has_number(node, kChannelsAttribute, was.shape[1]) &&
                           has_text(node, kInputFormatAttribute, format_name(*read)) &&
                           has_text(node, kOutputFormatAttribute, format_name(*written));
  return has_formats ? "" : name + " has other formats than its tensors";
}

}  // namespace lowtide::verify_internal
