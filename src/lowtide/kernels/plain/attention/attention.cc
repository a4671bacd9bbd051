// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/attention/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/math/functions.h"
#include "lowtide/kernels/plain/attention/heads.h"
#include "lowtide/kernels/plain/products/dot.h"

namespace lowtide::kernels_internal {
namespace {

// A window this wide shows all keys, and sums with it have 64 bits.
constexpr std::int64_t kWidestWindow = std::int64_t{1} << 48;

constexpr float kMasked = -std::numeric_limits<float>::infinity();

// The operands and results by position.
enum Read : std::size_t { kQueryAt, kKeyAt, kValueAt, kMaskAt, kPastKeyAt, kPastValueAt, kLengthsAt };
enum Write : std::size_t { kResultAt, kPresentKeyAt, kPresentValueAt, kScoresAt };

// What the result kScoresAt holds.
enum class Stage : std::uint8_t { products, capped, masked, weights };

struct AttentionParameters {
  std::int64_t query_heads = 0;  // of operands of rank 3
  std::int64_t key_heads = 0;
  std::optional<float> scale;  // nullopt: 1 / sqrt(width of a query)
  float cap = 0;
  bool is_causal = false;
  std::int64_t left = -1;  // how far before its own position a query sees; -1: no limit
  std::int64_t right = -1;
  Stage shown = Stage::products;
};

// The rows of keys or values: those of the past, then the new ones.
struct Rows {
  Heads past;  // without rows if there is none
  Heads now;

  [[nodiscard]] std::int64_t count() const { return past.rows + now.rows; }
  [[nodiscard]] const float* row(std::int64_t batch, std::int64_t head, std::int64_t at) const {
    return at < past.rows ? past.row(batch, head, at) : now.row(batch, head, at - past.rows);
  }
};

// A mask that is broadcast to [batch, heads, queries, keys]. Keys beyond its last axis are masked.
struct Mask {
  const BoundTensor* tensor = nullptr;
  std::int64_t keys = 0;
  std::array<std::int64_t, 3> strides{};  // 0 for an axis that is broadcast

  [[nodiscard]] float at(std::int64_t row, std::int64_t key) const {
    if (key >= keys) return kMasked;
    if (tensor->dtype == DType::boolean) return elements<std::uint8_t>(*tensor)[row + key] != 0 ? 0.0F : kMasked;
    return elements<float>(*tensor)[row + key];
  }
};

struct Problem {
  const AttentionParameters& parameters;
  Heads query;
  Rows key;
  Rows value;
  std::optional<Mask> mask;
  const BoundTensor* lengths = nullptr;  // valid keys of each batch
  float scale = 1;
  float* row = nullptr;     // scratch: the scores of one query
  float* scores = nullptr;  // of all queries, if they are a result

