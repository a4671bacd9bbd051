// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/enum_names.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"

namespace lowtide {

// How the arena grows: the option `arena_extend_strategy` of ONNX Runtime.
enum class ArenaGrowth : std::uint8_t {
  next_power_of_two,  // the default: segments of 1 MiB, 2 MiB, 4 MiB and so on
  same_as_requested,  // each segment as large as the request that did not fit
};

template <>
inline constexpr auto kEnumNames<ArenaGrowth> = enum_names<ArenaGrowth>(
    {{ArenaGrowth::next_power_of_two, "kNextPowerOfTwo"}, {ArenaGrowth::same_as_requested, "kSameAsRequested"}});

struct OnnxRuntimeOptions {
  std::optional<ArenaGrowth> growth = ArenaGrowth::next_power_of_two;  // nullopt: `enable_cpu_mem_arena` is false
  bool memory_pattern = true;                                          // `enable_mem_pattern`
};

// Bytes that ONNX Runtime holds under certain options. With an arena, these are the segments that it has requested from
// the system and keeps. Without one, they are the most bytes that are allocated at once, without rounding.
struct OnnxRuntimeBytes {
  OnnxRuntimeOptions options;
  Bytes load;        // before the first run: the packed weights of ConvTranspose, if they are constant
  Bytes first_run;   // including `load`
  Bytes second_run;  // likewise; later runs with inputs of the same shapes need nothing more
};

struct OnnxRuntimeMemory {
  std::vector<NodeId> order;        // of the sequential executor
  Bytes live;                       // the most bytes of tensors and scratch at once in a first run, without rounding
  Bytes scratch;                    // the part of `live` that is scratch of kernels
  std::optional<NodeId> peak_node;  // the first node at which `live` is reached; nullopt without nodes
  Bytes pattern;                    // the block for all temporaries that the second run takes
  // With and without the pattern, in this order: with the default growth, with same_as_requested, without an arena.
  std::vector<OnnxRuntimeBytes> bytes;
};

// What a session reads about shapes in the file, for the main graph. Each extent is a number, a symbol, or kUnknown.
struct OnnxRuntimeShapes {
  static constexpr const char* kUnknown = "?";
  std::map<std::string, std::vector<std::string>> declared;  // tensors whose extents the file states, by name
  std::map<std::string, std::vector<std::string>> open;      // tensors with an extent that is not a number
};

// The order in which ONNX Runtime's sequential executor runs the nodes of this graph: OnnxRuntimeMemory::order of
// predict_onnxruntime(graph). A node comes after everything that it reads. O((nodes + edges) log).
[[nodiscard]] std::vector<NodeId> onnxruntime_order(const Graph& graph);

// Predicts the memory of ONNX Runtime's CPU provider for this graph, with one thread and the sequential executor. It
// assumes that this graph runs unchanged. A session that optimizes a model runs another graph, which it can save. The
// prediction covers temporaries, outputs and the scratch of frequent kernels. It excludes inputs, weights and their
// packed copies, except those that are in the arena.
//
// The rules are those of release 1.31: the order of the executor, the allocation planner, the arena and the memory
// pattern (docs/baselines.md). Sources: onnxruntime/core/framework in its repository, and measurements
// (bench/onnxruntime_memory.py). A session knows fewer shapes than Lowtide before the run. Tensors that are not in
// `shapes` have known extents, as far as the session derives them.
//
// O((nodes + edges) log). Errors: over_limit, if tensors and scratch have more than limits::kMaxTotalBytes / 16
// bytes.
[[nodiscard]] Result<OnnxRuntimeMemory> predict_onnxruntime(const Graph& graph, const OnnxRuntimeShapes& shapes = {});

// The same for a given order of all nodes, which a session keeps with `execution_order` PRIORITY_BASED if the file has
// it and the optimizer is off. Bodies have the default order. Requires: a node comes after everything that it reads.
[[nodiscard]] Result<OnnxRuntimeMemory> predict_onnxruntime(const Graph& graph, const std::vector<NodeId>& order,
                                                            const OnnxRuntimeShapes& shapes = {});

}  // namespace lowtide
