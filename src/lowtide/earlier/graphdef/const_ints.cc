// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <utility>

#include "lowtide/earlier/graphdef/format.h"
#include "lowtide/earlier/graphdef/node_view.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::size_t kMostElements = 64;
constexpr std::int64_t kMostKnown = 4096;

std::int64_t little_endian(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t byte = 0; byte < width; ++byte) {
    value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(bytes[at + byte])) << (8 * byte);
  }
  return width == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

}  // namespace

// The numbers are raw bytes, or a list whose last number stands for all that follow.
std::optional<Extents> known_integers_of_tensor(const ProtoMessage& tensor) {
  const std::optional<DType> dtype = dtype_of(find_number(tensor, tensor_field::kType).value_or(0));
  if (dtype != DType::i32 && dtype != DType::i64) return std::nullopt;
  const ProtoMessage* shape = find_message(tensor, tensor_field::kShape);
  const std::optional<Extents> extents = shape == nullptr ? Extents() : extents_of(*shape);
  const std::optional<std::int64_t> elements = extents ? product(*extents) : std::nullopt;
  if (!elements || *elements < 0 || *elements > kMostKnown) return std::nullopt;
  const auto count = static_cast<std::size_t>(*elements);
  Extents values;
  const std::string_view content = find_text(tensor, tensor_field::kContent).value_or("");
  const std::size_t width = dtype == DType::i32 ? 4 : 8;
  if (!content.empty()) {
    if (content.size() != count * width) return std::nullopt;
    for (std::size_t at = 0; at < count; ++at) values.push_back(little_endian(content, at * width, width));
    return values;
  }
  for (std::uint64_t one : numbers_of(tensor, dtype == DType::i32 ? tensor_field::kInts : tensor_field::kInt64s)) {
    values.push_back(static_cast<std::int64_t>(one));
  }
  if (values.empty() || values.size() > count) {
    return count == 0 || values.empty() ? std::optional(Extents(count, 0)) : std::nullopt;
  }
  values.resize(count, values.back());
  return values;
}

std::optional<Extents> integers_of_tensor(const ProtoMessage& tensor) {
  std::optional<Extents> values = known_integers_of_tensor(tensor);
  return values && values->size() <= kMostElements ? std::move(values) : std::nullopt;
}

}  // namespace lowtide::graphdef_internal
