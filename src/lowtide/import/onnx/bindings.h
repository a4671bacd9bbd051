// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/import/imported.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {

// The sizes that the user gives, applied to the inputs of a model.
struct BoundInputs {
  Dims dims;                                               // all symbols that are bound, by --dim or through --shape
  std::vector<TensorFact> facts;                           // one per input of the graph
  std::map<std::string, std::vector<std::int64_t>> given;  // ImportedModel::given_shapes
};

// The symbols that the graph declares for its inputs, outputs and results, without those of bodies.
[[nodiscard]] std::set<std::string> symbols_of(const onnx::GraphProto& graph);

// Binds sizes. If a shape gives an extent for a symbol of the file, the symbol is bound everywhere.
// Errors (invalid): a symbol or an input that does not exist; an extent below 0, except for -1 in a shape, which keeps
// the extent of the file; a shape of another rank or above limits::kMaxRank; a number that contradicts the file or
// another option. Messages about a mismatch say what the file has. Also the errors of fact_from_type.
[[nodiscard]] Result<BoundInputs> bind_inputs(const onnx::GraphProto& graph, const ImportOptions& options);

}  // namespace lowtide::import_internal
