// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <cstring>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/convert.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/number_types.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_copy.h"
#include "lowtide/kernels/plain/selection/gather_scatter.h"

namespace lowtide::kernels_internal {
namespace {

struct ArgParameters {
  std::int64_t axis = 0;
  bool keeps_axis = true;
  bool takes_last = false;  // of equal values
  bool wants_most = true;
};

// The place of the largest or smallest of the elements x[i * stride]. A NaN wins.
template <typename T>
std::int64_t best_of(const ArgParameters& parameters, const T* x, std::int64_t count, std::int64_t stride) {
  std::int64_t best = 0;
  for (std::int64_t at = 1; at < count; ++at) {
    const T value = x[at * stride];
    const T least = x[best * stride];
    const bool is_better = parameters.wants_most ? value > least : value < least;
    const bool is_first_nan = is_nan(value) && !is_nan(least);
    if (is_better || is_first_nan || (parameters.takes_last && value == least)) best = at;
  }
  return best;
}

template <typename T>
void choose_all(const ArgParameters& parameters, int axis, const Operands& operands) {
  const Extents from(extents_of(operands.reads[0]));
  const std::int64_t stride = from.product(axis + 1, from.rank());
  const T* x = elements<T>(operands.reads[0]);
  auto* y = mutable_elements<std::int64_t>(operands.writes[0]);
  for (std::int64_t outer = 0; outer < from.product(0, axis); ++outer) {
    for (std::int64_t inner = 0; inner < stride; ++inner) {
      *y++ = best_of(parameters, x + outer * from[axis] * stride + inner, from[axis], stride);
    }
  }
}

RunStatus run_arg(const ArgParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis) return {RunCode::bad_extents, 0};
  Extents to;
  for (int at = 0; at < from.rank(); ++at) {
    if (at != *axis || parameters.keeps_axis) to.push_back(at == *axis ? 1 : from[at]);
  }
  if (from[*axis] == 0 && to.count() != 0) return {RunCode::bad_extents, 0};  // nothing to choose from
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  with_number_type(operands.reads[0].dtype, [&]<typename T>(T) { choose_all<T>(parameters, *axis, operands); });
  return {};
}

template <bool wants_most>
PreparedResult prepare_arg(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(input, &run_arg,
                      ArgParameters{integer_attribute(node, "axis", 0), integer_attribute(node, "keepdims", 1) != 0,
                                    integer_attribute(node, "select_last_index", 0) != 0, wants_most});
}

std::string missing_positions(const Graph& graph, const Node& node) {
  return graph.tensor(*node.outputs[0]).dtype == DType::i64 ? "" : "the result is not i64";
}

struct CompressParameters {
  std::optional<std::int64_t> axis;  // nullopt: the operand is flattened
};

RunStatus run_compress(const CompressParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const BoundTensor& condition = operands.reads[1];
  Extents from(extents_of(read));
  if (!parameters.axis) from = Extents{from.count()};
  const std::optional<int> axis = axis_in(parameters.axis.value_or(0), from.rank());
  if (!axis || condition.rank != 1 || condition.extents[0] > from[*axis]) return {RunCode::bad_extents, 1};
  const auto* is_kept = elements<std::uint8_t>(condition);
  Extents to = from;
  to[*axis] = 0;
  for (std::int64_t at = 0; at < condition.extents[0]; ++at) to[*axis] += is_kept[at] != 0 ? 1 : 0;
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  const std::int64_t slice = from.product(*axis + 1, from.rank()) * element_bytes(read.dtype);
  std::byte* write = *operands.writes[0].bytes;
  for (std::int64_t outer = 0; outer < from.product(0, *axis); ++outer) {
    for (std::int64_t at = 0; at < condition.extents[0]; ++at) {
      if (is_kept[at] == 0) continue;
      copy_bytes(*read.bytes + (outer * from[*axis] + at) * slice, write, slice);
      write += slice;
    }
  }
  return {};
}

std::string missing_compress(const Graph& graph, const Node& node) {
  if (graph.tensor(*node.inputs[1]).dtype != DType::boolean) return "the condition is not bool";
  const bool is_equal = graph.tensor(*node.outputs[0]).dtype == graph.tensor(*node.inputs[0]).dtype;
  return is_equal ? "" : "the result has another type than the operand";
}

PreparedResult prepare_compress(const PrepareInput& input) {
  const auto* axis = find_attribute<std::int64_t>(node_of(input).attributes, "axis");
  return plain_kernel(input, &run_compress, CompressParameters{axis == nullptr ? std::nullopt : std::optional(*axis)});
}

struct NonZeroParameters {};

template <typename T>
RunStatus positions_of(const Operands& operands) {
  const Extents from(extents_of(operands.reads[0]));
  const T* x = elements<T>(operands.reads[0]);
  std::int64_t found = 0;
  for (std::int64_t at = 0; at < from.count(); ++at) found += x[at] != T{0} ? 1 : 0;
  const RunStatus status = set_extents(operands.writes[0], Extents{from.rank(), found});
  if (status.code != RunCode::ok) return status;
  auto* y = mutable_elements<std::int64_t>(operands.writes[0]);
  std::int64_t column = 0;
  for (std::int64_t at = 0; at < from.count(); ++at) {
    if (x[at] == T{0}) continue;
    std::int64_t rest = at;
    for (int axis = from.rank() - 1; axis >= 0; --axis) {
      y[axis * found + column] = rest % from[axis];
      rest /= from[axis];
    }
    ++column;
  }
  return {};
}

RunStatus run_non_zero(const NonZeroParameters& /*parameters*/, const Operands& operands, Team& /*team*/) {
  return with_number_type(operands.reads[0].dtype, [&]<typename T>(T) { return positions_of<T>(operands); });
}

// Sorted by type.
constexpr std::array kChoiceTable{
    PlainOperator{.op = {"", "ArgMax", kNumberTypes},
                  .prepare = &prepare_arg<true>,
                  .missing = &missing_positions,
                  .widens_half = true},
    PlainOperator{.op = {"", "ArgMin", kNumberTypes},
                  .prepare = &prepare_arg<false>,
                  .missing = &missing_positions,
                  .widens_half = true},
    PlainOperator{
        .op = on_moved("Compress"), .operands = 2, .prepare = &prepare_compress, .missing = &missing_compress},
    PlainOperator{.op = {"", "NonZero", kMovedTypes},
                  .prepare = [](const PrepareInput& input) -> PreparedResult {
                    return plain_kernel(input, &run_non_zero, NonZeroParameters{});
                  },
                  .missing = &missing_positions,
                  .widens_half = true},
};
constexpr std::array kChoiceOperators = operators_of(kChoiceTable);

}  // namespace

Family choose_by_value_family() {
  return {.name = "choice",
          .operators = kChoiceOperators,
          .offer = [](const OfferInput& input) { return offer_from(kChoiceTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kChoiceTable, input); }};
}

}  // namespace lowtide::kernels_internal
