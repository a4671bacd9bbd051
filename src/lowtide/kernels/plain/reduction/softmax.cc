// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/reduction/softmax.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/softmax_row.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/math/functions.h"

namespace lowtide::kernels_internal {
namespace {

struct SoftmaxParameters {
  std::int64_t axis = -1;
  bool covers_later_axes = false;
};

// Elements along the axis: x[i * stride] for i < count.
template <typename T>
struct Line {
  const T* x = nullptr;
  T* y = nullptr;
  std::int64_t count = 0;
  std::int64_t stride = 1;

  [[nodiscard]] T most() const {
    T most = -std::numeric_limits<T>::infinity();
    for (std::int64_t at = 0; at < count; ++at) most = std::max(most, x[at * stride]);
    return most;
  }
};

float exponential(float x) { return exp_f32(x); }
double exponential(double x) { return std::exp(x); }
float logarithm_of(float x) { return log_f32(x); }
double logarithm_of(double x) { return std::log(x); }

// Does what softmax_row() does, for elements that are not neighbors. The sum has one lane.
template <typename T>
void strided_softmax_line(const Line<T>& line) {
  constexpr T kSmallest = std::numeric_limits<T>::min();
  const T most = line.most();
  T sum = 0;
  for (std::int64_t at = 0; at < line.count; ++at) {
    const T value = exponential(line.x[at * line.stride] - most);
    line.y[at * line.stride] = value;
    sum += value;
  }
  for (std::int64_t at = 0; at < line.count; ++at) {
    T& value = line.y[at * line.stride];
    const T quotient = value / sum;
    value = quotient < kSmallest ? T{0} : quotient;
  }
}

struct Softmax {
  template <typename T>
  static void compute(const Line<T>& line) {
    if constexpr (std::is_same_v<T, float>) {
      if (line.stride == 1) return softmax_row(line.x, line.y, line.count);
    }
    strided_softmax_line(line);
  }
};

struct LogSoftmax {
  template <typename T>
  static void compute(const Line<T>& line) {
    const T most = line.most();
    T sum = 0;
    for (std::int64_t at = 0; at < line.count; ++at) sum += exponential(line.x[at * line.stride] - most);
    const T logarithm = logarithm_of(sum);
    for (std::int64_t at = 0; at < line.count; ++at) {
      line.y[at * line.stride] = (line.x[at * line.stride] - most) - logarithm;
    }
  }
};

// 1 at the first maximum, 0 elsewhere.
struct Hardmax {
  template <typename T>
  static void compute(const Line<T>& line) {
    std::int64_t first = 0;
    for (std::int64_t at = 1; at < line.count; ++at) {
      if (line.x[at * line.stride] > line.x[first * line.stride]) first = at;
    }
    for (std::int64_t at = 0; at < line.count; ++at) line.y[at * line.stride] = at == first ? T{1} : T{0};
  }
};

template <typename Function, typename T>
RunStatus run_softmax(const SoftmaxParameters& parameters, const Operands& operands, Team& team) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  // A scalar is a line of one element, and a flattened operand may have no axis in the line.
  const bool is_last = parameters.covers_later_axes && parameters.axis == from.rank();
  if (!axis && from.rank() != 0 && !is_last) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], from); status.code != RunCode::ok) return status;
  const int first = axis.value_or(from.rank());
  const int end = parameters.covers_later_axes ? from.rank() : std::min(first + 1, from.rank());
  const std::int64_t stride = from.product(end, from.rank());
  const std::int64_t count = from.product(first, end);
  const auto* x = elements<T>(read);
  auto* y = mutable_elements<T>(operands.writes[0]);
  if (count == 0) return {};
  constexpr std::int64_t kOperationsOfElement = 16;
  const std::int64_t lines = from.product(0, first) * stride;
  const RunCode code =
      run_in_parts(team, lines, lines * count * kOperationsOfElement, [&](std::int64_t begin, std::int64_t last) {
        for (std::int64_t line = begin; line < last; ++line) {
          const std::int64_t at = line / stride * count * stride + line % stride;
          Function::compute(Line<T>{x + at, y + at, count, stride});
        }
        return RunCode::ok;
      });
  return {code, 0};
}

template <typename Function>
PreparedResult prepare_softmax(const PrepareInput& input) {
  const Node& node = node_of(input);
  const bool is_old = integer_attribute(node, kSinceAttribute, 13) < 13;
  const bool is_wide = computed_type(input.graph, node, 0) == DType::f64;
  return plain_kernel(input, is_wide ? &run_softmax<Function, double> : &run_softmax<Function, float>,
                      SoftmaxParameters{integer_attribute(node, "axis", is_old ? 1 : -1), is_old});
}

// Sorted by type.
constexpr std::array kSoftmaxTable{
    PlainOperator{.op = on_reals("Hardmax"), .prepare = &prepare_softmax<Hardmax>, .widens_half = true},
    PlainOperator{.op = on_reals("LogSoftmax"), .prepare = &prepare_softmax<LogSoftmax>, .widens_half = true},
    PlainOperator{.op = on_reals("Softmax"), .prepare = &prepare_softmax<Softmax>, .widens_half = true},
};
constexpr std::array kSoftmaxOperators = operators_of(kSoftmaxTable);

}  // namespace

Family softmax_family() {
  return {.name = "softmax",
          .operators = kSoftmaxOperators,
          .offer = [](const OfferInput& input) { return offer_from(kSoftmaxTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kSoftmaxTable, input); }};
}

}  // namespace lowtide::kernels_internal
