// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/tflite_program/operator_place.h"

namespace lowtide {

// Returns the calls that compute an operator as TensorFlow Lite Micro's reference kernels do; integers have the same
// bits. `operands` has what each tensor of the subgraph is in the program. Tensors that the operator does not read or
// write are not looked at. Tables that the operator needs, such as multipliers of channels, are appended to
// `constants`, and the calls refer to them by their indexes there.
//
//   for (std::uint32_t op = 0; op < subgraph.operators.size(); ++op) {
//     LOWTIDE_TRY(std::vector<CCall> calls, calls_of_operator({model, file, 0, op}, operands, program.constants));
//     ...
//   }
//
// An operator that only copies a tensor (RESHAPE and others) becomes one call of the kernel "copy", which may be
// omitted where both have the same place.
//
// Operators about control flow and resources (IF, WHILE, CALL_ONCE, VAR_HANDLE, ...) are not here.
//
// Errors: unsupported (the message says what is supported), invalid (shapes or quantization contradict each other, or
// the runtime would refuse them), over_limit (a tensor of 2 GiB). The place names the subgraph and the operator.
[[nodiscard]] Result<std::vector<CCall>> calls_of_operator(const TfliteOperatorPlace& place,
                                                           std::span<const COperand> operands,
                                                           std::vector<CConstant>& constants);

// An operator that has calls, and the types that the elements of its input may have. Its other operands may have to
// have certain types, too.
struct OperatorTypes {
  std::string_view type;
  std::vector<TfliteType> elements;  // sorted; empty: all types of programs
};

// The operators that calls_of_operator() knows, sorted.
[[nodiscard]] std::vector<OperatorTypes> operators_with_calls();

}  // namespace lowtide
