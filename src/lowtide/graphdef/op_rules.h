// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/graphdef/node_view.h"

namespace lowtide::graphdef_internal {

// What is known of a tensor. Each of its parts may be known without the others.
struct KnownTensor {
  std::optional<DType> dtype;
  std::optional<Extents> extents;
  std::optional<Extents> content;  // of small constants of integers
};

// One node while a rule works on it: it sets what follows from the inputs, and leaves the rest alone.
struct NodeTypes {
  const NodeView& node;
  std::vector<const KnownTensor*> inputs;  // data inputs
  std::vector<KnownTensor> outputs;
  std::string fault = {};  // if the inputs contradict each other

  // nullptr if they are not known.
  [[nodiscard]] const Extents* extents(std::size_t input) const {
    return input < inputs.size() && inputs[input]->extents ? &*inputs[input]->extents : nullptr;
  }
  [[nodiscard]] const Extents* content(std::size_t input) const {
    return input < inputs.size() && inputs[input]->content ? &*inputs[input]->content : nullptr;
  }
  void set(std::size_t output, Extents extents) {
    if (output < outputs.size()) outputs[output].extents = std::move(extents);
  }
};

enum class NodeKind : std::uint8_t {
  ordinary,
  input,       // Placeholder
  constant,    // Const
  variable,    // a state
  same_state,  // output 0 is the variable that is input 0: Assign, ReadVariableOp
  no_output,   // NoOp and others
  loop,        // refused
};

[[nodiscard]] NodeKind kind_of_op(std::string_view op);
// Whether the operator writes the variable that is input 0.
[[nodiscard]] bool writes_variable(std::string_view op);
[[nodiscard]] std::size_t least_outputs(const NodeView& node);
// Whether a node has no more outputs than these.
[[nodiscard]] bool has_all_outputs(const NodeView& node);

// Whether there is a rule for the shapes of its results.
[[nodiscard]] bool has_rule(std::string_view op);

// Which inputs have the shape of output 0, whatever it is.
enum class SameShape : std::uint8_t { none, first, all };
[[nodiscard]] SameShape same_shape(std::string_view op);

// Sets the types and the extents of the outputs.
void infer_node(NodeTypes& types);

// op_shapes.cc
void infer_broadcast(NodeTypes& types);
void infer_mat_mul(NodeTypes& types);
void infer_batch_mat_mul(NodeTypes& types);
void infer_conv(NodeTypes& types);
void infer_depthwise(NodeTypes& types);
void infer_pool(NodeTypes& types);
void infer_reshape(NodeTypes& types);
void infer_transpose(NodeTypes& types);
void infer_concat(NodeTypes& types);
void infer_split(NodeTypes& types);
void infer_reduce(NodeTypes& types);
void infer_expand_dims(NodeTypes& types);
void infer_squeeze(NodeTypes& types);
void infer_pad(NodeTypes& types);
void infer_fill(NodeTypes& types);

}  // namespace lowtide::graphdef_internal
