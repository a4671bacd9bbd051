// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fuse_layer_norm.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/lower/common/constants.h"
#include "lowtide/lower/common/pattern.h"
#include "lowtide/lower/common/waits.h"

namespace lowtide {
namespace {

// The nodes of one normalization, and what it reads.
struct Norm {
  std::vector<NodeId> inner;  // all nodes but the last one
  NodeId last;
  TensorId x;
  TensorId scale;
  std::optional<TensorId> bias;
  int axis = 0;  // the first one that is normalized
  double epsilon = 0;
};

// Matches a normalization from its Sqrt.
class Matcher {
 public:
  Matcher(const Graph& graph, const ConstantTable& table, NodeId root) : graph_(graph), table_(table), root_(root) {}

  std::optional<Norm> match() {
    const std::optional<TensorId> sum = nodes_.operand(root_, 0);
    if (!nodes_.is(root_, "Sqrt") || !sum || !match_variance(*sum)) return std::nullopt;
    if (!match_result() || !has_private_nodes()) return std::nullopt;
    return norm_;
  }

 private:
  // The node of a type that computes a tensor; it becomes one of the nodes that are replaced.
  std::optional<NodeId> writer(TensorId tensor, std::string_view type) {
    const std::optional<NodeId> producer = nodes_.producer(tensor, type);
    if (producer) norm_.inner.push_back(*producer);
    return producer;
  }

  // The only number of a constant.
  [[nodiscard]] std::optional<float> number(TensorId tensor) const {
    if (graph_.tensor(tensor).shape.rank() > 1) return std::nullopt;  // it might add axes to the result
    return lower_internal::constant_number(graph_, table_, tensor);
  }

  // The first of the last axes over which a ReduceMean goes. nullopt: it goes over others, or drops them.
  [[nodiscard]] std::optional<int> first_axis(NodeId mean) const {
    const Node& node = graph_.node(mean);
    const auto* keeps = find_attribute<std::int64_t>(node.attributes, "keepdims");
    const auto* axes = find_attribute<std::vector<std::int64_t>>(node.attributes, "axes");
    if (node.inputs.size() > 1 && node.inputs[1]) axes = graph_.known_integers(*node.inputs[1]);
    if ((keeps != nullptr && *keeps == 0) || axes == nullptr || axes->empty()) return std::nullopt;
    const int rank = graph_.tensor(*node.inputs[0]).shape.rank();
    std::vector<std::int64_t> sorted;
    for (std::int64_t axis : *axes) sorted.push_back(axis < 0 ? axis + rank : axis);
    std::ranges::sort(sorted);
    for (std::size_t at = 0; at < sorted.size(); ++at) {
      if (sorted[at] != rank - static_cast<std::int64_t>(sorted.size() - at)) return std::nullopt;
    }
    return static_cast<int>(sorted[0]);
  }

  // sum = Add(ReduceMean(d * d), epsilon), and d = Sub(x, ReduceMean(x)).
  bool match_variance(TensorId sum) {
    const std::optional<NodeId> add = writer(sum, "Add");
    if (!add || !nodes_.operand(*add, 0) || !nodes_.operand(*add, 1)) return false;
    const std::size_t place = number(*nodes_.operand(*add, 1)) ? 1 : 0;
    const std::optional<float> epsilon = number(*nodes_.operand(*add, place));
    const std::optional<NodeId> mean = writer(*nodes_.operand(*add, 1 - place), "ReduceMean");
    if (!epsilon || !mean || !nodes_.operand(*mean, 0)) return false;
    const std::optional<int> axis = first_axis(*mean);
    if (!axis || !match_square(*nodes_.operand(*mean, 0))) return false;
    norm_.axis = *axis;
    norm_.epsilon = *epsilon;
    return match_deviation();
  }

  bool match_square(TensorId square) {
    if (const std::optional<NodeId> power = writer(square, "Pow")) {
      deviation_ = nodes_.operand(*power, 0);
      return nodes_.operand(*power, 1) && number(*nodes_.operand(*power, 1)) == 2.0F;
    }
    const std::optional<NodeId> product = writer(square, "Mul");
    if (!product) return false;
    deviation_ = nodes_.operand(*product, 0);
    return deviation_ && nodes_.operand(*product, 1) == deviation_;
  }

  bool match_deviation() {
    const std::optional<NodeId> sub = deviation_ ? writer(*deviation_, "Sub") : std::nullopt;
    if (!sub || !nodes_.operand(*sub, 0) || !nodes_.operand(*sub, 1)) return false;
    norm_.x = *nodes_.operand(*sub, 0);
    const std::optional<NodeId> mean = writer(*nodes_.operand(*sub, 1), "ReduceMean");
    return mean && nodes_.operand(*mean, 0) == norm_.x && first_axis(*mean) == norm_.axis &&
           graph_.tensor(norm_.x).dtype == DType::f32;
  }