  // The position of the first query among the keys.
  [[nodiscard]] std::int64_t offset(std::int64_t batch) const {
    return lengths == nullptr ? key.past.rows : small_length(batch) - query.rows;
  }
  // The input has any numbers. Those outside [0, keys] mean no key and all keys.
  [[nodiscard]] std::int64_t small_length(std::int64_t batch) const {
    const std::int64_t length = lengths->dtype == DType::i32 ? elements<std::int32_t>(*lengths)[batch]
                                                             : elements<std::int64_t>(*lengths)[batch];
    return std::clamp<std::int64_t>(length, 0, key.count());
  }
  // The keys that a query sees: [first, second).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> seen(std::int64_t batch, std::int64_t at) const {
    const std::int64_t position = offset(batch) + at;
    std::int64_t first = 0;
    std::int64_t end = key.count();
    if (lengths != nullptr) end = std::min(end, small_length(batch));
    if (parameters.is_causal) end = std::min(end, position + 1);
    if (parameters.right >= 0) end = std::min(end, position + parameters.right + 1);
    if (parameters.left >= 0) first = std::max(first, position - parameters.left);
    return {first, std::max(first, end)};
  }
};

// Copies a stage of a row of scores into the result that shows it.
void show(const Problem& problem, Stage stage, float* to) {
  if (to != nullptr && problem.parameters.shown == stage) std::copy_n(problem.row, problem.key.count(), to);
}

void mask_row(const Problem& problem, std::int64_t batch, std::int64_t head, std::int64_t at) {
  const auto [first, end] = problem.seen(batch, at);
  const std::int64_t count = problem.key.count();
  if (problem.mask) {
    const std::array<std::int64_t, 3>& strides = problem.mask->strides;
    const std::int64_t row = batch * strides[0] + head * strides[1] + at * strides[2];
    for (std::int64_t key = 0; key < count; ++key) problem.row[key] += problem.mask->at(row, key);
  }
  std::fill_n(problem.row, std::min(first, count), kMasked);
  std::fill(problem.row + std::min(end, count), problem.row + count, kMasked);
}

// Makes weights of scores. A query that sees no key has weights of 0.
void weigh(float* row, std::int64_t count) {
  float most = kMasked;
  for (std::int64_t at = 0; at < count; ++at) most = std::max(most, row[at]);
  if (most == kMasked) {
    std::fill_n(row, count, 0.0F);
    return;
  }
  float sum = 0;
  for (std::int64_t at = 0; at < count; ++at) {
    row[at] = exp_f32(row[at] - most);
    sum += row[at];
  }
  for (std::int64_t at = 0; at < count; ++at) row[at] /= sum;
}

void attend(const Problem& problem, std::int64_t batch, std::int64_t head, std::int64_t at, float* to) {
  const std::int64_t count = problem.key.count();
  const std::int64_t shared = head / (problem.query.heads / problem.key.now.heads);
  float* shown = nullptr;
  if (problem.scores != nullptr)
    shown = problem.scores + ((batch * problem.query.heads + head) * problem.query.rows + at) * count;
  const float* query = problem.query.row(batch, head, at);
  for (std::int64_t key = 0; key < count; ++key) {
    problem.row[key] = dot(query, problem.key.row(batch, shared, key), problem.query.width) * problem.scale;
  }
  show(problem, Stage::products, shown);
  const float cap = problem.parameters.cap;
  if (cap > 0)
    std::transform(problem.row, problem.row + count, problem.row,
                   [&](float score) { return cap * tanh_f32(score / cap); });
  show(problem, Stage::capped, shown);
  mask_row(problem, batch, head, at);
  show(problem, Stage::masked, shown);
  weigh(problem.row, count);
  show(problem, Stage::weights, shown);
  const std::int64_t width = problem.value.now.width;
  std::fill_n(to, width, 0.0F);
  for (std::int64_t key = 0; key < count; ++key) {
    const float weight = problem.row[key];
    if (weight == 0.0F) continue;
    const float* value = problem.value.row(batch, shared, key);
    for (std::int64_t column = 0; column < width; ++column) to[column] += weight * value[column];
  }
}

// nullopt: the mask cannot be broadcast.
std::optional<Mask> mask_of(const BoundTensor& tensor, const Problem& problem) {
  const Extents extents(extents_of(tensor));
  if (extents.rank() < 1 || extents.rank() > 4) return std::nullopt;
  Mask mask{.tensor = &tensor, .keys = extents[extents.rank() - 1]};
  const std::array<std::int64_t, 3> wanted{problem.query.batches, problem.query.heads, problem.query.rows};
  std::int64_t stride = mask.keys;
  for (int axis = extents.rank() - 2, at = 2; axis >= 0; --axis, --at) {
    const auto to = static_cast<std::size_t>(at);
    if (extents[axis] != 1 && extents[axis] != wanted[to]) return std::nullopt;
    mask.strides[to] = extents[axis] == 1 ? 0 : stride;
    stride *= extents[axis];
  }
  return mask;
}

// The keys or values, or nullopt if the past does not agree with them.
std::optional<Rows> rows_of(const Operands& operands, Read now, Read past, std::int64_t heads) {
  std::optional<Heads> rows = heads_of(operands.reads[now], heads);
  if (!rows) return std::nullopt;
  Rows all{.past = *rows, .now = *rows};
  all.past.rows = 0;
  if (!has_operand(operands.reads, past)) return all;
  const std::optional<Heads> before = heads_of(operands.reads[past], heads);
  const bool agrees = operands.reads[past].rank == 4 && before && before->batches == rows->batches &&
                      before->heads == rows->heads && before->width == rows->width;
  if (!agrees) return std::nullopt;
  all.past = *before;
  return all;
}

// nullopt: the extents do not agree.
std::optional<Problem> problem_of(const AttentionParameters& parameters, const Operands& operands) {
  const std::optional<Heads> query = heads_of(operands.reads[kQueryAt], parameters.query_heads);
  const std::optional<Rows> key = rows_of(operands, kKeyAt, kPastKeyAt, parameters.key_heads);
  const std::optional<Rows> value = rows_of(operands, kValueAt, kPastValueAt, parameters.key_heads);
  if (!query || !key || !value) return std::nullopt;
  const bool agrees = key->now.batches == query->batches && value->now.batches == query->batches &&
                      key->now.width == query->width && key->now.heads == value->now.heads && key->now.heads > 0 &&
                      query->heads % key->now.heads == 0 && key->count() == value->count();
  if (!agrees) return std::nullopt;
  Problem problem{.parameters = parameters, .query = *query, .key = *key, .value = *value};
  problem.scale = parameters.scale.value_or(1.0F / std::sqrt(static_cast<float>(query->width)));
  if (has_operand(operands.reads, kMaskAt)) {
    problem.mask = mask_of(operands.reads[kMaskAt], problem);
    if (!problem.mask) return std::nullopt;
  }
  if (has_operand(operands.reads, kLengthsAt)) {
    problem.lengths = &operands.reads[kLengthsAt];
    if (count_of(*problem.lengths) != query->batches) return std::nullopt;
  }
  problem.row = reinterpret_cast<float*>(operands.scratch);
  return problem;
}

// The past rows, then the new ones, as [batches, heads, rows, width].
RunStatus join(const Operands& operands, Write result, const Rows& rows) {
  if (!has_operand(operands.writes, result)) return {};
  const Extents extents{rows.now.batches, rows.now.heads, rows.count(), rows.now.width};
  if (const RunStatus status = set_extents(operands.writes[result], extents); status.code != RunCode::ok) return status;
  auto* to = mutable_elements<float>(operands.writes[result]);
  for (std::int64_t batch = 0; batch < rows.now.batches; ++batch) {
    for (std::int64_t head = 0; head < rows.now.heads; ++head) {
      for (std::int64_t at = 0; at < rows.count(); ++at)
        to = std::copy_n(rows.row(batch, head, at), rows.now.width, to);
    }
  }
  return {};
}

RunStatus run_attention(const AttentionParameters& parameters, const Operands& operands, Team& /*team*/) {
  std::optional<Problem> problem = problem_of(parameters, operands);
  if (!problem) return {RunCode::bad_extents, 0};
  const Heads& query = problem->query;
  const std::int64_t width = problem->value.now.width;
  const bool is_flat = operands.reads[kQueryAt].rank == 3;
  const Extents extents = is_flat ? Extents{query.batches, query.rows, query.heads * width}
                                  : Extents{query.batches, query.heads, query.rows, width};
  if (const RunStatus status = set_extents(operands.writes[kResultAt], extents); status.code != RunCode::ok)
    return status;
  if (const RunStatus status = join(operands, kPresentKeyAt, problem->key); status.code != RunCode::ok) return status;
  if (const RunStatus status = join(operands, kPresentValueAt, problem->value); status.code != RunCode::ok)
    return status;
  if (has_operand(operands.writes, kScoresAt)) {
    const Extents all{query.batches, query.heads, query.rows, problem->key.count()};
    if (const RunStatus status = set_extents(operands.writes[kScoresAt], all); status.code != RunCode::ok)
      return status;
    problem->scores = mutable_elements<float>(operands.writes[kScoresAt]);
  }
  const std::optional<Heads> result = heads_of(operands.writes[kResultAt], query.heads);
  for (std::int64_t batch = 0; batch < query.batches; ++batch) {
    for (std::int64_t head = 0; head < query.heads; ++head) {
      for (std::int64_t at = 0; at < query.rows; ++at) attend(*problem, batch, head, at, result->row(batch, head, at));
    }
  }
  return {};
}

PreparedResult prepare_attention(const PrepareInput& input) {
  const Node& node = node_of(input);
  AttentionParameters parameters{.query_heads = integer_attribute(node, "q_num_heads", 0),
                                 .key_heads = integer_attribute(node, "kv_num_heads", 0),
                                 .cap = static_cast<float>(number_attribute(node, "softcap", 0)),
                                 .is_causal = integer_attribute(node, "is_causal", 0) != 0,
                                 .left = std::min(integer_attribute(node, "left_window_size", -1), kWidestWindow),
                                 .right = std::min(integer_attribute(node, "right_window_size", -1), kWidestWindow)};
  const std::int64_t shown = integer_attribute(node, "qk_matmul_output_mode", 0);
  parameters.shown = static_cast<Stage>(std::clamp<std::int64_t>(shown, 0, 3));
  if (const auto* scale = find_attribute<double>(node.attributes, "scale"))
    parameters.scale = static_cast<float>(*scale);
  return plain_kernel(input, &run_attention, parameters);
}

bool has_type(const Graph& graph, const Node& node, std::size_t at, std::initializer_list<DType> types) {
  if (at >= node.inputs.size() || !node.inputs[at]) return true;
  return std::ranges::find(types, graph.tensor(*node.inputs[at]).dtype) != types.end();
}

std::string missing_attention(const Graph& graph, const Node& node) {
  for (const std::size_t at : {kKeyAt, kValueAt, kPastKeyAt, kPastValueAt}) {
    if (!has_type(graph, node, at, {DType::f32, DType::f16, DType::bf16})) return "keys and values are not floats";
  }
  if (!has_type(graph, node, kMaskAt, {DType::f32, DType::f16, DType::bf16, DType::boolean}))
    return "the mask is not of floats or bool";
  if (!has_type(graph, node, kLengthsAt, {DType::i64, DType::i32})) return "nonpad_kv_seqlen is not i64 or i32";
  return "";
}

// One row of scores. The rows of keys are the last axis but one, also in [batches, rows, heads * width].
Bytes attention_scratch(const Graph& graph, const Node& node, int /*threads*/) {
  std::int64_t keys = 0;
  for (const std::size_t at : {kKeyAt, kPastKeyAt}) {
    if (at >= node.inputs.size() || !node.inputs[at]) continue;
    const Shape& shape = graph.tensor(*node.inputs[at]).shape;
    if (shape.rank() >= 3) keys += shape[shape.rank() - 2];
  }
  return Bytes(keys * static_cast<std::int64_t>(sizeof(float)));
}

constexpr std::array kAttentionTable{
    PlainOperator{.op = on_floats("Attention"),
                  .operands = 3,
                  .prepare = &prepare_attention,
                  .missing = &missing_attention,
                  .scratch = &attention_scratch,
                  .widens_half = true},
};
constexpr std::array kAttentionOperators = operators_of(kAttentionTable);

}  // namespace

Family attention_family() {
  return {.name = "attention",
          .operators = kAttentionOperators,
          .offer = [](const OfferInput& input) { return offer_from(kAttentionTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kAttentionTable, input); }};
}

}  // namespace lowtide::kernels_internal
