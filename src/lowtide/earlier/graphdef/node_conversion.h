// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/earlier/conversion/onnx_builder.h"
#include "lowtide/earlier/graphdef/op_rules.h"

namespace lowtide::graphdef_internal {

// One node while a conversion writes its results. A result that no reader needs costs nothing (OnnxBuilder).
struct NodeConversion {
  OnnxBuilder& to;
  const NodeTypes& types;             // types and extents of all operands and of result 0 are known
  std::vector<std::string> operands;  // their names in the model
  std::vector<std::string> results;   // the names to write
  std::string fault = {};             // why the node cannot be converted

  [[nodiscard]] const NodeView& node() const { return types.node; }
  [[nodiscard]] const Extents& shape(std::size_t operand) const { return *types.inputs[operand]->extents; }
  [[nodiscard]] DType dtype(std::size_t operand) const { return *types.inputs[operand]->dtype; }
  [[nodiscard]] const Extents& result_shape(std::size_t result = 0) const { return *types.outputs[result].extents; }
  [[nodiscard]] DType result_dtype(std::size_t result = 0) const { return *types.outputs[result].dtype; }

  // Writes result 0.
  void write(const std::string& type, std::vector<std::string> inputs, std::vector<Attribute> attributes = {}) {
    to.add({.type = type, .inputs = std::move(inputs), .outputs = {results[0]}, .attributes = std::move(attributes)});
  }
  // Writes a tensor between the operands and the results, and returns its name.
  [[nodiscard]] std::string make(const std::string& type, std::vector<std::string> inputs,
                                 std::vector<Attribute> attributes = {}) {
    return to.make(results[0] + "/" + type,
                   {.type = type, .inputs = std::move(inputs), .outputs = {}, .attributes = std::move(attributes)});
  }
  [[nodiscard]] std::string reshaped(const std::string& name, const Extents& extents) {
    return make("Reshape", {name, to.integers(extents)}, {{"allowzero", std::int64_t{1}}});
  }
  // The content of an operand that must be known, such as axes. nullptr, with a fault, if it is not.
  [[nodiscard]] const Extents* known(std::size_t operand, std::string_view what);
};

// The operands of an element-wise node in one order of axes: that of the node, or with the channels first if one of
// them is there in that order already.
struct AlignedOperands {
  bool has_channels_first = false;
  std::vector<std::string> names;
};
[[nodiscard]] AlignedOperands align_operands(NodeConversion& node);
// One operand, which broadcasts to result 0, with the channels first.
[[nodiscard]] std::string operand_first(NodeConversion& node, std::size_t operand);

// Writes result 0 with a node whose operands were aligned.
void write_aligned(NodeConversion& node, bool has_channels_first, OnnxNode last);

// Whether a list of `count` numbers that is not in the file may be made. Otherwise there is a fault.
[[nodiscard]] bool may_make(NodeConversion& node, std::int64_t count);

// Writes result 0 as operand 0 with other extents, or as another tensor.
void write_reshaped(NodeConversion& node);
void write_reshaped(NodeConversion& node, const std::string& name);

using ConvertNode = void (*)(NodeConversion& node);

// nullptr: there is no conversion.
[[nodiscard]] ConvertNode conversion_of(std::string_view op);

// convert_elementwise.cc
void convert_unary(NodeConversion& node);
void convert_binary(NodeConversion& node);
void convert_bias_add(NodeConversion& node);
void convert_cast(NodeConversion& node);
void convert_sum_of_all(NodeConversion& node);
void convert_select(NodeConversion& node);

// convert_composed.cc
void convert_composed(NodeConversion& node);

// convert_images.cc
void convert_conv(NodeConversion& node);
void convert_depthwise_conv(NodeConversion& node);
void convert_conv_transpose(NodeConversion& node);
void convert_pool(NodeConversion& node);
void convert_batch_norm(NodeConversion& node);
void convert_global_batch_norm(NodeConversion& node);
void convert_lrn(NodeConversion& node);

// convert_resize.cc
void convert_resize_bilinear(NodeConversion& node);
void convert_resize_nearest(NodeConversion& node);
void convert_depth_to_space(NodeConversion& node);
void convert_space_to_batch(NodeConversion& node);
void convert_batch_to_space(NodeConversion& node);

// convert_reductions.cc
void convert_reduction(NodeConversion& node);
void convert_arg_reduction(NodeConversion& node);
void convert_softmax(NodeConversion& node);
void convert_cumsum(NodeConversion& node);
void convert_top_k(NodeConversion& node);
void convert_mat_mul(NodeConversion& node);
void convert_batch_mat_mul(NodeConversion& node);
void convert_einsum(NodeConversion& node);

// convert_movement.cc
void convert_identity(NodeConversion& node);
void convert_reshape(NodeConversion& node);
void convert_transpose(NodeConversion& node);
void convert_concat(NodeConversion& node);
void convert_pack(NodeConversion& node);
void convert_unpack(NodeConversion& node);
void convert_split(NodeConversion& node);
void convert_slice(NodeConversion& node);
void convert_pad(NodeConversion& node);
void convert_mirror_pad(NodeConversion& node);
void convert_tile(NodeConversion& node);
void convert_reverse(NodeConversion& node);

// convert_choices.cc
void convert_gather(NodeConversion& node);
void convert_gather_nd(NodeConversion& node);
void convert_one_hot(NodeConversion& node);
void convert_fill(NodeConversion& node);
void convert_like(NodeConversion& node);
void convert_range(NodeConversion& node);

}  // namespace lowtide::graphdef_internal
