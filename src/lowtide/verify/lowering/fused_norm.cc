// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/lowering/fused_norm.h"

#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "lowtide/verify/lowering/model_formula.h"

namespace lowtide::verify_internal {
namespace {

// Reads the formula of a LayerNormalization from its result to its operands. Each function returns false if the model
// has something else at that place.
class NormFormula : public ModelFormula {
 public:
  using ModelFormula::ModelFormula;

  bool holds() {
    const bool has_bias = now_.inputs.size() == 3;
    if ((now_.inputs.size() != 2 && !has_bias) || now_.outputs.size() != 1 || !now_.outputs[0]) return false;
    for (const std::optional<TensorId>& input : now_.inputs) {
      if (!input || lowered_.tensor(*input).dtype != DType::f32) return false;
    }
    const std::optional<TensorId> result = tensors_.find(lowered_, *now_.outputs[0]);
    if (!result) return false;
    return has_bias ? is_sum_with(*result, 2) : is_product_with(*result, 1);
  }

 private:
  using Operands = std::vector<std::optional<TensorId>>;

  // The operands of the node that computes a tensor, or nullptr if it has another type.
  const Operands* read(TensorId tensor, std::string_view type, std::size_t count) {
    const std::optional<NodeId> producer = maker(tensor, type);
    if (!producer) return nullptr;
    const Node& node = model_.node(*producer);
    if (node.inputs.size() < count) return nullptr;
    for (std::size_t at = 0; at < count; ++at) {
      if (!node.inputs[at]) return nullptr;
    }
    // Numbers of other ranks would add axes, over which the means would not go.
    const Shape& whole = lowered_.tensor(*now_.inputs[0]).shape;
    if (node.outputs.size() != 1 || !node.outputs[0]) return nullptr;
    if (model_.tensor(*node.outputs[0]).shape.rank() != whole.rank()) return nullptr;
    return note(*producer) ? &node.inputs : nullptr;
  }

  [[nodiscard]] bool is_operand(TensorId tensor, std::size_t at) const {
    return tensors_.reads_same(tensor, lowered_, now_.inputs[at]);
  }
  // Whether the elements of an operand lie along the normalized axes, so that it is broadcast as in the model.
  [[nodiscard]] bool lies_along_axes(std::size_t at) const {
    const Shape& whole = lowered_.tensor(*now_.inputs[0]).shape;
    const Shape& part = lowered_.tensor(*now_.inputs[at]).shape;
    const std::optional<int> axis = first_axis();
    if (!axis || part.rank() != whole.rank() - *axis) return false;
    for (int place = 0; place < part.rank(); ++place) {
      if (part[place] != whole[*axis + place]) return false;
    }
    return true;
  }
  [[nodiscard]] std::optional<int> first_axis() const {
    const auto* axis = find_attribute<std::int64_t>(now_.attributes, "axis");
    const int rank = lowered_.tensor(*now_.inputs[0]).shape.rank();
    return axis != nullptr && *axis >= 0 && *axis < rank ? std::optional(static_cast<int>(*axis)) : std::nullopt;
  }

  bool is_sum_with(TensorId tensor, std::size_t at) {
    const Operands* of = read(tensor, "Add", 2);
    if (of == nullptr || !lies_along_axes(at)) return false;
    const std::size_t place = is_operand(*(*of)[1], at) ? 1 : 0;
    return is_operand(*(*of)[place], at) && is_product_with(*(*of)[1 - place], 1);
  }
  bool is_product_with(TensorId tensor, std::size_t at) {
    const Operands* of = read(tensor, "Mul", 2);
    if (of == nullptr || !lies_along_axes(at)) return false;
    const std::size_t place = is_operand(*(*of)[1], at) ? 1 : 0;
    return is_operand(*(*of)[place], at) && is_quotient(*(*of)[1 - place]);
  }
  bool is_quotient(TensorId tensor) {
    const Operands* of = read(tensor, "Div", 2);
    if (of == nullptr) return false;
    deviation_ = *(*of)[0];
    const Operands* root = read(*(*of)[1], "Sqrt", 1);
    const Operands* sum = root == nullptr ? nullptr : read(*(*root)[0], "Add", 2);
    if (sum == nullptr) return false;
    const auto* epsilon = find_attribute<double>(now_.attributes, "epsilon");
    const std::size_t place = number(*(*sum)[1]) ? 1 : 0;
    const std::optional<float> given = number(*(*sum)[place]);
    return epsilon != nullptr && given && static_cast<float>(*epsilon) == *given &&
           is_mean_square(*(*sum)[1 - place]) && is_deviation();
  }
  bool is_mean_square(TensorId tensor) {
    const std::optional<TensorId> square = mean_of(tensor);
    if (!square) return false;
    if (const Operands* power = read(*square, "Pow", 2))
      return tensors_.have_same_content(*(*power)[0], deviation_) && number(*(*power)[1]) == 2.0F;
    const Operands* product = read(*square, "Mul", 2);
    return product != nullptr && tensors_.have_same_content(*(*product)[0], deviation_) &&
           tensors_.have_same_content(*(*product)[1], deviation_);
  }
  bool is_deviation() {
    const Operands* of = read(deviation_, "Sub", 2);
    if (of == nullptr || !is_operand(*(*of)[0], 0)) return false;
    const std::optional<TensorId> averaged = mean_of(*(*of)[1]);
    return averaged && is_operand(*averaged, 0);
  }

  // What a ReduceMean over the normalized axes reads.
  std::optional<TensorId> mean_of(TensorId tensor) {
    const Operands* of = read(tensor, "ReduceMean", 1);
    if (of == nullptr) return std::nullopt;
    const Node& node = model_.node(nodes().back());
    const auto* keeps = find_attribute<std::int64_t>(node.attributes, "keepdims");
    const auto* axes = find_attribute<std::vector<std::int64_t>>(node.attributes, "axes");
    if (of->size() > 1 && (*of)[1]) axes = model_.known_integers(*(*of)[1]);
    const std::optional<int> first = first_axis();
    if (axes == nullptr || !first || (keeps != nullptr && *keeps != 1)) return std::nullopt;
    const int rank = model_.tensor(*(*of)[0]).shape.rank();
    std::set<std::int64_t> named;
    for (std::int64_t axis : *axes) named.insert(axis < 0 ? axis + rank : axis);
    std::set<std::int64_t> wanted;
    for (int axis = *first; axis < rank; ++axis) wanted.insert(axis);
    return named == wanted ? (*of)[0] : std::nullopt;
  }

  TensorId deviation_;
};

}  // namespace

FusedNodes nodes_of_layer_norm(const ModelTensors& tensors, const Graph& lowered, NodeId norm,
                               const ConstantTable* table) {
  NormFormula formula(tensors, lowered, norm, table);
  if (!formula.holds()) return {{}, "differs from its nodes in the model"};
  return {formula.nodes(), ""};
}

}  // namespace lowtide::verify_internal
