// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/blocks/block_epilogue.h"

#include <algorithm>

#include "lowtide/graph/epilogue.h"

namespace lowtide::kernels_internal {
namespace {

using Reach = BlockEpilogue::Reach;

// Shapes in blocks: [images, blocks, ..., lanes].
std::optional<Reach> reach_of(const Shape& operand, const Shape& result) {
  const auto is_one = [](std::int64_t extent) { return extent == 1; };
  if (std::ranges::all_of(operand.extents(), is_one)) return Reach::one;
  if (operand == result) return Reach::whole;
  const int rank = result.rank();
  if (operand.rank() != rank || operand[1] != result[1] || operand[rank - 1] != result[rank - 1]) return std::nullopt;
  for (int axis = 0; axis + 1 < rank; ++axis) {
    if (axis != 1 && operand[axis] != 1) return std::nullopt;
  }
  return Reach::channels;
}

// Sets where the epilogue reads an operand for a row.
FusedRow::Place place_of(Reach reach, const BoundTensor& operand, const BlockRow& row) {
  constexpr std::int64_t kUnit = sizeof(float);
  switch (reach) {
    case Reach::one: return {*operand.bytes, 0, kUnit};
    case Reach::whole: return {*operand.bytes + row.first * kUnit, 1, kUnit};
    case Reach::channels: break;
  }
  return {*operand.bytes + row.channels * kUnit, 1, kUnit};
}

// Moves an operand with all channels to the next place.
void advance(const BlockEpilogue& epilogue, FusedRow& row, std::int64_t lanes) {
  constexpr std::int64_t kUnit = sizeof(float);
  row.operands[0].bytes += lanes * kUnit;
  row.result.bytes += lanes * kUnit;
  for (std::size_t at = 0; at < epilogue.operands.size(); ++at) {
    if (epilogue.operands[at] == Reach::whole) row.operands[at + 1].bytes += lanes * kUnit;
  }
}

void clear_unused(const BlockRow& row, float* result) {
  for (std::int64_t end = row.lanes; end <= row.count; end += row.lanes) {
    std::fill_n(result + row.first + end - row.unused_lanes, row.unused_lanes, 0.0F);
  }
}

// The operand of the epilogue that is an input of the program. nullopt if it is another tensor, or has another reach.
std::optional<std::size_t> operand_with(const Graph& program, const BlockEpilogue& made, TensorId id, Reach reach) {
  const auto at = static_cast<std::size_t>(std::ranges::find(program.inputs(), id) - program.inputs().begin());
  if (at == 0 || at == program.inputs().size() || made.operands[at - 1] != reach) return std::nullopt;
  return at - 1;
}

// Whether a Clip has bounds that a tile can read. Sets them.
bool set_bounds(const Graph& program, const Node& clip, BlockEpilogue& made) {
  const std::optional<ClipBounds> bounds = clip_bounds(program, clip);
  if (!bounds) return false;
  const auto set = [&](const FusedPattern::Number& from, BlockEpilogue::Bound& bound) {
    bound.value = from.value;
    if (from.operand) bound.operand = operand_with(program, made, *from.operand, Reach::one);
    return !from.operand || bound.operand;
  };
  return set(bounds->low, made.low) && set(bounds->high, made.high);
}

// Whether a tile computes the program. Sets its parts.
bool find_parts(const Graph& program, BlockEpilogue& made) {
  TensorId value = program.inputs()[0];
  bool has_bounds = false;
  for (NodeId id : all_ids<NodeId>(program.nodes().size())) {
    const Node& node = program.node(id);
    const std::string& type = program.op(id).type;
    if (has_bounds || node.inputs.empty() || !node.inputs[0]) return false;
    if (type == "Add" && !made.addend && node.inputs.size() == 2 && node.inputs[1]) {
      const bool is_first = node.inputs[0] == value;
      if (!is_first && node.inputs[1] != value) return false;
      made.addend = operand_with(program, made, *node.inputs[is_first ? 1 : 0], Reach::whole);
      if (!made.addend) return false;
    } else if (node.inputs[0] == value && (type == "Relu" || type == "Clip")) {
      has_bounds = true;
      made.is_relu = type == "Relu";
      if (!made.is_relu && !set_bounds(program, node, made)) return false;
    } else {
      return false;
    }
    value = *node.outputs[0];
  }
  return value == program.outputs()[0];
}

// Whether the only step is a pattern of the products and of numbers.
bool is_one_pattern(const BlockEpilogue& made) {
  if (made.steps.size() != 1 || made.steps[0].pattern == FusedPattern::Kind::none) return false;
  const auto& sources = made.steps[0].sources;
  const auto is_number = [&](const FusedSource& source) {
    if (source.from != FusedSource::From::operand) return source.from == FusedSource::From::nowhere;
    return source.index > 0 && made.operands[source.index - 1] == Reach::one;
  };
  return sources[0].from == FusedSource::From::operand && sources[0].index == 0 &&
         sources[1].from == FusedSource::From::nowhere &&
         std::all_of(sources.begin() + FusedStep::kValues, sources.end(), is_number);
}

}  // namespace

bool BlockEpilogue::has_channels() const { return std::ranges::find(operands, Reach::channels) != operands.end(); }

BoundEpilogue::BoundEpilogue(const std::optional<BlockEpilogue>& epilogue, std::span<const BoundTensor> reads) {
  if (!epilogue) return;
  operands = reads.subspan(kProductOperands);
  has_program = !epilogue->is_in_tile;
  const auto elements = [&](std::size_t at) { return reinterpret_cast<const float*>(*operands[at].bytes); };
  if (epilogue->is_pattern) {
    const FusedStep& step = epilogue->steps[0];
    pattern = step.pattern;
    for (std::size_t at = 0; at < numbers.size(); ++at) {
      const FusedSource& source = step.sources[FusedStep::kValues + at];
      numbers[at] = source.from == FusedSource::From::operand ? *elements(source.index - 1) : step.numbers[at];
    }
  }
  if (has_program) return;
  if (epilogue->is_relu) bounds.low = 0;
  if (!epilogue->is_relu) {
    bounds.low = epilogue->low.operand ? *elements(*epilogue->low.operand) : epilogue->low.value;
    bounds.high = epilogue->high.operand ? *elements(*epilogue->high.operand) : epilogue->high.value;
  }
  keeps_zero = bounds.low <= 0 && bounds.high >= 0;
  if (epilogue->addend) addend = elements(*epilogue->addend);
}

std::optional<BlockEpilogue> block_epilogue(const Graph& program) {
  const auto is_other = [](const Tensor& tensor) { return tensor.dtype != DType::f32; };
  if (std::ranges::any_of(program.tensors(), is_other)) return std::nullopt;
  BlockEpilogue made{.steps = fused_steps(program), .operands = {}};
  if (made.steps.empty()) return std::nullopt;
  const Shape& result = program.tensor(program.outputs()[0]).shape;
  for (TensorId input : program.inputs()) {
    if (input == program.inputs()[0]) continue;
    const std::optional<Reach> reach = reach_of(program.tensor(input).shape, result);
    if (!reach) return std::nullopt;
    made.operands.push_back(*reach);
  }
  made.is_in_tile = find_parts(program, made);
  made.is_pattern = is_one_pattern(made);
  return made;
}

RunCode run_epilogue(const BlockEpilogue& epilogue, const BoundEpilogue& bound, const BlockRow& row, float* result,
                     FusedSlots& slots) {
  if (bound.pattern != FusedPattern::Kind::none) {
    run_pattern(bound.pattern,
                {.value = row.sums, .numbers = bound.numbers, .y = result + row.first, .count = row.count});
    if (row.unused_lanes > 0) clear_unused(row, result);
    return RunCode::ok;
  }
  const std::span<const BoundTensor> operands = bound.operands;
  constexpr std::int64_t kUnit = sizeof(float);
  FusedRow fused;
  // The functions only read operands.
  fused.operands[0] = {reinterpret_cast<std::byte*>(const_cast<float*>(row.sums)), 1, kUnit};
  fused.result = {reinterpret_cast<std::byte*>(result + row.first), 1, kUnit};
  for (std::size_t at = 0; at < operands.size(); ++at) {
    fused.operands[at + 1] = place_of(epilogue.operands[at], operands[at], row);
  }
  const std::int64_t step = epilogue.has_channels() ? row.lanes : row.count;
  for (std::int64_t at = 0; at < row.count; at += step) {
    const RunCode code = run_fused(epilogue.steps, fused, {0, step}, slots);
    if (code != RunCode::ok) return code;
    advance(epilogue, fused, step);
  }
  if (row.unused_lanes > 0) clear_unused(row, result);
  return RunCode::ok;
}

}  // namespace lowtide::kernels_internal
