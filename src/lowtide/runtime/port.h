// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "lowtide/base/bytes.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// An input, output or state of a model that runs.
struct Port {
  TensorId tensor;  // of the graph that runs
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  Bytes size;                // dense; an upper bound if the shape has upper bounds
  bool is_in_arena = false;  // the bytes are in the arena; for an input, the caller writes them there before each run
};

// An input in memory of the caller: dense, row-major, at a multiple of the element size. The run does not write it.
struct TensorRef {
  DType dtype = DType::f32;
  std::span<const std::int64_t> extents;
  std::span<const std::byte> bytes;
};

}  // namespace lowtide
