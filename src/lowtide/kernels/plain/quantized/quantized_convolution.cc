// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/quantized/integer_rows.h"
#include "lowtide/kernels/plain/quantized/quantized.h"
#include "lowtide/kernels/plain/windows/slide.h"

namespace lowtide::kernels_internal {
namespace {

// Where the operands are in Node::inputs.
struct ConvolutionOperands {
  std::size_t w = 1;
  std::size_t x_zero = 2;
  std::size_t w_zero = 3;
  std::size_t bias = 8;  // i32, or of lowtide::QLinearConv f32
};
constexpr ConvolutionOperands kOfConvInteger{};
constexpr ConvolutionOperands kOfQLinearConv{.w = 3, .x_zero = 2, .w_zero = 5};

struct IntegerConvolution {
  WindowAttributes window;
  std::int64_t groups = 1;
};

// The sums of one plane of the result.
struct IntegerPlane {
  Window window;
  std::int64_t channels = 0;  // of the operand that the plane reads
  std::int64_t taps = 1;
  std::int32_t x_zero = 0;
  std::int32_t w_zero = 0;
};

// Padding has the value of the zero point, so it adds nothing.
template <typename X, typename W>
void add_channels(const IntegerPlane& plane, const X* x, const W* w, std::int32_t* sums) {
  for (std::int64_t channel = 0; channel < plane.channels; ++channel) {
    slide_channel(plane.window, x + channel * plane.window.in_count(), w + channel * plane.taps, sums,
                  [&](W tap, const X* from, std::int64_t stride, std::int32_t* to, std::int64_t count) {
                    const std::int32_t factor = static_cast<std::int32_t>(tap) - plane.w_zero;
                    for (std::int64_t at = 0; at < count; ++at) {
                      add_wrapped(to[at], factor * (static_cast<std::int32_t>(from[at * stride]) - plane.x_zero));
                    }
                  });
  }
}

// A convolution whose extents agree.
struct IntegerConvolutionShape {
  Extents from;
  Extents weights;
  Window window;
  std::int64_t groups = 1;

  [[nodiscard]] std::int64_t taps() const { return weights.product(2, weights.rank()); }
  [[nodiscard]] std::int64_t terms() const { return weights[1] * taps(); }
  [[nodiscard]] std::int64_t in_group() const { return weights[0] / groups; }
};

// Also sets the extents of the result.
RunStatus shape_of(const IntegerConvolution& parameters, const Operands& operands, const ConvolutionOperands& of,
                   std::optional<IntegerConvolutionShape>& shape) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[of.w]));
  if (from.rank() < 3 || weights.rank() != from.rank()) return {RunCode::bad_extents, 1};
  const std::optional<Window> window = window_over(parameters.window, from, Extents(weights.values().subspan(2)));
  const std::int64_t groups = parameters.groups;
  const bool agrees = window && groups >= 1 && from[1] == weights[1] * groups && weights[0] % groups == 0 &&
                      has_one_or(operands.reads, of.x_zero, 1) && has_one_or(operands.reads, of.w_zero, weights[0]);
  if (!agrees) return {RunCode::bad_extents, 1};
  const bool has_bias = has_operand(operands.reads, of.bias);
  if (has_bias && count_of(operands.reads[of.bias]) != weights[0]) return {RunCode::bad_extents, 8};
  shape = IntegerConvolutionShape{from, weights, *window, groups};
  return set_extents(operands.writes[0], result_extents(*window, from, weights[0]));
}

// The sums of i32 start with an i32 bias.
std::int32_t first_sum(const Operands& operands, const ConvolutionOperands& of, std::int64_t out) {
  const bool has_bias = has_operand(operands.reads, of.bias) && operands.reads[of.bias].dtype == DType::i32;
  return has_bias ? elements<std::int32_t>(operands.reads[of.bias])[out] : 0;
}

// Calls finish(number of the plane, output channel, sums) for each plane of the result, whose sums are where
// plane_sums(number of the plane) says.
template <typename PlaneSums, typename Finish>
void convolve_planes(const IntegerConvolutionShape& shape, const Operands& operands, const ConvolutionOperands& of,
                     PlaneSums plane_sums, Finish finish) {
  const BoundTensor& x = operands.reads[0];
  const BoundTensor& w = operands.reads[of.w];
  IntegerPlane plane{.window = shape.window,
                     .channels = shape.weights[1],
                     .taps = shape.taps(),
                     .x_zero = zero_points(operands.reads, of.x_zero).at(0)};
  for (std::int64_t number = 0; number < shape.from[0] * shape.weights[0]; ++number) {
    const std::int64_t out = number % shape.weights[0];
    const std::int64_t first = number / shape.weights[0] * shape.from[1] + out / shape.in_group() * shape.weights[1];
    std::int32_t* sums = plane_sums(number);
    std::fill_n(sums, shape.window.out_count(), first_sum(operands, of, out));
    plane.w_zero = zero_points(operands.reads, of.w_zero).at(out);
    dispatch_bytes({x.dtype, w.dtype}, *x.bytes + first * shape.window.in_count(), *w.bytes + out * shape.terms(),
                   [&](const auto* of_x, const auto* of_w) { add_channels(plane, of_x, of_w, sums); });
    finish(number, out, sums);
  }
}

