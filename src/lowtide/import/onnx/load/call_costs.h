// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// The functions of a model by domain, name and overload.
class FunctionTable {
 public:
  // Errors: two functions with one identity (invalid).
  static Result<FunctionTable> make(const onnx::ModelProto& model);

  [[nodiscard]] bool empty() const { return index_.empty(); }
  // nullptr if the node is no call of a function.
  [[nodiscard]] const onnx::FunctionProto* callee(const onnx::NodeProto& node) const;

 private:
  std::unordered_map<std::string, const onnx::FunctionProto*> index_;
};

// How many nodes a model may have when its functions are inlined: enough for any exporter, too few for a bomb.
[[nodiscard]] std::int64_t inlined_node_budget(std::int64_t nodes_in_file);

// How many bytes the inlined nodes may have in the form of the file.
[[nodiscard]] std::int64_t inlined_byte_budget(std::int64_t file_bytes);

// Counts what inlining would make, by multiplying along the calls, before anything is copied:
//
//   main -2x-> a -2x-> b -2x-> c (1 node)      2 * 2 * 2 = 8 nodes from 7
//
// Errors: a function that calls itself, however indirectly (invalid; the calls are named); nodes, bytes, call depth
// (limits::kMaxCallDepth) or nesting of bodies (limits::kMaxBodyNesting) beyond the budget (over_limit).
// O(size of the file), no recursion over calls.
[[nodiscard]] Result<void> check_call_costs(const onnx::ModelProto& model, const FunctionTable& functions,
                                            std::int64_t file_bytes);

}  // namespace lowtide::import_internal
