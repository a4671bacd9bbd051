// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/earlier/netdef/blob_type.h"
#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide::netdef_internal {

// The types of one operator's blobs while a rule works on them. A rule sets those that follow from the others, and
// leaves the rest alone.
struct OpTypes {
  const OpView& op;
  std::vector<std::optional<BlobType>> inputs;   // a rule may also set inputs that are not known, such as a bias
  std::vector<std::optional<BlobType>> outputs;  // not known before
  std::string fault = {};                        // if the known types contradict each other
  std::vector<std::optional<std::vector<float>>> contents = {};  // of inputs (NetVersion::content)

  [[nodiscard]] const BlobType* input(std::size_t at) const {
    return at < inputs.size() && inputs[at] ? &*inputs[at] : nullptr;
  }
  [[nodiscard]] const std::vector<float>* content(std::size_t at) const {
    return at < contents.size() && contents[at] ? &*contents[at] : nullptr;
  }
  void set_output(std::size_t at, BlobType type) {
    if (at < outputs.size()) outputs[at] = std::move(type);
  }
  void set_output(std::size_t at, DType dtype, std::vector<std::int64_t> extents) {
    set_output(at, BlobType{dtype, std::move(extents)});
  }
  void suggest_input(std::size_t at, BlobType type) {
    if (at < inputs.size() && !inputs[at]) inputs[at] = std::move(type);
  }
};

// Applies the rule of the operator. Types that it does not set stay unknown. Arithmetic is checked: an extent that
// would overflow stays unknown.
void infer_types(OpTypes& types);

// Whether the operator reads this input as a weight: what a training learns and an inference never writes.
[[nodiscard]] bool is_weight(std::string_view type, std::size_t input);

// The element type for a TensorProto.DataType. nullopt: no type of a dense tensor.
[[nodiscard]] std::optional<DType> dtype_of(std::int64_t data_type);

// The product of the extents in [begin, end); nullopt if it overflows.
[[nodiscard]] std::optional<std::int64_t> product_of(const std::vector<std::int64_t>& extents, std::size_t begin,
                                                     std::size_t end);
// The axis as an index; nullopt if it is outside of the rank. Negative ones count from the end.
[[nodiscard]] std::optional<std::size_t> axis_of(std::int64_t axis, std::size_t rank);

// The axis on which Concat joins and Split divides, as an index: an argument, or else that of the channels.
[[nodiscard]] std::optional<std::size_t> axis_of_parts(const OpView& op, std::size_t rank);

// The element type that an argument says, as a number or by name, such as "INT32". nullopt: none of dense tensors.
[[nodiscard]] std::optional<DType> dtype_argument(const OpView& op, std::string_view name);

// The factors of the rows and the columns of an image that an operator resizes: those of its second input, or else its
// arguments. nullopt: the content of the second input is not known.
struct ResizeScales {
  double rows = 1;
  double columns = 1;
};
[[nodiscard]] std::optional<ResizeScales> resize_scales(const OpView& op, const std::vector<float>* content);

// With `broadcast`, the second operand repeats, and the result is as the first one.
void infer_arithmetic(OpTypes& types);

// infer_more.cc
void infer_comparison(OpTypes& types);
void infer_power(OpTypes& types);
void infer_slice_of_net(OpTypes& types);
void infer_pad_image(OpTypes& types);
void infer_upsample(OpTypes& types);
void infer_order(OpTypes& types);
void infer_reduce_axes(OpTypes& types);
void infer_arg_axis(OpTypes& types);
void infer_top_elements(OpTypes& types);
void infer_gathered(OpTypes& types);
void infer_tiles(OpTypes& types);
void infer_shape_list(OpTypes& types);
void infer_vector(OpTypes& types);

// infer_windows.cc
void infer_conv(OpTypes& types);
void infer_conv_transpose(OpTypes& types);
void infer_pool(OpTypes& types);

// infer_other.cc
void infer_fc(OpTypes& types);
void infer_mat_mul(OpTypes& types);
void infer_batch_mat_mul(OpTypes& types);
void infer_concat(OpTypes& types);
void infer_split(OpTypes& types);
void infer_flatten(OpTypes& types);
void infer_reshape(OpTypes& types);
void infer_transpose(OpTypes& types);
void infer_fill(OpTypes& types);
void infer_spatial_bn(OpTypes& types);
void infer_cast(OpTypes& types);
void infer_expand_dims(OpTypes& types);
void infer_squeeze(OpTypes& types);

}  // namespace lowtide::netdef_internal
