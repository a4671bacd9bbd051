// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/extents/node_facts.h"

#include <cstring>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"

namespace lowtide::kernels_internal {
namespace {

// Elements that are copied, since a constant may have any address.
template <typename T, typename Wide>
std::vector<Wide> elements_in(std::span<const std::byte> bytes) {
  std::vector<Wide> all(bytes.size() / sizeof(T));
  for (std::size_t at = 0; at < all.size(); ++at) {
    T element{};
    std::memcpy(&element, bytes.data() + at * sizeof(T), sizeof(T));
    all[at] = static_cast<Wide>(element);
  }
  return all;
}

// A list for axes has one or two numbers per axis.
constexpr std::int64_t kMostListed = 2 * std::int64_t{limits::kMaxRank};

}  // namespace

KnownExtents NodeFacts::extents(std::size_t input) const {
  const Shape& shape = tensor(input).shape;
  KnownExtents all(shape.extents().begin(), shape.extents().end());
  for (int axis = 0; shape.has_upper_bounds() && axis < shape.rank(); ++axis) {
    if (shape.is_at_most(axis)) all[static_cast<std::size_t>(axis)].reset();
  }
  return all;
}

std::span<const std::byte> NodeFacts::bytes(std::size_t input) const {
  const Tensor& of = tensor(input);
  if (of.role != Role::constant || !constant_) return {};
  const std::span<const std::byte> bytes = constant_(*node_.inputs[input]);
  return std::cmp_equal(bytes.size(), of.size.count()) ? bytes : std::span<const std::byte>();
}

std::optional<std::vector<std::int64_t>> NodeFacts::integers(std::size_t input) const {
  const Tensor& of = tensor(input);
  const bool is_long = of.dtype == DType::i64;
  if ((!is_long && of.dtype != DType::i32) || of.shape.has_upper_bounds()) return std::nullopt;
  const std::int64_t count = of.size.count() / (is_long ? 8 : 4);
  if (count > kMostListed) return std::nullopt;
  if (count == 0) return std::vector<std::int64_t>();
  if (const std::span<const std::byte> content = bytes(input); !content.empty()) {
    return is_long ? elements_in<std::int64_t, std::int64_t>(content)
                   : elements_in<std::int32_t, std::int64_t>(content);
  }
  const std::vector<std::int64_t>* listed = graph_.known_integers(*node_.inputs[input]);
  return listed != nullptr && std::cmp_equal(listed->size(), count) ? std::optional(*listed) : std::nullopt;
}

std::optional<std::int64_t> NodeFacts::integer(std::size_t input) const {
  const std::optional<std::vector<std::int64_t>> all = integers(input);
  return all && all->size() == 1 ? std::optional(all->front()) : std::nullopt;
}

std::optional<std::vector<float>> NodeFacts::floats(std::size_t input) const {
  const Tensor& of = tensor(input);
  if (of.dtype != DType::f32 || of.size.count() / 4 > kMostListed) return std::nullopt;
  const std::span<const std::byte> content = bytes(input);
  return content.empty() ? std::nullopt : std::optional(elements_in<float, float>(content));
}

Expected expect(KnownExtents first) {
  Expected expected;
  expected.results.emplace_back(std::move(first));
  return expected;
}

Expected expect(KnownExtents first, KnownExtents second) {
  Expected expected = expect(std::move(first));
  expected.results.emplace_back(std::move(second));
  return expected;
}

Expected expect_anything() { return {}; }

Expected expect_rank(std::size_t rank) { return expect(KnownExtents(rank)); }

Expected misfit(const NodeFacts& facts, std::size_t input, const std::string& what) {
  const Tensor& of = facts.tensor(input);
  return contradiction("input " + quoted(of.name) + " is " + print_tensor_type(of.dtype, of.shape) +
                       ", and has to have " + what);
}

Expected contradiction(std::string what) {
  Expected expected;
  expected.fault = std::move(what);
  return expected;
}

std::optional<std::size_t> axis_of_rank(std::int64_t axis, std::size_t rank) {
  const auto axes = static_cast<std::int64_t>(rank);
  if (axis < -axes || axis >= axes) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + axes : axis);
}

}  // namespace lowtide::kernels_internal
