// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/machine/format_parts.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/graph/standard_operator.h"
#include "lowtide/lower/common/inference_form.h"

namespace lowtide::lower_internal {
namespace {

using Kind = FormatPart::Kind;

bool is_blocked_format(Format format) { return block_of(format) > 1; }

// Whether a tensor may be in blocks: batch, channels and one or two spatial axes of f32.
bool may_be_blocked(const Tensor& tensor) {
  const int rank = tensor.shape.rank();
  return tensor.dtype == DType::f32 && !tensor.shape.has_upper_bounds() && (rank == 3 || rank == 4) &&
         tensor.size > Bytes();
}

// The axis of a Concat, counted from the front.
std::int64_t concat_axis(const Node& node, int rank) {
  const auto* axis = find_attribute<std::int64_t>(node.attributes, "axis");
  return axis == nullptr ? -1 : *axis < 0 ? *axis + rank : *axis;
}

// Which groups of nodes get the same format.
class Groups {
 public:
  explicit Groups(std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) parent_.push_back(NodeId(static_cast<std::uint32_t>(at)));
  }
  NodeId find(NodeId id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }
  void unite(NodeId a, NodeId b) { parent_[find(b)] = find(a); }

 private:
  IdVector<NodeId, NodeId> parent_;
};

bool is_plain_product(const FormatOption& option) {
  return option.input == Format::plain && option.output == Format::plain && option.weights;
}

class PartChooser {
 public:
  PartChooser(const Graph& graph, const KernelFormats& machine, const Flags<TensorId>& stay_plain)
      : graph_(graph), machine_(machine), stay_plain_(stay_plain) {
    parts_.nodes.resize(graph.nodes().size());
    transposes_.resize(graph.nodes().size());
    ask();
  }

