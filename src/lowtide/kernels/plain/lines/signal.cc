// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/lines/signal.h"

#include <array>
#include <cmath>
#include <numbers>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"

namespace lowtide::kernels_internal {
namespace {

struct DftParameters {
  std::int64_t axis = -2;  // unless it is an operand
  bool is_inverse = false;
  bool is_one_sided = false;
};

// A line of complex or real numbers, `stride` numbers apart.
struct Signal {
  const float* x = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 1;
  bool is_complex = false;

  [[nodiscard]] double real(std::int64_t at) const { return x[at * stride]; }
  [[nodiscard]] double imaginary(std::int64_t at) const { return is_complex ? x[at * stride + 1] : 0.0; }
};

struct Complex {
  double real = 0;
  double imaginary = 0;
};

// The sum of x[k] * e^(sign * 2 pi i k at / length) over k < min(count, length). With `mirrors`, the signal is the
// first half of one whose second half is conjugate to it, and the result is real.
Complex transformed(const Signal& signal, std::int64_t at, std::int64_t length, double sign, bool mirrors) {
  Complex sum;
  const std::int64_t half = mirrors ? length / 2 + 1 : length;
  for (std::int64_t k = 0; k < std::min(signal.count, half); ++k) {
    const double angle =
        sign * 2 * std::numbers::pi * static_cast<double>(k * at % length) / static_cast<double>(length);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    const bool is_own_mirror = k == 0 || 2 * k == length;
    const double weight = mirrors && !is_own_mirror ? 2 : 1;
    const double imaginary = mirrors && is_own_mirror ? 0 : signal.imaginary(k);
    sum.real += weight * (signal.real(k) * c - imaginary * s);
    sum.imaginary += weight * (signal.real(k) * s + imaginary * c);
  }
  return sum;
}

// A number that is an operand, or `otherwise` without it. nullopt: it has no element.
std::optional<std::int64_t> scalar_operand(const Operands& operands, std::size_t at, std::int64_t otherwise) {
  if (!has_operand(operands.reads, at)) return otherwise;
  const std::optional<Extents> numbers = integers_of(operands.reads[at]);
  return numbers && numbers->rank() == 1 ? std::optional((*numbers)[0]) : std::nullopt;
}

RunStatus run_dft(const DftParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const int last = from.rank() - 1;
  const std::optional<std::int64_t> given_axis = scalar_operand(operands, 2, parameters.axis);
  const std::optional<int> axis = given_axis ? axis_in(*given_axis, from.rank()) : std::nullopt;
  if (!axis || *axis == last || (from[last] != 1 && from[last] != 2)) return {RunCode::bad_extents, 2};
  const bool mirrors = parameters.is_inverse && parameters.is_one_sided;
  const std::optional<std::int64_t> length = scalar_operand(operands, 1, mirrors ? 2 * (from[*axis] - 1) : from[*axis]);
  constexpr std::int64_t kMostLength = std::int64_t{1} << 31;  // so that products stay in 64 bits
  if (!length || *length < 1 || *length > kMostLength) return {RunCode::bad_extents, 1};
  Extents to = from;
  to[*axis] = parameters.is_one_sided && !parameters.is_inverse ? *length / 2 + 1 : *length;
  to[last] = mirrors ? 1 : 2;
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  const std::int64_t inner = from.product(*axis + 1, last);
  const double sign = parameters.is_inverse ? 1 : -1;
  const double scale = parameters.is_inverse ? 1 / static_cast<double>(*length) : 1;
  for (std::int64_t line = 0; line < from.product(0, *axis) * inner; ++line) {
    const std::int64_t outer = line / inner;
    const float* x = elements<float>(operands.reads[0]) + (outer * from[*axis] * inner + line % inner) * from[last];
    float* y = mutable_elements<float>(operands.writes[0]) + (outer * to[*axis] * inner + line % inner) * to[last];
    const Signal signal{x, from[*axis], inner * from[last], from[last] == 2};
    for (std::int64_t at = 0; at < to[*axis]; ++at) {
      const Complex value = transformed(signal, at, *length, sign, mirrors);
      y[at * inner * to[last]] = static_cast<float>(value.real * scale);
      if (to[last] == 2) y[at * inner * to[last] + 1] = static_cast<float>(value.imaginary * scale);
    }
  }
  return {};
}

PreparedResult prepare_dft(const PrepareInput& input) {
  const Node& node = node_of(input);
  const bool is_old = integer_attribute(node, kSinceAttribute, 0) != 0;
  return plain_kernel(
      input, &run_dft,
      DftParameters{integer_attribute(node, "axis", is_old ? 1 : -2), integer_attribute(node, "inverse", 0) != 0,
                    integer_attribute(node, "onesided", 0) != 0});
}

std::string missing_dft(const Graph& graph, const Node& node) {
  for (const std::size_t at : {1, 2}) {
    const std::optional<DType> dtype = computed_type(graph, node, at);
    if (dtype && *dtype != DType::i64 && *dtype != DType::i32) return "the length or the axis is not i64 or i32";
  }
  return "";
}

// A window: constant - first * cos(2 pi i / n) + second * cos(4 pi i / n).
struct WindowParameters {
  double constant = 0.5;
  double first = 0.5;
  double second = 0;
  bool is_periodic = true;
};

RunStatus run_window(const WindowParameters& parameters, const Operands& operands, Team& /*team*/) {
  const std::optional<std::int64_t> size = scalar_operand(operands, 0, 0);
  if (!size || *size < 0) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], Extents{*size}); status.code != RunCode::ok)
    return status;
  const std::int64_t period = parameters.is_periodic ? *size : *size - 1;
  for (std::int64_t at = 0; at < *size; ++at) {
    const double angle = period == 0 ? 0 : 2 * std::numbers::pi * static_cast<double>(at) / static_cast<double>(period);
    const double value =
        parameters.constant - parameters.first * std::cos(angle) + parameters.second * std::cos(2 * angle);
    mutable_elements<float>(operands.writes[0])[at] = static_cast<float>(value);
  }
  return {};
}