  // The only node of a type that reads a tensor, and the position of its other operand, which is a constant with the
  // extents of the normalized axes.
  [[nodiscard]] std::optional<std::pair<NodeId, TensorId>> reader_with_constant(TensorId tensor,
                                                                                std::string_view type) const {
    const std::optional<NodeId> reader = nodes_.only_reader(tensor, type);
    if (!reader || !nodes_.operand(*reader, 0) || !nodes_.operand(*reader, 1)) return std::nullopt;
    const TensorId other = *nodes_.operand(*reader, nodes_.operand(*reader, 0) == tensor ? 1 : 0);
    const Tensor& constant = graph_.tensor(other);
    const Shape& whole = graph_.tensor(norm_.x).shape;
    bool agrees = other != tensor && lower_internal::constant_behind(graph_, other) && constant.dtype == DType::f32 &&
                  constant.shape.rank() == whole.rank() - norm_.axis && !whole.has_upper_bounds();
    for (int axis = 0; agrees && axis < constant.shape.rank(); ++axis)
      agrees = constant.shape[axis] == whole[norm_.axis + axis];
    return agrees ? std::optional(std::pair(*reader, other)) : std::nullopt;
  }

  // Div(d, root), Mul by the scale and, if it is there, Add of the bias.
  bool match_result() {
    norm_.inner.push_back(root_);
    if (graph_.readers(nodes_.result(root_)).size() != 1) return false;
    const NodeId div = graph_.readers(nodes_.result(root_))[0];
    if (!nodes_.is(div, "Div") || nodes_.operand(div, 0) != deviation_ ||
        nodes_.operand(div, 1) != nodes_.result(root_))
      return false;
    norm_.inner.push_back(div);
    const auto scaled = reader_with_constant(nodes_.result(div), "Mul");
    if (!scaled) return false;
    norm_.last = scaled->first;
    norm_.scale = scaled->second;
    if (const auto shifted = reader_with_constant(nodes_.result(norm_.last), "Add")) {
      norm_.inner.push_back(norm_.last);
      norm_.last = shifted->first;
      norm_.bias = shifted->second;
    }
    return true;
  }

  // Whether nothing outside reads the nodes that disappear, and all of them have the axes of x.
  [[nodiscard]] bool has_private_nodes() const {
    const auto is_inside = [&](NodeId id) {
      return id == norm_.last || std::ranges::find(norm_.inner, id) != norm_.inner.end();
    };
    const Tensor& x = graph_.tensor(norm_.x);
    if (x.shape.rank() == 0 || graph_.tensor(nodes_.result(norm_.last)).shape != x.shape) return false;
    for (NodeId id : norm_.inner) {
      if (graph_.tensor(nodes_.result(id)).shape.rank() != x.shape.rank()) return false;
      const auto readers = graph_.readers(nodes_.result(id));
      if (graph_.is_needed_at_end(nodes_.result(id)) || !std::ranges::all_of(readers, is_inside)) return false;
    }
    return true;
  }

  const Graph& graph_;
  const lower_internal::PatternReader nodes_{graph_};
  const ConstantTable& table_;
  NodeId root_;
  Norm norm_;
  std::optional<TensorId> deviation_;
};

void replace_nodes(const Graph& graph, GraphRewriter& rewriter, const Norm& norm) {
  GraphBuilder::NodeSpec spec{.name = graph.node(norm.last).name,
                              .type = "LayerNormalization",
                              .inputs = {norm.x, norm.scale},
                              .outputs = {graph.node(norm.last).outputs[0]},
                              .attributes = {{"axis", std::int64_t{norm.axis}}, {"epsilon", norm.epsilon}}};
  if (norm.bias) spec.inputs.emplace_back(*norm.bias);
  rewriter.replace_node(norm.last, std::move(spec));
  for (NodeId id : norm.inner) rewriter.merge_node(id, norm.last);
}

}  // namespace

Result<std::optional<Rewritten>> fuse_layer_norm(const Graph& graph, const ConstantTable& table) {
  GraphRewriter rewriter(graph);
  const Flags<NodeId> has_waits = lower_internal::nodes_with_waits(graph);
  bool is_changed = false;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const std::optional<Norm> norm = Matcher(graph, table, id).match();
    const auto waits = [&](NodeId node) { return has_waits.test(node); };
    if (!norm || waits(norm->last) || std::ranges::any_of(norm->inner, waits)) continue;
    replace_nodes(graph, rewriter, *norm);
    is_changed = true;
  }
  if (is_changed) rewriter.remove_unused();
  return std::move(rewriter).finish_if_changed();
}

}  // namespace lowtide
