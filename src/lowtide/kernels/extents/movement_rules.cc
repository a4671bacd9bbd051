// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "lowtide/base/limits.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/ceil_div.h"
#include "lowtide/kernels/common/slice_axis.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

using NumberList = std::vector<std::int64_t>;
constexpr std::int64_t kMostPadding = std::int64_t{1} << 40;

// A list that is an operand in newer opsets and an attribute in older ones.
struct GivenList {
  bool is_given = false;
  std::optional<NumberList> numbers;  // nullopt: absent, or known only in a run
};

GivenList given_list(const NodeFacts& facts, std::size_t input, std::string_view attribute) {
  if (facts.has(input)) return {true, facts.integers(input)};
  const NumberList* listed = attribute.empty() ? nullptr : integers_attribute(facts.node(), attribute);
  return listed == nullptr ? GivenList() : GivenList{true, *listed};
}

// The axes of a list as numbers from the front. nullopt: one is outside of the operand.
std::optional<std::vector<std::size_t>> axes_from_front(const NumberList& list, std::size_t rank) {
  std::vector<std::size_t> axes;
  for (std::int64_t value : list) {
    const std::optional<std::size_t> axis = axis_of_rank(value, rank);
    if (!axis) return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

NumberList first_axes(std::size_t count) {
  NumberList axes;
  for (std::size_t axis = 0; axis < count; ++axis) axes.push_back(static_cast<std::int64_t>(axis));
  return axes;
}

// The extents of the operand, where the data decide those of these axes.
Expected expect_open_axes(const NodeFacts& facts, const std::vector<std::size_t>& axes) {
  KnownExtents to = facts.extents(0);
  for (std::size_t axis : axes) to[axis].reset();
  return expect(std::move(to));
}

// The extents of the parts of a Split.
std::vector<KnownExtent> split_extents(const NodeFacts& facts, const GivenList& sizes, const KnownExtent& extent) {
  const auto parts = static_cast<std::int64_t>(facts.node().outputs.size());
  if (sizes.numbers) return known(*sizes.numbers);
  std::vector<KnownExtent> all(static_cast<std::size_t>(parts));
  if (sizes.is_given || !extent || parts == 0) return all;
  const std::int64_t most = ceil_div(*extent, parts);
  std::int64_t rest = *extent;
  for (KnownExtent& part : all) {
    part = std::min(rest, most);
    rest -= *part;
  }
  return all;
}

}  // namespace

Expected expect_concat(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const std::optional<std::size_t> axis = axis_of_rank(integer_attribute(facts.node(), "axis", 0), to.size());
  if (!axis) return misfit(facts, 0, "the axis of the Concat");
  for (std::size_t input = 1; input < facts.node().inputs.size(); ++input) {
    if (!facts.has(input)) return contradiction("an operand is omitted");
    KnownExtents from = facts.extents(input);
    if (from.size() != to.size()) return misfit(facts, input, std::to_string(to.size()) + " axes");
    to[*axis] = sum_of(to[*axis], from[*axis]);
    from[*axis] = to[*axis];
    if (!may_equal(from, to)) return misfit(facts, input, "the extents of the other operands except in the axis");
    for (std::size_t at = 0; at < to.size(); ++at) {
      if (!to[at] && at != *axis) to[at] = from[at];
    }
  }
  return expect(std::move(to));
}

Expected expect_split(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::optional<std::size_t> axis = axis_of_rank(integer_attribute(facts.node(), "axis", 0), from.size());
  if (!axis) return misfit(facts, 0, "the axis of the Split");
  const GivenList sizes = given_list(facts, 1, "split");
  const std::vector<KnownExtent> extents = split_extents(facts, sizes, from[*axis]);
  if (extents.size() != facts.node().outputs.size()) return contradiction("the number of sizes is not that of results");
  KnownExtent sum = 0;
  Expected expected;
  for (const KnownExtent& extent : extents) {
    if (extent && *extent < 0) return contradiction("a size of the Split is negative");
    sum = sum_of(sum, extent);
    KnownExtents to = from;
    to[*axis] = extent;
    expected.results.emplace_back(std::move(to));
  }
  if (!may_equal(sum, from[*axis])) return misfit(facts, 0, "an axis of the sum of all sizes");
  return expected;
}

Expected expect_slice(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const GivenList starts = given_list(facts, 1, "starts");
  const GivenList ends = given_list(facts, 2, "ends");
  const GivenList axes = given_list(facts, 3, "axes");
  const GivenList steps = given_list(facts, 4, "");
  const auto has_content = [](const GivenList& list) { return !list.is_given || list.numbers; };
  std::optional<NumberList> listed = axes.numbers;
  if (!axes.is_given && starts.numbers) listed = first_axes(starts.numbers->size());
  if (!listed) return expect_rank(from.size());
  const auto sliced = axes_from_front(*listed, from.size());
  if (!sliced) return misfit(facts, 0, "the axes " + to_text(known(*listed)));
  if (!has_content(starts) || !has_content(ends) || !has_content(steps)) return expect_open_axes(facts, *sliced);
  const std::size_t count = sliced->size();
  const bool agrees = starts.is_given && ends.is_given && starts.numbers->size() == count &&
                      ends.numbers->size() == count && (!steps.is_given || steps.numbers->size() == count);
  if (!agrees) return contradiction("starts, ends, axes and steps have different lengths");
  KnownExtents to = from;
  for (std::size_t at = 0; at < count; ++at) {
    const std::int64_t step = steps.is_given ? (*steps.numbers)[at] : 1;
    if (step == 0) return contradiction("a step is 0");
    KnownExtent& extent = to[(*sliced)[at]];
    if (extent) extent = slice_axis(*extent, (*starts.numbers)[at], (*ends.numbers)[at], step).count;
  }
  return expect(std::move(to));
}

Expected expect_pad(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  if (facts.has(2) && !may_equal(facts.count(2), 1)) return misfit(facts, 2, "one element");
  const GivenList axes = given_list(facts, 3, "");
  const NumberList listed = axes.numbers.value_or(first_axes(from.size()));
  if (axes.is_given && !axes.numbers) return expect_rank(from.size());
  const auto padded = axes_from_front(listed, from.size());
  if (!padded) return misfit(facts, 0, "the axes " + to_text(known(listed)));
  const GivenList pads = given_list(facts, 1, "pads");
  if (!pads.is_given) return contradiction("there are no pads");
  if (!pads.numbers) return expect_open_axes(facts, *padded);
  if (pads.numbers->size() != 2 * padded->size()) return contradiction("there are not two pads for each axis");
  KnownExtents to = from;
  for (std::size_t at = 0; at < padded->size(); ++at) {
    const std::int64_t before = (*pads.numbers)[at];
    const std::int64_t after = (*pads.numbers)[at + padded->size()];
    const bool is_small = std::max(before, after) <= kMostPadding && std::min(before, after) >= -kMostPadding;
    if (!is_small) return contradiction("a pad is larger than any tensor");
    KnownExtent& extent = to[(*padded)[at]];
    extent = sum_of(extent, before + after);
    if (extent && *extent < 0) return misfit(facts, 0, "more elements than its pads take away");
  }
  return expect(std::move(to));
}

Expected expect_center_crop(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const NumberList* attribute = integers_attribute(facts.node(), "axes");
  const NumberList listed = attribute == nullptr ? first_axes(to.size()) : *attribute;
  const auto axes = axes_from_front(listed, to.size());
  if (!axes) return misfit(facts, 0, "the axes " + to_text(known(listed)));
  if (!may_equal(facts.count(1), static_cast<std::int64_t>(axes->size())))
    return misfit(facts, 1, "one extent per axis");
  const std::optional<NumberList> wanted = facts.integers(1);
  if (!wanted) return expect_open_axes(facts, *axes);
  for (std::size_t at = 0; at < axes->size(); ++at) {
    if ((*wanted)[at] < 0) return contradiction("an extent is negative");
    to[(*axes)[at]] = (*wanted)[at];
  }
  return expect(std::move(to));
}

Expected expect_expand(const NodeFacts& facts) {
  KnownExtents wanted;
  if (const std::optional<NumberList> list = facts.integers(1)) {
    wanted = known(*list);
  } else {
    const KnownExtent count = facts.count(1);
    if (!count || *count > limits::kMaxRank) return expect_anything();
    wanted.resize(static_cast<std::size_t>(*count));
  }
  std::optional<KnownExtents> to = broadcast_known(facts.extents(0), wanted);
  return to ? expect(*std::move(to)) : misfit(facts, 0, "extents that are broadcast to " + to_text(wanted));
}

Expected expect_tile(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  if (!may_equal(facts.count(1), static_cast<std::int64_t>(to.size()))) return misfit(facts, 1, "one number per axis");
  const std::optional<NumberList> repeats = facts.integers(1);
  if (!repeats) return expect_rank(to.size());
  for (std::size_t axis = 0; axis < to.size(); ++axis) {
    if ((*repeats)[axis] < 0) return contradiction("a number of repeats is negative");
    to[axis] = product_of(std::array{to[axis], KnownExtent((*repeats)[axis])});
  }
  return expect(std::move(to));
}

Expected expect_transpose(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const NumberList* order = integers_attribute(facts.node(), "perm");
  if (order == nullptr) return expect(KnownExtents(from.rbegin(), from.rend()));
  std::vector<bool> is_used(from.size());
  KnownExtents to;
  for (std::int64_t value : *order) {
    const bool is_axis = value >= 0 && static_cast<std::size_t>(value) < from.size();
    if (!is_axis || is_used[static_cast<std::size_t>(value)]) break;
    is_used[static_cast<std::size_t>(value)] = true;
    to.push_back(from[static_cast<std::size_t>(value)]);
  }
  const bool is_whole = to.size() == from.size() && order->size() == from.size();
  return is_whole ? expect(std::move(to)) : misfit(facts, 0, "the axes " + to_text(known(*order)) + ", each once");
}

Expected expect_depth_to_space(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::int64_t block = integer_attribute(facts.node(), "blocksize", 0);
  const bool is_block = block >= 1 && block < std::int64_t{1} << 31;
  const bool agrees = is_block && from.size() == 4 && (!from[1] || *from[1] % (block * block) == 0);
  if (!agrees) return misfit(facts, 0, "four axes, with whole blocks of channels");
  const auto times = [&](const KnownExtent& extent) { return product_of(std::array{extent, KnownExtent(block)}); };
  const KnownExtent channels = from[1] ? KnownExtent(*from[1] / (block * block)) : std::nullopt;
  return expect(KnownExtents{from[0], channels, times(from[2]), times(from[3])});
}

Expected expect_space_to_depth(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::int64_t block = integer_attribute(facts.node(), "blocksize", 0);
  const bool is_block = block >= 1 && block < std::int64_t{1} << 31;
  const auto is_whole = [&](const KnownExtent& extent) { return !extent || *extent % block == 0; };
  const bool agrees = is_block && from.size() == 4 && is_whole(from[2]) && is_whole(from[3]);
  if (!agrees) return misfit(facts, 0, "four axes, with whole blocks of rows and columns");
  const auto part = [&](const KnownExtent& extent) { return extent ? KnownExtent(*extent / block) : std::nullopt; };
  const KnownExtent channels = product_of(std::array{from[1], KnownExtent(block * block)});
  return expect(KnownExtents{from[0], channels, part(from[2]), part(from[3])});
}

}  // namespace lowtide::kernels_internal
