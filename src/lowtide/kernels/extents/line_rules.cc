// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"

namespace lowtide::kernels_internal {
namespace {

// A tensor of heads: [batches, heads, rows, width], or flat as [batches, rows, heads * width].
struct KnownHeads {
  KnownExtent batches;
  KnownExtent heads;
  KnownExtent rows;
  KnownExtent width;
};

// `heads` is the number of heads of a flat tensor. nullopt: the extents do not permit it.
std::optional<KnownHeads> known_heads(const KnownExtents& of, std::int64_t heads) {
  if (of.size() == 4) return KnownHeads{of[0], of[1], of[2], of[3]};
  if (of.size() != 3 || heads < 1 || (of[2] && *of[2] % heads != 0)) return std::nullopt;
  return KnownHeads{of[0], heads, of[1], of[2] ? KnownExtent(*of[2] / heads) : std::nullopt};
}

KnownExtent times(const KnownExtent& a, const KnownExtent& b) { return product_of(std::array{a, b}); }

// The keys or values of an Attention, with the rows of the past before them. nullopt: both do not agree.
std::optional<KnownHeads> with_past(const NodeFacts& facts, std::size_t now, std::size_t past, std::int64_t heads) {
  std::optional<KnownHeads> all = known_heads(facts.extents(now), heads);
  if (!all || !facts.has(past)) return all;
  const KnownExtents before = facts.extents(past);
  const bool agrees = before.size() == 4 && may_equal(before[0], all->batches) && may_equal(before[1], all->heads) &&
                      may_equal(before[3], all->width);
  if (!agrees) return std::nullopt;
  all->rows = sum_of(all->rows, before[2]);
  return all;
}

// Whether a mask is broadcast to [batches, heads, queries], in front of its keys.
bool may_mask(const KnownExtents& mask, const KnownHeads& query) {
  if (mask.empty() || mask.size() > 4) return false;
  const KnownExtents in_front(mask.begin(), mask.end() - 1);
  return may_broadcast_to(in_front, {query.batches, query.heads, query.rows});
}

// The extents of a recurrent layer.
struct LayerExtents {
  KnownExtent length;
  KnownExtent batch;
  KnownExtent input;
  KnownExtent directions;
  KnownExtent hidden;
};

// The operands of a recurrent layer after x and r, with the extents that they must have.
std::vector<std::pair<std::size_t, KnownExtents>> layer_operands(const LayerExtents& of, std::int64_t gates,
                                                                 bool is_batch_first) {
  const KnownExtents state = is_batch_first ? KnownExtents{of.batch, of.directions, of.hidden}
                                            : KnownExtents{of.directions, of.batch, of.hidden};
  const KnownExtent rows = times(gates, of.hidden);
  return {{1, {of.directions, rows, of.input}},
          {2, {of.directions, rows, of.hidden}},
          {3, {of.directions, times(2, rows)}},
          {4, {of.batch}},
          {5, state},
          {6, state},
          {7, {of.directions, times(3, of.hidden)}}};
}

}  // namespace

Expected expect_cumulate(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  if (!may_equal(facts.count(1), 1)) return misfit(facts, 1, "one element");
  const std::optional<std::int64_t> axis = facts.integer(1);
  if (axis && !axis_of_rank(*axis, from.size())) return misfit(facts, 0, "axis " + std::to_string(*axis));
  return expect(from);
}

Expected expect_reverse(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::int64_t batch = integer_attribute(facts.node(), "batch_axis", 1);
  if (from.size() < 2 || batch < 0 || batch > 1) return misfit(facts, 0, "an axis of batches and one of time");
  if (!may_equal(facts.count(1), from[static_cast<std::size_t>(batch)]))
    return misfit(facts, 1, "one length per batch");
  return expect(from);
}

Expected expect_trilu(const NodeFacts& facts) {
  if (facts.rank(0) < 2) return misfit(facts, 0, "at least two axes");
  if (facts.has(1) && !may_equal(facts.count(1), 1)) return misfit(facts, 1, "one element");
  return expect_like_first(facts);
}

Expected expect_dft(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  const Node& node = facts.node();
  for (std::size_t input : {1, 2}) {
    if (facts.has(input) && !may_equal(facts.count(input), 1)) return misfit(facts, input, "one element");
  }
  if (to.empty()) return misfit(facts, 0, "at least one axis");
  const std::size_t last = to.size() - 1;
  if (to[last] && *to[last] != 1 && *to[last] != 2) return misfit(facts, 0, "one or two numbers along the last axis");
  const bool is_old = integer_attribute(node, kSinceAttribute, 0) != 0;
  const bool is_inverse = integer_attribute(node, "inverse", 0) != 0;
  const bool is_one_sided = integer_attribute(node, "onesided", 0) != 0;
  const bool mirrors = is_inverse && is_one_sided;
  to[last] = mirrors ? 1 : 2;
  const KnownExtent given =
      facts.has(2) ? facts.integer(2) : KnownExtent(integer_attribute(node, "axis", is_old ? 1 : -2));
  if (!given) {  // any axis may have another extent
    if (facts.has(1) || is_one_sided) std::fill(to.begin(), to.end() - 1, std::nullopt);
    return expect(std::move(to));
  }
  const std::optional<std::size_t> axis = axis_of_rank(*given, to.size());
  if (!axis || *axis == last) return misfit(facts, 0, "axis " + std::to_string(*given) + " in front of the last one");
  KnownExtent length = to[*axis];
  if (mirrors) length = times(2, sum_of(length, -1));
  if (facts.has(1)) length = facts.integer(1);
  to[*axis] = is_one_sided && !is_inverse && length ? KnownExtent(*length / 2 + 1) : length;
  return expect(std::move(to));
}

Expected expect_window(const NodeFacts& facts) {
  if (!may_equal(facts.count(0), 1)) return misfit(facts, 0, "one element");
  const std::optional<std::int64_t> size = facts.integer(0);
  if (size && *size < 0) return contradiction("the size of the window is negative");
  Expected expected = expect(KnownExtents{size});
  expected.dtype = dtype_of_onnx_number(integer_attribute(facts.node(), "output_datatype", 1));
  return expected;
}

Expected expect_recurrent(const NodeFacts& facts) {
  const KnownExtents x = facts.extents(0);
  const KnownExtents r = facts.extents(2);
  if (x.size() != 3) return misfit(facts, 0, "three axes");
  if (r.size() != 3) return misfit(facts, 2, "three axes");
  const bool is_batch_first = integer_attribute(facts.node(), "layout", 0) != 0;
  const LayerExtents of{.length = x[is_batch_first ? 1 : 0],
                        .batch = x[is_batch_first ? 0 : 1],
                        .input = x[2],
                        .directions = r[0],
                        .hidden = r[2]};
  const bool is_double = text_attribute(facts.node(), "direction", "forward") == "bidirectional";
  if (!may_equal(of.directions, is_double ? 2 : 1)) return misfit(facts, 2, "the number of directions in front");
  const std::int64_t gates = facts.type() == "LSTM" ? 4 : facts.type() == "GRU" ? 3 : 1;
  for (const auto& [input, extents] : layer_operands(of, gates, is_batch_first)) {
    if (facts.has(input) && !may_equal(facts.extents(input), extents))
      return misfit(facts, input, "the extents " + to_text(extents));
  }
  const KnownExtents last = is_batch_first ? KnownExtents{of.batch, of.directions, of.hidden}
                                           : KnownExtents{of.directions, of.batch, of.hidden};
  Expected expected = expect(is_batch_first ? KnownExtents{of.batch, of.length, of.directions, of.hidden}
                                            : KnownExtents{of.length, of.directions, of.batch, of.hidden},
                             last);
  expected.results.emplace_back(last);
  return expected;
}

Expected expect_attention(const NodeFacts& facts) {
  const std::int64_t key_heads = integer_attribute(facts.node(), "kv_num_heads", 0);
  const auto query = known_heads(facts.extents(0), integer_attribute(facts.node(), "q_num_heads", 0));
  const auto key = with_past(facts, 1, 4, key_heads);
  const auto value = with_past(facts, 2, 5, key_heads);
  if (!query) return misfit(facts, 0, "heads");
  if (!key) return misfit(facts, 1, "heads as those of the past");
  if (!value) return misfit(facts, 2, "heads as those of the past");
  const bool agrees = may_equal(key->batches, query->batches) && may_equal(key->width, query->width);
  if (!agrees) return misfit(facts, 1, "the batches and the width of the queries");
  const bool is_shared = !query->heads || !key->heads || (*key->heads > 0 && *query->heads % *key->heads == 0);
  if (!is_shared) return misfit(facts, 1, "heads that those of the queries share");
  const bool is_like_key = may_equal(value->batches, query->batches) && may_equal(value->heads, key->heads) &&
                           may_equal(value->rows, key->rows);
  if (!is_like_key) return misfit(facts, 2, "the batches, heads and rows of the keys");
  if (facts.has(3) && !may_mask(facts.extents(3), *query)) return misfit(facts, 3, "extents that fit the scores");
  if (facts.has(6) && !may_equal(facts.count(6), query->batches)) return misfit(facts, 6, "one length per batch");
  Expected expected = facts.rank(0) == 3 ? expect({query->batches, query->rows, times(query->heads, value->width)})
                                         : expect({query->batches, query->heads, query->rows, value->width});
  expected.results.emplace_back(KnownExtents{key->batches, key->heads, key->rows, key->width});
  expected.results.emplace_back(KnownExtents{value->batches, value->heads, value->rows, value->width});
  expected.results.emplace_back(KnownExtents{query->batches, query->heads, query->rows, key->rows});
  return expected;
}

Expected expect_rotary(const NodeFacts& facts) {
  const auto heads = known_heads(facts.extents(0), integer_attribute(facts.node(), "num_heads", 0));
  if (!heads) return misfit(facts, 0, "heads");
  const std::int64_t given = integer_attribute(facts.node(), "rotary_embedding_dim", 0);
  const KnownExtent width = given == 0 ? heads->width : KnownExtent(given);
  if (width && (*width < 0 || *width % 2 != 0)) return contradiction("an odd number of elements is rotated");
  if (given != 0 && heads->width && given > *heads->width) return misfit(facts, 0, "as many elements as are rotated");
  const KnownExtent pairs = width ? KnownExtent(*width / 2) : std::nullopt;
  const KnownExtents cache = facts.extents(1);
  const bool has_positions = facts.has(3);
  if (cache.size() != (has_positions ? 2U : 3U) || !may_equal(cache.back(), pairs))
    return misfit(facts, 1, "one element per pair of a row");
  const KnownExtent rows = times(heads->batches, heads->rows);
  const KnownExtent named = has_positions ? facts.count(3) : product_of(std::span(cache).first(2));
  if (!may_equal(named, rows)) return misfit(facts, has_positions ? 3 : 1, "one entry per row");
  if (!may_equal(facts.count(2), product_of(cache))) return misfit(facts, 2, "the extents of the other cache");
  return expect_like_first(facts);
}

}  // namespace lowtide::kernels_internal
