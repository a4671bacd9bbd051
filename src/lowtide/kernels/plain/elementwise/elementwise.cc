// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <limits>

#include "lowtide/base/check.h"
#include "lowtide/base/quote.h"
#include "lowtide/kernels/common/broadcast_rows.h"
#include "lowtide/kernels/common/narrow_floats.h"
#include "lowtide/kernels/common/row_parts.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/plain/elementwise/elementwise_row.h"

namespace lowtide::kernels_internal {
namespace {

constexpr std::int64_t kBlock = 256;  // elements that are converted at once

// Space for a block of elements of any type. It is filled before it is read.
struct alignas(64) Block {
  Block() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::array<std::byte, kBlock * sizeof(double)> bytes;
  [[nodiscard]] float* floats() { return reinterpret_cast<float*>(bytes.data()); }
};

// A part of a row whose operands of f16 and bf16 are converted to f32, and back.
class NarrowRow {
 public:
  explicit NarrowRow(const ElementwiseStep& step) : step_(step) {}  // NOLINT(cppcoreguidelines-pro-type-member-init)

  RunCode run(const Row& row) {
    for (std::int64_t at = 0; at < row.count; at += kBlock) {
      Row part = part_of(row, at, std::min(kBlock, row.count - at));
      std::byte* const write = part.write;
      const bool is_narrow = is_narrow_float(step_.result);
      if (is_narrow) part.write = block_[3].bytes.data();
      const RunCode code = step_.function(part, step_.numbers);
      if (code != RunCode::ok) return code;
      if (is_narrow) narrow_floats(step_.result, block_[3].floats(), part.count, write);
    }
    return RunCode::ok;
  }

 private:
  Row part_of(const Row& row, std::int64_t at, std::int64_t count) {
    Row part{.steps = row.steps, .write = row.write + at * element_bytes(step_.result), .count = count};
    for (std::size_t read = 0; read < row.reads.size(); ++read) {
      if (row.reads[read] == nullptr) continue;
      const DType dtype = step_.operands[read];
      part.reads[read] = row.reads[read] + at * row.steps[read] * element_bytes(dtype);
      if (!is_narrow_float(dtype)) continue;
      widen_floats(dtype, part.reads[read], row.steps[read] == 0 ? 1 : count, block_[read].floats());
      part.reads[read] = block_[read].bytes.data();
    }
    return part;
  }

