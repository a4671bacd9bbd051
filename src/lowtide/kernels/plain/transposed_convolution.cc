// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <span>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/convolution.h"
#include "lowtide/kernels/plain/window.h"

namespace lowtide::kernels_internal {
namespace {

struct TransposedParameters {
  WindowAttributes window;
  std::vector<std::int64_t> output_padding;  // empty: 0
  std::vector<std::int64_t> output_shape;    // empty: it follows from the padding
  std::int64_t groups = 1;
};

// Sets the extent of the result and its padding. The window is that of the convolution from the result to the operand,
// so `in` is the extent of the result, and `out` is that of the operand.
bool set_axis(const TransposedParameters& parameters, std::size_t spatial, std::size_t at, WindowAxis& axis) {
  const WindowAttributes& window = parameters.window;
  // An output_shape may also have the batch and the channels in front.
  const std::span<const std::int64_t> shape =
      std::span(parameters.output_shape).last(parameters.output_shape.empty() ? 0 : spatial);
  const std::int64_t more = parameters.output_padding.empty() ? 0 : parameters.output_padding[at];
  const std::int64_t whole = (axis.out - 1) * axis.stride + more + (axis.kernel - 1) * axis.dilation + 1;
  const bool is_same = window.auto_pad == AutoPad::same_upper || window.auto_pad == AutoPad::same_lower;
  if (!shape.empty() || is_same) {
    axis.in = shape.empty() ? axis.out * axis.stride : shape[at];
    const std::int64_t padding = std::max<std::int64_t>(whole - axis.in, 0);
    const std::int64_t half = padding / 2;
    axis.pad_begin = window.auto_pad == AutoPad::same_upper ? half : padding - half;
    axis.pad_end = padding - axis.pad_begin;
  } else {
    const bool has_pads = window.auto_pad == AutoPad::none && !window.pads.empty();
    axis.pad_begin = has_pads ? window.pads[at] : 0;
    axis.pad_end = has_pads ? window.pads[window.pads.size() / 2 + at] : 0;
    axis.in = whole - axis.pad_begin - axis.pad_end;
  }
  return axis.in >= 0;
}

std::optional<Window> transposed_window(const TransposedParameters& parameters, const Extents& from,
                                        const Extents& weights) {
  const WindowAttributes& given = parameters.window;
  const auto spatial = static_cast<std::size_t>(std::max(from.rank() - 2, 0));
  const auto has = [](const std::vector<std::int64_t>& list, std::size_t wanted, std::int64_t least) {
    constexpr std::int64_t kMost = std::int64_t{1} << 31;  // so that products stay in 64 bits
    const auto is_valid = [&](std::int64_t value) { return value >= least && value <= kMost; };
    return (list.empty() || list.size() == wanted) && std::ranges::all_of(list, is_valid);
  };
  const bool agrees = spatial >= 1 && spatial <= kMostSpatial && weights.rank() == from.rank() &&
                      has(given.strides, spatial, 1) && has(given.dilations, spatial, 1) &&
                      has(given.pads, 2 * spatial, 0) && has(parameters.output_padding, spatial, 0);
  const std::size_t shape = parameters.output_shape.size();
  if (!agrees || (shape != 0 && shape != spatial && shape != spatial + 2)) return std::nullopt;
  Window window;
  for (std::size_t at = 0; at < spatial; ++at) {
    WindowAxis& axis = window.axes[kMostSpatial - spatial + at];
    axis.out = from[static_cast<int>(2 + at)];
    axis.kernel = weights[static_cast<int>(2 + at)];
    if (!given.strides.empty()) axis.stride = given.strides[at];
    if (!given.dilations.empty()) axis.dilation = given.dilations[at];
    if (!set_axis(parameters, spatial, at, axis)) return std::nullopt;
  }
  return window;
}

// Neighboring elements of an operand's plane, whatever its rows are, and taps. Their sums stay in the first cache.
constexpr std::int64_t kElements = 64;
constexpr std::int64_t kTaps = 4;
using Sums = std::array<std::array<float, kElements>, kTaps>;

// What some elements contribute to one plane of the result: the products of the elements of all planes of a group with
// the taps for that plane.
struct Contribution {
  const float* from = nullptr;  // the first element in the first plane
  std::int64_t plane = 0;       // elements of a plane
  const float* taps = nullptr;  // the first tap for the first plane
  std::int64_t factors = 0;     // elements between the taps of one plane and those of the next
  std::int64_t channels = 0;
  std::int64_t elements = 0;   // at most kElements
  std::int64_t tap_count = 0;  // at most kTaps
};

LOWTIDE_VECTOR_CLONES void add_products(const Contribution& of, Sums& sums) {
  for (std::int64_t tap = 0; tap < of.tap_count; ++tap) std::fill_n(sums[tap].data(), of.elements, 0.0F);
  const float* from = of.from;
  const float* taps = of.taps;
  for (std::int64_t channel = 0; channel < of.channels; ++channel, from += of.plane, taps += of.factors) {
    for (std::int64_t tap = 0; tap < of.tap_count; ++tap) {
      const float factor = taps[tap];
      float* to = sums[tap].data();
      for (std::int64_t at = 0; at < of.elements; ++at) to[at] += factor * from[at];
    }
  }
}

// The sums of one tap for neighboring elements of the operand.
struct TapSums {
  std::int64_t tap = 0;
  std::int64_t first = 0;  // element of the plane
  std::int64_t count = 0;
  const float* sums = nullptr;
};

// Adds the sums to the elements of the result to which the tap belongs. The window is that from the result to the
// operand, so its operand is the plane of the result.
void spread(const Window& window, const TapSums& of, float* to) {
  const auto& [depth, down, across] = window.axes;
  const std::int64_t tap_across = of.tap % across.kernel;
  const std::int64_t tap_down = of.tap / across.kernel % down.kernel;
  const std::int64_t tap_depth = of.tap / across.kernel / down.kernel;
  for (std::int64_t at = of.first; at < of.first + of.count;) {
    const std::int64_t column = at % across.out;
    const std::int64_t row = at / across.out % down.out;
    const std::int64_t end = std::min(of.first + of.count, at - column + across.out);
    const std::int64_t z = depth.position(at / across.out / down.out, tap_depth);
    const std::int64_t y = down.position(row, tap_down);
    if (z >= 0 && z < depth.in && y >= 0 && y < down.in) {
      float* line = to + (z * down.in + y) * across.in;
      std::int64_t x = across.position(column, tap_across);
      for (std::int64_t one = at; one < end; ++one, x += across.stride) {
        if (x >= 0 && x < across.in) line[x] += of.sums[one - of.first];
      }
    }
    at = end;
  }
}

// The planes of the result. The weights are [C, M / groups, taps...].
class TransposedPlanes {
 public:
  TransposedPlanes(const Window& window, const Operands& operands, std::int64_t groups)
      : window_(window),
        from_(elements<float>(operands.reads[0])),
        weights_(elements<float>(operands.reads[1])),
        bias_(has_operand(operands.reads, 2) ? elements<float>(operands.reads[2]) : nullptr),
        to_(mutable_elements<float>(operands.writes[0])),
        channels_(operands.reads[0].extents[1] / groups),
        groups_(groups),
        results_of_group_(operands.reads[1].extents[1]),
        taps_(window.axes[0].kernel * window.axes[1].kernel * window.axes[2].kernel),
        count_(operands.reads[0].extents[0] * groups * results_of_group_) {}

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t products() const { return count_ * channels_ * taps_ * window_.out_count(); }

