// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/lower/model/fuse_attention.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/lower/common/constants.h"
#include "lowtide/lower/common/pattern.h"
#include "lowtide/lower/common/waits.h"

namespace lowtide {
namespace {

using AxisOrder = std::vector<std::int64_t>;

// A matrix of an attention, and where it lies.
struct Matrix {
  TensorId tensor;  // what the node reads or writes
  AxisOrder order;  // axis i of the matrix is axis order[i] of the tensor
};

// The nodes of one attention, and what it reads.
struct Attention {
  std::vector<NodeId> inner;  // all nodes but the last one
  NodeId last;
  Matrix query;
  Matrix key;
  Matrix value;
  Matrix result;
  std::optional<TensorId> mask;
  std::vector<Attribute> attributes;  // of the scale and the mask
};

// Matches an attention from its Softmax. It does not have the nodes in `excluded`.
class AttentionMatcher {
 public:
  AttentionMatcher(const Graph& graph, const ConstantTable& table, const Flags<NodeId>& excluded, NodeId softmax)
      : graph_(graph), table_(table), excluded_(excluded), softmax_(softmax) {}

  std::optional<Attention> match() {
    if (!is_softmax() || !match_result() || !match_mask(*nodes_.operand(softmax_, 0)) || !has_fitting_shapes())
      return std::nullopt;
    found_.inner.push_back(softmax_);
    if (has_excluded_nodes()) return std::nullopt;
    take_transposes();
    return has_private_nodes() ? std::optional(found_) : std::nullopt;
  }

 private:
  [[nodiscard]] const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }

  // The only number of a constant.
  [[nodiscard]] std::optional<float> number(TensorId tensor) const {
    return lower_internal::constant_number(graph_, table_, tensor);
  }

  // Before opset 13, a Softmax went over all axes from `axis` on, which was 1 if absent.
  [[nodiscard]] bool is_softmax() const {
    if (!nodes_.is(softmax_, "Softmax") || !nodes_.operand(softmax_, 0)) return false;
    const Node& node = graph_.node(softmax_);
    const auto* axis = find_attribute<std::int64_t>(node.attributes, "axis");
    const bool is_old = find_attribute<std::int64_t>(node.attributes, kSinceAttribute) != nullptr;
    const std::int64_t given = axis != nullptr ? *axis : (is_old ? 1 : -1);
    const int rank = shape(nodes_.result(softmax_)).rank();
    return given == -1 || given == rank - 1;
  }

  bool match_result() {
    const std::optional<NodeId> product = nodes_.only_reader(nodes_.result(softmax_), "MatMul");
    if (!product || nodes_.operand(*product, 0) != nodes_.result(softmax_) || !nodes_.operand(*product, 1))
      return false;
    found_.last = *product;
    found_.value.tensor = *nodes_.operand(*product, 1);
    found_.result.tensor = nodes_.result(*product);
    return found_.value.tensor != nodes_.result(softmax_);
  }

  // Add, Where or nothing, and what is before it. The other operand of an Add may be the mask.
  bool match_mask(TensorId masked) {
    if (const std::optional<NodeId> add = nodes_.producer(masked, "Add")) {
      for (const std::size_t at : {0U, 1U}) {
        if (nodes_.operand(*add, at) && nodes_.operand(*add, 1 - at) && match_scale(*nodes_.operand(*add, at)))
          return take_mask(*add, *nodes_.operand(*add, 1 - at), DType::f32);
      }
      return false;
    }
    if (const std::optional<NodeId> choice = nodes_.producer(masked, "Where")) {
      for (const std::size_t at : {2U, 1U}) {
        const std::optional<float> fill =
            nodes_.operand(*choice, 3 - at) ? number(*nodes_.operand(*choice, 3 - at)) : std::nullopt;
        if (!fill || !nodes_.operand(*choice, 0) || !nodes_.operand(*choice, at) ||
            !match_scale(*nodes_.operand(*choice, at)))
          continue;
        found_.attributes.push_back({std::string(kMaskedAttribute), std::int64_t{at == 2 ? 1 : 0}});
        found_.attributes.push_back({std::string(kFillAttribute), double{*fill}});
        return take_mask(*choice, *nodes_.operand(*choice, 0), DType::boolean);
      }
      return false;
    }
    return match_scale(masked);
  }

