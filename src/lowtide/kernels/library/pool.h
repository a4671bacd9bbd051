// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lowtide/graph/graph.h"
#include "lowtide/kernels/library/description.h"

namespace lowtide::kernels_internal {

// A pool over windows of one or two spatial axes. ExtentLists are those of the model, whatever the format is.
struct Pool {
  enum class Kind : std::uint8_t { maximum, average, average_with_padding } kind = Kind::maximum;
  ExtentList source;  // [N, C, H, W]
  ExtentList result;  // [N, C, H', W']
  ExtentList window;
  ExtentList strides;
  ExtentList gaps;  // dilations - 1
  ExtentList pads_begin;
  ExtentList pads_end;
  Format format = Format::plain;  // of both tensors
  friend auto operator<=>(const Pool&, const Pool&) = default;
};

// A MaxPool without indices, an AveragePool or a GlobalAveragePool of the standard domain on f32 with known extents and
// padding. `missing` gets the reason if there is none.
[[nodiscard]] std::optional<Pool> standard_pool(const Graph& graph, NodeId node, std::string& missing);
// The same operators of the domain "lowtide" (graph/lowered.h).
[[nodiscard]] std::optional<Pool> lowered_pool(const Graph& graph, NodeId node, std::string& missing);

// The primitive for one thread. Returns nullptr if the library has no suitable one.
[[nodiscard]] PrimitiveDescription describe(const Pool& pool);

}  // namespace lowtide::kernels_internal