  FormatParts choose() && {
    Groups groups(graph_.nodes().size());
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (is_element_wise(id) || is_concat_of_blocks(id)) parts_.nodes[id].kind = Kind::follows;
      if (is_norm(id)) parts_.nodes[id] = {.kind = Kind::follows, .has_one_image = true};
      if (parts_.nodes[id].kind != Kind::follows) continue;
      for (TensorId read : graph_.reads(id)) {
        const std::optional<NodeId> before = graph_.tensor(read).producer;
        if (before && parts_.nodes[*before].kind == Kind::follows) groups.unite(*before, id);
      }
    }
    IdVector<NodeId, Cost> cost(graph_.nodes().size());  // of a group, at the node that stands for it
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (parts_.nodes[id].kind == Kind::follows) add_cost(id, cost[groups.find(id)]);
    }
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      FormatPart& part = parts_.nodes[id];
      if (part.kind != Kind::follows) continue;
      const Cost& of_group = cost[groups.find(id)];
      part.is_blocked = of_group.in_blocks <= of_group.plain;
    }
    for (const bool is_into_blocks : {true, false}) choose_transposes(is_into_blocks);
    return std::move(parts_);
  }

 private:
  // The bytes that Reorder nodes move, and that padding adds.
  struct Cost {
    std::int64_t in_blocks = 0;
    std::int64_t plain = 0;
  };

  // Asks for the formats of all nodes. Convolutions, pools, matrix products, and Concats and Transposes of channels may
  // have some. The first answer with blocks decides on their size.
  void ask() {
    std::optional<Format> blocked;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      const Node& node = graph_.node(id);
      for (FormatOption& option : machine_.options(graph_, id)) {
        if (is_plain_product(option)) {
          if (graph_.tensor(*node.inputs[1]).role != Role::constant) continue;
          parts_.nodes[id] = {.kind = Kind::decides, .option = std::move(option)};
          break;
        }
        if (is_standard(graph_.op(id), kTransposeType)) {
          transposes_[id] = std::move(option);
          break;
        }
        if (!is_blocked_format(option.output) || (blocked && *blocked != option.output)) continue;
        if (option.input != Format::plain && option.input != option.output) continue;
        const bool is_packed = option.weights.has_value();
        if (is_packed && graph_.tensor(*node.inputs[1]).role != Role::constant) continue;
        if (!is_packed && option.input == Format::plain) continue;
        blocked = option.output;
        if (is_packed) {
          parts_.nodes[id] = {.kind = Kind::decides, .option = std::move(option)};
        } else {
          const bool is_concat = is_standard(graph_.op(id), kConcatType);
          parts_.nodes[id] = {.kind = Kind::follows, .has_one_image = !is_concat, .is_padded_concat = is_concat};
        }
        break;
      }
    }
    leave_shared_matrices();
    is_used_ = blocked.has_value();
    parts_.blocked = blocked.value_or(Format::nchw16c);
  }

  // What a Transpose can do with blocks.
  [[nodiscard]] bool writes_blocks(NodeId transpose) const {
    const std::optional<FormatOption>& option = transposes_[transpose];
    return option && option->output == parts_.blocked;
  }
  [[nodiscard]] bool reads_blocks(NodeId transpose) const {
    const std::optional<FormatOption>& option = transposes_[transpose];
    return option && option->input == parts_.blocked;
  }

  // A Transpose writes blocks if all readers of its result read them, and reads them if its operand is written in them.
  void choose_transposes(bool is_into_blocks) {
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (!(is_into_blocks ? writes_blocks(id) : reads_blocks(id))) continue;
      const TensorId result = *graph_.node(id).outputs[0];
      const TensorId operand = *graph_.node(id).inputs[0];
      const std::optional<NodeId> before = graph_.tensor(operand).producer;
      const std::span<const NodeId> readers = graph_.readers(result);
      const auto is_read_in_blocks = [&](NodeId reader) {
        return parts_.read_by(graph_, reader, result) != Format::plain;
      };
      const bool suits = is_into_blocks ? !readers.empty() && !graph_.is_needed_at_end(result) &&
                                              std::ranges::all_of(readers, is_read_in_blocks)
                                        : before && parts_.written_by(*before) != Format::plain;
      if (suits) parts_.nodes[id] = {.kind = Kind::moves, .option = transposes_[id]};
    }
  }

  // Leaves a matrix as it is if some node reads it that cannot read the packed one. Both would need memory.
  void leave_shared_matrices() {
    const auto is_packed = [&](NodeId id) {
      const FormatPart& part = parts_.nodes[id];
      return part.kind == Kind::decides && is_plain_product(*part.option);
    };
    const auto is_left = [&](TensorId matrix) {
      if (graph_.is_needed_at_end(matrix) || stay_plain_.test(matrix)) return true;
      bool has_body = false;
      const auto reads_packed = [&](NodeId reader) {
        const auto& inputs = graph_.node(reader).inputs;
        const auto count = std::ranges::count(inputs, matrix);
        has_body = has_body || count == 0;
        return count == 0 || (is_packed(reader) && inputs[1] == matrix && count == 1);
      };
      return !std::ranges::all_of(graph_.readers(matrix), reads_packed) ||
             (has_body && !is_only_a_matrix(graph_, matrix, machine_));
    };
    IdVector<TensorId, std::optional<bool>> answers(graph_.tensors().size());  // products may share a matrix
    std::vector<NodeId> left;
    for (NodeId id : all_ids<NodeId>(graph_.nodes().size())) {
      if (!is_packed(id)) continue;
      const TensorId matrix = *graph_.node(id).inputs[1];
      if (!answers[matrix]) answers[matrix] = is_left(matrix);
      if (*answers[matrix]) left.push_back(id);
    }
    for (NodeId id : left) parts_.nodes[id] = FormatPart();
  }

  // Whether each operand has one element, or the axes and channels of the result.
  [[nodiscard]] bool is_element_wise(NodeId id) const {
    const bool is_chain = graph_.op(id).domain == kOwnDomain && graph_.op(id).type == kChainType;
    if (!is_used_ || !(is_chain || may_be_in_chain(graph_, id))) return false;
    const Node& node = graph_.node(id);
    const Tensor& result = graph_.tensor(*node.outputs[0]);
    if (!may_be_blocked(result) || has_one_element(result) || chain_channels(node)) return false;
    return std::ranges::all_of(node.inputs, [&](const std::optional<TensorId>& input) {
      if (!input) return true;
      const Tensor& operand = graph_.tensor(*input);
      return has_one_element(operand) || (may_be_blocked(operand) && operand.shape.rank() == result.shape.rank() &&
                                          operand.shape[1] == result.shape[1]);
    });
  }

  // A BatchNormalization in inference, with constants for each channel.
  [[nodiscard]] bool is_norm(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!is_used_ || !is_standard(graph_.op(id), "BatchNormalization") || node.inputs.size() != 5) return false;
    if (node.outputs.size() != 1 || !node.outputs[0] || !is_in_inference_form(graph_, id)) return false;
    for (std::size_t at = 1; at < 5; ++at) {
      if (!node.inputs[at]) return false;
      const Tensor& tensor = graph_.tensor(*node.inputs[at]);
      if (tensor.role != Role::constant || tensor.dtype != DType::f32) return false;
    }
    return node.inputs[0] && may_be_blocked(graph_.tensor(*node.inputs[0])) &&
           graph_.tensor(*node.outputs[0]).shape == graph_.tensor(*node.inputs[0]).shape;
  }

  [[nodiscard]] bool is_concat_of_blocks(NodeId id) const {
    const Node& node = graph_.node(id);
    if (!is_used_ || !is_standard(graph_.op(id), "Concat") || !node.outputs[0]) return false;
    const Tensor& result = graph_.tensor(*node.outputs[0]);
    if (!may_be_blocked(result) || concat_axis(node, result.shape.rank()) != 1) return false;
    const std::int64_t lanes = block_of(parts_.blocked);
    return std::ranges::all_of(node.inputs, [&](const std::optional<TensorId>& input) {
      return input && may_be_blocked(graph_.tensor(*input)) && graph_.tensor(*input).shape[1] % lanes == 0;
    });
  }

  [[nodiscard]] std::int64_t bytes_in_blocks(TensorId id) const {
    const Result<Bytes> size = dense_size(DType::f32, shape_in(parts_.blocked, graph_.tensor(id).shape));
    return size ? size->count() : graph_.tensor(id).size.count();
  }
  [[nodiscard]] std::int64_t moved(TensorId id) const { return graph_.tensor(id).size.count() + bytes_in_blocks(id); }

  void add_cost(NodeId id, Cost& cost) const {
    // Each plain operand is written where its part of the result is. The blocks are copied.
    if (parts_.nodes[id].is_padded_concat) cost.in_blocks += 2 * bytes_in_blocks(*graph_.node(id).outputs[0]);
    for (TensorId read : graph_.reads(id)) {
      const Tensor& tensor = graph_.tensor(read);
      if (has_one_element(tensor) || tensor.role == Role::constant) continue;
      const bool is_of_group = tensor.producer && parts_.nodes[*tensor.producer].kind == Kind::follows;
      if (is_of_group || (tensor.producer && writes_blocks(*tensor.producer))) continue;
      const bool is_written_in_blocks = tensor.producer && parts_.nodes[*tensor.producer].kind == Kind::decides;
      (is_written_in_blocks ? cost.plain : cost.in_blocks) += moved(read);
    }
    for (const std::optional<TensorId>& output : graph_.node(id).outputs) {
      if (!output) continue;
      bool is_read_plain = graph_.is_needed_at_end(*output);
      bool is_read_in_blocks = false;
      for (NodeId reader : graph_.readers(*output)) {
        const FormatPart& part = parts_.nodes[reader];
        if (part.kind == Kind::follows || reads_blocks(reader)) continue;
        const bool is_in_blocks = part.kind == Kind::decides && part.option->input != Format::plain;
        (is_in_blocks ? is_read_in_blocks : is_read_plain) = true;
      }
      if (is_read_plain) cost.in_blocks += moved(*output);
      if (is_read_in_blocks) cost.plain += moved(*output);
      cost.in_blocks += 2 * (bytes_in_blocks(*output) - graph_.tensor(*output).size.count());
    }
  }

  const Graph& graph_;
  const KernelFormats& machine_;
  const Flags<TensorId>& stay_plain_;
  FormatParts parts_;
  IdVector<NodeId, std::optional<FormatOption>> transposes_;
  bool is_used_ = false;  // whether some node may have blocks
};

}  // namespace

