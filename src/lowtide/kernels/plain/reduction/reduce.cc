// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/reduction/reduce.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_index.h"
#include "lowtide/kernels/common/team_parts.h"

namespace lowtide::kernels_internal {
namespace {

// Sums of floats are f64. They are rounded once, so that they do not depend on the order much. Those of integers wrap.
template <typename T>
using SumType = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// A reducer gets all elements of one result, in as many passes as it has, and then gives the result. An integer is
// converted to f64 where a function of the mathematics library takes part.
template <typename T>
struct SumReducer {
  static constexpr int kPasses = 1;
  SumType<T> sum{0};
  void add(T x, int /*pass*/) { sum += static_cast<SumType<T>>(x); }
  [[nodiscard]] T result(std::int64_t /*count*/) const { return static_cast<T>(sum); }
};
template <typename T>
struct MeanReducer : SumReducer<T> {
  [[nodiscard]] T result(std::int64_t count) const {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(this->sum / static_cast<double>(count));  // NaN without elements
    } else {
      using Whole = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
      return count == 0 ? T{0} : static_cast<T>(static_cast<Whole>(this->sum) / static_cast<Whole>(count));
    }
  }
};
template <typename T>
struct ProductReducer {
  static constexpr int kPasses = 1;
  SumType<T> product{1};
  void add(T x, int /*pass*/) { product *= static_cast<SumType<T>>(x); }
  [[nodiscard]] T result(std::int64_t /*count*/) const { return static_cast<T>(product); }
};
template <typename T>
struct SumSquareReducer : SumReducer<T> {
  void add(T x, int /*pass*/) { this->sum += static_cast<SumType<T>>(x) * static_cast<SumType<T>>(x); }
};
template <typename T>
struct L1Reducer : SumReducer<T> {
  void add(T x, int /*pass*/) {
    const auto wide = static_cast<SumType<T>>(x);
    this->sum += x < T{0} ? SumType<T>{0} - wide : wide;
  }
};
template <typename T>
struct WideReducer {
  static constexpr int kPasses = 1;
  double sum = 0;
};
template <typename T>
struct L2Reducer : WideReducer<T> {
  void add(T x, int /*pass*/) { this->sum += static_cast<double>(x) * static_cast<double>(x); }
  [[nodiscard]] T result(std::int64_t /*count*/) const { return converted<T>(std::sqrt(this->sum)); }
};
template <typename T>
struct LogSumReducer : WideReducer<T> {
  void add(T x, int /*pass*/) { this->sum += static_cast<double>(x); }
  [[nodiscard]] T result(std::int64_t /*count*/) const { return converted<T>(std::log(this->sum)); }
};
// The maximum is subtracted before the exponential, so that nothing overflows. Infinite maxima are left as they are,
// because infinity - infinity is NaN.
template <typename T>
struct LogSumExpReducer : WideReducer<T> {
  static constexpr int kPasses = 2;
  double most = -std::numeric_limits<double>::infinity();
  void add(T x, int pass) {
    const auto wide = static_cast<double>(x);
    if (pass == 0) {
      most = most < wide || std::isnan(wide) ? wide : most;
    } else if (std::isfinite(most)) {
      this->sum += std::exp(wide - most);
    }
  }
  [[nodiscard]] T result(std::int64_t /*count*/) const {
    return converted<T>(std::isfinite(most) ? most + std::log(this->sum) : most);
  }
};
// A NaN wins. Without elements the result is the lowest value, for floats -infinity.
template <typename T>
struct MaxReducer {
  static constexpr int kPasses = 1;
  static constexpr bool kHasInfinity = std::numeric_limits<T>::has_infinity;
  T most = kHasInfinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
  void add(T x, int /*pass*/) {
    if (!(x <= most)) most = is_nan(most) ? most : x;
  }
  [[nodiscard]] T result(std::int64_t /*count*/) const { return most; }
};
template <typename T>
struct MinReducer {
  static constexpr int kPasses = 1;
  static constexpr bool kHasInfinity = std::numeric_limits<T>::has_infinity;
  T least = kHasInfinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
  void add(T x, int /*pass*/) {
    if (!(x >= least)) least = is_nan(least) ? least : x;
  }
  [[nodiscard]] T result(std::int64_t /*count*/) const { return least; }
};

struct Reduction {
  StridedIndex kept;
  StridedIndex reduced;         // without the last one that is reduced
  std::int64_t row = 1;         // extent of the last axis that is reduced
  std::int64_t row_stride = 1;  // in the operand
};

// Computes neighboring results from the one with number `first` on. Each takes its elements in their order, and does
// not wait for the others.
template <typename Reducer, std::size_t count, typename T>
void reduce_some(const Reduction& reduction, const T* x, std::int64_t first, T* y) {
  std::array<const T*, count> from{};
  for (std::size_t at = 0; at < count; ++at) {
    from[at] = x + reduction.kept.offset(first + static_cast<std::int64_t>(at));
  }
  std::array<Reducer, count> reducers;
  const std::int64_t rows = reduction.reduced.count();
  for (int pass = 0; pass < Reducer::kPasses; ++pass) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t begin = reduction.reduced.offset(row);
      for (std::int64_t element = 0; element < reduction.row; ++element) {
        const std::int64_t place = begin + element * reduction.row_stride;
        for (std::size_t at = 0; at < count; ++at) reducers[at].add(from[at][place], pass);
      }
    }
  }
  for (std::size_t at = 0; at < count; ++at) {
    y[first + static_cast<std::int64_t>(at)] = reducers[at].result(rows * reduction.row);
  }
}

