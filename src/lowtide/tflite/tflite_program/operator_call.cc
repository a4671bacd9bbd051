// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/operator_call.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "lowtide/base/check.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"
#include "lowtide/tflite/tflite_program/operator_context.h"

namespace lowtide {
namespace tflite_program_internal {
namespace {

// The rows of all families, by type.
const std::vector<OperatorRow>& all_rows() {
  static const std::vector<OperatorRow> rows = [] {
    std::vector<OperatorRow> all;
    for (const auto& family : {convolution_rows(), pool_rows(), shape_rows(), softmax_rows(), binary_rows(),
                               lookup_rows(), movement_rows(), reduction_rows(), resize_rows(), memory_rows()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    std::sort(all.begin(), all.end(), [](const OperatorRow& a, const OperatorRow& b) { return a.type < b.type; });
    return all;
  }();
  return rows;
}

}  // namespace
}  // namespace tflite_program_internal

using tflite_program_internal::OperatorContext;
using tflite_program_internal::OperatorRow;

Result<std::vector<CCall>> calls_of_operator(const TfliteOperatorPlace& place, std::span<const COperand> operands,
                                             std::vector<CConstant>& constants) {
  const TfliteSubgraph& subgraph = place.model.subgraphs[place.subgraph];
  LOWTIDE_CHECK(operands.size() == subgraph.tensors.size(), "each tensor of the subgraph has an operand");
  OperatorContext context(place, operands, constants);
  const TfliteOperator& op = subgraph.operators[place.op];
  for (const OperatorRow& row : tflite_program_internal::all_rows()) {
    if (!is_builtin(op, row.type)) continue;
    LOWTIDE_RETURN_IF_ERROR(context.check_operands(row.inputs, row.outputs));
    LOWTIDE_RETURN_IF_ERROR(row.add_calls(context));
    return std::move(context).take_calls();
  }
  return context.unsupported("C source has no kernel for it");
}

std::vector<std::string_view> operators_with_calls() {
  std::vector<std::string_view> types;
  for (const OperatorRow& row : tflite_program_internal::all_rows()) types.push_back(row.type);
  return types;
}

}  // namespace lowtide
