// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/import/onnx/fold/known_content.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Checks that the data of the tensor are present, in one place only, and as long as `elements` of `dtype` need.
// Errors: invalid.
[[nodiscard]] Result<void> check_tensor_data(const onnx::TensorProto& tensor, DType dtype, std::int64_t elements);

// Whether `read_elements` can read this type: integers of at least 8 bits, bool, f16, bf16, f32 and f64.
[[nodiscard]] bool is_readable(DType dtype);

// Reads the elements. Each is exact, except for u64 from 2^63 on, which are unknown. Requires: check_tensor_data()
// succeeded, is_readable(dtype), and the data are not external.
[[nodiscard]] std::vector<KnownElement> read_elements(const onnx::TensorProto& tensor, DType dtype,
                                                      std::int64_t elements);

// Reads a tensor of type i64 as plain numbers, which need less memory. Requires: as read_elements.
[[nodiscard]] std::vector<std::int64_t> read_i64(const onnx::TensorProto& tensor, std::int64_t elements);

}  // namespace lowtide::import_internal
