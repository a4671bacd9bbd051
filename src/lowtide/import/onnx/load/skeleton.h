// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"

namespace lowtide::import_internal {

// The deepest nesting of messages. Each of kMaxBodyNesting graphs takes 3 levels (graph, node, attribute), and a
// type or tensor in the innermost graph takes a few more. The parser of protobuf recurses, so this limits its stack
// as well.
inline constexpr int kMaxMessageDepth = 128;

// Longer raw data of a tensor stays in the file.
inline constexpr std::size_t kMostKeptRawBytes = 256;

// The part of an ONNX file that protobuf parses, and the cost of parsing it.
struct Skeleton {
  // The file without the doc strings of tensors, and without raw data above kMostKeptRawBytes. Such a tensor has a
  // reference to its bytes in the file instead (proto/raw_range.h). Never longer than the file.
  FileBytes bytes;
  std::string sha256;             // of the whole file
  std::int64_t nodes = 0;         // NodeProto messages in the whole file
  std::int64_t body_nesting = 0;  // graphs around the innermost graph
  std::int64_t parsed_bytes = 0;  // memory that the parsed file would need; up to 50% too high for real models
};

// The most bytes of memory that the parsed form of a file may need: 64 MB + 16 x the file. Real models need 3 to 10 x
// the file. Empty messages of two bytes each would need 100 x.
[[nodiscard]] std::int64_t parse_budget(std::int64_t file_bytes);

// Reads the protobuf wire format of an ONNX model before protobuf does. It checks that every length is inside its
// parent, that varints have at most 10 bytes, that groups are closed, and that the cost is within the limits. It reads
// the file once, in windows, and stops at the first error. So a large file of another kind is refused without reading
// all of it.
// Errors: malformed, with the byte as the place; over_limit (body nesting, message depth, nodes, parse_budget); io.
[[nodiscard]] Result<Skeleton> read_skeleton(const ByteSource& file);

}  // namespace lowtide::import_internal
