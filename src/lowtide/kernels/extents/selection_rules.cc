// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::string_view kAxisOfNode = "the axis of the node";

std::optional<std::size_t> axis_attribute(const NodeFacts& facts, std::size_t rank, std::int64_t otherwise) {
  return axis_of_rank(integer_attribute(facts.node(), "axis", otherwise), rank);
}

// Whether indices have the rank of the data, and are not longer in other axes than `axis`.
bool may_index(const KnownExtents& indices, const KnownExtents& data, std::size_t axis) {
  if (indices.size() != data.size()) return false;
  for (std::size_t at = 0; at < data.size(); ++at) {
    if (at != axis && indices[at] && data[at] && *indices[at] > *data[at]) return false;
  }
  return true;
}

// What GatherND and ScatterND have in common: the extents of [tuples..., slice...].
struct IndexTuples {
  std::string fault;  // not empty: indices and data do not agree
  bool is_known = true;
  KnownExtents all;
};

IndexTuples index_tuples(const KnownExtents& data, const KnownExtents& indices, std::int64_t batch_axes) {
  const auto rank = static_cast<std::int64_t>(data.size());
  const bool has_batches = batch_axes >= 0 && std::cmp_less(batch_axes, indices.size()) && batch_axes <= rank;
  if (!has_batches) return {"indices for attribute 'batch_dims'", true, {}};
  const auto batch = static_cast<std::size_t>(batch_axes);
  if (!may_equal(std::span(data).first(batch), std::span(indices).first(batch)))
    return {"the batches of the data", true, {}};
  const KnownExtent length = indices.back();
  if (!length) return {"", false, {}};
  if (*length > rank - batch_axes) return {"tuples of at most as many indices as the data have axes", true, {}};
  IndexTuples tuples{"", true, KnownExtents(indices.begin(), indices.end() - 1)};
  tuples.all.insert(tuples.all.end(), data.begin() + batch_axes + *length, data.end());
  return tuples;
}

}  // namespace

Expected expect_gather(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::optional<std::size_t> axis = axis_attribute(facts, from.size(), 0);
  if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
  KnownExtents to = from;
  const KnownExtents indices = facts.extents(1);
  const auto place = to.erase(to.begin() + static_cast<std::ptrdiff_t>(*axis));
  to.insert(place, indices.begin(), indices.end());
  return expect(std::move(to));
}

Expected expect_gather_elements(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::optional<std::size_t> axis = axis_attribute(facts, from.size(), 0);
  if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
  KnownExtents indices = facts.extents(1);
  if (!may_index(indices, from, *axis)) return misfit(facts, 1, "axes that are not longer than those of the data");
  return expect(std::move(indices));
}

Expected expect_gather_nd(const NodeFacts& facts) {
  IndexTuples tuples =
      index_tuples(facts.extents(0), facts.extents(1), integer_attribute(facts.node(), "batch_dims", 0));
  if (!tuples.fault.empty()) return misfit(facts, 1, tuples.fault);
  return tuples.is_known ? expect(std::move(tuples.all)) : expect_anything();
}

Expected expect_scatter_elements(const NodeFacts& facts) {
  const KnownExtents data = facts.extents(0);
  const std::optional<std::size_t> axis = axis_attribute(facts, data.size(), 0);
  if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
  const KnownExtents indices = facts.extents(1);
  if (!may_index(indices, data, *axis)) return misfit(facts, 1, "axes that are not longer than those of the data");
  if (!may_equal(facts.extents(2), indices)) return misfit(facts, 2, "the extents of the indices");
  return expect(data);
}

Expected expect_scatter_nd(const NodeFacts& facts) {
  const KnownExtents data = facts.extents(0);
  const IndexTuples tuples = index_tuples(data, facts.extents(1), 0);
  if (!tuples.fault.empty()) return misfit(facts, 1, tuples.fault);
  if (tuples.is_known && !may_equal(facts.count(2), product_of(tuples.all)))
    return misfit(facts, 2, "as many elements as " + to_text(tuples.all));
  return expect(data);
}

