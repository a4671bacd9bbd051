// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/convolution.h"

#include <algorithm>
#include <array>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/slide.h"

namespace lowtide::kernels_internal {
namespace {

struct ConvolutionParameters {
  WindowAttributes window;
  std::int64_t groups = 1;
};

// to[i] += factor * from[i * stride]
void add_row(float factor, const float* from, std::int64_t stride, float* to, std::int64_t count) {
  if (stride == 1) {
    for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at];
  } else {
    for (std::int64_t at = 0; at < count; ++at) to[at] += factor * from[at * stride];
  }
}

// Computes planes [begin, end) of the result, which are channels of images.
RunCode run_planes(const ConvolutionParameters& parameters, const Operands& operands, const Window& window,
                   std::int64_t begin, std::int64_t end) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::int64_t in_plane = window.in_count();
  const std::int64_t out_plane = window.out_count();
  const std::int64_t taps = weights.product(2, weights.rank());
  const std::int64_t out_of_group = weights[0] / parameters.groups;
  const float* bias = has_operand(operands.reads, 2) ? elements<float>(operands.reads[2]) : nullptr;
  float* to = mutable_elements<float>(operands.writes[0]) + begin * out_plane;
  for (std::int64_t plane = begin; plane < end; ++plane, to += out_plane) {
    const std::int64_t out = plane % weights[0];
    const float* image = elements<float>(operands.reads[0]) + plane / weights[0] * from[1] * in_plane;
    std::fill_n(to, out_plane, bias == nullptr ? 0.0F : bias[out]);
    const float* of_group = image + out / out_of_group * weights[1] * in_plane;
    for (std::int64_t in = 0; in < weights[1]; ++in) {
      const float* factors = elements<float>(operands.reads[1]) + (out * weights[1] + in) * taps;
      slide_channel(window, of_group + in * in_plane, factors, to, [](auto... row) { add_row(row...); });
    }
  }
  return RunCode::ok;
}

RunStatus run_convolution(const ConvolutionParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  if (from.rank() < 3 || weights.rank() != from.rank()) return {RunCode::bad_extents, 1};
  const std::optional<Window> found = window_over(parameters.window, from, Extents(weights.values().subspan(2)));
  const std::int64_t groups = parameters.groups;
  const bool agrees = found && groups >= 1 && from[1] == weights[1] * groups && weights[0] % groups == 0;
  if (!agrees) return {RunCode::bad_extents, 1};
  const bool has_bias = has_operand(operands.reads, 2);
  if (has_bias && count_of(operands.reads[2]) != weights[0]) return {RunCode::bad_extents, 2};
  const RunStatus status = set_extents(operands.writes[0], result_extents(*found, from, weights[0]));
  if (status.code != RunCode::ok) return status;
  Window window = *found;
  merge_rows(window);
  const std::int64_t planes = from[0] * weights[0];
  const std::int64_t operations = planes * window.out_count() * weights.product(1, weights.rank());
  const RunCode code = run_in_parts(team, planes, operations, [&](std::int64_t begin, std::int64_t end) {
    return run_planes(parameters, operands, window, begin, end);
  });
  return {code, 0};
}

PreparedResult prepare_plain_convolution(const PrepareInput& input) {
  return plain_kernel(
      input, &run_convolution,
      ConvolutionParameters{window_attributes(node_of(input)), integer_attribute(node_of(input), "group", 1)});
}

constexpr std::array kConvolutionTable{
    PlainOperator{on_floats("Conv"), 2, &prepare_plain_convolution, &missing_convolution, nullptr, true},
};
constexpr std::array kConvolutionOperators = operators_of(kConvolutionTable);

}  // namespace

Family convolution_family() {
  return {.name = "convolution",
          .operators = kConvolutionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kConvolutionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kConvolutionTable, input); }};
}

}  // namespace lowtide::kernels_internal
