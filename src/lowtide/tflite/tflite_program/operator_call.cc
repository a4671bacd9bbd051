// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/operator_call.h"

#include <algorithm>
#include <cstddef>
#include <string>
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
    for (const auto& family :
         {convolution_rows(), pool_rows(), shape_rows(), softmax_rows(), binary_rows(), lookup_rows(), movement_rows(),
          reduction_rows(), resize_rows(), memory_rows(), float_convolution_rows(), float_element_rows(),
          float_reduction_rows(), float_window_rows(), float_product_rows(), rearrangement_rows()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const OperatorRow& a, const OperatorRow& b) { return a.type < b.type; });
    return all;
  }();
  return rows;
}

// The row for the type of the input that decides. Errors: unsupported, with the types that are supported.
Result<const OperatorRow*> row_of(const OperatorContext& context, std::span<const OperatorRow> rows) {
  std::string known;
  for (const OperatorRow& row : rows) {
    LOWTIDE_RETURN_IF_ERROR(context.check_operands(row.deciding + 1, 0));
    if (row.elements.empty()) return &row;
    for (const TfliteType element : row.elements) {
      if (element == context.input(row.deciding).type) return &row;
      known += (known.empty() ? "" : ", ") + std::string(to_string(element));
    }
  }
  const std::size_t deciding = rows.front().deciding;
  return context.unsupported("input " + std::to_string(deciding) + " has type " +
                             std::string(to_string(context.input(deciding).type)) + "; supported are: " + known);
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
  const auto rows =
      std::ranges::equal_range(tflite_program_internal::all_rows(), std::string_view(op.type), {}, &OperatorRow::type);
  const bool is_custom = op.builtin == kTfliteCustom;
  if (rows.empty() || rows.front().is_custom != is_custom) return context.unsupported("C source has no kernel for it");
  LOWTIDE_TRY(const OperatorRow* row, tflite_program_internal::row_of(context, rows));
  LOWTIDE_RETURN_IF_ERROR(context.check_operands(row->inputs, row->outputs));
  LOWTIDE_RETURN_IF_ERROR(row->add_calls(context));
  return std::move(context).take_calls();
}

std::vector<OperatorTypes> operators_with_calls() {
  std::vector<OperatorTypes> operators;
  for (const OperatorRow& row : tflite_program_internal::all_rows()) {
    if (operators.empty() || operators.back().type != row.type) operators.push_back({row.type, {}});
    std::vector<TfliteType>& elements = operators.back().elements;
    elements.insert(elements.end(), row.elements.begin(), row.elements.end());
    std::ranges::sort(elements);
  }
  return operators;
}

}  // namespace lowtide