  void fill_bias(std::int64_t plane) const {
    std::fill_n(to_ + plane * window_.in_count(), window_.in_count(),
                bias_ == nullptr ? 0.0F : bias_[plane % (groups_ * results_of_group_)]);
  }

  // Adds what some elements of the operand contribute to one plane of the result. Each element of the result adds its
  // terms in the order of the elements and taps, so its bits do not depend on the threads.
  void add(std::int64_t plane, std::int64_t first) const {
    const std::int64_t group = plane / results_of_group_;  // of all images
    const std::int64_t channel = group % groups_ * channels_;
    Contribution of{.from = from_ + group * channels_ * window_.out_count() + first,
                    .plane = window_.out_count(),
                    .factors = results_of_group_ * taps_,
                    .channels = channels_,
                    .elements = std::min(kElements, window_.out_count() - first)};
    const float* factors = weights_ + (channel * results_of_group_ + plane % results_of_group_) * taps_;
    Sums sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::int64_t tap = 0; tap < taps_; tap += kTaps) {
      of.taps = factors + tap;
      of.tap_count = std::min(kTaps, taps_ - tap);
      add_products(of, sums);
      for (std::int64_t one = 0; one < of.tap_count; ++one) {
        spread(window_, {tap + one, first, of.elements, sums[one].data()}, to_ + plane * window_.in_count());
      }
    }
  }

