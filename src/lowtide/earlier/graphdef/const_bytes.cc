// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/const_bytes.h"

#include <string_view>

#include "lowtide/base/checked.h"
#include "lowtide/earlier/conversion/element_bytes.h"
#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

// The field of TensorProto with the numbers of a type; 0: none.
std::uint32_t field_of_numbers(DType dtype) {
  switch (dtype) {
    case DType::f32: return 5;
    case DType::f64: return 6;
    case DType::i32:
    case DType::i16:
    case DType::i8:
    case DType::u16:
    case DType::u8: return tensor_field::kInts;
    case DType::i64: return tensor_field::kInt64s;
    case DType::boolean: return 11;
    case DType::f16:
    case DType::bf16: return 13;
    case DType::u32: return 16;
    case DType::u64: return 17;
    default: return 0;
  }
}

}  // namespace

Result<std::string> const_bytes(const ProtoMessage& tensor, DType dtype, const Extents& extents, OnnxBuilder& to) {
  const std::uint32_t field = field_of_numbers(dtype);
  if (field == 0) {
    return Error{ErrorCode::unsupported, no_such_elements(dtype), ""};
  }
  const std::size_t width = static_cast<std::size_t>(*bits_of(dtype)) / 8;
  const std::optional<std::int64_t> elements = product(extents);
  const auto size = elements ? checked_multiply(*elements, static_cast<std::int64_t>(width)) : std::nullopt;
  if (!size || *size < 0) return Error{ErrorCode::over_limit, "its size does not fit into 64 bits", ""};
  const std::string_view content = find_text(tensor, tensor_field::kContent).value_or("");
  if (!content.empty() && static_cast<std::int64_t>(content.size()) == *size) return std::string(content);
  const std::vector<std::uint64_t> numbers = numbers_of(tensor, field);
  if (!content.empty() || static_cast<std::int64_t>(numbers.size()) > *elements) {
    return Error{
        ErrorCode::invalid,
        "its content has " +
            (content.empty() ? std::to_string(numbers.size()) + " numbers, but the tensor has " +
                                   std::to_string(*elements) + " elements"
                             : std::to_string(content.size()) + " bytes, but the tensor has " + std::to_string(*size)),
        ""};
  }
  std::string bytes;
  for (std::uint64_t one : numbers) append_low_bytes(one, width, bytes);
  if (!to.may_make(*size - static_cast<std::int64_t>(bytes.size()), 1)) {
    return Error{ErrorCode::over_limit,
                 "single numbers of the file stand for more than " + std::to_string(kMostMadeBytes) + " bytes", ""};
  }
  std::string last;
  append_low_bytes(numbers.empty() ? 0 : numbers.back(), width, last);
  bytes.reserve(static_cast<std::size_t>(*size));
  while (static_cast<std::int64_t>(bytes.size()) < *size) bytes += last;
  return bytes;
}

}  // namespace lowtide::graphdef_internal
