// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// How many elements of known content may be held at a time: one takes 56 bytes where a file needs one, so that content
// without a bound would be an amplifier. What does not fit is simply not known.
class ContentBudget {
 public:
  explicit ContentBudget(std::int64_t elements) : left_(elements) {}
  [[nodiscard]] bool take(std::int64_t elements) {
    if (elements > left_) return false;
    left_ -= elements;
    return true;
  }
  void give_back(std::int64_t elements) { left_ += elements; }

 private:
  std::int64_t left_;
};

// Integers above this many and floats above that many are data, not shapes: their content is not kept.
inline constexpr std::int64_t kMaxKnownFloats = 256;

// The fact of a constant: exact extents; content where it is small and the budget allows. The data must be what type
// and dims need, in one place only (raw_data, the list of its type, or external: see external_data.h).
// Errors: invalid, unsupported (string and float6 elements, segments), over_limit (size, rank).
[[nodiscard]] Result<TensorFact> fact_from_tensor(const onnx::TensorProto& tensor, ContentBudget& budget);

// The same for a sparse tensor, which counts as the dense one that it stands for; its indices must be in range, sorted
// and distinct. Content is not kept.
[[nodiscard]] Result<TensorFact> fact_from_sparse(const onnx::SparseTensorProto& tensor);

// The same for a Constant node, whatever attribute holds its value.
[[nodiscard]] Result<TensorFact> fact_from_constant_node(const onnx::NodeProto& node, ContentBudget& budget);

}  // namespace lowtide::import_internal
