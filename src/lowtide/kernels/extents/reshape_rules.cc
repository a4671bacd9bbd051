// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>

#include "lowtide/base/limits.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

using IntegerList = std::vector<std::int64_t>;

// The rank that a list operand gives, one axis per element.
Expected expect_rank_of_list(const NodeFacts& facts, std::size_t input) {
  const KnownExtent count = facts.count(input);
  return count && *count <= limits::kMaxRank ? expect_rank(static_cast<std::size_t>(*count)) : expect_anything();
}

// The axes of Squeeze or Unsqueeze.
struct AxisList {
  std::optional<IntegerList> axes;   // nullopt: their content is not known
  std::optional<std::size_t> count;  // nullopt: not even their number is known
  bool is_given = true;              // false: the node has none
};

AxisList axis_list(const NodeFacts& facts) {
  if (!facts.has(1)) {
    const IntegerList* listed = integers_attribute(facts.node(), "axes");
    if (listed == nullptr) return {{}, {}, false};
    return {*listed, listed->size()};
  }
  const KnownExtent count = facts.count(1);
  return {facts.integers(1), count ? std::optional(static_cast<std::size_t>(*count)) : std::nullopt};
}

// Which axes of a tensor are listed. nullopt: one is outside of it, or is listed twice.
std::optional<std::vector<bool>> listed_flags(const IntegerList& axes, std::size_t rank) {
  std::vector<bool> flags(rank);
  for (std::int64_t value : axes) {
    const std::optional<std::size_t> axis = axis_of_rank(value, rank);
    if (!axis || flags[*axis]) return std::nullopt;
    flags[*axis] = true;
  }
  return flags;
}

// Resolves the extents that a Reshape copies or derives. nullopt: the list is wrong for the operand.
std::optional<KnownExtents> resolved_shape(const KnownExtents& from, const IntegerList& list, bool allows_zero) {
  KnownExtents to;
  std::optional<std::size_t> open;
  for (std::size_t axis = 0; axis < list.size(); ++axis) {
    const bool is_copied = list[axis] == 0 && !allows_zero;
    const bool is_open = list[axis] == -1;
    if (list[axis] < -1 || (is_open && open) || (is_copied && axis >= from.size())) return std::nullopt;
    if (is_open) open = axis;
    to.push_back(is_copied ? from[axis] : is_open ? KnownExtent(1) : KnownExtent(list[axis]));
  }
  if (!open) return to;
  const KnownExtent all = product_of(from);
  const KnownExtent others = product_of(to);
  to[*open].reset();
  if (!all || !others) return to;
  if (*others == 0 || *all % *others != 0) return std::nullopt;
  to[*open] = *all / *others;
  return to;
}

}  // namespace

Expected expect_reshape(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  Expected expected;
  // A view needs no kernel, so it may have no shape either.
  if (!facts.has(1)) {
    expected.count = product_of(from);
    return expected;
  }
  if (const std::optional<IntegerList> list = facts.integers(1)) {
    std::optional<KnownExtents> to = resolved_shape(from, *list, integer_attribute(facts.node(), "allowzero", 0) != 0);
    if (!to) return misfit(facts, 0, "elements for the shape " + to_text(known(*list)));
    if (!may_equal(product_of(*to), product_of(from))) {
      return misfit(facts, 0, "as many elements as the shape " + to_text(*to));
    }
    expected = expect(*std::move(to));
  } else {
    expected = expect_rank_of_list(facts, 1);
  }
  expected.count = product_of(from);
  return expected;
}

