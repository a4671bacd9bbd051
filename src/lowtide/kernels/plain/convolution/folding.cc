// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/convolution/folding.h"

#include <cmath>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"

namespace lowtide::kernels_internal {
namespace {

struct Folding {
  double epsilon = 0;
};

// Whether the operands after the first `from` have one element per channel.
bool have_channels(const Operands& operands, std::size_t from, std::int64_t channels) {
  for (const BoundTensor& operand : operands.reads.subspan(from)) {
    if (is_present(operand) && count_of(operand) != channels) return false;
  }
  return true;
}

double factor_of(const Folding& folding, const BoundTensor& scale, const BoundTensor& variance, std::int64_t channel) {
  const auto of_variance = static_cast<double>(elements<float>(variance)[channel]);
  return static_cast<double>(elements<float>(scale)[channel]) / std::sqrt(of_variance + folding.epsilon);
}

RunStatus run_weights(const Folding& folding, const Operands& operands, Team& /*team*/) {
  const BoundTensor& weights = operands.reads[0];
  const Extents extents(extents_of(weights));
  if (extents.rank() == 0 || !have_channels(operands, 1, extents[0])) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], extents); status.code != RunCode::ok) return status;
  const float* from = elements<float>(weights);
  auto* to = mutable_elements<float>(operands.writes[0]);
  const std::int64_t of_channel = extents.product(1, extents.rank());
  for (std::int64_t channel = 0; channel < extents[0]; ++channel) {
    const double factor = factor_of(folding, operands.reads[1], operands.reads[2], channel);
    for (std::int64_t end = of_channel; end > 0; --end)
      *to++ = static_cast<float>(static_cast<double>(*from++) * factor);
  }
  return {};
}

RunStatus run_bias(const Folding& folding, const Operands& operands, Team& /*team*/) {
  const std::span<const BoundTensor> reads = operands.reads;  // scale, shift, mean, variance, bias?
  const std::int64_t channels = count_of(reads[0]);
  if (!have_channels(operands, 1, channels)) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], {channels}); status.code != RunCode::ok) return status;
  for (std::int64_t channel = 0; channel < channels; ++channel) {
    const auto at = [&](std::size_t read) { return static_cast<double>(elements<float>(reads[read])[channel]); };
    const double bias = has_operand(reads, 4) ? at(4) : 0;
    const double value = (bias - at(2)) * factor_of(folding, reads[0], reads[3], channel) + at(1);
    mutable_elements<float>(operands.writes[0])[channel] = static_cast<float>(value);
  }
  return {};
}

template <PlainRun<Folding> run>
PreparedResult prepare_folding(const PrepareInput& input) {
  const auto* epsilon = find_attribute<double>(node_of(input).attributes, kEpsilonAttribute);
  return plain_kernel(input, run, Folding{epsilon == nullptr ? 0 : *epsilon});
}

constexpr std::array kFoldingTypes{DType::f32};
// Sorted by type.
constexpr std::array kFoldingTable{
    PlainOperator{
        .op = {kOwnDomain, kScaledBiasType, kFoldingTypes}, .operands = 4, .prepare = &prepare_folding<&run_bias>},
    PlainOperator{.op = {kOwnDomain, kScaledWeightsType, kFoldingTypes},
                  .operands = 3,
                  .prepare = &prepare_folding<&run_weights>},
};
constexpr std::array kFoldingOperators = operators_of(kFoldingTable);

}  // namespace

Family folding_family() {
  return {.name = "folding",
          .operators = kFoldingOperators,
          .offer = [](const OfferInput& input) { return offer_from(kFoldingTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kFoldingTable, input); }};
}

}  // namespace lowtide::kernels_internal