  bool take_mask(NodeId node, TensorId mask, DType dtype) {
    found_.inner.push_back(node);
    found_.mask = mask;
    return graph_.tensor(mask).dtype == dtype && !shape(mask).has_upper_bounds() && nodes_.result(node) != mask;
  }

  // Mul, Div or nothing, and the product before it.
  bool match_scale(TensorId scaled) {
    if (const std::optional<NodeId> product = nodes_.producer(scaled, "Mul")) {
      for (const std::size_t at : {1U, 0U}) {
        const std::optional<float> factor =
            nodes_.operand(*product, at) ? number(*nodes_.operand(*product, at)) : std::nullopt;
        if (factor && nodes_.operand(*product, 1 - at) && match_product(*nodes_.operand(*product, 1 - at)))
          return take_scale(*product, kFactorAttribute, *factor);
      }
      return false;
    }
    if (const std::optional<NodeId> quotient = nodes_.producer(scaled, "Div")) {
      const std::optional<float> divisor =
          nodes_.operand(*quotient, 1) ? number(*nodes_.operand(*quotient, 1)) : std::nullopt;
      return divisor && nodes_.operand(*quotient, 0) && match_product(*nodes_.operand(*quotient, 0)) &&
             take_scale(*quotient, kDivisorAttribute, *divisor);
    }
    return match_product(scaled);
  }

  bool take_scale(NodeId node, std::string_view attribute, float number) {
    found_.inner.push_back(node);
    found_.attributes.push_back({std::string(attribute), double{number}});
    return true;
  }

  bool match_product(TensorId scores) {
    const std::optional<NodeId> product = nodes_.producer(scores, "MatMul");
    if (!product || !nodes_.operand(*product, 0) || !nodes_.operand(*product, 1)) return false;
    found_.inner.push_back(*product);
    found_.query.tensor = *nodes_.operand(*product, 0);
    found_.key.tensor = *nodes_.operand(*product, 1);
    return true;
  }

  // Whether all tensors have the same axes before the last two, and the others agree with the scores.
  [[nodiscard]] bool has_fitting_shapes() const {
    const Shape& scores = shape(nodes_.result(softmax_));
    const int rank = scores.rank();
    if (rank < 3 || rank > 4) return false;
    for (const Matrix* matrix : {&found_.query, &found_.key, &found_.value, &found_.result}) {
      const Tensor& tensor = graph_.tensor(matrix->tensor);
      if (tensor.dtype != DType::f32 || tensor.shape.rank() != rank || tensor.shape.has_upper_bounds()) return false;
      for (int axis = 0; axis < rank - 2; ++axis) {
        if (tensor.shape[axis] != scores[axis]) return false;
      }
    }
    for (NodeId id : found_.inner) {
      if (shape(nodes_.result(id)) != scores) return false;
    }
    if (found_.mask && shape(*found_.mask).rank() > rank) return false;
    return scores[rank - 1] >= shape(found_.value.tensor)[rank - 1];
  }

  [[nodiscard]] bool has_excluded_nodes() const {
    return excluded_.test(found_.last) ||
           std::ranges::any_of(found_.inner, [&](NodeId id) { return excluded_.test(id); });
  }

  // A Transpose whose result only the attention reads, or that alone reads the result of the attention.
  void take_transposes() {
    for (Matrix* matrix : {&found_.query, &found_.key, &found_.value}) {
      const std::optional<NodeId> transpose = nodes_.producer(matrix->tensor, "Transpose");
      const bool is_private = !graph_.is_needed_at_end(matrix->tensor) && graph_.readers(matrix->tensor).size() == 1;
      const auto* order = transpose ? order_of(*transpose) : nullptr;
      if (order == nullptr || !is_private || !nodes_.operand(*transpose, 0) || excluded_.test(*transpose)) continue;
      if (!is_inner(*transpose)) found_.inner.push_back(*transpose);  // q and k may be the same
      *matrix = {*nodes_.operand(*transpose, 0), *order};
    }
    const std::optional<NodeId> transpose = nodes_.only_reader(found_.result.tensor, "Transpose");
    const auto* order = transpose ? order_of(*transpose) : nullptr;
    if (order == nullptr || excluded_.test(*transpose)) return;
    found_.inner.push_back(found_.last);
    found_.last = *transpose;
    found_.result = {nodes_.result(*transpose), AxisOrder(order->size())};
    for (std::size_t axis = 0; axis < order->size(); ++axis)
      found_.result.order[static_cast<std::size_t>((*order)[axis])] = static_cast<std::int64_t>(axis);
  }

