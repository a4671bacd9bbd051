// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/export/onnx/onnx_headers.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/graph/shape.h"

namespace lowtide::export_internal {

[[nodiscard]] onnx::TensorProto::DataType onnx_type_of(DType dtype);

// The first version of the format that has the type.
[[nodiscard]] std::int64_t ir_version_of(DType dtype);

// `with_bounds`: an upper bound is the symbol "<=8", and otherwise an extent.
[[nodiscard]] onnx::ValueInfoProto value_info(const std::string& name, DType dtype, const Shape& shape,
                                              bool with_bounds);

// Requires: is_integer_of_bytes(dtype).
[[nodiscard]] onnx::TensorProto tensor_of_integers(DType dtype, const std::vector<std::int64_t>& extents,
                                                   const std::vector<std::int64_t>& content);

// A tensor of zeros. Requires: dense_size(dtype, extents) is not an error.
[[nodiscard]] onnx::TensorProto tensor_of_zeros(DType dtype, const std::vector<std::int64_t>& extents);

// Each byte that is not UTF-8 becomes "_". An empty name becomes `otherwise`.
[[nodiscard]] std::string utf8_name(std::string_view name, std::string_view otherwise);

}  // namespace lowtide::export_internal
