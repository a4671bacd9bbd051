// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

using Dims = std::map<std::string, std::int64_t>;  // symbol -> extent, as given by the user

// Whether a text of the file names an extent. Some exporters write "?" for each extent that is not known.
[[nodiscard]] bool is_symbol(const std::string& text);

// Returns the element type of an ONNX tensor. Errors: 0, or a number that ONNX does not define (invalid); a type
// that Graph does not have (unsupported: FLOAT6*).
[[nodiscard]] Result<DType> dtype_from_onnx(int data_type);

// For messages: "12", "batch", "<=100", or "?".
[[nodiscard]] std::string describe(const KnownExtent& extent);
// For messages: "f32[1,batch,<=100]", "f32, rank unknown", "a sequence".
[[nodiscard]] std::string describe(const TensorFact& fact);
[[nodiscard]] std::string describe(const onnx::TypeProto& type);

// Returns the fact that a declared type states. A symbol in `dims` becomes its number. An extent that is missing, has
// a symbol without a name (is_symbol), or is -1, as some exporters write it, is unknown and has no symbol. The symbol
// "<=8" is an upper bound (export/onnx_of_graph.h). Errors: those of
// dtype_from_onnx; an extent below -1 (invalid); a rank above limits::kMaxRank or a symbol longer than
// limits::kMaxSymbolBytes (over_limit).
[[nodiscard]] Result<TensorFact> fact_from_type(const onnx::TypeProto& type, const Dims& dims);

// Fills what is unknown in `fact` from a declared type. Errors: those of fact_from_type; a type, rank or number that
// contradicts `fact` (invalid, with both). Symbols never contradict, because exporters use them loosely.
[[nodiscard]] Result<void> merge_declared(const onnx::TypeProto& declared, const Dims& dims, TensorFact& fact);

// Whether each extent is exact or has an upper bound. False if the rank is unknown.
[[nodiscard]] bool is_sized(const TensorFact& fact);

// Whether two facts are equal. Contents are compared by value.
[[nodiscard]] bool same_fact(const TensorFact& a, const TensorFact& b);

// Returns a fact with an exact shape and without content.
[[nodiscard]] TensorFact fact_of(DType dtype, const std::vector<std::int64_t>& extents);

}  // namespace lowtide::import_internal