  const ElementwiseStep& step_;
  std::array<Block, 4> block_;  // of three operands and the result
};

RunStatus run_elementwise(const ElementwiseStep& step, const Operands& operands, Team& team) {
  const BoundTensor& result = operands.writes[0];
  const std::span<const BoundTensor> reads = operands.reads.first(step.ignores_others ? 1 : operands.reads.size());
  const std::optional<Extents> extents = broadcast(reads);
  if (!extents) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(result, *extents); status.code != RunCode::ok) return status;
  const std::int64_t count = extents->count();
  const RunCode code = run_in_parts(team, count, count, [&](std::int64_t begin, std::int64_t end) {
    RowParts parts(reads, result, *extents, std::numeric_limits<std::int64_t>::max());
    return parts.run({begin, end}, [&](const RowPart& part) {
      Row row{.write = part.write, .count = part.count};
      std::copy_n(part.reads.begin(), row.reads.size(), row.reads.begin());
      std::copy_n(part.steps.begin(), row.steps.size(), row.steps.begin());
      return run_step(step, row);
    });
  });
  return {code, 0};
}

// A step whose operands have the shape of the result or one element, with extents that are known before a run.
struct FlatStep {
  ElementwiseStep step;
  std::int64_t count = 0;
  std::array<std::int64_t, std::tuple_size_v<decltype(Row::reads)>> steps{};  // 1, or 0 for one element
  std::array<std::int64_t, std::tuple_size_v<decltype(Row::reads)>> bytes{};  // from element to element
  std::int64_t bytes_of_result = 0;
};

std::optional<FlatStep> flat_step(const ElementwiseStep& step, const Graph& graph, const Node& node) {
  const Shape& result = graph.tensor(*node.outputs[0]).shape;
  if (result.has_upper_bounds()) return std::nullopt;
  FlatStep flat{.step = step, .bytes_of_result = element_bytes(step.result)};
  flat.count = graph.tensor(*node.outputs[0]).size.count() / flat.bytes_of_result;
  if (flat.count == 0) return std::nullopt;
  const std::size_t read = step.ignores_others ? 1 : node.inputs.size();
  for (std::size_t at = 0; at < read; ++at) {
    if (!node.inputs[at]) continue;
    const Tensor& operand = graph.tensor(*node.inputs[at]);
    const bool has_one = std::ranges::all_of(operand.shape.extents(), [](std::int64_t extent) { return extent == 1; });
    if (operand.shape.has_upper_bounds()) return std::nullopt;
    if (operand.shape != result && (!has_one || operand.shape.rank() > result.rank())) return std::nullopt;
    flat.steps[at] = operand.shape == result ? 1 : 0;
    flat.bytes[at] = flat.steps[at] * element_bytes(operand.dtype);
  }
  return flat;
}

// Does what run_elementwise() does, without its work on extents.
RunStatus run_flat(const FlatStep& flat, const Operands& operands, Team& team) {
  const std::size_t reads = flat.step.ignores_others ? 1 : operands.reads.size();
  const RunCode code = run_in_parts(team, flat.count, flat.count, [&](std::int64_t begin, std::int64_t end) {
    Row row{
        .steps = flat.steps, .write = *operands.writes[0].bytes + begin * flat.bytes_of_result, .count = end - begin};
    for (std::size_t read = 0; read < reads; ++read) {
      if (is_present(operands.reads[read])) row.reads[read] = *operands.reads[read].bytes + begin * flat.bytes[read];
    }
    return run_step(flat.step, row);
  });
  return {code, 0};
}

// Puts elements of an operand into a block, in the type that the row functions have.
void load_block(const BoundTensor& from, std::int64_t begin, std::int64_t step, std::span<std::byte> block) {
  const int bytes = element_bytes(from.dtype);
  const std::byte* source = *from.bytes + begin * bytes;
  if (is_narrow_float(from.dtype)) {
    const auto count = static_cast<std::int64_t>(block.size() / sizeof(float));
    auto* floats = reinterpret_cast<float*>(block.data());
    widen_floats(from.dtype, source, step == 0 ? std::min<std::int64_t>(count, 1) : count, floats);
    if (step == 0) std::fill_n(floats, count, floats[0]);
    return;
  }
  const std::size_t unit = step == 0 ? static_cast<std::size_t>(bytes) : block.size();
  for (std::size_t at = 0; at < block.size(); at += unit) std::memcpy(block.data() + at, source, unit);
}

// Combines a block of the first operand with the same elements of the others. The result is written at last, because
// it may have the place of any operand.
RunCode combine_block(const ElementwiseStep& step, const Operands& operands, const BroadcastRows& rows, std::int64_t at,
                      std::span<std::byte> out) {
  const std::int64_t count = std::min(kBlock, rows.length() - at);
  const DType dtype = operands.writes[0].dtype;
  const int unit = element_bytes(computed_type(dtype));
  Block sum;
  Block next;
  const std::size_t bytes = static_cast<std::size_t>(count * unit);
  for (std::size_t read = 0; read < operands.reads.size(); ++read) {
    const BoundTensor& from = operands.reads[read];
    const std::int64_t advance = rows.step_in(from);
    Block& block = read == 0 ? sum : next;
    load_block(from, rows.begin_in(from) + at * advance, advance, std::span(block.bytes).first(bytes));
    if (read == 0) continue;
    const Row row{
        .reads = {sum.bytes.data(), next.bytes.data()}, .steps = {1, 1}, .write = sum.bytes.data(), .count = count};
    const RunCode code = step.function(row, step.numbers);
    if (code != RunCode::ok) return code;
  }
  if (step.numbers[0] != 0) {  // a mean
    const auto divide = [&]<typename T>(T* sums) {
      for (std::int64_t element = 0; element < count; ++element) sums[element] /= static_cast<T>(operands.reads.size());
    };
    dtype == DType::f64 ? divide(reinterpret_cast<double*>(sum.bytes.data())) : divide(sum.floats());
  }
  if (is_narrow_float(dtype)) {
    narrow_floats(dtype, sum.floats(), count, out.data());
  } else {
    std::memcpy(out.data(), sum.bytes.data(), bytes);
  }
  return RunCode::ok;
}

RunStatus run_variadic(const ElementwiseStep& step, const Operands& operands, Team& /*team*/) {
  const BoundTensor& result = operands.writes[0];
  const std::optional<Extents> extents = broadcast(operands.reads);
  if (!extents) return {RunCode::bad_extents, 0};
  if (const RunStatus status = set_extents(result, *extents); status.code != RunCode::ok) return status;
  const std::span<std::byte> all{*result.bytes,
                                 static_cast<std::size_t>(extents->count() * element_bytes(result.dtype))};
  std::size_t written = 0;
  for (BroadcastRows rows(operands.reads, *extents); !rows.is_done(); rows.advance()) {
    for (std::int64_t at = 0; at < rows.length(); at += kBlock) {
      const RunCode code = combine_block(step, operands, rows, at, all.subspan(written));
      if (code != RunCode::ok) return {code, 0};
      written += static_cast<std::size_t>(std::min(kBlock, rows.length() - at) * element_bytes(result.dtype));
    }
  }
  return {};
}

double number_of(const Node& node, const NumberAttribute& wanted) {
  for (const Attribute& attribute : node.attributes) {
    if (attribute.name != wanted.name) continue;
    if (const auto* integer = std::get_if<std::int64_t>(&attribute.value)) return static_cast<double>(*integer);
    if (const auto* number = std::get_if<double>(&attribute.value)) return *number;
    if (const auto* text = std::get_if<std::string>(&attribute.value)) return *text == wanted.text ? 1 : 0;
  }
  return wanted.otherwise;
}

const ElementwiseOperator& operator_in(std::span<const ElementwiseOperator> table, const Operator& op) {
  const auto found = std::ranges::find(table, op.type, [](const ElementwiseOperator& row) { return row.op.type; });
  LOWTIDE_CHECK(found != table.end(), "the family has the operator");
  return *found;
}

DType type_of(const Graph& graph, const std::vector<std::optional<TensorId>>& tensors, std::size_t at,
              DType otherwise) {
  return at < tensors.size() && tensors[at] ? graph.tensor(*tensors[at]).dtype : otherwise;
}

bool is_present_in(const std::optional<TensorId>& id) { return id.has_value(); }

// Whether the node has the operands and the result that the operator needs.
bool is_complete(const ElementwiseOperator& row, const Graph& graph, const Node& node) {
  if (node.inputs.size() < row.operands || node.outputs.size() != 1 || !node.outputs[0]) return false;
  const auto required = std::span(node.inputs).first(row.operands);
  if (!std::ranges::all_of(required, &is_present_in)) return false;
  if (!row.is_variadic) return node.inputs.size() <= std::tuple_size_v<decltype(Row::reads)>;
  const DType dtype = graph.tensor(*node.outputs[0]).dtype;
  return std::ranges::all_of(node.inputs, [&](const auto& id) { return id && graph.tensor(*id).dtype == dtype; });
}

// Returns nullptr if the operator has no function for the types of the node.
RowFunction function_of(const ElementwiseOperator& row, const Graph& graph, const Node& node) {
  if (!is_complete(row, graph, node)) return nullptr;
  const DType result = graph.tensor(*node.outputs[0]).dtype;
  const DType first = graph.tensor(*node.inputs[0]).dtype;
  const DType second = type_of(graph, node.inputs, 1, result);
  if (row.moves_elements) return row.function(first, second, result);
  const bool is_narrow = row.narrow_function != nullptr && is_narrow_float(result);
  if (is_narrow) return row.narrow_function(computed_type(first));
  return row.function(computed_type(first), computed_type(second), computed_type(result));
}

bool has_narrow_float(const Graph& graph, const Node& node) {
  const auto is_narrow = [&](const std::optional<TensorId>& id) {
    return id && is_narrow_float(graph.tensor(*id).dtype);
  };
  return std::ranges::any_of(node.inputs, is_narrow) || std::ranges::any_of(node.outputs, is_narrow);
}

ElementwiseStep step_of(const ElementwiseOperator& row, const Graph& graph, const Node& node) {
  ElementwiseStep step{.function = function_of(row, graph, node), .result = graph.tensor(*node.outputs[0]).dtype};
  for (std::size_t at = 0; at < row.numbers.size(); ++at) {
    if (!row.numbers[at].name.empty() || row.is_variadic) step.numbers[at] = number_of(node, row.numbers[at]);
  }
  for (std::size_t at = 0; at < step.operands.size(); ++at) {
    step.operands[at] = type_of(graph, node.inputs, at, DType::f32);
  }
  step.converts_narrow = !row.moves_elements && has_narrow_float(graph, node);
  step.ignores_others = row.ignores_others;
  return step;
}

}  // namespace

