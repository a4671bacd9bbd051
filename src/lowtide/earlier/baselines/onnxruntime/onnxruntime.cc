// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>

#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/earlier/baselines/onnxruntime/arena.h"
#include "lowtide/earlier/baselines/onnxruntime/steps.h"
#include "lowtide/earlier/baselines/onnxruntime/trace.h"

namespace lowtide {
namespace baselines_internal {
namespace {

// Simulates one run in an arena that earlier runs have used. With a pattern, its one block replaces the planned blocks.
void run(ChunkArena& arena, const Trace& trace, std::optional<Bytes> pattern) {
  IdVector<TracedBlockId, std::optional<ChunkId>> chunks(trace.blocks.size());
  std::optional<ChunkId> whole;
  if (pattern && *pattern > Bytes(0)) whole = arena.allocate(*pattern);
  for (const TraceEvent& event : trace.events) {
    const TracedBlock& block = trace.blocks[event.block];
    if (pattern && block.is_planned) continue;
    if (event.is_taken) {
      chunks[event.block] = arena.allocate(block.size);
    } else {
      arena.release(*chunks[event.block]);
      chunks[event.block].reset();
    }
  }
  for (const std::optional<ChunkId>& chunk : chunks) {
    if (chunk) arena.release(*chunk);
  }
  if (whole) arena.release(*whole);
}

OnnxRuntimeBytes bytes_without_arena(const RuntimeSteps& steps, const Trace& trace, std::optional<Bytes> pattern) {
  Bytes load;
  for (Bytes packed : steps.packed) load += packed;
  return {.options = {.growth = std::nullopt, .memory_pattern = pattern.has_value()},
          .load = load,
          .first_run = load + peak_of(trace).live,
          .second_run = load + peak_of(trace, pattern).live};
}

OnnxRuntimeBytes bytes_in_arena(const RuntimeSteps& steps, const Trace& trace, ArenaGrowth growth,
                                std::optional<Bytes> pattern) {
  OnnxRuntimeBytes bytes{.options = {.growth = growth, .memory_pattern = pattern.has_value()}};
  ChunkArena arena(growth);
  for (Bytes packed : steps.packed) arena.allocate(packed);
  bytes.load = arena.requested();
  run(arena, trace, std::nullopt);
  bytes.first_run = arena.requested();
  run(arena, trace, pattern);
  bytes.second_run = arena.requested();
  return bytes;
}

}  // namespace
}  // namespace baselines_internal

Result<OnnxRuntimeMemory> predict_onnxruntime(const Graph& graph) {
  return predict_onnxruntime(graph, baselines_internal::runtime_order(graph));
}

Result<OnnxRuntimeMemory> predict_onnxruntime(const Graph& graph, const std::vector<NodeId>& order) {
  using namespace baselines_internal;  // NOLINT(google-build-using-namespace): the body is about these types only
  LOWTIDE_TRY(const RuntimeSteps steps, runtime_steps(graph, order));
  const Trace trace = trace_of(steps);
  const TracePeak peak = peak_of(trace);
  OnnxRuntimeMemory memory{.order = order, .live = peak.live, .scratch = peak.scratch, .pattern = pattern_size(trace)};
  if (!steps.steps.empty()) memory.peak_node = steps.steps[peak.step].node;
  for (const ArenaGrowth growth : {ArenaGrowth::next_power_of_two, ArenaGrowth::same_as_requested}) {
    memory.bytes.push_back(bytes_in_arena(steps, trace, growth, memory.pattern));
    memory.bytes.push_back(bytes_in_arena(steps, trace, growth, std::nullopt));
  }
  memory.bytes.push_back(bytes_without_arena(steps, trace, memory.pattern));
  memory.bytes.push_back(bytes_without_arena(steps, trace, std::nullopt));
  return memory;
}

}  // namespace lowtide
