// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lowtide/graph/graph.h"

namespace lowtide::kernels_internal {

// Neighboring nodes of a program that one loop computes, with the bits of the nodes one after another. All tensors are
// f32. `value` and `other` have the shape of the result, and the numbers have one element.
struct FusedPattern {
  enum class Kind : std::uint8_t {
    none,
    scale,  // Mul, Add: value * a + b
    gate,   // Add, Clip, Mul, Div: value * min(max(value + a, b), c) / d, as of a HardSwish that is written out. The
            // bounds are operands, or attributes, as older models have them
    swish,  // Sigmoid, Mul: value * sigmoid(value)
    gelu,   // Div, Erf, Add, Mul, Mul: value * (erf(value / a) + b) * c
    leaky,  // LeakyRelu, Max: max(value < 0 ? value * a : value, b)
    sum,    // Mul, Mul, Add, or Mul, Add: value * a + other * b, where b is 1 without a node, and then Relu, if it is
            // there: at least c
  } kind = Kind::none;
  static constexpr std::size_t kMostNumbers = 4;
  std::size_t nodes = 0;
  std::optional<TensorId> value;
  std::optional<TensorId> other;  // of a sum
  struct Number {
    std::optional<TensorId> operand;
    float value = 0;  // without an operand
  };
  std::array<Number, kMostNumbers> numbers;  // a, b, ...
};

// The bounds of a Clip of f32: operands of one element, or attributes, or infinite. nullopt if an operand is no number.
struct ClipBounds {
  FusedPattern::Number low;
  FusedPattern::Number high;
};
[[nodiscard]] std::optional<ClipBounds> clip_bounds(const Graph& program, const Node& clip);

// The pattern whose first node is `id`. Its inner results have no other readers.
[[nodiscard]] FusedPattern pattern_at(const Graph& program, NodeId id);

struct PatternRow {
  const float* value = nullptr;
  const float* other = nullptr;
  std::array<float, FusedPattern::kMostNumbers> numbers{};
  float* y = nullptr;  // may be `value` or `other`
  std::int64_t count = 0;
};
void run_pattern(FusedPattern::Kind kind, const PatternRow& row);

}  // namespace lowtide::kernels_internal
