// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <map>
#include <optional>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/earlier/baselines/onnxruntime/arena.h"
#include "lowtide/earlier/baselines/onnxruntime/steps.h"
#include "lowtide/earlier/baselines/onnxruntime/trace.h"

namespace lowtide {
namespace baselines_internal {
namespace {

// Simulates one run in an arena that earlier runs have used.
void run(ChunkArena& arena, const std::vector<BlockRequest>& requests) {
  std::map<std::size_t, ChunkId> chunks;
  for (const BlockRequest& request : requests) {
    if (request.is_taken) {
      chunks[request.number] = arena.allocate(request.size);
    } else {
      arena.release(chunks.at(request.number));
      chunks.erase(request.number);
    }
  }
  for (const auto& [number, chunk] : chunks) arena.release(chunk);
}

OnnxRuntimeBytes bytes_without_arena(const RuntimeSteps& steps, const Trace& trace,
                                     const std::optional<Patterns>& patterns) {
  Bytes load;
  for (Bytes packed : steps.packed) load += packed;
  return {.options = {.growth = std::nullopt, .memory_pattern = patterns.has_value()},
          .load = load,
          .first_run = load + peak_of(requests_of(trace, patterns, RunNumber::first)).live,
          .second_run = load + peak_of(requests_of(trace, patterns, RunNumber::second)).live};
}

OnnxRuntimeBytes bytes_in_arena(const RuntimeSteps& steps, const Trace& trace, ArenaGrowth growth,
                                const std::optional<Patterns>& patterns) {
  OnnxRuntimeBytes bytes{.options = {.growth = growth, .memory_pattern = patterns.has_value()}};
  ChunkArena arena(growth);
  for (Bytes packed : steps.packed) arena.allocate(packed);
  bytes.load = arena.requested();
  run(arena, requests_of(trace, patterns, RunNumber::first));
  bytes.first_run = arena.requested();
  run(arena, requests_of(trace, patterns, RunNumber::second));
  bytes.second_run = arena.requested();
  return bytes;
}

}  // namespace
}  // namespace baselines_internal

std::vector<NodeId> onnxruntime_order(const Graph& graph) { return baselines_internal::runtime_order(graph); }

Result<OnnxRuntimeMemory> predict_onnxruntime(const Graph& graph, const OnnxRuntimeShapes& shapes) {
  return predict_onnxruntime(graph, onnxruntime_order(graph), shapes);
}

Result<OnnxRuntimeMemory> predict_onnxruntime(const Graph& graph, const std::vector<NodeId>& order,
                                              const OnnxRuntimeShapes& shapes) {
  using namespace baselines_internal;  // NOLINT(google-build-using-namespace): the body is about these types only
  LOWTIDE_TRY(const RuntimeSteps steps, runtime_steps(graph, order, shapes));
  const Trace trace = trace_of(steps);
  const TracePeak peak = peak_of(trace);
  const Patterns patterns = patterns_of(trace);
  OnnxRuntimeMemory memory{.order = order, .live = peak.live, .scratch = peak.scratch, .pattern = patterns[kMainFrame]};
  if (!steps.steps.empty()) memory.peak_node = steps.steps[peak.step].node;
  for (const ArenaGrowth growth : {ArenaGrowth::next_power_of_two, ArenaGrowth::same_as_requested}) {
    memory.bytes.push_back(bytes_in_arena(steps, trace, growth, patterns));
    memory.bytes.push_back(bytes_in_arena(steps, trace, growth, std::nullopt));
  }
  memory.bytes.push_back(bytes_without_arena(steps, trace, patterns));
  memory.bytes.push_back(bytes_without_arena(steps, trace, std::nullopt));
  return memory;
}

}  // namespace lowtide
