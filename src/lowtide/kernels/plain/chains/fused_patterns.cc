// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/chains/fused_patterns.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/math/functions.h"

namespace lowtide::kernels_internal {
namespace {

constexpr double kDefaultLeak = 0.01;  // of a LeakyRelu

bool is_number(const Graph& program, std::optional<TensorId> id) {
  if (!id || program.tensor(*id).dtype != DType::f32) return false;
  return std::ranges::all_of(program.tensor(*id).shape.extents(), [](std::int64_t extent) { return extent == 1; });
}

// Follows nodes of a program that come one directly after another.
class PatternReader {
 public:
  PatternReader(const Graph& program, NodeId first) : program_(program), next_(first.value()) {}

  // Takes the next node if it has this type, and if it is the only reader of the result of the node before it.
  const Node* take(std::string_view type) {
    if (next_ >= program_.nodes().size()) return nullptr;
    const NodeId id(next_);
    const Operator& op = program_.op(id);
    const Node& node = program_.node(id);
    if (op.type != type || !(op.domain.empty() || op.domain == "ai.onnx")) return nullptr;
    if (!node.attributes.empty() && type != "Clip" && type != "LeakyRelu") return nullptr;
    if (result_ && !(has_one_reader(*result_) && program_.readers(*result_)[0] == id)) return nullptr;
    result_ = node.outputs[0];
    ++next_;
    return &node;
  }

  // Takes the next two nodes if they are a product and the sum of `one` and of this product, and if nothing else reads
  // either.
  struct ProductAndSum {
    const Node* product = nullptr;
    const Node* sum = nullptr;
  };
  std::optional<ProductAndSum> take_product_and_sum(TensorId one) {
    PatternReader beside(program_, NodeId(next_));
    const Node* product = beside.take("Mul");
    const Node* sum = product == nullptr ? nullptr : beside.take("Add");
    if (sum == nullptr || other(*sum, one) != product->outputs[0] || !has_one_reader(one)) return std::nullopt;
    next_ = beside.next_;
    result_ = beside.result_;
    return ProductAndSum{product, sum};
  }

  // The other operand of a node with two, or nullopt if it has no such operand.
  [[nodiscard]] static std::optional<TensorId> other(const Node& node, TensorId one) {
    if (node.inputs.size() != 2) return std::nullopt;
    if (node.inputs[0] == one) return node.inputs[1];
    return node.inputs[1] == one ? node.inputs[0] : std::nullopt;
  }

 private:
  [[nodiscard]] bool has_one_reader(TensorId id) const {
    return program_.readers(id).size() == 1 && !program_.is_needed_at_end(id);
  }

