// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>

#include "lowtide/base/result.h"

namespace lowtide::import_internal {

// Messages inside messages: kMaxBodyNesting graphs are 3 levels each (graph, node, attribute), and a type or tensor in
// the innermost needs some more. protobuf's own parser recurses, so this bounds its stack too.
inline constexpr int kMaxMessageDepth = 128;

// What parsing a file would cost.
struct WireSummary {
  std::int64_t nodes = 0;         // NodeProto messages, everywhere
  std::int64_t body_nesting = 0;  // graphs around the innermost graph
  std::int64_t parsed_bytes = 0;  // memory of the parsed messages; errs upwards for real models by up to a half
};

// How much memory the parsed form of a file may need: 64 MB + 16 x the file. A real model needs 3 to 10 x; empty
// messages, two bytes each, would need 100 x.
[[nodiscard]] std::int64_t parse_budget(std::int64_t file_bytes);

// Reads the protobuf wire format of an ONNX model before protobuf does, without building anything: every length inside
// its parent, varints of at most 10 bytes, groups closed, and cost within the limits. One pass over the bytes (content
// of strings and tensors is skipped), with a stack of its own of at most kMaxMessageDepth entries.
// Errors: malformed (place: the byte), over_limit (body nesting, message depth, nodes, parse_budget).
[[nodiscard]] Result<WireSummary> scan_model(std::string_view bytes);

// Scans the beginning of a file of `file_bytes` as scan_model does, as far as whole fields are sure to lie in `head`.
// What it refuses, scan_model refuses with the same error; what it accepts may still be anything.
[[nodiscard]] Result<void> scan_head(std::string_view head, std::int64_t file_bytes);

// "a gzip file", "a TensorFlow Lite model", ...: what bytes that are no ONNX model look like; empty if nothing known.
[[nodiscard]] std::string_view looks_like(std::string_view bytes);

}  // namespace lowtide::import_internal
