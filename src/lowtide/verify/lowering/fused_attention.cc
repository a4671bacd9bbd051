// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/fused_attention.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/graph/lowered.h"
#include "lowtide/verify/lowering/model_formula.h"

namespace lowtide::verify_internal {
namespace {

// Reads the formula of an attention from its result to its operands. What the node says must be what the model has: a
// scale only if the model scales, and so on. Each function returns false if the model has something else.
class AttentionFormula : public ModelFormula {
 public:
  using ModelFormula::ModelFormula;

  bool holds() {
    const std::size_t count = now_.inputs.size();
    if ((count != 3 && count != 4) || now_.outputs.size() != 1 || !now_.outputs[0]) return false;
    for (const std::optional<TensorId>& input : now_.inputs) {
      if (!input) return false;
    }
    if (!has_known_attributes()) return false;
    std::optional<TensorId> product = tensors_.find(lowered_, *now_.outputs[0]);
    if (!product) return false;
    if (const AxisOrder* order = order_of(kResultOrderAttribute)) {
      // Result axis `at` is axis perm[at] of the product, and axis order[perm[at]] of the result is that one again.
      const Step* transpose = step(*product, "Transpose", 1);
      const AxisOrder* perm = transpose == nullptr ? nullptr : perm_of(transpose->node);
      if (perm == nullptr || perm->size() != order->size()) return false;
      for (std::size_t at = 0; at < perm->size(); ++at) {
        const std::int64_t axis = (*perm)[at];
        if (axis < 0 || axis >= static_cast<std::int64_t>(order->size())) return false;
        if ((*order)[static_cast<std::size_t>(axis)] != static_cast<std::int64_t>(at)) return false;
      }
      product = transpose->operands[0];
    }
    return is_weighted(*product);
  }

 private:
  using AxisOrder = std::vector<std::int64_t>;

  // A node of the model, and its first operands.
  struct Step {
    NodeId node;
    std::array<TensorId, 3> operands;
  };

  // The node of a type that computes a tensor, with `count` operands and one result. The first one found must have the
  // name of the attention. nullptr: another node computes it. Valid until the next call.
  const Step* step(TensorId tensor, std::string_view type, std::size_t count) {
    const std::optional<NodeId> producer = maker(tensor, type);
    if (!producer) return nullptr;
    const Node& node = model_.node(*producer);
    if (node.inputs.size() != count || node.outputs.size() != 1 || !node.outputs[0]) return nullptr;
    step_.node = *producer;
    for (std::size_t at = 0; at < count; ++at) {
      if (!node.inputs[at]) return nullptr;
      step_.operands[at] = *node.inputs[at];
    }
    return note(*producer) ? &step_ : nullptr;
  }

  [[nodiscard]] bool has_known_attributes() const {
    constexpr std::array kKnown = {kQueryOrderAttribute,  kKeyOrderAttribute, kValueOrderAttribute,
                                   kResultOrderAttribute, kFactorAttribute,   kDivisorAttribute,
                                   kMaskedAttribute,      kFillAttribute};
    return std::ranges::all_of(now_.attributes, [&](const Attribute& attribute) {
      return std::ranges::find(kKnown, attribute.name) != kKnown.end();
    });
  }
  [[nodiscard]] bool has(std::string_view name) const {
    return std::ranges::find(now_.attributes, name, &Attribute::name) != now_.attributes.end();
  }
  [[nodiscard]] const AxisOrder* order_of(std::string_view name) const {
    return find_attribute<AxisOrder>(now_.attributes, name);
  }
  [[nodiscard]] const AxisOrder* perm_of(NodeId transpose) const {
    return find_attribute<AxisOrder>(model_.node(transpose).attributes, "perm");
  }
  [[nodiscard]] const Tensor& of_model(TensorId id) const { return model_.tensor(id); }

  // product = weights * v
  bool is_weighted(TensorId product) {
    const Step* found = step(product, "MatMul", 2);
    if (found == nullptr) return false;
    const Step matmul = *found;
    const Shape& whole = of_model(matmul.operands[0]).shape;
    const Shape& value = of_model(matmul.operands[1]).shape;
    return have_same_batches(whole, value) && is_operand(matmul.operands[1], 2, kValueOrderAttribute) &&
           are_weights(matmul.operands[0]);
  }
  bool are_weights(TensorId weights) {
    const Step* found = step(weights, "Softmax", 1);
    if (found == nullptr) return false;
    const Step softmax = *found;
    const Node& node = model_.node(softmax.node);
    const auto* axis = find_attribute<std::int64_t>(node.attributes, "axis");
    const int last = of_model(weights).shape.rank() - 1;
    const std::int64_t absent = has_older_meaning(node) ? 1 : -1;
    const std::int64_t given = axis == nullptr ? absent : *axis;
    if (given != last && given != -1) return false;
    scores_ = &of_model(weights).shape;
    return is_masked(softmax.operands[0]);
  }
  static bool has_older_meaning(const Node& node) {
    return std::ranges::find(node.attributes, kSinceAttribute, &Attribute::name) != node.attributes.end();
  }

