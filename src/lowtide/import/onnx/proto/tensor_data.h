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

// Whether the tensor's data are there, in one place, and as long as `elements` of `dtype` need. Errors: invalid.
[[nodiscard]] Result<void> check_tensor_data(const onnx::TensorProto& tensor, DType dtype, std::int64_t elements);

// Whether `read_elements` can read this type: integers of 8 bits and more, bool, and f16, bf16, f32, f64.
[[nodiscard]] bool is_readable(DType dtype);

// The elements, each exact (but those of u64 from 2^63 on, unknown). Require: check_tensor_data was content,
// is_readable(dtype), the data are not external.
[[nodiscard]] std::vector<KnownElement> read_elements(const onnx::TensorProto& tensor, DType dtype,
                                                      std::int64_t elements);

// The same for i64 alone, 8 bytes an element.
[[nodiscard]] std::vector<std::int64_t> read_i64(const onnx::TensorProto& tensor, std::int64_t elements);

}  // namespace lowtide::import_internal
