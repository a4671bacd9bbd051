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
#include "lowtide/earlier/netdef/blob_type.h"
#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide::netdef_internal {

// One operator while a conversion writes its results.
struct OpConversion {
  OnnxBuilder& to;
  const OpView& op;
  std::vector<BlobType> inputs;       // of all operands; those that are omitted have no extents
  std::vector<BlobType> outputs;      // of all results
  std::vector<std::string> operands;  // their names in the model; empty: omitted
  std::vector<std::string> results;
  std::vector<std::optional<std::vector<float>>> contents = {};  // of operands (NetVersion::content)
  std::string fault = {};                                        // why the operator cannot be converted

  [[nodiscard]] const std::vector<std::int64_t>& shape(std::size_t operand = 0) const {
    return inputs[operand].extents;
  }
  [[nodiscard]] const std::vector<std::int64_t>& result_shape() const { return outputs[0].extents; }
  [[nodiscard]] DType dtype() const { return inputs[0].dtype; }
  [[nodiscard]] bool is_last() const { return op.text("order", "NCHW") == "NHWC"; }  // the axis of channels
  // The number of an argument. There is a fault if it is a text, for example.
  [[nodiscard]] double real(std::string_view argument, double otherwise);
  // A constant with the number of an argument. There is a fault if the type does not have it.
  [[nodiscard]] std::string number(std::string_view argument, std::int64_t otherwise, DType dtype);

  // Whether operand 0 has at least `least` axes, and result 0 as many. Otherwise there is a fault.
  [[nodiscard]] bool keeps_rank(std::size_t least);

  // Writes result 0.
  void write(const std::string& type, std::vector<std::string> from, std::vector<Attribute> attributes = {}) {
    to.add({.type = type, .inputs = std::move(from), .outputs = {results[0]}, .attributes = std::move(attributes)});
  }
  // Writes a tensor between the operands and the results, and returns its name.
  [[nodiscard]] std::string make(const std::string& type, std::vector<std::string> from,
                                 std::vector<Attribute> attributes = {}) {
    return to.make(results[0] + "/" + type,
                   {.type = type, .inputs = std::move(from), .outputs = {}, .attributes = std::move(attributes)});
  }
  [[nodiscard]] std::string reshaped(const std::string& name, const std::vector<std::int64_t>& extents) {
    return make("Reshape", {name, to.integers(extents)}, {{"allowzero", std::int64_t{1}}});
  }
  void write_reshaped(const std::string& name) {
    write("Reshape", {name, to.integers(result_shape())}, {{"allowzero", std::int64_t{1}}});
  }
  // An image with its channels first, and result 0 from one.
  [[nodiscard]] std::string image(std::size_t operand = 0) {
    return is_last() ? to.channels_first(operands[operand], shape(operand).size()) : operands[operand];
  }
  void write_image(OnnxNode node);
};

using ConvertOp = void (*)(OpConversion& op);

// nullptr: there is no conversion.
[[nodiscard]] ConvertOp conversion_of_op(std::string_view type);

// convert_activations.cc
void convert_same_name(OpConversion& op);
void convert_composed_op(OpConversion& op);
void convert_arithmetic(OpConversion& op);
void convert_clip(OpConversion& op);
void convert_prelu(OpConversion& op);
void convert_weighted_sum(OpConversion& op);
void convert_copy(OpConversion& op);
void convert_cast_op(OpConversion& op);

// convert_layers.cc
void convert_conv_op(OpConversion& op);
void convert_conv_transpose_op(OpConversion& op);
void convert_pool_op(OpConversion& op);
void convert_fc(OpConversion& op);
void convert_mat_mul_op(OpConversion& op);
void convert_spatial_bn(OpConversion& op);
void convert_instance_norm(OpConversion& op);
void convert_affine_channel(OpConversion& op);
void convert_lrn_op(OpConversion& op);
void convert_dropout(OpConversion& op);
void convert_softmax_op(OpConversion& op);
void convert_normalize(OpConversion& op);
void convert_layer_norm(OpConversion& op);

// convert_shapes.cc
void convert_to_shape(OpConversion& op);
void convert_transpose_op(OpConversion& op);
void convert_concat_op(OpConversion& op);
void convert_split_op(OpConversion& op);
void convert_slice_op(OpConversion& op);
void convert_pad_image(OpConversion& op);
void convert_resize_op(OpConversion& op);
void convert_channel_shuffle(OpConversion& op);
void convert_tile_op(OpConversion& op);
void convert_gather_op(OpConversion& op);
void convert_shape_op(OpConversion& op);
void convert_reduce(OpConversion& op);
void convert_arg_op(OpConversion& op);
void convert_top_k_op(OpConversion& op);

// convert_fills.cc
void convert_constant_fill(OpConversion& op);
void convert_given_fill(OpConversion& op);

}  // namespace lowtide::netdef_internal