Expected expect_flatten(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const auto rank = static_cast<std::int64_t>(from.size());
  std::int64_t axis = integer_attribute(facts.node(), "axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return misfit(facts, 0, "an axis " + std::to_string(axis));
  const std::span<const KnownExtent> all(from);
  const auto begin = static_cast<std::size_t>(axis);
  Expected expected = expect(KnownExtents{product_of(all.first(begin)), product_of(all.subspan(begin))});
  expected.count = product_of(from);
  return expected;
}

Expected expect_squeeze(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const AxisList list = axis_list(facts);
  if (list.is_given && !list.axes) {
    const bool has_rank = list.count && *list.count <= from.size();
    Expected expected = has_rank ? expect_rank(from.size() - *list.count) : expect_anything();
    expected.count = product_of(from);
    return expected;
  }
  const auto flags = listed_flags(list.axes.value_or(IntegerList()), from.size());
  if (!flags) return misfit(facts, 0, "the axes " + to_text(known(*list.axes)) + ", each once");
  const bool is_open = !list.is_given && !all_known(from);
  KnownExtents to;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const bool is_removed = list.is_given ? (*flags)[axis] : from[axis] == 1;
    if (is_removed && !may_equal(from[axis], 1)) return misfit(facts, 0, "an extent of 1 in each removed axis");
    if (!is_removed) to.push_back(from[axis]);
  }
  Expected expected = is_open ? expect_anything() : expect(std::move(to));
  expected.count = product_of(from);
  return expected;
}

Expected expect_unsqueeze(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const AxisList list = axis_list(facts);
  if (list.is_given && !list.axes) {
    // A list may be longer than any tensor has axes.
    const bool has_rank = list.count && *list.count <= static_cast<std::size_t>(limits::kMaxRank);
    Expected expected = has_rank ? expect_rank(from.size() + *list.count) : expect_anything();
    expected.count = product_of(from);
    return expected;
  }
  const IntegerList axes = list.axes.value_or(IntegerList());
  const auto flags = listed_flags(axes, from.size() + axes.size());
  if (!flags) return contradiction("the axes " + to_text(known(axes)) + " are not axes of the result, each once");
  KnownExtents to;
  std::size_t next = 0;
  for (const bool is_new : *flags) to.push_back(is_new ? KnownExtent(1) : from[next++]);
  return expect(std::move(to));
}

Expected expect_dropout(const NodeFacts& facts) { return expect(facts.extents(0), facts.extents(0)); }

Expected expect_shape(const NodeFacts& facts) {
  const auto rank = static_cast<std::int64_t>(facts.rank(0));
  const auto in_range = [&](std::int64_t axis) {
    return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const std::int64_t start = in_range(integer_attribute(facts.node(), "start", 0));
  const std::int64_t end = in_range(integer_attribute(facts.node(), "end", rank));
  return expect(KnownExtents{std::max<std::int64_t>(end - start, 0)});
}

Expected expect_size(const NodeFacts& /*facts*/) { return expect(KnownExtents()); }

Expected expect_constant_of_shape(const NodeFacts& facts) {
  const std::optional<IntegerList> list = facts.integers(0);
  if (!list) return expect_rank_of_list(facts, 0);
  const bool is_valid = std::ranges::all_of(*list, [](std::int64_t extent) { return extent >= 0; });
  return is_valid ? expect(known(*list)) : contradiction("the shape " + to_text(known(*list)) + " is negative");
}

Expected expect_eye_like(const NodeFacts& facts) {
  if (facts.rank(0) != 2) return misfit(facts, 0, "two axes");
  Expected expected = expect_like_first(facts);
  if (const std::int64_t number = integer_attribute(facts.node(), "dtype", 0); number != 0)
    expected.dtype = dtype_of_onnx_number(number);
  return expected;
}

Expected expect_range(const NodeFacts& facts) {
  for (std::size_t input = 0; input < 3; ++input) {
    if (!may_equal(facts.count(input), 1)) return misfit(facts, input, "one element");
  }
  const std::optional<std::int64_t> start = facts.integer(0);
  const std::optional<std::int64_t> limit = facts.integer(1);
  const std::optional<std::int64_t> delta = facts.integer(2);
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // so that differences stay in 64 bits
  const auto is_small = [](const auto& number) { return number && *number > -kMost && *number < kMost; };
  if (!is_small(start) || !is_small(limit) || !is_small(delta) || *delta == 0) return expect_rank(1);
  const std::int64_t distance = *delta > 0 ? *limit - *start : *start - *limit;
  const std::int64_t step = std::abs(*delta);
  return expect(KnownExtents{distance <= 0 ? 0 : (distance - 1) / step + 1});
}

}  // namespace lowtide::kernels_internal
