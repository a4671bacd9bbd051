// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/extents/node_facts.h"

namespace lowtide::kernels_internal {

// The rules, one file for each kind of operators.

// simple_rules.cc
[[nodiscard]] Expected expect_like_first(const NodeFacts& facts);  // the result has the extents of operand 0
[[nodiscard]] Expected expect_broadcast(const NodeFacts& facts);   // those of all operands, broadcast to each other
[[nodiscard]] Expected expect_cast(const NodeFacts& facts);
[[nodiscard]] Expected expect_of_family(const NodeFacts& facts);  // the offer of the family compares all extents

// reshape_rules.cc
[[nodiscard]] Expected expect_reshape(const NodeFacts& facts);
[[nodiscard]] Expected expect_flatten(const NodeFacts& facts);
[[nodiscard]] Expected expect_squeeze(const NodeFacts& facts);
[[nodiscard]] Expected expect_unsqueeze(const NodeFacts& facts);
[[nodiscard]] Expected expect_dropout(const NodeFacts& facts);
[[nodiscard]] Expected expect_shape(const NodeFacts& facts);
[[nodiscard]] Expected expect_size(const NodeFacts& facts);
[[nodiscard]] Expected expect_constant_of_shape(const NodeFacts& facts);
[[nodiscard]] Expected expect_eye_like(const NodeFacts& facts);
[[nodiscard]] Expected expect_range(const NodeFacts& facts);

// movement_rules.cc
[[nodiscard]] Expected expect_concat(const NodeFacts& facts);
[[nodiscard]] Expected expect_split(const NodeFacts& facts);
[[nodiscard]] Expected expect_slice(const NodeFacts& facts);
[[nodiscard]] Expected expect_pad(const NodeFacts& facts);
[[nodiscard]] Expected expect_center_crop(const NodeFacts& facts);
[[nodiscard]] Expected expect_expand(const NodeFacts& facts);
[[nodiscard]] Expected expect_tile(const NodeFacts& facts);
[[nodiscard]] Expected expect_transpose(const NodeFacts& facts);
[[nodiscard]] Expected expect_depth_to_space(const NodeFacts& facts);
[[nodiscard]] Expected expect_space_to_depth(const NodeFacts& facts);

// selection_rules.cc
[[nodiscard]] Expected expect_gather(const NodeFacts& facts);
[[nodiscard]] Expected expect_gather_elements(const NodeFacts& facts);
[[nodiscard]] Expected expect_gather_nd(const NodeFacts& facts);
[[nodiscard]] Expected expect_scatter_elements(const NodeFacts& facts);
[[nodiscard]] Expected expect_scatter_nd(const NodeFacts& facts);
[[nodiscard]] Expected expect_tensor_scatter(const NodeFacts& facts);
[[nodiscard]] Expected expect_top_k(const NodeFacts& facts);
[[nodiscard]] Expected expect_unique(const NodeFacts& facts);
[[nodiscard]] Expected expect_arg(const NodeFacts& facts);
[[nodiscard]] Expected expect_compress(const NodeFacts& facts);
[[nodiscard]] Expected expect_non_zero(const NodeFacts& facts);
[[nodiscard]] Expected expect_one_hot(const NodeFacts& facts);
[[nodiscard]] Expected expect_suppression(const NodeFacts& facts);

// line_rules.cc
[[nodiscard]] Expected expect_cumulate(const NodeFacts& facts);
[[nodiscard]] Expected expect_reverse(const NodeFacts& facts);
[[nodiscard]] Expected expect_trilu(const NodeFacts& facts);
[[nodiscard]] Expected expect_dft(const NodeFacts& facts);
[[nodiscard]] Expected expect_window(const NodeFacts& facts);
[[nodiscard]] Expected expect_recurrent(const NodeFacts& facts);
[[nodiscard]] Expected expect_attention(const NodeFacts& facts);
[[nodiscard]] Expected expect_rotary(const NodeFacts& facts);

// reduction_rules.cc
[[nodiscard]] Expected expect_reduce(const NodeFacts& facts);
[[nodiscard]] Expected expect_loss(const NodeFacts& facts);
[[nodiscard]] Expected expect_batch_norm(const NodeFacts& facts);
[[nodiscard]] Expected expect_group_norm(const NodeFacts& facts);
[[nodiscard]] Expected expect_layer_norm(const NodeFacts& facts);
[[nodiscard]] Expected expect_quantize(const NodeFacts& facts);
[[nodiscard]] Expected expect_dynamic_quantize(const NodeFacts& facts);
[[nodiscard]] Expected expect_scaled_weights(const NodeFacts& facts);
[[nodiscard]] Expected expect_scaled_bias(const NodeFacts& facts);

// product_rules.cc
[[nodiscard]] Expected expect_matmul(const NodeFacts& facts);
[[nodiscard]] Expected expect_gemm(const NodeFacts& facts);
[[nodiscard]] Expected expect_einsum(const NodeFacts& facts);
[[nodiscard]] Expected expect_integer_product(const NodeFacts& facts);
[[nodiscard]] Expected expect_quantized_product(const NodeFacts& facts);
[[nodiscard]] Expected expect_packed_product(const NodeFacts& facts);

// window_rules.cc
[[nodiscard]] Expected expect_convolution(const NodeFacts& facts);
[[nodiscard]] Expected expect_integer_convolution(const NodeFacts& facts);
[[nodiscard]] Expected expect_quantized_convolution(const NodeFacts& facts);
[[nodiscard]] Expected expect_deformed_convolution(const NodeFacts& facts);
[[nodiscard]] Expected expect_transposed_convolution(const NodeFacts& facts);
[[nodiscard]] Expected expect_pool(const NodeFacts& facts);
[[nodiscard]] Expected expect_global_pool(const NodeFacts& facts);
[[nodiscard]] Expected expect_unpool(const NodeFacts& facts);
[[nodiscard]] Expected expect_col2im(const NodeFacts& facts);

// sampling_rules.cc
[[nodiscard]] Expected expect_resize(const NodeFacts& facts);
[[nodiscard]] Expected expect_grid_sample(const NodeFacts& facts);
[[nodiscard]] Expected expect_affine_grid(const NodeFacts& facts);
[[nodiscard]] Expected expect_roi_align(const NodeFacts& facts);

// format_rules.cc
[[nodiscard]] Expected expect_format_convolution(const NodeFacts& facts);
[[nodiscard]] Expected expect_format_pool(const NodeFacts& facts);
[[nodiscard]] Expected expect_format_concat(const NodeFacts& facts);
[[nodiscard]] Expected expect_format_transpose(const NodeFacts& facts);
[[nodiscard]] Expected expect_reorder(const NodeFacts& facts);
[[nodiscard]] Expected expect_fused_attention(const NodeFacts& facts);

// classical_rules.cc
[[nodiscard]] Expected expect_changed_features(const NodeFacts& facts);
[[nodiscard]] Expected expect_feature_vector(const NodeFacts& facts);
[[nodiscard]] Expected expect_extracted(const NodeFacts& facts);
[[nodiscard]] Expected expect_categories(const NodeFacts& facts);
[[nodiscard]] Expected expect_scores(const NodeFacts& facts);
[[nodiscard]] Expected expect_labels_and_scores(const NodeFacts& facts);

}  // namespace lowtide::kernels_internal