  const Graph& program_;
  std::uint32_t next_;
  std::optional<TensorId> result_;
};

// The operand of a sum or a product with a number that is not the number. Sets the number.
std::optional<TensorId> value_of(const Graph& program, const Node& node, FusedPattern::Number& number) {
  for (std::size_t at = 0; at < 2 && node.inputs.size() == 2; ++at) {
    const std::optional<TensorId> value = node.inputs[at];
    if (!value || !is_number(program, node.inputs[1 - at])) continue;
    const Tensor& tensor = program.tensor(*value);
    if (tensor.dtype != DType::f32 || tensor.shape != program.tensor(*node.outputs[0]).shape) continue;
    number.operand = node.inputs[1 - at];
    return value;
  }
  return std::nullopt;
}

FusedPattern scale_at(const Graph& program, NodeId id) {
  FusedPattern found{.kind = FusedPattern::Kind::scale, .nodes = 2};
  PatternReader reader(program, id);
  const Node* product = reader.take("Mul");
  if (product == nullptr) return {};
  found.value = value_of(program, *product, found.numbers[0]);
  const Node* sum = found.value ? reader.take("Add") : nullptr;
  if (sum == nullptr) return {};
  found.numbers[1].operand = PatternReader::other(*sum, *product->outputs[0]);
  return is_number(program, found.numbers[1].operand) ? found : FusedPattern{};
}

FusedPattern gate_at(const Graph& program, NodeId id) {
  FusedPattern found{.kind = FusedPattern::Kind::gate, .nodes = 4};
  PatternReader reader(program, id);
  const Node* sum = reader.take("Add");
  if (sum == nullptr) return {};
  found.value = value_of(program, *sum, found.numbers[0]);
  const Node* clip = found.value ? reader.take("Clip") : nullptr;
  if (clip == nullptr || clip->inputs[0] != sum->outputs[0]) return {};
  const std::optional<ClipBounds> bounds = clip_bounds(program, *clip);
  if (!bounds) return {};
  found.numbers[1] = bounds->low;
  found.numbers[2] = bounds->high;
  const Node* product = reader.take("Mul");
  if (product == nullptr || PatternReader::other(*product, *clip->outputs[0]) != found.value) return {};
  const Node* quotient = reader.take("Div");
  if (quotient == nullptr || quotient->inputs.size() != 2 || quotient->inputs[0] != product->outputs[0]) return {};
  found.numbers[3].operand = quotient->inputs[1];
  return is_number(program, found.numbers[3].operand) ? found : FusedPattern{};
}

FusedPattern swish_at(const Graph& program, NodeId id) {
  FusedPattern found{.kind = FusedPattern::Kind::swish, .nodes = 2};
  PatternReader reader(program, id);
  const Node* sigmoid = reader.take("Sigmoid");
  if (sigmoid == nullptr || sigmoid->inputs.size() != 1 || !sigmoid->inputs[0]) return {};
  found.value = sigmoid->inputs[0];
  const Node* product = reader.take("Mul");
  if (product == nullptr || PatternReader::other(*product, *sigmoid->outputs[0]) != found.value) return {};
  return program.tensor(*found.value).dtype == DType::f32 ? found : FusedPattern{};
}

// The bits of Max depend on the order of its operands.
FusedPattern leaky_at(const Graph& program, NodeId id) {
  FusedPattern found{.kind = FusedPattern::Kind::leaky, .nodes = 2};
  PatternReader reader(program, id);
  const Node* leaky = reader.take("LeakyRelu");
  if (leaky == nullptr || leaky->inputs.size() != 1 || !leaky->inputs[0]) return {};
  found.value = leaky->inputs[0];
  const double* const alpha = find_attribute<double>(leaky->attributes, "alpha");
  found.numbers[0].value = static_cast<float>(alpha != nullptr ? *alpha : kDefaultLeak);
  const Node* most = reader.take("Max");
  if (most == nullptr || most->inputs.size() != 2 || most->inputs[0] != leaky->outputs[0]) return {};
  found.numbers[1].operand = most->inputs[1];
  const bool is_float = program.tensor(*found.value).dtype == DType::f32;
  return is_float && is_number(program, found.numbers[1].operand) ? found : FusedPattern{};
}

FusedPattern gelu_at(const Graph& program, NodeId id) {
  FusedPattern found{.kind = FusedPattern::Kind::gelu, .nodes = 5};
  PatternReader reader(program, id);
  const Node* quotient = reader.take("Div");
  if (quotient == nullptr) return {};
  found.value = value_of(program, *quotient, found.numbers[0]);
  if (!found.value || quotient->inputs[0] != found.value) return {};
  const Node* erf = reader.take("Erf");
  const Node* sum = erf == nullptr ? nullptr : reader.take("Add");
  if (sum == nullptr) return {};
  found.numbers[1].operand = PatternReader::other(*sum, *erf->outputs[0]);
  const Node* product = reader.take("Mul");
  if (product == nullptr || PatternReader::other(*product, *sum->outputs[0]) != found.value) return {};
  const Node* half = reader.take("Mul");
  if (half == nullptr) return {};
  found.numbers[2].operand = PatternReader::other(*half, *product->outputs[0]);
  const bool has_numbers = is_number(program, found.numbers[1].operand) && is_number(program, found.numbers[2].operand);
  return has_numbers ? found : FusedPattern{};
}

FusedPattern sum_at(const Graph& program, NodeId id) {
  FusedPattern found{.kind = FusedPattern::Kind::sum, .nodes = 2};
  found.numbers[1].value = 1;
  found.numbers[2].value = -std::numeric_limits<float>::infinity();
  PatternReader reader(program, id);
  const Node* product = reader.take("Mul");
  if (product == nullptr) return {};
  found.value = value_of(program, *product, found.numbers[0]);
  if (!found.value) return {};
  if (const auto second = reader.take_product_and_sum(*product->outputs[0])) {
    found.nodes = 3;
    found.other = value_of(program, *second->product, found.numbers[1]);
  } else if (const Node* sum = reader.take("Add")) {
    const std::optional<TensorId> other = PatternReader::other(*sum, *product->outputs[0]);
    const Shape& result = program.tensor(*product->outputs[0]).shape;
    if (other && other != product->outputs[0] && program.tensor(*other).shape == result) found.other = other;
  }
  if (!found.other) return {};
  if (reader.take("Relu") != nullptr) {
    ++found.nodes;
    found.numbers[2].value = 0;
  }
  return found;
}

struct FusedNumbers {
  float a, b, c, d;
};

LOWTIDE_VECTOR_CLONES void scale_row(const float* value, const FusedNumbers& by, float* y, std::int64_t count) {
  const auto [a, b, c, d] = by;
  for (std::int64_t at = 0; at < count; ++at) y[at] = value[at] * a + b;
}

// The bounds are those of Clip (select.cc).
LOWTIDE_VECTOR_CLONES void gate_row(const float* value, const FusedNumbers& by, float* y, std::int64_t count) {
  const auto [a, b, c, d] = by;
  for (std::int64_t at = 0; at < count; ++at) {
    const float sum = value[at] + a;
    const float above = sum < b ? b : sum;
    const float gate = above > c ? c : above;
    y[at] = value[at] * gate / d;
  }
}

LOWTIDE_VECTOR_CLONES void swish_row(const float* value, float* y, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) y[at] = value[at] * sigmoid_f32(value[at]);
}

// Computes what LeakyRelu (unary.cc) and Max (select.cc) do, in which a NaN wins.
LOWTIDE_VECTOR_CLONES void leaky_row(const float* value, const FusedNumbers& by, float* y, std::int64_t count) {
  const float a = by.a;
  const float b = by.b;
  for (std::int64_t at = 0; at < count; ++at) {
    const float leaky = value[at] < 0.0F ? a * value[at] : value[at];
    y[at] = b < leaky || leaky != leaky ? leaky : b;
  }
}

LOWTIDE_VECTOR_CLONES void gelu_row(const float* value, const FusedNumbers& by, float* y, std::int64_t count) {
  const auto [a, b, c, d] = by;
  for (std::int64_t at = 0; at < count; ++at) y[at] = value[at] * (erf_f32(value[at] / a) + b) * c;
}

LOWTIDE_VECTOR_CLONES void sum_row(const PatternRow& row) {
  const float* const value = row.value;
  const float* const other = row.other;
  float* const y = row.y;
  const float a = row.numbers[0];
  const float b = row.numbers[1];
  const float low = row.numbers[2];
  for (std::int64_t at = 0; at < row.count; ++at) {
    const float sum = value[at] * a + other[at] * b;
    y[at] = sum < low ? low : sum;
  }
}

// The bound as Clip itself reads it (select.cc): models write no bound as the largest number.
float bound_of(double attribute) {
  constexpr float kMost = std::numeric_limits<float>::max();
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  if (attribute >= static_cast<double>(kMost)) return kInfinite;
  return attribute <= -static_cast<double>(kMost) ? -kInfinite : static_cast<float>(attribute);
}

}  // namespace

