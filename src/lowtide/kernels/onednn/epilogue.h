// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/kernel.h"
#include "lowtide/kernels/onednn/description.h"

namespace lowtide::kernels_internal {

// oneDNN computes an epilogue (graph/epilogue.h) as a list of operations on the results of a primitive, before it
// writes them.
//
//   a = Add(r, t), y = Relu(a)        binary_add of operand r, or a sum with the content of the result; then relu
//
// Only operations that are about as precise as those of a chain are used. The largest errors in units in the last
// place, for f32 in [-20, 20] (tests/kernels/onednn_epilogue_test.cc), with those of a chain in parentheses:
//
//   0    (0)     Relu, LeakyRelu, Clip, Abs, Neg, Round
//   0.5  (0.5)   Add, Sub, Mul, Div, Sqrt, HardSigmoid; HardSwish in units of its operand
//   1.3  (1.3)   Tanh
//   3.4  (2.4)   Sigmoid
//   4.0  (3.0)   Swish, and x * Sigmoid(x)
//
// Results without a unit of error have the same bits, except that Relu and Clip of NaN give a bound, and that Relu of
// -0, or Clip with a bound of 0, may give 0. LeakyRelu needs a positive finite alpha. Elu, Exp, Gelu, Mish and Softplus
// of oneDNN lose more digits, so these are left to chains.
struct PostOp {
  enum class Kind : std::uint8_t {
    function,  // of one element
    binary,    // with an element of an operand
    sum,       // with an element that the memory of the result has before
  } kind = Kind::function;
  dnnl_alg_kind_t algorithm = dnnl_alg_kind_undef;  // not of a sum
  float alpha = 0;                                  // of a function; never NaN
  float beta = 0;
  std::size_t operand = 0;  // an index into Node::inputs; not of a function
  ExtentList extents;       // of the operand, with one number per axis of the result
  friend auto operator<=>(const PostOp&, const PostOp&) = default;
};
using PostOps = std::vector<PostOp>;

// The only element of a constant operand, an index into Node::inputs; any number if it is not known yet. nullopt: it is
// not a constant of one f32.
using NumberOf = std::function<std::optional<float>(std::size_t operand)>;

// Any number for each of these operands that is a constant of one f32. They are the operands of an epilogue.
[[nodiscard]] NumberOf any_numbers(const Graph& graph, std::vector<TensorId> operands);
// The numbers that the node has.
[[nodiscard]] NumberOf known_numbers(const PrepareInput& input);

// What a primitive knows about the tensors of its epilogue.
struct EpilogueTensors {
  // The extents of an operand with one number per axis of the result. nullopt: oneDNN cannot read it.
  std::function<std::optional<ExtentList>(const Shape& shape)> extents;
  NumberOf number;
};

// The operations for a program. Returns nullopt if it has a node that oneDNN does not compute, or less precisely.
[[nodiscard]] std::optional<PostOps> post_ops_of(const Graph& program, const EpilogueTensors& tensors);

// The same operations for a node with an epilogue, with a sum in place of the first Add whose operand has the extents
// of the result. nullopt: there is none, or no plan may overwrite this operand, because no node computes it or another
// one reads it later in the order as given. This depends on the graph alone, because a sum and an Add may round
// differently, and all plans of a graph shall give the same bits.
[[nodiscard]] std::optional<PostOps> with_sum(const Graph& graph, NodeId node, const PostOps& operations,
                                              const ExtentList& result);
// The operand of the sum. nullopt: there is no sum.
[[nodiscard]] std::optional<std::size_t> sum_operand(const PostOps& operations);

// The attributes of a primitive with these operations, whose scratchpad is memory of the caller. Operands with more
// than one element have the order, or are dense if it is "". Returns nullptr if oneDNN refuses.
[[nodiscard]] PrimitiveAttributes attributes_with(const PostOps& operations, std::string_view order);

// A kernel whose primitive adds to what the result's memory has. If this is not the memory of the operand, copies it.
[[nodiscard]] std::unique_ptr<PreparedKernel> summing_kernel(std::unique_ptr<PreparedKernel> primitive,
                                                             std::size_t operand);

}  // namespace lowtide::kernels_internal