bool has_one_element(const Tensor& tensor) {
  return std::ranges::all_of(tensor.shape.extents(), [](std::int64_t extent) { return extent == 1; });
}

Format FormatParts::read_by(const Graph& graph, NodeId node, TensorId tensor) const {
  const FormatPart& part = nodes[node];
  switch (part.kind) {
    case Kind::plain: return Format::plain;
    case Kind::decides:
    case Kind::moves: return tensor == graph.node(node).inputs[0] ? part.option->input : Format::plain;
    case Kind::follows: break;
  }
  if (!part.is_blocked) return Format::plain;
  const bool is_image =
      part.has_one_image ? tensor == graph.node(node).inputs[0] : !has_one_element(graph.tensor(tensor));
  return is_image ? blocked : Format::plain;
}

Format FormatParts::written_by(NodeId node) const {
  const FormatPart& part = nodes[node];
  if (part.kind == Kind::decides || part.kind == Kind::moves) return part.option->output;
  return part.is_blocked ? blocked : Format::plain;
}

FormatParts choose_parts(const Graph& graph, const KernelFormats& machine, const Flags<TensorId>& stay_plain) {
  return PartChooser(graph, machine, stay_plain).choose();
}

bool is_only_a_matrix(const Graph& graph, TensorId tensor, const KernelFormats& machine) {
  if (graph.is_needed_at_end(tensor)) return false;
  return std::ranges::all_of(graph.readers(tensor), [&](NodeId reader) {
    const Node& node = graph.node(reader);
    for (const Body& body : node.bodies) {
      for (const auto& [outer, inner] : body.captures) {
        if (outer == tensor && !is_only_a_matrix(*body.graph, inner, machine)) return false;
      }
    }
    const auto count = std::ranges::count(node.inputs, tensor);
    if (count == 0) return true;  // for its bodies alone
    return count == 1 && node.inputs.size() > 1 && node.inputs[1] == tensor &&
           std::ranges::any_of(machine.options(graph, reader), is_plain_product);
  });
}

}  // namespace lowtide::lower_internal