RunStatus run_integer_convolution(const IntegerConvolution& parameters, const Operands& operands, Team& /*team*/) {
  std::optional<IntegerConvolutionShape> shape;
  if (const RunStatus status = shape_of(parameters, operands, kOfConvInteger, shape); status.code != RunCode::ok) {
    return status;
  }
  const std::int64_t count = shape->window.out_count();
  convolve_planes(
      *shape, operands, kOfConvInteger,
      [&](std::int64_t plane) { return mutable_elements<std::int32_t>(operands.writes[0]) + plane * count; },
      [](std::int64_t, std::int64_t, const std::int32_t*) {});
  return {};
}

// What the results of an output channel are made with.
Requantization requantization_of_channel(const Operands& operands, std::int64_t out) {
  const BoundTensor& w_scale = operands.reads[4];
  const bool has_offset = has_operand(operands.reads, 8) && operands.reads[8].dtype == DType::f32;
  return {.factor = *elements<float>(operands.reads[1]) * elements<float>(w_scale)[count_of(w_scale) == 1 ? 0 : out],
          .offset = has_offset ? elements<float>(operands.reads[8])[out] : 0.0F,
          .scale = *elements<float>(operands.reads[6]),
          .zero = small_integer(operands.reads[7], 0)};
}

// Writes what the window covers at one place of the result, channel by channel. Padding is 0.
template <typename X>
void gather(const IntegerConvolutionShape& shape, const X* x, std::int64_t place, std::int32_t zero, std::int16_t* to) {
  const auto& [depth, height, width] = shape.window.axes;
  const std::int64_t at_w = place % width.out;
  const std::int64_t at_h = place / width.out % height.out;
  const std::int64_t at_d = place / width.out / height.out;
  const auto is_in = [](const WindowAxis& axis, std::int64_t position) { return position >= 0 && position < axis.in; };
  for (std::int64_t channel = 0; channel < shape.weights[1]; ++channel, x += shape.window.in_count()) {
    for (std::int64_t tap_d = 0; tap_d < depth.kernel; ++tap_d) {
      const std::int64_t in_d = depth.position(at_d, tap_d);
      for (std::int64_t tap_h = 0; tap_h < height.kernel; ++tap_h) {
        const std::int64_t in_h = height.position(at_h, tap_h);
        const bool has_row = is_in(depth, in_d) && is_in(height, in_h);
        const X* row = has_row ? x + (in_d * height.in + in_h) * width.in : x;
        for (std::int64_t tap_w = 0; tap_w < width.kernel; ++tap_w, ++to) {
          const std::int64_t in_w = width.position(at_w, tap_w);
          *to = has_row && is_in(width, in_w) ? static_cast<std::int16_t>(row[in_w] - zero) : std::int16_t{0};
        }
      }
    }
  }
}

// Computes the results of one group of channels of one image, for tiles of places.
void convolve_group(const IntegerConvolutionShape& shape, const Operands& operands, std::int64_t image,
                    std::int64_t group) {
  const Tile tile(operands.scratch, shape.terms());
  const std::int64_t places = shape.window.out_count();
  const std::int32_t x_zero = zero_points(operands.reads, 2).at(0);
  const ZeroPoints w_zero = zero_points(operands.reads, 5);
  const std::int64_t x_begin = (image * shape.from[1] + group * shape.weights[1]) * shape.window.in_count();
  for (std::int64_t begin = 0; begin < places; begin += tile.rows) {
    const std::int64_t count = std::min(tile.rows, places - begin);
    dispatch_byte(operands.reads[0], x_begin, [&](const auto* x) {
      for (std::int64_t at = 0; at < tile.rows; ++at) {
        gather(shape, x, begin + std::min(at, count - 1), x_zero, tile.at(at));
      }
    });
    for (std::int64_t out = group * shape.in_group(); out < (group + 1) * shape.in_group(); ++out) {
      dispatch_byte(operands.reads[3], out * shape.terms(),
                    [&](const auto* w) { widen(w, 1, tile.terms, w_zero.at(out), tile.row); });
      tile.multiply(count);
      const std::int32_t start = first_sum(operands, kOfQLinearConv, out);
      for (std::int64_t at = 0; at < count; ++at) add_wrapped(tile.sums[at], start);
      requantize(operands.writes[0], (image * shape.weights[0] + out) * places + begin, 1,
                 {tile.sums, static_cast<std::size_t>(count)}, requantization_of_channel(operands, out));
    }
  }
}

// With fewer terms or output channels, gathering them costs more than it saves.
constexpr std::int64_t kFewestTerms = 16;
constexpr std::int64_t kFewestChannels = 4;
bool gathers(std::int64_t terms, std::int64_t channels) { return terms >= kFewestTerms && channels >= kFewestChannels; }

