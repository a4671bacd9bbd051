// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/verify/lowering/model_tensors.h"

namespace lowtide::verify_internal {

// How the tensors of a lowered graph store those of the model. A tensor [N, C, ...] may be in blocks of 8 or 16
// channels: [N, ceil(C / lanes), ..., lanes], where lanes without a channel are zero.

// The channels per block, 1 for a tensor that is stored as in the model. nullopt: another type or shape.
[[nodiscard]] std::optional<std::int64_t> lanes_of(const Tensor& now, const Tensor& was);

// Whether each operand of an element-wise operator has one element, or the axes, channels and blocks of the result.
// `lanes` are those of the result, whose tensor in the model is `result`.
struct BlockedResult {
  const Tensor& result;
  std::int64_t lanes;
};
[[nodiscard]] bool is_aligned(const Tensor& now, const Tensor& was, const BlockedResult& with);

// Whether the formats of a node, whose operator is that of the model, allow it to compute the same elements.
[[nodiscard]] bool have_fitting_formats(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId was);

// Whether a node has the attributes of its node in the model. The axis of a Concat in blocks is counted from the front.
[[nodiscard]] bool have_attributes_of_model(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId was);

// Whether a node is a pool or a norm on blocks that does the work of one of the model.
[[nodiscard]] bool is_image_operator_of(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId was);

// Whether a node is a lowtide::Concat, on blocks, that does the work of a Concat along the channels of the model.
[[nodiscard]] bool is_padded_concat_of(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId was);

// Whether a node is a lowtide::Transpose from blocks, or into blocks, that does the work of a Transpose of the model.
[[nodiscard]] bool is_transpose_of(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId was);

// Whether the attributes and formats of a lowtide::Conv are those of a convolution of the model.
[[nodiscard]] bool is_formatted_convolution(const ModelTensors& tensors, const Graph& lowered, NodeId node, NodeId was);

// Why a lowtide::Reorder has other content than its operand. Returns "" if it has the same.
[[nodiscard]] std::string reorder_fault(const ModelTensors& tensors, const Graph& graph, NodeId node);

}  // namespace lowtide::verify_internal
