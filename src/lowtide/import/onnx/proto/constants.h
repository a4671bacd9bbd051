// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Limits the elements of known content that are held at once. An element takes 56 bytes in memory and may take one
// byte in a file, so a limit is needed. Content beyond the limit is treated as unknown.
class ContentBudget {
 public:
  // `file`: has the raw data that the parsed model lacks (raw_range.h). It must outlive this object. Without it, their
  // content is unknown.
  explicit ContentBudget(std::int64_t elements, const ByteSource* file = nullptr) : left_(elements), file_(file) {}
  [[nodiscard]] const ByteSource* file() const { return file_; }
  [[nodiscard]] bool take(std::int64_t elements) {
    if (elements > left_) return false;
    left_ -= elements;
    return true;
  }
  void give_back(std::int64_t elements) { left_ += elements; }

 private:
  std::int64_t left_;
  const ByteSource* file_;
};

// The most floats of a constant whose content is kept. The limit for integers is limits::kMaxFoldedElements. Larger
// tensors are data and not shapes.
inline constexpr std::int64_t kMaxKnownFloats = 256;

// Returns the fact of a constant: its exact extents, and its content if it is small and the budget permits. The data
// must be as long as type and dims require, and in one place only: raw_data, the list of its type, or an external
// file (external_data.h).
// Errors: invalid; unsupported (float6 elements, segments); over_limit (size, rank); io.
[[nodiscard]] Result<TensorFact> fact_from_tensor(const onnx::TensorProto& tensor, ContentBudget& budget);

// Returns the fact of the dense tensor that a sparse tensor stands for, without content. Indices must be in range,
// sorted and distinct. They are not checked if they are external, or in the model file and `file` is nullptr. Errors:
// those of fact_from_tensor.
[[nodiscard]] Result<TensorFact> fact_from_sparse(const onnx::SparseTensorProto& tensor,
                                                  const ByteSource* file = nullptr);

// Returns the fact of a Constant node, for any of the attributes that may contain its value. Errors: those of
// fact_from_tensor.
[[nodiscard]] Result<TensorFact> fact_from_constant_node(const onnx::NodeProto& node, ContentBudget& budget);

}  // namespace lowtide::import_internal
