// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_index.h"
#include "lowtide/kernels/plain/normalization/moments.h"
#include "lowtide/kernels/plain/normalization/normalize.h"

namespace lowtide::kernels_internal {
namespace {

bool is_f64(const PrepareInput& input) { return computed_type(input.graph, node_of(input), 0) == DType::f64; }

struct LpParameters {
  std::int64_t axis = -1;
  std::int64_t power = 2;  // 1 or 2
};

// A line of zeros stays as it is.
template <typename T>
RunStatus run_lp(const LpParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const std::int64_t stride = from.product(*axis + 1, from.rank());
  const std::int64_t count = from[*axis];
  for (std::int64_t line = 0; line < from.product(0, *axis) * stride; ++line) {
    const std::int64_t begin = line / stride * stride * count + line % stride;
    const T* x = elements<T>(operands.reads[0]) + begin;
    T* y = mutable_elements<T>(operands.writes[0]) + begin;
    double sum = 0;
    for (std::int64_t at = 0; at < count; ++at) {
      const auto value = static_cast<double>(x[at * stride]);
      sum += parameters.power == 1 ? std::fabs(value) : value * value;
    }
    const double norm = parameters.power == 1 ? sum : std::sqrt(sum);
    for (std::int64_t at = 0; at < count; ++at) {
      y[at * stride] = norm == 0 ? T{0} : static_cast<T>(static_cast<double>(x[at * stride]) / norm);
    }
  }
  return {};
}

std::string missing_lp(const Graph& /*graph*/, const Node& node) {
  const std::int64_t power = integer_attribute(node, "p", 2);
  return power == 1 || power == 2 ? "" : "attribute 'p' is not 1 or 2";
}
PreparedResult prepare_lp(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, is_f64(input) ? &run_lp<double> : &run_lp<float>,
                      LpParameters{integer_attribute(node, "axis", -1), integer_attribute(node, "p", 2)});
}

struct LocalParameters {
  double alpha = 1e-4;
  double beta = 0.75;
  double bias = 1;
  std::int64_t size = 1;
};

// Divides by a power of the sum of squares over (size - 1) / 2 channels below and size / 2 channels above.
template <typename T>
RunStatus run_local(const LocalParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  if (from.rank() < 2 || parameters.size < 1) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const Channels of = channels_of(from);
  const std::int64_t below = (parameters.size - 1) / 2;
  const std::int64_t above = parameters.size - 1 - below;
  T* y = mutable_elements<T>(operands.writes[0]);
  for (std::int64_t line = 0; line < of.batch * of.channels; ++line) {
    const std::int64_t channel = line % of.channels;
    const std::int64_t first = std::max<std::int64_t>(channel - below, 0);
    const std::int64_t last = std::min(channel + above, of.channels - 1);
    const T* x = elements<T>(operands.reads[0]) + (line - channel) * of.plane;
    for (std::int64_t at = 0; at < of.plane; ++at) {
      double sum = 0;
      for (std::int64_t other = first; other <= last; ++other) {
        const auto value = static_cast<double>(x[other * of.plane + at]);
        sum += value * value;
      }
      const double base = parameters.bias + parameters.alpha / static_cast<double>(parameters.size) * sum;
      *y++ = static_cast<T>(static_cast<double>(x[channel * of.plane + at]) / std::pow(base, parameters.beta));
    }
  }
  return {};
}

PreparedResult prepare_local(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, is_f64(input) ? &run_local<double> : &run_local<float>,
                      LocalParameters{number_attribute(node, "alpha", 1e-4F), number_attribute(node, "beta", 0.75),
                                      number_attribute(node, "bias", 1), integer_attribute(node, "size", 1)});
}

struct MeanVarianceParameters {
  std::vector<std::int64_t> axes;
};

RunStatus run_mean_variance(const MeanVarianceParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents strides = dense_strides(from);
  std::array<bool, kMostAxes> is_reduced{};
  for (std::int64_t value : parameters.axes) {
    const std::optional<int> axis = axis_in(value, from.rank());
    if (!axis) return {RunCode::bad_extents, 0};
    is_reduced[static_cast<std::size_t>(*axis)] = true;
  }
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  StridedIndex kept;
  StridedIndex reduced;
  for (int axis = 0; axis < from.rank(); ++axis) {
    (is_reduced[static_cast<std::size_t>(axis)] ? reduced : kept).add(from[axis], strides[axis]);
  }
  constexpr double kEpsilon = 1e-9;  // of the function in the ONNX standard
  for (std::int64_t group = 0; group < kept.count(); ++group) {
    const float* x = elements<float>(operands.reads[0]) + kept.offset(group);
    float* y = mutable_elements<float>(operands.writes[0]) + kept.offset(group);
    Moments moments{.shift = reduced.count() > 0 ? static_cast<double>(*x) : 0};
    for (std::int64_t at = 0; at < reduced.count(); ++at) moments.add(x + reduced.offset(at), 1);
    const double divisor = std::sqrt(moments.variance()) + kEpsilon;
    for (std::int64_t at = 0; at < reduced.count(); ++at) {
      const std::int64_t offset = reduced.offset(at);
      y[offset] = static_cast<float>((static_cast<double>(x[offset]) - moments.mean()) / divisor);
    }
  }
  return {};
}

PreparedResult prepare_mean_variance(const PrepareInput& input) {
  const std::vector<std::int64_t>* axes = integers_attribute(node_of(input), "axes");
  return plain_kernel(input, &run_mean_variance,
                      MeanVarianceParameters{axes == nullptr ? std::vector<std::int64_t>{0, 2, 3} : *axes});
}

// Sorted by type.
constexpr std::array kNormTable{
    PlainOperator{.op = on_reals("LRN"), .prepare = &prepare_local, .widens_half = true},
    PlainOperator{
        .op = on_reals("LpNormalization"), .prepare = &prepare_lp, .missing = &missing_lp, .widens_half = true},
    PlainOperator{.op = on_floats("MeanVarianceNormalization"), .prepare = &prepare_mean_variance, .widens_half = true},
};
constexpr std::array kNormOperators = operators_of(kNormTable);

}  // namespace

Family norm_family() {
  return {.name = "norms",
          .operators = kNormOperators,
          .offer = [](const OfferInput& input) { return offer_from(kNormTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kNormTable, input); }};
}

}  // namespace lowtide::kernels_internal