std::optional<ElementwiseStep> elementwise_step(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  for (const std::span<const ElementwiseOperator> table :
       {unary_table(), binary_table(), select_table(), quantize_table()}) {
    const auto row = std::ranges::find(table, graph.op(id).type, [](const auto& one) { return one.op.type; });
    if (row == table.end()) continue;
    const ElementwiseStep step = step_of(*row, graph, node);
    const bool is_mean = row->is_variadic && step.numbers[0] != 0;
    if (step.function == nullptr || is_mean || (row->is_variadic && node.inputs.size() != 2)) return std::nullopt;
    return step;
  }
  return std::nullopt;
}

RunCode run_step(const ElementwiseStep& step, const Row& row) {
  return step.converts_narrow ? NarrowRow(step).run(row) : step.function(row, step.numbers);
}

Offer offer_elementwise(std::span<const ElementwiseOperator> table, const OfferInput& input) {
  const Operator& op = input.graph.op(input.node);
  const ElementwiseOperator& row = operator_in(table, op);
  Offer offer = offer_plain(input, row.op);
  const Node& node = input.graph.node(input.node);
  if (offer.kernels.empty() || function_of(row, input.graph, node) != nullptr) return offer;
  return {{}, "no kernel has " + op.type + " of these element types"};
}

Result<std::unique_ptr<PreparedKernel>> prepare_elementwise(std::span<const ElementwiseOperator> table,
                                                            const PrepareInput& input) {
  const ElementwiseOperator& row = operator_in(table, input.graph.op(input.node));
  const Node& node = input.graph.node(input.node);
  const ElementwiseStep step = step_of(row, input.graph, node);
  if (row.is_variadic && (node.inputs.size() != 2 || step.numbers[0] != 0))
    return plain_kernel(input, &run_variadic, step);
  if (const auto flat = flat_step(step, input.graph, node)) return plain_kernel(input, &run_flat, *flat);
  return plain_kernel(input, row.is_variadic ? &run_variadic : &run_elementwise, step);
}

}  // namespace lowtide::kernels_internal
