// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>

#include "lowtide/earlier/netdef/argument_number.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/op_conversion.h"

namespace lowtide::netdef_internal {
namespace {

// The values of a fill, as bytes. Texts are bytes already.
std::string given_bytes(OpConversion& op, const ProtoMessage& values) {
  const DType dtype = op.outputs[0].dtype;
  std::string bytes;
  for (const ArgumentNumber& number : numbers_of_argument(values)) {
    const std::optional<std::string> element = bytes_of_number(number, dtype);
    if (!element) {
      op.fault = "its argument 'values' has " + shown_number(number) + ", which is not a value of " +
                 std::string(to_string(dtype));
      return bytes;
    }
    bytes += *element;
  }
  for (std::string_view one : texts_of(values, argument_field::kTexts)) bytes += one;
  return bytes;
}

}  // namespace

// A constant of one value. With an input, only its shape counts.
void convert_constant_fill(OpConversion& op) {
  const std::string value = op.number("value", 0, op.outputs[0].dtype);
  op.write("Expand", {value, op.to.integers(op.result_shape())});
}

void convert_given_fill(OpConversion& op) {
  const ProtoMessage* values = op.op.argument("values");
  const std::optional<std::int64_t> elements = product_of(op.result_shape(), 0, op.result_shape().size());
  const std::string bytes = values == nullptr ? std::string() : given_bytes(op, *values);
  if (!op.fault.empty()) return;
  const std::size_t width = static_cast<std::size_t>(*bits_of(op.outputs[0].dtype)) / 8;
  if (!elements || static_cast<std::size_t>(*elements) * width != bytes.size()) {
    op.fault = "it has " + std::to_string(bytes.size() / width) + " values, but its shape has " +
               (elements ? std::to_string(*elements) : "too many") + " elements";
    return;
  }
  op.to.add_constant(op.results[0], {op.outputs[0].dtype, op.result_shape()}, bytes);
}

}  // namespace lowtide::netdef_internal