  // The order of a Transpose. nullptr: it is absent or not a permutation.
  [[nodiscard]] const AxisOrder* order_of(NodeId transpose) const {
    const auto* order = find_attribute<AxisOrder>(graph_.node(transpose).attributes, "perm");
    if (order == nullptr || order->size() != static_cast<std::size_t>(shape(nodes_.result(transpose)).rank()))
      return nullptr;
    AxisOrder sorted = *order;
    std::ranges::sort(sorted);
    for (std::size_t axis = 0; axis < sorted.size(); ++axis) {
      if (sorted[axis] != static_cast<std::int64_t>(axis)) return nullptr;
    }
    return order;
  }

  [[nodiscard]] bool is_inner(NodeId id) const { return std::ranges::find(found_.inner, id) != found_.inner.end(); }

  // Whether nothing outside reads the nodes that disappear, and the new node reads no result of them.
  [[nodiscard]] bool has_private_nodes() const {
    const auto is_inside = [&](NodeId id) { return id == found_.last || is_inner(id); };
    const auto is_read = [&](TensorId id) {
      return id == found_.query.tensor || id == found_.key.tensor || id == found_.value.tensor || id == found_.mask;
    };
    return std::ranges::all_of(found_.inner, [&](NodeId id) {
      if (is_read(nodes_.result(id))) return false;
      return !graph_.is_needed_at_end(nodes_.result(id)) &&
             std::ranges::all_of(graph_.readers(nodes_.result(id)), is_inside);
    });
  }

  const Graph& graph_;
  const lower_internal::PatternReader nodes_{graph_};
  const ConstantTable& table_;
  const Flags<NodeId>& excluded_;
  NodeId softmax_;
  Attention found_;
};

void replace_nodes_of_attention(const Graph& graph, GraphRewriter& rewriter, const Attention& attention) {
  GraphBuilder::NodeSpec spec{.name = graph.node(attention.last).name,
                              .domain = std::string(kOwnDomain),
                              .type = std::string(kAttentionType),
                              .inputs = {attention.query.tensor, attention.key.tensor, attention.value.tensor},
                              .outputs = {attention.result.tensor},
                              .attributes = attention.attributes};
  if (attention.mask) spec.inputs.emplace_back(*attention.mask);
  const std::pair<std::string_view, const Matrix*> orders[] = {{kQueryOrderAttribute, &attention.query},
                                                               {kKeyOrderAttribute, &attention.key},
                                                               {kValueOrderAttribute, &attention.value},
                                                               {kResultOrderAttribute, &attention.result}};
  for (const auto& [name, matrix] : orders) {
    if (!matrix->order.empty()) spec.attributes.push_back({std::string(name), matrix->order});
  }
  rewriter.replace_node(attention.last, std::move(spec));
  for (NodeId id : attention.inner) rewriter.merge_node(id, attention.last);
}

}  // namespace

Result<std::optional<Rewritten>> fuse_attention(const Graph& graph, const ConstantTable& table) {
  GraphRewriter rewriter(graph);
  // Nodes with waits, and those of an earlier attention, whose result another one may read or transpose.
  Flags<NodeId> excluded = lower_internal::nodes_with_waits(graph);
  bool is_changed = false;
  for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
    const std::optional<Attention> attention = AttentionMatcher(graph, table, excluded, id).match();
    if (!attention) continue;
    replace_nodes_of_attention(graph, rewriter, *attention);
    for (NodeId inner : attention->inner) excluded.set(inner);
    excluded.set(attention->last);
    is_changed = true;
  }
  if (is_changed) rewriter.remove_unused();
  return std::move(rewriter).finish_if_changed();
}

}  // namespace lowtide
