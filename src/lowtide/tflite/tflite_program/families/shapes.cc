// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/try.h"
#include "lowtide/tflite/tflite_program/families/families.h"

namespace lowtide::tflite_program_internal {
namespace {

// An output that has the elements of the first input in their order.
Result<void> add_copy(OperatorContext& context) {
  const TfliteTensor& from = context.input(0);
  const TfliteTensor& to = context.output();
  const std::optional<CType> type = c_type(from.type);
  if (!type || from.type != to.type) {
    return context.unsupported("it is from " + std::string(to_string(from.type)) + " to " +
                               std::string(to_string(to.type)));
  }
  if (elements_of(from.shape) != elements_of(to.shape)) {
    return context.invalid("input " + shape_text(from.shape) + " and output " + shape_text(to.shape) +
                           " have different numbers of elements");
  }
  context.call("copy", {parameter("bytes", elements_of(from.shape) * size_of(*type))}, {context.in(0), context.out()});
  return {};
}

}  // namespace

std::vector<OperatorRow> shape_rows() {
  return {{"EXPAND_DIMS", 1, 1, &add_copy, {}}, {"RESHAPE", 1, 1, &add_copy, {}}, {"SQUEEZE", 1, 1, &add_copy, {}}};
}

}  // namespace lowtide::tflite_program_internal