PreparedResult prepare_window(const PrepareInput& input) {
  const Node& node = node_of(input);
  const std::string& type = input.graph.op(input.node).type;
  WindowParameters parameters{.is_periodic = integer_attribute(node, "periodic", 1) != 0};
  if (type == "BlackmanWindow") {
    parameters.constant = 0.42;
    parameters.second = 0.08;
  } else if (type == "HammingWindow") {
    parameters.constant = 25.0 / 46.0;
    parameters.first = 21.0 / 46.0;
  }
  return plain_kernel(input, &run_window, parameters);
}

std::string missing_window(const Graph& graph, const Node& node) {
  return graph.tensor(*node.outputs[0]).dtype == DType::f32 ? "" : "the result is not f32";
}

inline constexpr std::array kSizeTypes{DType::i64, DType::i32};

// Sorted by type.
constexpr std::array kSignalTable{
    PlainOperator{.op = {"", "BlackmanWindow", kSizeTypes}, .prepare = &prepare_window, .missing = &missing_window},
    PlainOperator{.op = on_floats("DFT"), .prepare = &prepare_dft, .missing = &missing_dft, .widens_half = true},
    PlainOperator{.op = {"", "HammingWindow", kSizeTypes}, .prepare = &prepare_window, .missing = &missing_window},
    PlainOperator{.op = {"", "HannWindow", kSizeTypes}, .prepare = &prepare_window, .missing = &missing_window},
};
constexpr std::array kSignalOperators = operators_of(kSignalTable);

}  // namespace

Family signal_family() {
  return {.name = "signal",
          .operators = kSignalOperators,
          .offer = [](const OfferInput& input) { return offer_from(kSignalTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kSignalTable, input); }};
}

}  // namespace lowtide::kernels_internal