RunStatus run_quantized_convolution(const IntegerConvolution& parameters, const Operands& operands, Team& /*team*/) {
  for (const std::uint32_t one : {1U, 6U, 7U}) {
    if (count_of(operands.reads[one]) != 1) return {RunCode::bad_extents, one};
  }
  if (operands.reads[3].rank < 1 || !has_one_or(operands.reads, 4, operands.reads[3].extents[0])) {
    return {RunCode::bad_extents, 4};
  }
  std::optional<IntegerConvolutionShape> shape;
  if (const RunStatus status = shape_of(parameters, operands, kOfQLinearConv, shape); status.code != RunCode::ok) {
    return status;
  }
  if (gathers(shape->terms(), shape->in_group())) {
    for (std::int64_t number = 0; number < shape->from[0] * shape->groups; ++number) {
      convolve_group(*shape, operands, number / shape->groups, number % shape->groups);
    }
    return {};
  }
  const std::int64_t count = shape->window.out_count();
  convolve_planes(
      *shape, operands, kOfQLinearConv, [&](std::int64_t) { return reinterpret_cast<std::int32_t*>(operands.scratch); },
      [&](std::int64_t plane, std::int64_t out, const std::int32_t* sums) {
        requantize(operands.writes[0], plane * count, 1, {sums, static_cast<std::size_t>(count)},
                   requantization_of_channel(operands, out));
      });
  return {};
}

bool is_byte_operand(const Graph& graph, const std::optional<TensorId>& id) { return is_byte(graph.tensor(*id).dtype); }

std::string missing_integer_convolution(const Graph& graph, const Node& node) {
  const bool has_types = is_byte_operand(graph, node.inputs[1]) && graph.tensor(*node.outputs[0]).dtype == DType::i32;
  return has_types ? missing_spatial(graph, node) : "the weights are not i8 or u8, or the result is not i32";
}
template <DType bias>
std::string missing_quantized_convolution(const Graph& graph, const Node& node) {
  for (const std::size_t scale : {1, 4, 6}) {
    if (computed_type(graph, node, scale) != DType::f32) return "the scales are not f32";
  }
  const bool has_types = is_byte_operand(graph, node.inputs[3]) && is_byte_operand(graph, node.outputs[0]) &&
                         computed_type(graph, node, 8).value_or(bias) == bias;
  return has_types ? missing_spatial(graph, node)
                   : "the weights or the result are not i8 or u8, or the bias is not " + std::string(to_string(bias));
}

Bytes convolution_scratch(const Graph& graph, const Node& node, int /*threads*/) {
  const std::vector<std::int64_t>& weights = graph.tensor(*node.inputs[3]).shape.extents();
  const std::int64_t groups = integer_attribute(node, "group", 1);
  const std::int64_t channels = weights.empty() || groups < 1 ? 0 : weights[0] / groups;
  std::int64_t terms = 1;
  for (std::size_t at = 1; at < weights.size(); ++at) terms *= weights[at];
  const Bytes tile = tile_bytes(terms);
  if (gathers(terms, channels) && !graph.tensor(*node.inputs[3]).shape.has_upper_bounds()) return tile;
  const std::vector<std::int64_t>& extents = graph.tensor(*node.outputs[0]).shape.extents();
  Bytes plane(4);
  for (std::size_t at = 2; at < extents.size(); ++at) plane = plane * extents[at];
  return gathers(terms, channels) ? std::max(plane, tile) : plane;
}

template <PlainRun<IntegerConvolution> run>
PreparedResult prepare_integers(const PrepareInput& input) {
  return plain_kernel(
      input, run, IntegerConvolution{window_attributes(node_of(input)), integer_attribute(node_of(input), "group", 1)});
}

// Sorted by type.
constexpr std::array kQuantizedConvolutionTable{
    PlainOperator{.op = {"", "ConvInteger", kByteTypes},
                  .operands = 2,
                  .prepare = &prepare_integers<&run_integer_convolution>,
                  .missing = &missing_integer_convolution},
    PlainOperator{.op = {"", "QLinearConv", kByteTypes},
                  .operands = 8,
                  .prepare = &prepare_integers<&run_quantized_convolution>,
                  .missing = &missing_quantized_convolution<DType::i32>,
                  .scratch = &convolution_scratch,
                  .widens_half = true},
};
constexpr std::array kQuantizedConvolutionOperators = operators_of(kQuantizedConvolutionTable);

constexpr std::array kBiasedConvolutionTable{
    PlainOperator{.op = {kOwnDomain, kQuantizedConvType, kByteTypes},
                  .operands = 9,
                  .prepare = &prepare_integers<&run_quantized_convolution>,
                  .missing = &missing_quantized_convolution<DType::f32>,
                  .scratch = &convolution_scratch,
                  .widens_half = true},
};
constexpr std::array kBiasedConvolutionOperators = operators_of(kBiasedConvolutionTable);

}  // namespace

Family quantized_convolution_family() {
  return {.name = "quantized convolutions",
          .operators = kQuantizedConvolutionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kQuantizedConvolutionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kQuantizedConvolutionTable, input); }};
}

Family biased_convolution_family() {
  return {.name = "biased convolutions",
          .operators = kBiasedConvolutionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kBiasedConvolutionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kBiasedConvolutionTable, input); }};
}

}  // namespace lowtide::kernels_internal