 private:
  const Window& window_;
  const float* from_;
  const float* weights_;
  const float* bias_;  // nullptr: none
  float* to_;
  std::int64_t channels_;  // of the operand in a group
  std::int64_t groups_;
  std::int64_t results_of_group_;
  std::int64_t taps_;
  std::int64_t count_;  // of all images
};

RunCode spread_all(const Window& window, const TransposedPlanes& planes, Team& team) {
  return run_in_parts(team, planes.count(), planes.products(), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t plane = begin; plane < end; ++plane) planes.fill_bias(plane);
    // The same elements for all planes, so that they stay in a cache.
    for (std::int64_t first = 0; first < window.out_count(); first += kElements) {
      for (std::int64_t plane = begin; plane < end; ++plane) planes.add(plane, first);
    }
    return RunCode::ok;
  });
}

RunStatus run_transposed(const TransposedParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::optional<Window> window = transposed_window(parameters, from, weights);
  const std::int64_t groups = parameters.groups;
  if (!window || groups < 1 || from[1] != weights[0] || from[1] % groups != 0) return {RunCode::bad_extents, 1};
  const std::int64_t channels = weights[1] * groups;
  if (has_operand(operands.reads, 2) && count_of(operands.reads[2]) != channels) return {RunCode::bad_extents, 2};
  Extents to{from[0], channels};
  for (std::size_t at = kMostSpatial + 2 - static_cast<std::size_t>(from.rank()); at < kMostSpatial; ++at) {
    to.push_back(window->axes[at].in);
  }
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  return {spread_all(*window, TransposedPlanes(*window, operands, groups), team), 0};
}

PreparedResult prepare_transposed(const PrepareInput& input) {
  const Node& node = node_of(input);
  TransposedParameters parameters{.window = window_attributes(node), .groups = integer_attribute(node, "group", 1)};
  const std::vector<std::int64_t>* padding = integers_attribute(node, "output_padding");
  const std::vector<std::int64_t>* shape = integers_attribute(node, "output_shape");
  if (padding != nullptr) parameters.output_padding = *padding;
  if (shape != nullptr) parameters.output_shape = *shape;
  return plain_kernel(input, &run_transposed, std::move(parameters));
}

constexpr std::array kTransposedTable{
    PlainOperator{on_floats("ConvTranspose"), 2, &prepare_transposed, &missing_convolution, nullptr, true},
};
constexpr std::array kTransposedOperators = operators_of(kTransposedTable);

}  // namespace

Family transposed_convolution_family() {
  return {.name = "transposed convolution",
          .operators = kTransposedOperators,
          .offer = [](const OfferInput& input) { return offer_from(kTransposedTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kTransposedTable, input); }};
}

}  // namespace lowtide::kernels_internal
