// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"

namespace lowtide {

// What to change in a TFLite file.
struct TfliteEdit {
  // By subgraph: its operators in their new order, as indexes of the old one; an empty list keeps the order. Subgraphs
  // at the end may be omitted.
  std::vector<std::vector<std::uint32_t>> orders = {};
  std::string metadata_name = {};  // of an entry to add or to replace; empty: none
  std::string metadata = {};       // its content
};

// Returns the bytes of the file with these changes. All other bytes stay as they are, and in their order:
//
//   - The lists of operators have offsets to operators. Those offsets change places, and nothing moves.
//   - An entry with this name, whose content has the same size, gets the new bytes in its place.
//   - Otherwise the new entry and its bytes, the root of the file, and its lists of buffers and of metadata are written
//     in front of the file, because offsets in a flatbuffer point only forward. The whole old file follows behind them,
//     at a multiple of 64 bytes. Places that the file counts from its begin, such as those of bytes behind the
//     flatbuffer, grow by that distance.
//
// Requires: read_tflite() accepts the file; orders are permutations. Errors: unsupported (subgraphs that share a list
// of operators, a root with fields of a later version of the format), over_limit (2 GiB). O(bytes).
[[nodiscard]] Result<std::string> edit_tflite(std::string_view file, const TfliteEdit& edit);

}  // namespace lowtide
