// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <optional>
#include <string>

#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/op_conversion.h"

namespace lowtide::netdef_internal {
namespace {

std::size_t bytes_of_element(DType dtype) { return static_cast<std::size_t>(*bits_of(dtype)) / 8; }

// The low bytes of a bit pattern.
void append_bits(std::uint64_t bits, std::size_t width, std::string& to) {
  for (std::size_t byte = 0; byte < width; ++byte) to += static_cast<char>((bits >> (8U * byte)) & 0xFFU);
}

// The values of a fill, as bytes. A list of floats may also fill f64.
std::string given_bytes(const OpConversion& op, const ProtoMessage& values) {
  const DType dtype = op.outputs[0].dtype;
  std::string bytes;
  for (std::uint64_t one : numbers_of(values, argument_field::kIntegers)) {
    append_bits(one, bytes_of_element(dtype), bytes);
  }
  for (std::uint64_t one : numbers_of(values, argument_field::kReals)) {
    if (dtype == DType::f32) {
      append_bits(one, 4, bytes);
    } else {
      bytes += element_bytes(dtype, std::bit_cast<float>(static_cast<std::uint32_t>(one)));
    }
  }
  for (std::string_view one : texts_of(values, argument_field::kTexts)) bytes += one;
  return bytes;
}

}  // namespace

// A constant of one value. With an input, only its shape counts.
void convert_constant_fill(OpConversion& op) {
  const double value = op.real("value", 0);
  op.write("Expand", {op.to.number(op.outputs[0].dtype, value), op.to.integers(op.result_shape())});
}

void convert_given_fill(OpConversion& op) {
  const ProtoMessage* values = op.op.argument("values");
  const std::optional<std::int64_t> elements = product_of(op.result_shape(), 0, op.result_shape().size());
  const std::string bytes = values == nullptr ? std::string() : given_bytes(op, *values);
  const std::size_t width = bytes_of_element(op.outputs[0].dtype);
  if (!elements || static_cast<std::size_t>(*elements) * width != bytes.size()) {
    op.fault = "it has " + std::to_string(bytes.size() / width) + " values, but its shape has " +
               (elements ? std::to_string(*elements) : "too many") + " elements";
    return;
  }
  op.to.add_constant(op.results[0], {op.outputs[0].dtype, op.result_shape()}, bytes);
}

}  // namespace lowtide::netdef_internal
