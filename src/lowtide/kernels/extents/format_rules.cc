// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/base/enum_names.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/known_window.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"
#include "lowtide/target/formats.h"

namespace lowtide::kernels_internal {
namespace {

// Tensors in formats have extents that are all known. What the attributes leave open, the family of the node refuses.
std::optional<Format> named_format(const NodeFacts& facts, std::string_view attribute) {
  return from_string<Format>(text_attribute(facts.node(), attribute, ""));
}

std::optional<KnownExtents> extents_in_model(const NodeFacts& facts, std::size_t input, Format format,
                                             std::int64_t channels) {
  const Shape& stored = facts.tensor(input).shape;
  if (stored.has_upper_bounds() || channels < 1) return std::nullopt;
  const std::optional<Shape> shape = model_shape(format, stored, channels);
  return shape ? std::optional(known(shape->extents())) : std::nullopt;
}

// Requires: one or two spatial axes.
Expected expect_in_format(Format format, const KnownExtents& model) {
  const std::optional<std::vector<std::int64_t>> extents = all_known(model);
  return extents ? expect(known(shape_in(format, Shape(*extents)).extents())) : expect_anything();
}

bool is_image(const KnownExtents& model) { return model.size() == 3 || model.size() == 4; }

// The extents of a tensor whose order of axes an attribute states, as [..., rows, columns].
std::optional<KnownExtents> ordered(const NodeFacts& facts, const KnownExtents& of, std::string_view attribute) {
  const auto* order = integers_attribute(facts.node(), attribute);
  if (order == nullptr) return of;
  KnownExtents all;
  for (std::int64_t axis : *order) {
    if (axis < 0 || std::cmp_greater_equal(axis, of.size())) return std::nullopt;
    all.push_back(of[static_cast<std::size_t>(axis)]);
  }
  return all.size() == of.size() ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

Expected expect_format_convolution(const NodeFacts& facts) {
  const auto* weights = integers_attribute(facts.node(), kWeightsAttribute);
  const std::optional<Format> input = named_format(facts, kInputFormatAttribute);
  const std::optional<Format> output = named_format(facts, kOutputFormatAttribute);
  const std::int64_t groups = integer_attribute(facts.node(), "group", 1);
  const bool has_weights = weights != nullptr && (weights->size() == 3 || weights->size() == 4) && groups >= 1 &&
                           std::ranges::all_of(*weights, [](std::int64_t extent) { return extent >= 1; });
  if (!has_weights || !input || !output) return contradiction("its attributes do not describe a convolution");
  std::int64_t channels = 0;
  if (__builtin_mul_overflow((*weights)[1], groups, &channels)) return contradiction("it has too many channels");
  const auto from = extents_in_model(facts, 0, *input, channels);
  if (!from || from->size() != weights->size() || (*from)[1] != channels)
    return misfit(facts, 0, std::to_string(channels) + " channels in its format");
  if (facts.has(2) && !may_equal(facts.count(2), weights->front()))
    return misfit(facts, 2, "one element per channel of the result");
  const auto spatial = known_window(window_attributes(facts.node()), *from, known(std::span(*weights).subspan(2)));
  if (!spatial) return misfit(facts, 0, "extents for the window of the node");
  return expect_in_format(*output, with_spatial((*from)[0], weights->front(), *spatial));
}

Expected expect_format_pool(const NodeFacts& facts) {
  const std::optional<Format> format = named_format(facts, kFormatAttribute);
  if (!format) return contradiction("its attributes do not describe a pool");
  const auto from = extents_in_model(facts, 0, *format, integer_attribute(facts.node(), kChannelsAttribute, 0));
  if (!from || !is_image(*from)) return misfit(facts, 0, "its channels in its format");
  std::optional<KnownExtents> spatial = KnownExtents(from->size() - 2, 1);
  if (facts.type() != "GlobalAveragePool") {
    const WindowAttributes window = window_attributes(facts.node());
    spatial = known_window(window, *from, known(window.kernel));
  }
  if (!spatial) return misfit(facts, 0, "extents for the window of the node");
  return expect_in_format(*format, with_spatial((*from)[0], (*from)[1], *spatial));
}

Expected expect_format_concat(const NodeFacts& facts) {
  const std::optional<Format> format = named_format(facts, kFormatAttribute);
  const auto* channels = integers_attribute(facts.node(), kChannelsAttribute);
  if (!format || channels == nullptr || channels->size() != facts.node().inputs.size())
    return contradiction("its attributes do not describe a concat");
  std::optional<KnownExtents> to;
  for (std::size_t input = 0; input < channels->size(); ++input) {
    const auto from = facts.has(input) ? extents_in_model(facts, input, *format, (*channels)[input]) : std::nullopt;
    if (!from || !is_image(*from)) return contradiction("operand " + std::to_string(input) + " is not in its format");
    if (!to) {
      to = from;
      continue;
    }
    KnownExtents other = *from;
    (*to)[1] = sum_of((*to)[1], other[1]);
    other[1] = (*to)[1];
    if (other != *to) return misfit(facts, input, "the extents of the other operands except in the channels");
  }
  return to ? expect_in_format(*format, *to) : contradiction("it has no operand");
}

Expected expect_reorder(const NodeFacts& facts) {
  const std::optional<Format> input = named_format(facts, kInputFormatAttribute);
  const std::optional<Format> output = named_format(facts, kOutputFormatAttribute);
  if (!input || !output) return contradiction("its attributes do not name two formats");
  const std::int64_t channels = integer_attribute(facts.node(), kChannelsAttribute, 0);
  const auto from = extents_in_model(facts, 0, *input, channels);
  if (!from || !is_image(*from) || (*from)[1] != channels) return misfit(facts, 0, "its channels in its format");
  return expect_in_format(*output, *from);
}

Expected expect_format_transpose(const NodeFacts& facts) {
  const std::optional<Format> input = named_format(facts, kInputFormatAttribute);
  const std::optional<Format> output = named_format(facts, kOutputFormatAttribute);
  const auto* order = integers_attribute(facts.node(), "perm");
  if (!input || !output || order == nullptr) return contradiction("its attributes do not describe a transpose");
  const std::int64_t channels = integer_attribute(facts.node(), kChannelsAttribute, 0);
  const auto from =
      *input == Format::plain ? std::optional(facts.extents(0)) : extents_in_model(facts, 0, *input, channels);
  const std::optional<KnownExtents> to = from ? ordered(facts, *from, "perm") : std::nullopt;
  if (!to || !is_image(*to)) return misfit(facts, 0, "the axes of the node");
  return expect_in_format(*output, *to);
}

Expected expect_fused_attention(const NodeFacts& facts) {
  const auto query = ordered(facts, facts.extents(0), kQueryOrderAttribute);
  const auto key = ordered(facts, facts.extents(1), kKeyOrderAttribute);
  const auto value = ordered(facts, facts.extents(2), kValueOrderAttribute);
  if (!query || !key || !value) return contradiction("an order does not have the axes of its operand");
  const std::size_t rank = query->size();
  if (rank < 2 || key->size() != rank || value->size() != rank) return misfit(facts, 1, "the axes of the queries");
  KnownExtents wanted = *query;
  wanted[rank - 2] = query->back();
  wanted[rank - 1] = key->back();
  if (!may_equal(*key, wanted)) return misfit(facts, 1, "the batches and the width of the queries");
  wanted[rank - 2] = key->back();
  wanted[rank - 1] = value->back();
  if (!may_equal(*value, wanted)) return misfit(facts, 2, "the batches and the keys");
  KnownExtents product = *query;
  product.back() = key->back();
  if (facts.has(3) && !may_broadcast_to(facts.extents(3), product)) return misfit(facts, 3, "extents of a mask");
  product.back() = value->back();
  const auto* order = integers_attribute(facts.node(), kResultOrderAttribute);
  if (order == nullptr) return expect(std::move(product));
  KnownExtents to(rank);
  if (!ordered(facts, to, kResultOrderAttribute)) return contradiction("the order of the result has other axes");
  for (std::size_t axis = 0; axis < rank; ++axis) to[static_cast<std::size_t>((*order)[axis])] = product[axis];
  return expect(std::move(to));
}

}  // namespace lowtide::kernels_internal
