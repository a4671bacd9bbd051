// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/c_source/graph_program/node_facts.h"

namespace lowtide::graph_program_internal {

// What a call passes: an input or an output of the node, a constant of NodeCalls::constants, or a null pointer.
struct InputAt {
  std::size_t input = 0;
};
struct OutputAt {
  std::size_t output = 0;
};
struct ConstantAt {
  std::size_t constant = 0;
};
using NodeOperand = std::variant<std::monostate, InputAt, OutputAt, ConstantAt>;

struct NodeCall {
  std::string kernel;  // CCall::kernel
  std::vector<CParameter> parameters;
  std::vector<NodeOperand> operands;
};

// The calls that compute a node, one after another. They need no memory except that of the node's tensors.
struct NodeCalls {
  std::vector<NodeCall> calls;            // none if no result has elements
  std::vector<CConstant> constants = {};  // those that are not inputs of the node

  // Adds a constant.
  ConstantAt add(std::string name, const std::vector<float>& content);
  ConstantAt add(std::string name, const std::vector<std::int32_t>& content);
};

// The parameter of a kernel that can move its results into a range. It says how many of the next two parameters count:
// none, the minimum, or also the maximum.
inline constexpr std::string_view kLimits = "limits";

// The operand, or a null pointer if the node does not have it.
[[nodiscard]] inline NodeOperand input_or_null(const NodeFacts& node, std::size_t input) {
  return node.has_input(input) ? NodeOperand(InputAt{input}) : NodeOperand();
}

// A list of parameters in which numbers of 64 bits become 32. Sizes of a node are checked before (calls_of).
class Parameters {
 public:
  Parameters& add(std::string name, std::int64_t value);
  Parameters& add(std::string name, const Extents& values);
  Parameters& add_float(std::string name, float value);
  [[nodiscard]] std::vector<CParameter> take() { return std::move(all_); }

 private:
  std::vector<CParameter> all_;
};

// The operators of ONNX that have kernels of C, sorted.
[[nodiscard]] std::vector<std::string_view> exported_operators();

// The calls of a node. Errors (unsupported): the message says what no kernel has, in the words of
// UnsupportedNode::missing. O(constants that are made).
[[nodiscard]] Result<NodeCalls> calls_of(const NodeFacts& node);

// The range into which a Relu or a Clip moves all elements. nullopt: the call is another one.
struct Limits {
  std::int32_t count = 1;  // 1: there is no maximum
  float minimum = 0;
  float maximum = 0;
};
[[nodiscard]] std::optional<Limits> limits_of(const NodeCalls& node);

// Lets a kernel do this after its own work. Returns false if it cannot.
[[nodiscard]] bool set_limits(CCall& call, const Limits& limits);

// Whether the calls may have the result in the bytes of an operand that the target `dense` would overwrite. Operators
// with several calls read some operands after they have written the result.
[[nodiscard]] bool may_work_in_place(const Graph& graph, NodeId id);

}  // namespace lowtide::graph_program_internal
