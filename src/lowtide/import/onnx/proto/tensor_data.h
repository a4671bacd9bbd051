// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/dtype.h"
#include "lowtide/import/file.h"
#include "lowtide/import/onnx/fold/known_content.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Checks that the data of the tensor are present, in one place only, and as long as `elements` of `dtype` need.
// Errors: invalid.
[[nodiscard]] Result<void> check_tensor_data(const onnx::TensorProto& tensor, DType dtype, std::int64_t elements);

// Whether `read_elements` can read this type: integers of at least 8 bits, bool, f16, bf16, f32 and f64.
[[nodiscard]] bool is_readable(DType dtype);

// Returns the raw data of a tensor, which may be in the model file. Empty if the data are in a list or external.
// Requires: check_tensor_data() succeeded, and `file` is not nullptr if the data are in the file (raw_range.h).
// Errors: io.
[[nodiscard]] Result<std::string> raw_data_of(const onnx::TensorProto& tensor, const ByteSource* file);

// The functions below take `raw`, the result of raw_data_of. They require that the data are not external.

// Reads the elements. Each is exact, except for u64 from 2^63 on, which are unknown. Requires: is_readable(dtype).
[[nodiscard]] std::vector<KnownElement> read_elements(const onnx::TensorProto& tensor, std::string_view raw,
                                                      DType dtype, std::int64_t elements);

// Reads a tensor of type i64 as plain numbers, which need less memory.
[[nodiscard]] std::vector<std::int64_t> read_i64(const onnx::TensorProto& tensor, std::string_view raw,
                                                 std::int64_t elements);

// Returns the elements as raw data: dense, row-major and little-endian. Requires: the type is not string.
[[nodiscard]] std::vector<std::byte> read_bytes(const onnx::TensorProto& tensor, std::string_view raw, DType dtype);

// Appends the low `width` bytes of a number, little-endian.
void append_bits(std::vector<std::byte>& to, std::uint64_t bits, std::size_t width);

}  // namespace lowtide::import_internal
