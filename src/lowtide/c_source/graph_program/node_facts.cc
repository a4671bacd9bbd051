// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/graph_program/node_facts.h"

#include <bit>
#include <cstring>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/lowered.h"

namespace lowtide::graph_program_internal {
namespace {

static_assert(std::endian::native == std::endian::little, "constants are little endian");

template <typename From, typename To>
std::vector<To> elements(std::span<const std::byte> bytes) {
  std::vector<To> all(bytes.size() / sizeof(From));
  for (std::size_t at = 0; at < all.size(); ++at) {
    From one{};
    std::memcpy(&one, bytes.data() + at * sizeof(From), sizeof(From));
    all[at] = static_cast<To>(one);
  }
  return all;
}

}  // namespace

std::optional<CType> c_type_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return CType::float32;
    case DType::i64: return CType::int64;
    case DType::i32: return CType::int32;
    case DType::i16: return CType::int16;
    case DType::i8: return CType::int8;
    case DType::u8: return CType::uint8;
    case DType::boolean: return CType::boolean;
    default: return std::nullopt;
  }
}

Error missing(std::string reason) { return Error{ErrorCode::unsupported, std::move(reason), ""}; }

bool NodeFacts::has_input(std::size_t input) const {
  return input < node().inputs.size() && node().inputs[input].has_value();
}

bool NodeFacts::has_output(std::size_t output) const {
  return output < node().outputs.size() && node().outputs[output].has_value();
}

std::int64_t NodeFacts::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* found = find_attribute<std::int64_t>(node().attributes, name);
  return found == nullptr ? otherwise : *found;
}

float NodeFacts::number(std::string_view name, double otherwise) const {
  const auto* found = find_attribute<double>(node().attributes, name);
  return static_cast<float>(found == nullptr ? otherwise : *found);
}

std::string NodeFacts::text(std::string_view name, std::string_view otherwise) const {
  const auto* found = find_attribute<std::string>(node().attributes, name);
  return found == nullptr ? std::string(otherwise) : *found;
}

std::optional<Extents> NodeFacts::integers(std::string_view name) const {
  const auto* found = find_attribute<std::vector<std::int64_t>>(node().attributes, name);
  return found == nullptr ? std::nullopt : std::optional(*found);
}

bool NodeFacts::is_before(std::int64_t opset) const { return integer(kSinceAttribute, opset) < opset; }

std::optional<Extents> NodeFacts::constant_integers(std::size_t input) const {
  if (!has_input(input)) return std::nullopt;
  const TensorId id = *node().inputs[input];
  if (const Extents* known = graph_.known_integers(id)) return *known;
  const std::optional<std::span<const std::byte>> bytes = bytes_of_(id);
  if (!bytes) return std::nullopt;
  if (graph_.tensor(id).dtype == DType::i64) return elements<std::int64_t, std::int64_t>(*bytes);
  if (graph_.tensor(id).dtype == DType::i32) return elements<std::int32_t, std::int64_t>(*bytes);
  return std::nullopt;
}

std::optional<std::vector<float>> NodeFacts::constant_floats(std::size_t input) const {
  if (!has_input(input)) return std::nullopt;
  const TensorId id = *node().inputs[input];
  const std::optional<std::span<const std::byte>> bytes = bytes_of_(id);
  if (!bytes || graph_.tensor(id).dtype != DType::f32) return std::nullopt;
  return elements<float, float>(*bytes);
}

Result<std::optional<Extents>> NodeFacts::list(std::size_t input, std::string_view attribute) const {
  if (!has_input(input)) return integers(attribute);
  std::optional<Extents> content = constant_integers(input);
  if (!content)
    return missing("input " + std::to_string(input) + " (" + std::string(attribute) + ") is not a constant");
  return content;
}

Result<void> NodeFacts::check_floats(std::initializer_list<std::size_t> inputs) const {
  const auto refused = [](const Tensor& tensor) {
    return missing(lowtide::quoted(tensor.name) + " is " + std::string(to_string(tensor.dtype)) +
                   ", and the kernel has f32");
  };
  for (std::size_t at : inputs) {
    if (has_input(at) && input(at).dtype != DType::f32) return refused(input(at));
  }
  if (has_output(0) && output(0).dtype != DType::f32) return refused(output(0));
  return {};
}

Result<void> NodeFacts::check_results(std::size_t most) const {
  for (std::size_t at = most; at < node().outputs.size(); ++at) {
    if (has_output(at)) return missing("no kernel has result " + std::to_string(at));
  }
  return {};
}

Result<std::size_t> axis_of(std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(rank);
  const std::int64_t from_begin = axis < 0 ? axis + count : axis;
  if (from_begin < 0 || from_begin >= count) return missing("there is no axis " + std::to_string(axis));
  return static_cast<std::size_t>(from_begin);
}

std::int64_t product(const Extents& extents, std::size_t begin, std::size_t end) {
  std::int64_t result = 1;
  for (std::size_t at = begin; at < end; ++at) result = must_multiply(result, extents[at]);
  return result;
}

Extents dense_steps(const Extents& extents) {
  Extents steps(extents.size(), 1);
  for (std::size_t at = extents.size(); at-- > 1;) steps[at - 1] = must_multiply(steps[at], extents[at]);
  return steps;
}

}  // namespace lowtide::graph_program_internal
