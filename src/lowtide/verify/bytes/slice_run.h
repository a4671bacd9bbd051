// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// The elements that a Slice picks, if they are consecutive in memory: [begin, begin + elements) of the input.
//
//   x[4,6], rows 1..3          ......      run: begin 6, elements 12
//                              ######
//                              ######      columns 1..3 of one row: begin 6 + 1, elements 2
//                              ......      columns 1..3 of two rows: no run
struct SliceRun {
  std::string obstacle;  // why there is no such run, or why it is not known; empty if there is one
  std::int64_t begin = 0;
  std::int64_t elements = 0;
};

// Requires: input 0 and output 0 exist.
[[nodiscard]] SliceRun slice_run(const Graph& graph, const Node& node);

}  // namespace lowtide::verify_internal
