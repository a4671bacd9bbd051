// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/reduction/loss.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"

namespace lowtide::kernels_internal {
namespace {

enum class LossReduction : std::uint8_t { none, sum, mean };

struct LossParameters {
  LossReduction reduction = LossReduction::mean;
  std::optional<std::int64_t> ignored;  // a label whose loss is 0
  bool normalizes = false;              // takes the logarithm of a softmax over the classes first
};

// The scores of one position: x[class * stride].
struct LossLine {
  const float* x = nullptr;
  std::int64_t classes = 0;
  std::int64_t stride = 1;

  // The logarithm of the sum of exponentials.
  [[nodiscard]] double log_sum() const {
    double most = static_cast<double>(*x);
    for (std::int64_t at = 1; at < classes; ++at) most = std::max(most, static_cast<double>(x[at * stride]));
    double sum = 0;
    for (std::int64_t at = 0; at < classes; ++at) sum += std::exp(static_cast<double>(x[at * stride]) - most);
    return most + std::log(sum);
  }
};

struct Total {
  double loss = 0;
  double weight = 0;
};

// Writes the loss of each position if nothing is reduced, and the logarithms of the softmax if they are a result.
std::optional<Total> add_losses(const LossParameters& parameters, const Operands& operands, const Extents& from) {
  const BoundTensor& labels = operands.reads[1];
  const std::int64_t stride = from.product(2, from.rank());
  const bool has_logarithms = parameters.normalizes && has_operand(operands.writes, 1);
  Total total;
  for (std::int64_t at = 0; at < from[0] * stride; ++at) {
    const std::int64_t begin = at / std::max<std::int64_t>(stride, 1) * from[1] * stride + at % stride;
    const LossLine line{elements<float>(operands.reads[0]) + begin, from[1], stride};
    const double log_sum = parameters.normalizes ? line.log_sum() : 0;
    for (std::int64_t one = 0; has_logarithms && one < from[1]; ++one) {
      mutable_elements<float>(operands.writes[1])[begin + one * stride] =
          static_cast<float>(static_cast<double>(line.x[one * stride]) - log_sum);
    }
    const std::int64_t label =
        labels.dtype == DType::i64 ? elements<std::int64_t>(labels)[at] : elements<std::int32_t>(labels)[at];
    const bool is_ignored = parameters.ignored && label == *parameters.ignored;
    if (!is_ignored && (label < 0 || label >= from[1])) return std::nullopt;
    const bool has_weights = has_operand(operands.reads, 2);
    const double weight =
        is_ignored ? 0 : (has_weights ? static_cast<double>(elements<float>(operands.reads[2])[label]) : 1);
    const double loss = is_ignored ? 0 : weight * (log_sum - static_cast<double>(line.x[label * stride]));
    if (parameters.reduction == LossReduction::none) {
      mutable_elements<float>(operands.writes[0])[at] = static_cast<float>(loss);
    }
    total.loss += loss;
    total.weight += weight;
  }
  return total;
}

RunStatus run_loss(const LossParameters& parameters, const Operands& operands, Team& /*team*/) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents labels(extents_of(operands.reads[1]));
  if (from.rank() < 2 || labels.rank() != from.rank() - 1 || labels[0] != from[0]) return {RunCode::bad_extents, 1};
  for (int axis = 1; axis < labels.rank(); ++axis) {
    if (labels[axis] != from[axis + 1]) return {RunCode::bad_extents, 1};
  }
  if (from[1] < 1 || (has_operand(operands.reads, 2) && count_of(operands.reads[2]) != from[1])) {
    return {RunCode::bad_extents, 2};
  }
  const bool is_reduced = parameters.reduction != LossReduction::none;
  RunStatus status = set_extents(operands.writes[0], is_reduced ? Extents() : labels);
  if (status.code == RunCode::ok && has_operand(operands.writes, 1)) status = set_extents(operands.writes[1], from);
  if (status.code != RunCode::ok) return status;
  const std::optional<Total> total = add_losses(parameters, operands, from);
  if (!total) return {RunCode::index_out_of_range, 1};
  if (!is_reduced) return {};
  const double divisor = parameters.reduction == LossReduction::mean ? total->weight : 1;
  *mutable_elements<float>(operands.writes[0]) = static_cast<float>(total->loss / divisor);
  return {};
}

std::optional<LossReduction> reduction_of(const Node& node) {
  const std::string text = text_attribute(node, "reduction", "mean");
  if (text == "none") return LossReduction::none;
  if (text == "sum") return LossReduction::sum;
  return text == "mean" ? std::optional(LossReduction::mean) : std::nullopt;
}

std::string missing_loss(const Graph& graph, const Node& node) {
  if (!reduction_of(node)) return "attribute 'reduction' is not one of none, sum and mean";
  const DType labels = graph.tensor(*node.inputs[1]).dtype;
  if (labels != DType::i64 && labels != DType::i32) return "the labels are not i64 or i32";
  const std::optional<DType> weights = computed_type(graph, node, 2);
  return !weights || weights == computed_type(graph, node, 0) ? "" : "the weights have another type than the scores";
}

template <bool normalizes>
PreparedResult prepare_loss(const PrepareInput& input) {
  const auto* ignored = find_attribute<std::int64_t>(node_of(input).attributes, "ignore_index");
  return plain_kernel(input, &run_loss,
                      LossParameters{*reduction_of(node_of(input)),
                                     ignored == nullptr ? std::nullopt : std::optional(*ignored), normalizes});
}

// Sorted by type.
constexpr std::array kLossTable{
    PlainOperator{.op = on_floats("NegativeLogLikelihoodLoss"),
                  .operands = 2,
                  .prepare = &prepare_loss<false>,
                  .missing = &missing_loss,
                  .widens_half = true},
    PlainOperator{.op = on_floats("SoftmaxCrossEntropyLoss"),
                  .operands = 2,
                  .prepare = &prepare_loss<true>,
                  .missing = &missing_loss,
                  .widens_half = true},
};
constexpr std::array kLossOperators = operators_of(kLossTable);

}  // namespace

Family loss_family() {
  return {.name = "loss",
          .operators = kLossOperators,
          .offer = [](const OfferInput& input) { return offer_from(kLossTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kLossTable, input); }};
}

}  // namespace lowtide::kernels_internal
