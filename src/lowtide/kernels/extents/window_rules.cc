// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <utility>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/extents/known_window.h"
#include "lowtide/kernels/extents/rules_of_kinds.h"
#include "lowtide/kernels/plain/windows/transposed_window.h"

namespace lowtide::kernels_internal {
namespace {

using WindowList = std::vector<std::int64_t>;
constexpr std::int64_t kMostOfList = std::int64_t{1} << 31;  // so that products stay in 64 bits

// Where the operands of a convolution are.
struct ConvolutionInputs {
  std::size_t weights = 1;
  std::size_t bias = 2;
};

// Whether a list has this many small numbers.
bool is_list(const WindowList& list, std::size_t wanted, std::int64_t least) {
  const auto is_small = [&](std::int64_t value) { return value >= least && value <= kMostOfList; };
  return list.size() == wanted && std::ranges::all_of(list, is_small);
}

std::string one_per_channel(const KnownExtent& channels) {
  return "the shape " + to_text(KnownExtents{channels}) + ", one element per channel of the result";
}

Expected expect_convolution_of(const NodeFacts& facts, const ConvolutionInputs& of) {
  const KnownExtents from = facts.extents(0);
  const KnownExtents weights = facts.extents(of.weights);
  if (from.size() < 3) return misfit(facts, 0, "batches, channels and a spatial axis");
  if (weights.size() != from.size()) return misfit(facts, of.weights, std::to_string(from.size()) + " axes");
  const std::int64_t groups = integer_attribute(facts.node(), "group", 1);
  const bool agrees = groups >= 1 && may_equal(from[1], product_of(std::array{weights[1], KnownExtent(groups)})) &&
                      (!weights[0] || *weights[0] % groups == 0);
  if (!agrees) return misfit(facts, of.weights, "the channels of " + to_text(from) + " in its groups");
  if (facts.has(of.bias) && !may_equal(facts.count(of.bias), weights[0]))
    return misfit(facts, of.bias, one_per_channel(weights[0]));
  std::string other = misfit_of_window(facts.graph(), facts.node(), of.weights);
  if (!other.empty()) return contradiction(std::move(other));
  const std::optional<KnownExtents> spatial =
      known_window(window_attributes(facts.node()), from, KnownExtents(weights.begin() + 2, weights.end()));
  if (!spatial) return misfit(facts, 0, "extents for the window of the node");
  return expect(with_spatial(from[0], weights[0], *spatial));
}

}  // namespace

Expected expect_convolution(const NodeFacts& facts) { return expect_convolution_of(facts, {}); }

Expected expect_integer_convolution(const NodeFacts& facts) {
  const KnownExtents weights = facts.extents(1);
  if (facts.has(2) && !may_equal(facts.count(2), 1)) return misfit(facts, 2, "one element");
  const bool has_zeros =
      !facts.has(3) || may_equal(facts.count(3), 1) || (!weights.empty() && may_equal(facts.count(3), weights[0]));
  if (!has_zeros) return misfit(facts, 3, "one element, or one per channel of the result");
  return expect_convolution_of(facts, {.weights = 1, .bias = 4});
}

Expected expect_quantized_convolution(const NodeFacts& facts) {
  for (std::size_t one : {1, 2, 6, 7}) {
    if (!may_equal(facts.count(one), 1)) return misfit(facts, one, "one element");
  }
  const KnownExtents weights = facts.extents(3);
  for (std::size_t of_channel : {4, 5}) {
    const KnownExtent count = facts.count(of_channel);
    const bool agrees = may_equal(count, 1) || (!weights.empty() && may_equal(count, weights[0]));
    if (!agrees) return misfit(facts, of_channel, "one element, or one per channel of the result");
  }
  return expect_convolution_of(facts, {.weights = 3, .bias = 8});
}

Expected expect_deformed_convolution(const NodeFacts& facts) {
  if (facts.rank(0) != 4) return misfit(facts, 0, "four axes");
  Expected expected = expect_convolution_of(facts, {.weights = 1, .bias = 3});
  if (!expected.fault.empty()) return expected;
  const KnownExtents from = facts.extents(0);
  const KnownExtents weights = facts.extents(1);
  const KnownExtents& to = *expected.results[0];
  const std::int64_t groups = integer_attribute(facts.node(), "offset_group", 1);
  if (groups < 1 || (from[1] && *from[1] % groups != 0)) return misfit(facts, 0, "channels for the groups of offsets");
  const KnownExtent places = product_of(std::array{from[0], KnownExtent(groups), weights[2], weights[3], to[2], to[3]});
  if (!may_equal(facts.count(2), product_of(std::array{places, KnownExtent(2)})))
    return misfit(facts, 2, "two offsets per tap");
  if (facts.has(4) && !may_equal(facts.count(4), places)) return misfit(facts, 4, "one element per tap");
  return expected;
}

Expected expect_transposed_convolution(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const KnownExtents weights = facts.extents(1);
  if (from.size() < 3) return misfit(facts, 0, "batches, channels and a spatial axis");
  if (weights.size() != from.size()) return misfit(facts, 1, std::to_string(from.size()) + " axes");
  const std::size_t spatial = from.size() - 2;
  const std::int64_t groups = integer_attribute(facts.node(), "group", 1);
  const bool agrees = groups >= 1 && may_equal(from[1], weights[0]) && (!from[1] || *from[1] % groups == 0);
  if (!agrees) return misfit(facts, 1, "the channels of " + to_text(from));
  const KnownExtent channels = product_of(std::array{weights[1], KnownExtent(groups)});
  if (facts.has(2) && !may_equal(facts.count(2), channels)) return misfit(facts, 2, one_per_channel(channels));
  std::string other = misfit_of_window(facts.graph(), facts.node(), 1);
  if (!other.empty()) return contradiction(std::move(other));
  const TransposedAttributes attributes = transposed_attributes(facts.node());
  if (!has_axes(attributes, spatial))
    return contradiction("the attributes of the window do not have one number per spatial axis");
  KnownExtents to{from[0], channels};
  for (std::size_t at = 0; at < spatial; ++at) {
    to.emplace_back(given_extent(attributes, spatial, at));
    const KnownExtent& extent = from[2 + at];
    const KnownExtent& taps = weights[2 + at];
    if (!extent || !taps) continue;
    const auto axis = transposed_axis(attributes, spatial, at, *extent, *taps);
    if (!axis) return misfit(facts, 0, "more elements than its padding takes away");
    to.back() = axis->in;
  }
  return expect(std::move(to));
}

Expected expect_pool(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  if (from.size() < 3) return misfit(facts, 0, "batches, channels and a spatial axis");
  const WindowAttributes window = window_attributes(facts.node());
  const std::optional<KnownExtents> spatial = known_window(window, from, known(window.kernel));
  if (!spatial) return misfit(facts, 0, "extents for the window of the node");
  const KnownExtents to = with_spatial(from[0], from[1], *spatial);
  return expect(to, to);
}

Expected expect_global_pool(const NodeFacts& facts) {
  KnownExtents to = facts.extents(0);
  if (to.size() < 3) return misfit(facts, 0, "batches, channels and a spatial axis");
  std::fill(to.begin() + 2, to.end(), 1);
  return expect(std::move(to));
}

Expected expect_unpool(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  const std::size_t spatial = from.size() < 2 ? 0 : from.size() - 2;
  const WindowAttributes window = window_attributes(facts.node());
  if (spatial == 0 || !has_unpool_axes(window, spatial)) return misfit(facts, 0, "extents for the window of the node");
  if (!may_equal(facts.count(1), product_of(from))) return misfit(facts, 1, "one index per element");
  if (facts.has(2)) {
    if (!may_equal(facts.count(2), static_cast<std::int64_t>(from.size())))
      return misfit(facts, 2, "one extent per axis");
    const std::optional<WindowList> given = facts.integers(2);
    return given ? expect(known(*given)) : expect_rank(from.size());
  }
  KnownExtents to{from[0], from[1]};
  for (std::size_t at = 0; at < spatial; ++at) {
    const KnownExtent& extent = from[2 + at];
    to.push_back(extent ? unpooled_extent(window, spatial, at, *extent) : std::nullopt);
    if (extent && !to.back()) return misfit(facts, 0, "more elements than its padding takes away");
  }
  return expect(std::move(to));
}

Expected expect_col2im(const NodeFacts& facts) {
  const KnownExtents from = facts.extents(0);
  if (from.size() != 3) return misfit(facts, 0, "three axes");
  const std::optional<WindowList> image = facts.integers(1);
  const std::optional<WindowList> block = facts.integers(2);
  const KnownExtent axes = facts.count(1);
  if (!image || !block)
    return axes && *axes <= 3 ? expect_rank(static_cast<std::size_t>(*axes) + 2) : expect_anything();
  const bool is_image = is_list(*image, image->size(), 0) && is_list(*block, image->size(), 1) && !block->empty();
  const KnownExtent taps = is_image ? product_of(known(*block)) : KnownExtent();
  if (!taps || (from[1] && *from[1] % *taps != 0)) return misfit(facts, 2, "the axes of the image, with all taps");
  const KnownExtents to = with_spatial(from[0], from[1] ? KnownExtent(*from[1] / *taps) : std::nullopt, known(*image));
  const std::optional<KnownExtents> places = known_window(window_attributes(facts.node()), to, known(*block));
  if (!places || !may_equal(product_of(*places), from[2]))
    return misfit(facts, 0, "one column per place of the window");
  return expect(to);
}

}  // namespace lowtide::kernels_internal