template <template <typename> typename Reducer, typename T>
void reduce(const Reduction& reduction, const Operands& operands, Team& team) {
  // Rare types have one loop, which takes half of the time to compile.
  constexpr bool kIsRare = std::is_unsigned_v<T> && sizeof(T) > 1;
  constexpr std::int64_t kAtOnce = kIsRare ? 1 : 8;
  const auto* x = elements<T>(operands.reads[0]);
  auto* y = mutable_elements<T>(operands.writes[0]);
  const std::int64_t results = reduction.kept.count();
  const std::int64_t elements = results * reduction.reduced.count() * reduction.row;
  run_in_parts(team, results, elements, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t at = begin;
    for (; at + kAtOnce <= end; at += kAtOnce) reduce_some<Reducer<T>, kAtOnce>(reduction, x, at, y);
    if constexpr (kAtOnce > 1) {
      for (; at < end; ++at) reduce_some<Reducer<T>, 1>(reduction, x, at, y);
    }
    if (operands.writes[0].dtype == DType::boolean) {
      for (at = begin; at < end; ++at) y[at] = static_cast<T>(y[at] != T{0} ? 1 : 0);
    }
    return RunCode::ok;
  });
}

using ReduceFunction = void (*)(const Reduction&, const Operands&, Team& team);

template <template <typename> typename Reducer>
ReduceFunction reduce_signed(DType dtype) {
  switch (dtype) {
    case DType::f64: return &reduce<Reducer, double>;
    case DType::f32: return &reduce<Reducer, float>;
    case DType::i64: return &reduce<Reducer, std::int64_t>;
    case DType::i32: return &reduce<Reducer, std::int32_t>;
    default: return nullptr;
  }
}
template <template <typename> typename Reducer>
ReduceFunction reduce_numbers(DType dtype) {
  if (dtype == DType::u64) return &reduce<Reducer, std::uint64_t>;
  return dtype == DType::u32 ? &reduce<Reducer, std::uint32_t> : reduce_signed<Reducer>(dtype);
}
// For reducers whose integers wrap around: their bits do not depend on the sign.
template <template <typename> typename Reducer>
ReduceFunction reduce_wrapping(DType dtype) {
  if (dtype == DType::u64) return &reduce<Reducer, std::int64_t>;
  return dtype == DType::u32 ? &reduce<Reducer, std::int32_t> : reduce_signed<Reducer>(dtype);
}
template <template <typename> typename Reducer>
ReduceFunction reduce_ordered(DType dtype) {
  if (dtype == DType::i8) return &reduce<Reducer, std::int8_t>;
  const bool is_byte = dtype == DType::u8 || dtype == DType::boolean;
  return is_byte ? &reduce<Reducer, std::uint8_t> : reduce_numbers<Reducer>(dtype);
}

struct ReduceParameters {
  ReduceFunction function = nullptr;
  std::optional<std::vector<std::int64_t>> axes;  // an input in newer opsets
  bool keeps_axes = true;
  bool keeps_all_without_axes = false;  // noop_with_empty_axes
};