std::optional<ClipBounds> clip_bounds(const Graph& program, const Node& clip) {
  ClipBounds bounds{.low = {.operand = {}, .value = -std::numeric_limits<float>::infinity()},
                    .high = {.operand = {}, .value = std::numeric_limits<float>::infinity()}};
  const std::array<FusedPattern::Number*, 2> both{&bounds.low, &bounds.high};
  constexpr std::array<std::string_view, 2> kNames{"min", "max"};
  for (std::size_t at = 0; at < both.size(); ++at) {
    const auto* attribute = find_attribute<double>(clip.attributes, kNames[at]);
    if (attribute != nullptr) both[at]->value = bound_of(*attribute);
    if (clip.inputs.size() <= at + 1 || !clip.inputs[at + 1]) continue;
    if (!is_number(program, clip.inputs[at + 1])) return std::nullopt;
    both[at]->operand = clip.inputs[at + 1];
  }
  return bounds;
}

FusedPattern pattern_at(const Graph& program, NodeId id) {
  for (FusedPattern (*const find)(const Graph&, NodeId) :
       {&scale_at, &gate_at, &swish_at, &leaky_at, &gelu_at, &sum_at}) {
    FusedPattern found = find(program, id);
    if (found.kind != FusedPattern::Kind::none) return found;
  }
  return {};
}

void run_pattern(FusedPattern::Kind kind, const PatternRow& row) {
  const FusedNumbers numbers{row.numbers[0], row.numbers[1], row.numbers[2], row.numbers[3]};
  switch (kind) {
    case FusedPattern::Kind::none: return;
    case FusedPattern::Kind::scale: scale_row(row.value, numbers, row.y, row.count); return;
    case FusedPattern::Kind::gate: gate_row(row.value, numbers, row.y, row.count); return;
    case FusedPattern::Kind::swish: swish_row(row.value, row.y, row.count); return;
    case FusedPattern::Kind::leaky: leaky_row(row.value, numbers, row.y, row.count); return;
    case FusedPattern::Kind::gelu: gelu_row(row.value, numbers, row.y, row.count); return;
    case FusedPattern::Kind::sum: sum_row(row); return;
  }
}

}  // namespace lowtide::kernels_internal
