// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/graph.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {

// A convolution of f32 with one or two spatial axes. The extents are those of the model, whatever the formats are. All
// of them agree: the group divides the channels, and the result has the extents that the window gives.
struct ConvolutionShape {
  std::vector<std::int64_t> source;   // [N, C, H, W]
  std::vector<std::int64_t> weights;  // [M, C / group, h, w]
  std::vector<std::int64_t> result;   // [N, M, H', W']
  std::vector<std::int64_t> strides;
  std::vector<std::int64_t> gaps;  // dilations - 1
  std::vector<std::int64_t> pads_begin;
  std::vector<std::int64_t> pads_end;
  std::int64_t group = 1;
  bool has_bias = false;
  Format input = Format::plain;
  Format output = Format::plain;
  bool has_winograd = false;  // of a lowtide::Conv: its algorithm
};

// Kernels read one bias per channel of the result, so another number would take them outside of the operand. Says which
// shape operand 2 of a node has in place of [channels]; empty if it has this shape or is absent.
[[nodiscard]] std::string misfit_of_bias(const Graph& graph, const Node& node, std::int64_t channels);

// A Conv of the standard domain, all of whose tensors are f32 and plain with known extents. `missing` gets the reason
// if there is none.
[[nodiscard]] std::optional<ConvolutionShape> standard_convolution_shape(const Graph& graph, NodeId node,
                                                                         std::string& missing);
// A lowtide::Conv (graph/lowered.h).
[[nodiscard]] std::optional<ConvolutionShape> lowered_convolution_shape(const Graph& graph, NodeId node,
                                                                        std::string& missing);

}  // namespace lowtide::kernels_internal