  bool is_masked(TensorId masked) {
    const bool has_choice = has(kMaskedAttribute) || has(kFillAttribute);
    if (now_.inputs.size() == 3) return !has_choice && is_scaled(masked);
    return has_choice ? is_chosen(masked) : is_sum(masked);
  }
  bool is_sum(TensorId masked) {
    const Step* found = step(masked, "Add", 2);
    if (found == nullptr || lowered_.tensor(*now_.inputs[3]).dtype != DType::f32) return false;
    const Step add = *found;
    const std::size_t mask = is_mask(add.operands[1]) ? 1 : 0;
    return is_mask(add.operands[mask]) && has_shape_of_scores(masked) && is_scaled(add.operands[1 - mask]);
  }
  bool is_chosen(TensorId masked) {
    const auto* value = find_attribute<std::int64_t>(now_.attributes, kMaskedAttribute);
    const auto* fill = find_attribute<double>(now_.attributes, kFillAttribute);
    const Step* found = step(masked, "Where", 3);
    if (found == nullptr || value == nullptr || fill == nullptr || *value < 0 || *value > 1) return false;
    const Step where = *found;
    const std::optional<float> given = number(where.operands[*value == 1 ? 1 : 2]);
    return given && same_number(*given, *fill) && is_mask(where.operands[0]) &&
           lowered_.tensor(*now_.inputs[3]).dtype == DType::boolean && has_shape_of_scores(masked) &&
           is_scaled(where.operands[*value == 1 ? 2 : 1]);
  }
  [[nodiscard]] bool is_mask(TensorId tensor) const { return tensors_.reads_same(tensor, lowered_, now_.inputs[3]); }

  bool is_scaled(TensorId scaled) {
    const auto* factor = find_attribute<double>(now_.attributes, kFactorAttribute);
    const auto* divisor = find_attribute<double>(now_.attributes, kDivisorAttribute);
    if ((factor == nullptr && has(kFactorAttribute)) || (divisor == nullptr && has(kDivisorAttribute))) return false;
    if (factor != nullptr && divisor != nullptr) return false;
    if (factor == nullptr && divisor == nullptr) return is_product(scaled);
    const Step* found = step(scaled, factor != nullptr ? "Mul" : "Div", 2);
    if (found == nullptr || !has_shape_of_scores(scaled)) return false;
    const Step scale = *found;
    const bool is_first = factor != nullptr && maker(scale.operands[1], "MatMul").has_value();
    const std::optional<float> given = number(scale.operands[is_first ? 0 : 1]);
    return given && same_number(*given, factor != nullptr ? *factor : *divisor) &&
           is_product(scale.operands[is_first ? 1 : 0]);
  }
  bool is_product(TensorId scores) {
    const Step* found = step(scores, "MatMul", 2);
    if (found == nullptr || !has_shape_of_scores(scores)) return false;
    const Step matmul = *found;
    return have_same_batches(*scores_, of_model(matmul.operands[0]).shape) &&
           have_same_batches(*scores_, of_model(matmul.operands[1]).shape) &&
           is_operand(matmul.operands[0], 0, kQueryOrderAttribute) &&
           is_operand(matmul.operands[1], 1, kKeyOrderAttribute);
  }

  // Whether an operand is a matrix of the model, or what the model transposes to it.
  bool is_operand(TensorId matrix, std::size_t at, std::string_view order_name) {
    const AxisOrder* order = order_of(order_name);
    if (order == nullptr) return !has(order_name) && tensors_.reads_same(matrix, lowered_, now_.inputs[at]);
    const Step* transpose = nullptr;
    // Two operands may be the results of the same Transpose, which is one node.
    const std::optional<NodeId> producer = model_.tensor(tensors_.content_of(matrix)).producer;
    const bool is_noted = producer && std::ranges::find(nodes(), *producer) != nodes().end();
    transpose = step(matrix, "Transpose", 1);
    if (transpose == nullptr) return false;
    if (is_noted) forget();
    const AxisOrder* perm = perm_of(transpose->node);
    return perm != nullptr && *perm == *order && tensors_.reads_same(transpose->operands[0], lowered_, now_.inputs[at]);
  }

  [[nodiscard]] bool has_shape_of_scores(TensorId tensor) const { return of_model(tensor).shape == *scores_; }
  // Whether no matrix is repeated.
  static bool have_same_batches(const Shape& a, const Shape& b) {
    if (a.rank() != b.rank() || a.rank() < 2 || a.has_upper_bounds() || b.has_upper_bounds()) return false;
    for (int axis = 0; axis + 2 < a.rank(); ++axis) {
      if (a[axis] != b[axis]) return false;
    }
    return true;
  }

  static bool same_number(float a, double b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(static_cast<float>(b));
  }
  const Shape* scores_ = nullptr;
  Step step_{};
};

}  // namespace

FusedNodes nodes_of_attention(const ModelTensors& tensors, const Graph& lowered, NodeId attention,
                              const ConstantTable* table) {
  AttentionFormula formula(tensors, lowered, attention, table);
  if (!formula.holds()) return {{}, "differs from its nodes in the model"};
  return {formula.nodes(), ""};
}

}  // namespace lowtide::verify_internal
