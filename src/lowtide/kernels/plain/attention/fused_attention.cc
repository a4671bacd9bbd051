// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/fused_attention.h"

#include <algorithm>
#include <array>

#include "lowtide/graph/lowered.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/tensor_view.h"
#include "lowtide/kernels/plain/attention/attention.h"

namespace lowtide::kernels_internal {
namespace {

// One row of the result. `scores` is scratch for one row of scores.
struct QueryRow {
  const float* query;
  const float* key;
  const float* value;
  const std::byte* mask;
  float* scores;
  float* result;
};

void run_query(const FusedAttention& attention, const QueryRow& row) {
  std::fill_n(row.scores, attention.keys, 0.0F);
  for (std::int64_t at = 0; at < attention.width; ++at) {
    const float factor = row.query[at * attention.query.column];
    const float* key = row.key + at * attention.key.row;
    for (std::int64_t to = 0; to < attention.keys; ++to) row.scores[to] += factor * key[to * attention.key.column];
  }
  weigh_scores(attention, row.mask, row.scores);
  for (std::int64_t to = 0; to < attention.columns; ++to) row.result[to * attention.result.column] = 0;
  for (std::int64_t at = 0; at < attention.keys; ++at) {
    const float weight = row.scores[at];
    const float* value = row.value + at * attention.value.row;
    for (std::int64_t to = 0; to < attention.columns; ++to)
      row.result[to * attention.result.column] += weight * value[to * attention.value.column];
  }
}

RunStatus run_fused_attention(const FusedAttention& attention, const Operands& operands, Team& /*team*/) {
  const std::byte* mask = has_operand(operands.reads, 3) ? *operands.reads[3].bytes : nullptr;
  for (std::int64_t batch = 0; batch < attention.batches; ++batch) {
    for (std::int64_t head = 0; head < attention.heads; ++head) {
      for (std::int64_t at = 0; at < attention.queries; ++at) {
        const auto begin = [&](const MatrixPlaces& places) { return places.begin(batch, head); };
        run_query(attention,
                  {.query = elements<float>(operands.reads[0]) + begin(attention.query) + at * attention.query.row,
                   .key = elements<float>(operands.reads[1]) + begin(attention.key),
                   .value = elements<float>(operands.reads[2]) + begin(attention.value),
                   .mask = mask_row(attention, mask, batch, head, at),
                   .scores = reinterpret_cast<float*>(operands.scratch),
                   .result = mutable_elements<float>(operands.writes[0]) + begin(attention.result) +
                             at * attention.result.row});
      }
    }
  }
  return {};
}

PreparedResult prepare_fused_attention(const PrepareInput& input) {
  std::string missing;
  return plain_kernel(input, &run_fused_attention, fused_attention(input.graph, node_of(input), missing).value());
}

std::string missing_fused_attention(const Graph& graph, const Node& node) {
  std::string missing;
  (void)fused_attention(graph, node, missing);
  return missing;
}

Bytes scratch_of_fused_attention(const Graph& graph, const Node& node, int /*threads*/) {
  std::string missing;
  const std::optional<FusedAttention> attention = fused_attention(graph, node, missing);
  return attention ? Bytes(attention->keys * static_cast<std::int64_t>(sizeof(float))) : Bytes();
}

constexpr std::array kFloat{DType::f32};
constexpr std::array kFusedAttentionTable{
    PlainOperator{.op = {kOwnDomain, kAttentionType, kFloat},
                  .operands = 3,
                  .prepare = &prepare_fused_attention,
                  .missing = &missing_fused_attention,
                  .scratch = &scratch_of_fused_attention},
};
constexpr std::array kFusedAttentionOperators = operators_of(kFusedAttentionTable);

}  // namespace

Family fused_attention_family() {
  return {.name = "fused attention",
          .operators = kFusedAttentionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kFusedAttentionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kFusedAttentionTable, input); }};
}

}  // namespace lowtide::kernels_internal
