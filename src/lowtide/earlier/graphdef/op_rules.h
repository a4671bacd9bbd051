// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/earlier/graphdef/node_view.h"

namespace lowtide::graphdef_internal {

// What is known of a tensor. Each of its parts may be known without the others.
struct KnownTensor {
  std::optional<DType> dtype;
  std::optional<Extents> extents;
  std::optional<Extents> content;  // of small tensors of integers, in row-major order
  // The elements of a short list of extents of which some are not known (kOpen). Only without `content`.
  std::optional<Extents> partial = std::nullopt;
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
  [[nodiscard]] const Extents* partial(std::size_t input) const {
    return input < inputs.size() && inputs[input]->partial ? &*inputs[input]->partial : nullptr;
  }
  // The content of an input, if its extents are known too and agree with it. Otherwise nullptr.
  [[nodiscard]] const Extents* values(std::size_t input) const;
  // The content of an input that is one integer.
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t input) const {
    const Extents* list = content(input);
    return list != nullptr && list->size() == 1 ? std::optional(list->front()) : std::nullopt;
  }
  void set(std::size_t output, Extents extents) {
    if (output < outputs.size()) outputs[output].extents = std::move(extents);
  }
  // A list of integers.
  void set_list(std::size_t output, Extents content) {
    set(output, {static_cast<std::int64_t>(content.size())});
    if (output < outputs.size()) outputs[output].content = std::move(content);
  }
};

// Whether there is a rule for the shapes of its results.
[[nodiscard]] bool has_rule(std::string_view op);

// The attribute that has the type of output 0, such as "T"; "bool": the type is always bool. Empty: there is no rule.
[[nodiscard]] std::string_view type_attribute(std::string_view op);

// Which inputs have the shape of output 0, whatever it is.
enum class SameShape : std::uint8_t { none, first, all };
[[nodiscard]] SameShape same_shape(std::string_view op);

// Sets the types, the extents and the contents of the outputs.
void infer_node(NodeTypes& types);

// Sets the contents of outputs whose types and extents are set, and removes those that do not agree with them.
void infer_values(NodeTypes& types);

// Sets what is known of lists of which not all is known (op_partial.cc). For walks with open extents.
void infer_partial(NodeTypes& types);

// op_shapes.cc
void infer_broadcast(NodeTypes& types);
void infer_select(NodeTypes& types);
void infer_mat_mul(NodeTypes& types);
void infer_batch_mat_mul(NodeTypes& types);
void infer_reshape(NodeTypes& types);
void infer_transpose(NodeTypes& types);
void infer_reduce(NodeTypes& types);
void infer_arg_reduce(NodeTypes& types);
void infer_expand_dims(NodeTypes& types);
void infer_squeeze(NodeTypes& types);
void infer_bitcast(NodeTypes& types);
void infer_add_n(NodeTypes& types);

void infer_einsum(NodeTypes& types);  // op_einsum.cc

// op_windows.cc
void infer_conv(NodeTypes& types);
void infer_depthwise(NodeTypes& types);
void infer_pool(NodeTypes& types);
void infer_pool_with_argmax(NodeTypes& types);
void infer_image_patches(NodeTypes& types);
void infer_depth_to_space(NodeTypes& types);
void infer_space_to_depth(NodeTypes& types);
void infer_space_to_batch(NodeTypes& types);
void infer_batch_to_space(NodeTypes& types);
void infer_resize(NodeTypes& types);
void infer_crop_and_resize(NodeTypes& types);

// op_parts.cc
void infer_concat(NodeTypes& types);        // the axis is the last input
void infer_concat_first(NodeTypes& types);  // the axis is the first input
void infer_split(NodeTypes& types);
void infer_split_sizes(NodeTypes& types);
void infer_pack(NodeTypes& types);
void infer_unpack(NodeTypes& types);
void infer_tile(NodeTypes& types);
void infer_pad(NodeTypes& types);
void infer_pad_grad(NodeTypes& types);
void infer_gather(NodeTypes& types);
void infer_gather_nd(NodeTypes& types);
void infer_segments(NodeTypes& types);
void infer_one_hot(NodeTypes& types);
void infer_top_k(NodeTypes& types);

// op_slices.cc
void infer_slice(NodeTypes& types);
void infer_strided_slice(NodeTypes& types);

// op_integers.cc
void infer_shape(NodeTypes& types);
void infer_range(NodeTypes& types);
void infer_concat_offset(NodeTypes& types);
void infer_dynamic_stitch(NodeTypes& types);
void infer_broadcast_gradient(NodeTypes& types);
void infer_list_difference(NodeTypes& types);

}  // namespace lowtide::graphdef_internal
