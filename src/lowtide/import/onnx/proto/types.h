// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

using Dims = std::map<std::string, std::int64_t>;  // symbol -> extent, as the user binds them

// The element type of an ONNX tensor. Errors: 0 or a number that ONNX does not define (invalid), a type that Graph does
// not have (unsupported: FLOAT6*).
[[nodiscard]] Result<DType> dtype_from_onnx(int data_type);

// "f32[1,batch,<=100]", "f32, rank unknown", "a sequence": for messages.
[[nodiscard]] std::string describe(const TensorFact& fact);
[[nodiscard]] std::string describe(const onnx::TypeProto& type);

// What a declared type says. A symbol in `dims` becomes its number; a missing extent, an empty symbol and the number -1
// (which some exporters write for it) are unknown without a symbol. Errors: an extent below -1, a rank above
// limits::kMaxRank, an element type that does not exist.
[[nodiscard]] Result<TensorFact> fact_from_type(const onnx::TypeProto& type, const Dims& dims);

// Lets a declared type fill in what `fact` leaves open. Where a number of one contradicts a number of the other, an
// error (invalid) that names both; a symbol contradicts nothing, since exporters reuse them loosely.
[[nodiscard]] Result<void> merge_declared(const onnx::TypeProto& declared, const Dims& dims, TensorFact& fact);

// Whether each extent is exact or has an upper bound. False where the rank is unknown.
[[nodiscard]] bool is_sized(const TensorFact& fact);

// Same knowledge, contents compared by identity or value.
[[nodiscard]] bool same_fact(const TensorFact& a, const TensorFact& b);

// A fact of an exact shape without content.
[[nodiscard]] TensorFact fact_of(DType dtype, const std::vector<std::int64_t>& extents);

}  // namespace lowtide::import_internal
