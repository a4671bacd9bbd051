// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/quantized.h"
#include "lowtide/kernels/plain/slide.h"

namespace lowtide::kernels_internal {
namespace {

// Where the operands are in Node::inputs.
struct ConvolutionOperands {
  std::size_t w = 1;
  std::size_t x_zero = 2;
  std::size_t w_zero = 3;
  std::size_t bias = 8;  // i32
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

// Calls finish(number of the plane, output channel, sums) for each plane of the result.
template <typename PlaneSums, typename Finish>
RunStatus convolve_integers(const IntegerConvolution& parameters, const Operands& operands,
                            const ConvolutionOperands& of, PlaneSums plane_sums, Finish finish) {
  const BoundTensor& x = operands.reads[0];
  const BoundTensor& w = operands.reads[of.w];
  const Extents from(extents_of(x));
  const Extents weights(extents_of(w));
  if (from.rank() < 3 || weights.rank() != from.rank()) return {RunCode::bad_extents, 1};
  const std::optional<Window> window = window_over(parameters.window, from, Extents(weights.values().subspan(2)));
  const std::int64_t groups = parameters.groups;
  const bool agrees = window && groups >= 1 && from[1] == weights[1] * groups && weights[0] % groups == 0 &&
                      has_one_or(operands.reads, of.x_zero, 1) && has_one_or(operands.reads, of.w_zero, weights[0]);
  if (!agrees) return {RunCode::bad_extents, 1};
  const bool has_bias = has_operand(operands.reads, of.bias);
  if (has_bias && count_of(operands.reads[of.bias]) != weights[0]) return {RunCode::bad_extents, 8};
  const RunStatus status = set_extents(operands.writes[0], result_extents(*window, from, weights[0]));
  if (status.code != RunCode::ok) return status;
  IntegerPlane plane{.window = *window,
                     .channels = weights[1],
                     .taps = weights.product(2, weights.rank()),
                     .x_zero = zero_points(operands.reads, of.x_zero).at(0)};
  for (std::int64_t number = 0; number < from[0] * weights[0]; ++number) {
    const std::int64_t out = number % weights[0];
    const std::int64_t first = number / weights[0] * from[1] + out / (weights[0] / groups) * weights[1];
    std::int32_t* sums = plane_sums(number, window->out_count());
    std::fill_n(sums, window->out_count(), has_bias ? elements<std::int32_t>(operands.reads[of.bias])[out] : 0);
    plane.w_zero = zero_points(operands.reads, of.w_zero).at(out);
    dispatch_bytes({x.dtype, w.dtype}, *x.bytes + first * window->in_count(), *w.bytes + out * weights[1] * plane.taps,
                   [&](const auto* of_x, const auto* of_w) { add_channels(plane, of_x, of_w, sums); });
    finish(number, out, sums);
  }
  return {};
}

RunStatus run_integer_convolution(const IntegerConvolution& parameters, const Operands& operands, Team& /*team*/) {
  return convolve_integers(
      parameters, operands, kOfConvInteger,
      [&](std::int64_t plane, std::int64_t count) {
        return mutable_elements<std::int32_t>(operands.writes[0]) + plane * count;
      },
      [](std::int64_t, std::int64_t, const std::int32_t*) {});
}

RunStatus run_quantized_convolution(const IntegerConvolution& parameters, const Operands& operands, Team& /*team*/) {
  for (const std::uint32_t one : {1U, 6U, 7U}) {
    if (count_of(operands.reads[one]) != 1) return {RunCode::bad_extents, one};
  }
  const BoundTensor& w_scale = operands.reads[4];
  if (operands.reads[3].rank < 1 || !has_one_or(operands.reads, 4, operands.reads[3].extents[0])) {
    return {RunCode::bad_extents, 4};
  }
  const float scale = *elements<float>(operands.reads[1]) / *elements<float>(operands.reads[6]);
  const std::int32_t zero = small_integer(operands.reads[7], 0);
  const bool is_one = count_of(w_scale) == 1;
  const BoundTensor& result = operands.writes[0];
  std::int64_t plane_count = 0;
  return convolve_integers(
      parameters, operands, kOfQLinearConv,
      [&](std::int64_t, std::int64_t count) {
        plane_count = count;
        return reinterpret_cast<std::int32_t*>(operands.scratch);
      },
      [&](std::int64_t plane, std::int64_t out, const std::int32_t* sums) {
        const float factor = scale * elements<float>(w_scale)[is_one ? 0 : out];
        for (std::int64_t at = 0; at < plane_count; ++at) {
          write_quantized(result, plane * plane_count + at, static_cast<float>(sums[at]) * factor, zero);
        }
      });
}

bool is_byte_operand(const Graph& graph, const std::optional<TensorId>& id) { return is_byte(graph.tensor(*id).dtype); }

std::string missing_integer_convolution(const Graph& graph, const Node& node) {
  const bool has_types = is_byte_operand(graph, node.inputs[1]) && graph.tensor(*node.outputs[0]).dtype == DType::i32;
  return has_types ? missing_spatial(graph, node) : "the weights are not i8 or u8, or the result is not i32";
}
std::string missing_quantized_convolution(const Graph& graph, const Node& node) {
  for (const std::size_t scale : {1, 4, 6}) {
    if (computed_type(graph, node, scale) != DType::f32) return "the scales are not f32";
  }
  const bool has_types = is_byte_operand(graph, node.inputs[3]) && is_byte_operand(graph, node.outputs[0]) &&
                         computed_type(graph, node, 8).value_or(DType::i32) == DType::i32;
  return has_types ? missing_spatial(graph, node)
                   : "the weights or the result are not i8 or u8, or the bias is not i32";
}

Bytes convolution_scratch(const Graph& graph, const Node& node) {
  const std::vector<std::int64_t>& extents = graph.tensor(*node.outputs[0]).shape.extents();
  Bytes plane(4);
  for (std::size_t at = 2; at < extents.size(); ++at) plane = plane * extents[at];
  return plane;
}

template <PlainRun<IntegerConvolution> run>
PreparedResult prepare_integers(const PrepareInput& input) {
  return plain_kernel(
      input, run, IntegerConvolution{window_attributes(node_of(input)), integer_attribute(node_of(input), "group", 1)});
}

// Sorted by type.
constexpr std::array kQuantizedConvolutionTable{
    PlainOperator{
        {"", "ConvInteger", kByteTypes}, 2, &prepare_integers<&run_integer_convolution>, &missing_integer_convolution},
    PlainOperator{{"", "QLinearConv", kByteTypes},
                  8,
                  &prepare_integers<&run_quantized_convolution>,
                  &missing_quantized_convolution,
                  &convolution_scratch,
                  true},
};
constexpr std::array kQuantizedConvolutionOperators = operators_of(kQuantizedConvolutionTable);

}  // namespace

Family quantized_convolution_family() {
  return {.name = "quantized convolutions",
          .operators = kQuantizedConvolutionOperators,
          .offer = [](const Graph& graph, NodeId node) { return offer_from(kQuantizedConvolutionTable, graph, node); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kQuantizedConvolutionTable, input); }};
}

}  // namespace lowtide::kernels_internal