Expected expect_tensor_scatter(const NodeFacts& facts) {
  const KnownExtents cache = facts.extents(0);
  const std::optional<std::size_t> axis = axis_attribute(facts, cache.size(), -2);
  if (!axis || *axis == 0) return misfit(facts, 0, std::string(kAxisOfNode) + " behind that of the batch");
  KnownExtents update = facts.extents(1);
  const bool is_longer =
      update.size() == cache.size() && update[*axis] && cache[*axis] && *update[*axis] > *cache[*axis];
  if (update.size() == cache.size()) update[*axis].reset();
  if (is_longer || !may_equal(update, cache)) return misfit(facts, 1, "the extents of a part of the cache");
  if (facts.has(2) && !may_equal(facts.count(2), cache[0])) return misfit(facts, 2, "one index per batch");
  return expect(cache);
}

Expected expect_top_k(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const std::optional<std::size_t> axis = axis_attribute(facts, to.size(), -1);
  if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
  if (facts.has(1) && !may_equal(facts.count(1), 1)) return misfit(facts, 1, "one element");
  const KnownExtent k = facts.has(1) ? facts.integer(1) : KnownExtent(integer_attribute(facts.node(), "k", 0));
  const bool is_in_axis = !k || (*k >= 0 && (!to[*axis] || *k <= *to[*axis]));
  if (!is_in_axis) return misfit(facts, 0, "at least " + std::to_string(*k) + " elements along the axis");
  to[*axis] = k;
  return expect(to, to);
}

Expected expect_unique(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const auto* given = find_attribute<std::int64_t>(facts.node().attributes, "axis");
  Expected expected = expect_rank(1);
  KnownExtent slices = product_of(from);
  if (given != nullptr) {
    const std::optional<std::size_t> axis = axis_of_rank(*given, from.size());
    if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
    slices = from[*axis];
    KnownExtents to = from;
    to[*axis].reset();
    expected = expect(std::move(to));
  }
  expected.results.emplace_back(KnownExtents(1));
  expected.results.emplace_back(KnownExtents{slices});
  expected.results.emplace_back(KnownExtents(1));
  return expected;
}

Expected expect_arg(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const std::optional<std::size_t> axis = axis_attribute(facts, to.size(), 0);
  if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
  if (integer_attribute(facts.node(), "keepdims", 1) != 0) {
    to[*axis] = 1;
  } else {
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(*axis));
  }
  return expect(std::move(to));
}

Expected expect_compress(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const auto* given = find_attribute<std::int64_t>(facts.node().attributes, "axis");
  if (given == nullptr) to = {product_of(to)};
  const std::optional<std::size_t> axis = axis_of_rank(given == nullptr ? 0 : *given, to.size());
  if (!axis) return misfit(facts, 0, std::string(kAxisOfNode));
  const KnownExtents condition = facts.extents(1);
  const bool is_longer = condition.size() == 1 && condition[0] && to[*axis] && *condition[0] > *to[*axis];
  if (condition.size() != 1 || is_longer) return misfit(facts, 1, "at most one element per element of the axis");
  to[*axis].reset();
  return expect(std::move(to));
}

Expected expect_non_zero(const NodeFacts& facts) {
  return expect(KnownExtents{static_cast<std::int64_t>(facts.rank(0)), std::nullopt});
}

Expected expect_one_hot(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  if (!may_equal(facts.count(1), 1)) return misfit(facts, 1, "one element");
  if (!may_equal(facts.count(2), 2)) return misfit(facts, 2, "two elements");
  const std::optional<std::size_t> axis = axis_attribute(facts, to.size() + 1, -1);
  if (!axis) return contradiction("the result has no such axis");
  const std::optional<std::int64_t> depth = facts.integer(1);
  if (depth && *depth < 0) return contradiction("the depth is negative");
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(*axis), depth);
  return expect(std::move(to));
}

Expected expect_suppression(const NodeFacts& facts) {
  const KnownExtents boxes = facts.extents(0);
  const KnownExtents scores = facts.extents(1);
  if (boxes.size() != 3 || !may_equal(boxes[2], 4)) return misfit(facts, 0, "the extents [batches,boxes,4]");
  const bool agrees = scores.size() == 3 && may_equal(scores[0], boxes[0]) && may_equal(scores[2], boxes[1]);
  if (!agrees) return misfit(facts, 1, "the extents [batches,classes,boxes]");
  for (std::size_t input = 2; input < facts.node().inputs.size(); ++input) {
    if (facts.has(input) && !may_equal(facts.count(input), 1)) return misfit(facts, input, "one element");
  }
  return expect(KnownExtents{std::nullopt, 3});
}

}  // namespace lowtide::kernels_internal
