// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "lowtide/base/result.h"

namespace lowtide::import_internal {

// The deepest nesting of messages. Each of kMaxBodyNesting graphs takes 3 levels (graph, node, attribute), and a
// type or tensor in the innermost graph takes a few more. The parser of protobuf recurses, so this limits its stack
// as well.
inline constexpr int kMaxMessageDepth = 128;

// The cost of parsing a file.
struct WireSummary {
  std::int64_t nodes = 0;         // NodeProto messages in the whole file
  std::int64_t body_nesting = 0;  // graphs around the innermost graph
  std::int64_t parsed_bytes = 0;  // memory of the parsed messages; up to 50% too high for real models
};

// The most bytes of memory that the parsed form of a file may need: 64 MB + 16 x the file. Real models need 3 to 10 x
// the file. Empty messages of two bytes each would need 100 x.
[[nodiscard]] std::int64_t parse_budget(std::int64_t file_bytes);

// Reads the protobuf wire format of an ONNX model before protobuf does. It allocates only a stack of at most
// kMaxMessageDepth entries. It checks that every length is inside its parent, that varints have at most 10 bytes, that
// groups are closed, and that the cost is within the limits. It reads the bytes once and skips the contents of strings
// and tensors.
// Errors: malformed, with the byte as the place; over_limit (body nesting, message depth, nodes, parse_budget).
[[nodiscard]] Result<WireSummary> scan_model(std::string_view bytes);

// Scans the beginning of a file of `file_bytes` bytes like scan_model, as far as whole fields are certain to lie in
// `head`. It refuses only files that scan_model refuses, with the same error. An accepted file may still be of another
// kind.
[[nodiscard]] Result<void> scan_head(std::string_view head, std::int64_t file_bytes);

// Says what bytes that are not an ONNX model look like: "a gzip file", "a TensorFlow Lite model". Returns an empty
// text if they match no known format.
[[nodiscard]] std::string_view looks_like(std::string_view bytes);

}  // namespace lowtide::import_internal
