// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Finds the functions of a model by domain, name and overload.
class FunctionTable {
 public:
  // Errors: two functions with the same domain, name and overload (invalid).
  static Result<FunctionTable> make(const onnx::ModelProto& model);

  [[nodiscard]] bool empty() const { return index_.empty(); }
  // Returns nullptr if the node does not call a function.
  [[nodiscard]] const onnx::FunctionProto* callee(const onnx::NodeProto& node) const;

 private:
  std::unordered_map<std::string, const onnx::FunctionProto*> index_;
};

// The most nodes that a model may have after its functions are inlined. Every known exporter stays below it, and a
// file made to exhaust memory does not.
[[nodiscard]] std::int64_t inlined_node_budget(std::int64_t nodes_in_file);

// The most bytes that the inlined nodes may have, as they would be written to a file.
[[nodiscard]] std::int64_t inlined_byte_budget(std::int64_t file_bytes);

// Computes what inlining would produce before anything is copied, by multiplying along the calls:
//
//   main -2x-> a -2x-> b -2x-> c (1 node)      2 * 2 * 2 = 8 nodes from 7
//
// Errors: a function that calls itself, directly or through others (invalid, with the calls); nodes, bytes, call depth
// (limits::kMaxCallDepth) or nesting of bodies (limits::kMaxBodyNesting) beyond the budget (over_limit).
// O(size of the file). It does not recurse over calls.
[[nodiscard]] Result<void> check_call_costs(const onnx::ModelProto& model, const FunctionTable& functions,
                                            std::int64_t file_bytes);

}  // namespace lowtide::import_internal
