// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/import/onnx/fold/fold.h"

// Helpers to write contents and nodes in the tests of `fold`.
namespace lowtide::import_internal {

inline KnownElement exactly(std::int64_t number) { return {.knowledge = Knowledge::exact, .integer = number}; }
inline KnownElement exactly_real(double number) { return {.knowledge = Knowledge::exact, .real = number}; }
inline KnownElement at_most(std::int64_t number) { return {.knowledge = Knowledge::at_most, .integer = number}; }
inline KnownElement at_most_real(double number) { return {.knowledge = Knowledge::at_most, .real = number}; }
inline KnownElement unknown() { return {}; }
inline KnownElement symbol(std::string name) { return {.symbol = std::move(name)}; }

inline KnownInput tensor(DType dtype, const std::vector<std::int64_t>& extents, std::vector<KnownElement> elements) {
  KnownInput input{.dtype = dtype, .extents = std::vector<KnownExtent>()};
  for (const std::int64_t extent : extents) input.extents->push_back({Knowledge::exact, extent, ""});
  input.content = std::make_shared<const KnownContent>(KnownContent{dtype, extents, std::move(elements)});
  return input;
}
inline KnownInput scalar(DType dtype, KnownElement element) { return tensor(dtype, {}, {std::move(element)}); }
inline KnownInput list(std::vector<KnownElement> elements) {
  const auto count = static_cast<std::int64_t>(elements.size());
  return tensor(DType::i64, {count}, std::move(elements));
}
inline KnownInput integers(const std::vector<std::int64_t>& numbers) {
  std::vector<KnownElement> elements;
  for (const std::int64_t number : numbers) elements.push_back(exactly(number));
  return list(std::move(elements));
}
inline KnownInput reals(const std::vector<double>& numbers, DType dtype = DType::f32) {
  std::vector<KnownElement> elements;
  for (const double number : numbers) elements.push_back(exactly_real(number));
  return tensor(dtype, {static_cast<std::int64_t>(numbers.size())}, std::move(elements));
}
inline KnownInput bools(const std::vector<std::int64_t>& numbers) {
  KnownInput input = integers(numbers);
  return tensor(DType::boolean, input.content->extents, input.content->elements);
}
inline KnownInput shaped(DType dtype, std::vector<KnownExtent> extents) {
  return {.dtype = dtype, .extents = std::move(extents), .content = nullptr};
}
inline KnownExtent extent(std::int64_t number) { return {Knowledge::exact, number, ""}; }
inline KnownExtent bounded_extent(std::int64_t number) { return {Knowledge::at_most, number, ""}; }
inline KnownExtent unknown_extent(std::string name) { return {Knowledge::unknown, 0, std::move(name)}; }
inline KnownInput left_out() { return {}; }

inline Result<std::vector<std::shared_ptr<const KnownContent>>> fold_node(std::string_view type,
                                                                          const std::vector<KnownInput>& inputs,
                                                                          const std::vector<Attribute>& attributes = {},
                                                                          std::size_t output_count = 1) {
  return fold({.type = type, .opset = 21, .attributes = attributes, .inputs = inputs, .output_count = output_count});
}

// Returns the only output. If nothing is known of it, returns a content with is_nothing().
inline KnownContent folded(std::string_view type, const std::vector<KnownInput>& inputs,
                           const std::vector<Attribute>& attributes = {}) {
  const auto outputs = fold_node(type, inputs, attributes);
  if (!outputs.ok() || outputs->front() == nullptr) return {DType::string, {-1}, {}};
  return *outputs->front();
}
inline std::vector<KnownElement> elements(std::string_view type, const std::vector<KnownInput>& inputs,
                                          const std::vector<Attribute>& attributes = {}) {
  return folded(type, inputs, attributes).elements;
}
inline bool is_nothing(const KnownContent& content) { return content.extents == std::vector<std::int64_t>{-1}; }

inline std::vector<KnownElement> exact_list(const std::vector<std::int64_t>& numbers) {
  std::vector<KnownElement> result;
  for (const std::int64_t number : numbers) result.push_back(exactly(number));
  return result;
}
inline std::vector<KnownElement> exact_reals(const std::vector<double>& numbers) {
  std::vector<KnownElement> result;
  for (const double number : numbers) result.push_back(exactly_real(number));
  return result;
}

}  // namespace lowtide::import_internal
