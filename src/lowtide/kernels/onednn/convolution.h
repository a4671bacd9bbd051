// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/onednn/description.h"
#include "lowtide/kernels/onednn/epilogue.h"

namespace lowtide::kernels_internal {

// A convolution with one or two spatial axes. ExtentList are those of the model, whatever the formats are.
struct Convolution {
  ExtentList source;   // [N, C, H, W]
  ExtentList weights;  // [M, C / group, h, w]
  ExtentList result;   // [N, M, H', W']
  ExtentList strides;
  ExtentList gaps;  // dilations - 1
  ExtentList pads_begin;
  ExtentList pads_end;
  std::int64_t group = 1;
  bool has_bias = false;
  Format input = Format::plain;
  Format output = Format::plain;
  std::string weights_order = {};  // oneDNN's name; empty: the primitive chooses
  PostOps after = {};              // what it computes on the results
  friend auto operator<=>(const Convolution&, const Convolution&) = default;
};

// A Conv of the standard domain, all of whose tensors are f32 and plain with known extents. `missing` gets the reason
// if there is none.
[[nodiscard]] std::optional<Convolution> standard_convolution(const Graph& graph, NodeId node, std::string& missing);
// A lowtide::Conv (graph/lowered.h). `after` stays empty.
[[nodiscard]] std::optional<Convolution> lowered_convolution(const Graph& graph, NodeId node, std::string& missing);

// The operations of an epilogue on its results, in blocks of channels. nullopt: oneDNN cannot compute them.
[[nodiscard]] std::optional<PostOps> operations_after(const Convolution& convolution, const Graph& program,
                                                      const NumberOf& number);

// The extents of the weights as oneDNN has them: with groups, [group, M / group, C / group, h, w].
[[nodiscard]] ExtentList onednn_weights(const ExtentList& weights, std::int64_t group);

// The primitive for one thread. Returns nullptr if oneDNN has no suitable one.
[[nodiscard]] PrimitiveDescription describe(const Convolution& convolution);

}  // namespace lowtide::kernels_internal