// Which axes are reduced, or nullopt if one is invalid.
std::optional<std::array<bool, kMostAxes>> reduced_axes(const ReduceParameters& parameters, const Operands& operands,
                                                        int rank) {
  std::array<bool, kMostAxes> flags{};
  std::optional<Extents> axes = Extents();
  if (has_operand(operands.reads, 1)) {
    axes = integers_of(operands.reads[1]);
  } else if (parameters.axes) {
    axes = parameters.axes->size() > kMostAxes ? std::nullopt : std::optional(Extents(*parameters.axes));
  }
  if (!axes) return std::nullopt;
  if (axes->rank() == 0 && !parameters.keeps_all_without_axes) flags.fill(true);
  for (std::int64_t value : axes->values()) {
    const std::optional<int> axis = axis_in(value, rank);
    if (!axis) return std::nullopt;
    flags[static_cast<std::size_t>(*axis)] = true;
  }
  return flags;
}

RunStatus run_reduce(const ReduceParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const auto flags = reduced_axes(parameters, operands, from.rank());
  if (!flags) return {RunCode::bad_extents, 1};
  const Extents strides = dense_strides(from);
  Reduction reduction;
  Extents to;
  std::optional<int> last;
  for (int axis = 0; axis < from.rank(); ++axis) {
    const bool is_reduced = (*flags)[static_cast<std::size_t>(axis)];
    (is_reduced ? reduction.reduced : reduction.kept).add(from[axis], strides[axis]);
    if (is_reduced) last = axis;
    if (!is_reduced || parameters.keeps_axes) to.push_back(is_reduced ? 1 : from[axis]);
  }
  if (last) {
    reduction.row = from[*last];
    reduction.row_stride = strides[*last];
    const int rank = reduction.reduced.extents.rank() - 1;
    reduction.reduced.extents[rank] = 1;
  }
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  parameters.function(reduction, operands, team);
  return {};
}

template <ReduceFunction (*function)(DType)>
PreparedResult prepare_reduce(const PrepareInput& input) {
  const Node& node = node_of(input);
  const std::vector<std::int64_t>* axes = integers_attribute(node, "axes");
  return plain_kernel(input, &run_reduce,
                      ReduceParameters{function(*computed_type(input.graph, node, 0)),
                                       axes == nullptr ? std::nullopt : std::optional(*axes),
                                       integer_attribute(node, "keepdims", 1) != 0,
                                       integer_attribute(node, "noop_with_empty_axes", 0) != 0});
}

std::string missing_reduce(const Graph& graph, const Node& node) {
  const bool is_equal = graph.tensor(*node.outputs[0]).dtype == graph.tensor(*node.inputs[0]).dtype;
  return is_equal ? "" : "the result has another type than the operand";
}

constexpr std::array kReducedTypes{DType::f64, DType::f32, DType::f16, DType::bf16,
                                   DType::i64, DType::i32, DType::u64, DType::u32};
constexpr std::array kOrderedTypes{DType::f64, DType::f32, DType::f16, DType::bf16, DType::i64,    DType::i32,
                                   DType::i8,  DType::u64, DType::u32, DType::u8,   DType::boolean};

template <ReduceFunction (*function)(DType)>
constexpr PlainOperator reduce_row(std::string_view type, std::span<const DType> types = kReducedTypes) {
  return {{"", type, types}, 1, &prepare_reduce<function>, &missing_reduce, nullptr, true};
}

// Sorted by type.
constexpr std::array kReduceTable{
    reduce_row<&reduce_numbers<L1Reducer>>("ReduceL1"),
    reduce_row<&reduce_numbers<L2Reducer>>("ReduceL2"),
    reduce_row<&reduce_numbers<LogSumReducer>>("ReduceLogSum"),
    reduce_row<&reduce_numbers<LogSumExpReducer>>("ReduceLogSumExp"),
    reduce_row<&reduce_ordered<MaxReducer>>("ReduceMax", kOrderedTypes),
    reduce_row<&reduce_numbers<MeanReducer>>("ReduceMean"),
    reduce_row<&reduce_ordered<MinReducer>>("ReduceMin", kOrderedTypes),
    reduce_row<&reduce_wrapping<ProductReducer>>("ReduceProd"),
    reduce_row<&reduce_wrapping<SumReducer>>("ReduceSum"),
    reduce_row<&reduce_wrapping<SumSquareReducer>>("ReduceSumSquare"),
};
constexpr std::array kReduceOperators = operators_of(kReduceTable);

}  // namespace

Family reduce_family() {
  return {.name = "reduce",
          .operators = kReduceOperators,
          .offer = [](const OfferInput& input) { return offer_from(kReduceTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kReduceTable, input); }};
}

}  // namespace lowtide::kernels_internal
