// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/attention/rotary.h"

#include <algorithm>
#include <array>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/plain/attention/heads.h"

namespace lowtide::kernels_internal {
namespace {

struct RotaryParameters {
  std::int64_t heads = 0;  // of an operand of rank 3
  std::int64_t width = 0;  // of the part of a row that is rotated; 0: all of it
  bool is_interleaved = false;
};

// The rotation of the pairs of a row, one angle per pair.
struct Rotation {
  const float* cosine = nullptr;
  const float* sine = nullptr;
  std::int64_t pairs = 0;
  bool is_interleaved = false;
};

// The pairs that are rotated together are (x[first], x[first + distance]).
void rotate_row(const Rotation& rotation, const float* x, float* y) {
  const auto& [cosine, sine, pairs, is_interleaved] = rotation;
  const std::int64_t step = is_interleaved ? 2 : 1;
  const std::int64_t distance = is_interleaved ? 1 : pairs;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    const std::int64_t first = pair * step;
    const float real = x[first];
    const float imaginary = x[first + distance];
    y[first] = cosine[pair] * real - sine[pair] * imaginary;
    y[first + distance] = sine[pair] * real + cosine[pair] * imaginary;
  }
}

// The row of both caches for a position, or nullopt if it is outside of them. Without positions, the caches have a row
// for each batch and position.
std::optional<std::int64_t> cache_row(const Operands& operands, std::int64_t at, std::int64_t rows) {
  if (!has_operand(operands.reads, 3)) return at;
  const std::int64_t position = elements<std::int64_t>(operands.reads[3])[at];
  if (position < 0 || position >= rows) return std::nullopt;
  return position;
}

RunStatus run_rotary(const RotaryParameters& parameters, const Operands& operands, Team& /*team*/) {
  const std::optional<Heads> from = heads_of(operands.reads[0], parameters.heads);
  if (!from) return {RunCode::bad_extents, 0};
  const std::int64_t width = parameters.width == 0 ? from->width : parameters.width;
  const Extents caches(extents_of(operands.reads[1]));
  const bool has_positions = has_operand(operands.reads, 3);
  const int wanted_rank = has_positions ? 2 : 3;
  if (width < 0 || width > from->width || width % 2 != 0 || caches.rank() != wanted_rank)
    return {RunCode::bad_extents, 1};
  const std::int64_t rows = caches.product(0, caches.rank() - 1);
  const bool agrees = caches[caches.rank() - 1] == width / 2 && count_of(operands.reads[2]) == caches.count() &&
                      (has_positions ? count_of(operands.reads[3]) : rows) == from->batches * from->rows;
  if (!agrees) return {RunCode::bad_extents, 1};
  const Extents extents(extents_of(operands.reads[0]));
  if (const RunStatus status = set_extents(operands.writes[0], extents); status.code != RunCode::ok) return status;
  const std::optional<Heads> to = heads_of(operands.writes[0], parameters.heads);
  for (std::int64_t batch = 0; batch < from->batches; ++batch) {
    for (std::int64_t at = 0; at < from->rows; ++at) {
      const std::optional<std::int64_t> row = cache_row(operands, batch * from->rows + at, rows);
      if (!row) return {RunCode::index_out_of_range, 3};
      const std::int64_t angles = *row * (width / 2);
      const Rotation rotation{elements<float>(operands.reads[1]) + angles, elements<float>(operands.reads[2]) + angles,
                              width / 2, parameters.is_interleaved};
      for (std::int64_t head = 0; head < from->heads; ++head) {
        const float* x = from->row(batch, head, at);
        float* y = to->row(batch, head, at);
        rotate_row(rotation, x, y);
        std::copy(x + width, x + from->width, y + width);
      }
    }
  }
  return {};
}

PreparedResult prepare_rotary(const PrepareInput& input) {
  const Node& node = node_of(input);
  return plain_kernel(
      input, &run_rotary,
      RotaryParameters{integer_attribute(node, "num_heads", 0), integer_attribute(node, "rotary_embedding_dim", 0),
                       integer_attribute(node, "interleaved", 0) != 0});
}

std::string missing_rotary(const Graph& graph, const Node& node) {
  for (const std::size_t at : {1, 2}) {
    if (computed_type(graph, node, at) != DType::f32) return "a cache is not f32, f16 or bf16";
  }
  const std::optional<DType> positions = computed_type(graph, node, 3);
  return positions && positions != DType::i64 ? "the positions are not i64" : "";
}

constexpr std::array kRotaryTable{
    PlainOperator{.op = on_floats("RotaryEmbedding"),
                  .operands = 3,
                  .prepare = &prepare_rotary,
                  .missing = &missing_rotary,
                  .widens_half = true},
};
constexpr std::array kRotaryOperators = operators_of(kRotaryTable);

}  // namespace

Family rotary_family() {
  return {.name = "rotary",
          .operators = kRotaryOperators,
          .offer = [](const OfferInput& input) { return offer_from(kRotaryTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kRotaryTable, input); }};
}

}  // namespace lowtide::kernels_internal
