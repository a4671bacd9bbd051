// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/chains/chain.h"

#include <algorithm>
#include <array>
#include <optional>

#include "lowtide/base/try.h"
#include "lowtide/graph/chain.h"
#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/row_parts.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/chains/fused_steps.h"

namespace lowtide::kernels_internal {
namespace {

struct ChainParameters {
  FusedSteps steps;
  std::optional<std::int64_t> channels;  // of a result in blocks, whose other lanes are zero
};

// Writes zeros into the lanes of the last block [N, blocks, ..., lanes] that have no channel.
void clear_padding(const BoundTensor& result, std::int64_t channels) {
  const Extents extents(extents_of(result));
  const int rank = extents.rank();
  const std::int64_t lanes = extents[rank - 1];
  const std::int64_t used = channels - (extents[1] - 1) * lanes;
  if (used == lanes) return;
  const std::int64_t unit = element_bytes(result.dtype);
  const std::int64_t places = extents.product(2, rank - 1);
  for (std::int64_t image = 0; image < extents[0]; ++image) {
    const std::int64_t block = (image + 1) * extents[1] - 1;
    std::byte* at = *result.bytes + (block * places * lanes + used) * unit;
    for (std::int64_t place = 0; place < places; ++place, at += lanes * unit) {
      std::fill_n(at, (lanes - used) * unit, std::byte{0});
    }
  }
}

// Computes the elements [begin, end) of the result.
RunCode run_elements(const ChainParameters& chain, const Operands& operands, const Extents& extents,
                     Interval<std::int64_t> elements) {
  const BoundTensor& result = operands.writes[0];
  FusedSlots slots;
  RowParts parts(operands.reads, result, extents, kFusedBlock);
  FusedRow row{.operands = {}, .result = {nullptr, 1, element_bytes(result.dtype)}};
  for (std::size_t read = 0; read < operands.reads.size(); ++read) {
    row.operands[read].bytes_per_element = element_bytes(operands.reads[read].dtype);
  }
  return parts.run(elements, [&](const RowPart& part) {
    row.result.bytes = part.write;
    for (std::size_t read = 0; read < operands.reads.size(); ++read) {
      row.operands[read].bytes = const_cast<std::byte*>(part.reads[read]);  // the functions only read operands
      row.operands[read].step = part.steps[read];
    }
    return run_fused(chain.steps, row, {0, part.count}, slots);
  });
}

RunStatus run_chain(const ChainParameters& chain, const Operands& operands, Team& team) {
  const std::optional<Extents> extents = broadcast(operands.reads);
  if (!extents) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(operands.writes[0], *extents); status.code != RunCode::ok) return status;
  const std::int64_t count = extents->count();
  const auto steps = static_cast<std::int64_t>(chain.steps.size());
  const RunCode code = run_in_parts(team, count, count * steps, [&](std::int64_t begin, std::int64_t end) {
    return run_elements(chain, operands, *extents, {begin, end});
  });
  if (chain.channels && code == RunCode::ok) clear_padding(operands.writes[0], *chain.channels);
  return {code, 0};
}

constexpr std::array kChainTypes{DType::f32, DType::f16, DType::boolean, DType::i8, DType::u8};
constexpr std::array kChainOperators{SupportedOperator{kOwnDomain, kChainType, kChainTypes}};

Offer offer_chain(const OfferInput& input) {
  const Result<Graph> program = chain_program(input.graph, input.node);
  if (!program) return {{}, program.error().message};
  if (fused_steps(*program).empty()) return {{}, "no kernel has the element types of its program"};
  return offer_plain(input, kChainOperators[0]);
}

}  // namespace

Family chain_family() {
  return {.name = "chain",
          .operators = kChainOperators,
          .offer = &offer_chain,
          .prepare = [](const PrepareInput& input) -> Result<std::unique_ptr<PreparedKernel>> {
            LOWTIDE_TRY(Graph program, chain_program(input.graph, input.node));
            const Node& node = input.graph.node(input.node);
            return plain_kernel(input, &run_chain, ChainParameters{fused_steps(program), chain_channels(node)});
          }};
}

}  // namespace lowtide::kernels_internal
