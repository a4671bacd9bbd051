// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/report/shown_step.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/report/summary.h"

namespace lowtide {

// The result of one earlier planner.
struct ComparisonLine {
  std::string name;
  std::string system;
  bool is_discontinued = false;        // the system is no longer developed
  std::string run_order;               // "sequence", "waves", "dataflow"
  std::optional<std::string> refusal;  // why there is no result; the figures below are then meaningless
  // why the original of a Caffe2 planner has no valid result for this graph, so that another rule gave this one
  std::optional<std::string> original_failure;
  Bytes bytes;  // including scratch
  Bytes naive;
  std::optional<Bytes> best;  // the fewest bytes that a search finds with the same rule and order
  bool is_best = false;       // proven: no result of the rule is smaller
  std::int64_t shared_buffers = 0;
  std::int64_t blobs = 0;
  std::optional<std::int64_t> blobs_left;  // nullopt: one arena
  std::int64_t reused = 0;                 // blobs in memory that another one had before
};

// Bytes that ONNX Runtime holds under certain session options.
struct RuntimeLine {
  bool has_arena = true;        // the option enable_cpu_mem_arena
  std::string extend_strategy;  // the option arena_extend_strategy; empty without an arena
  bool has_pattern = true;      // the option enable_mem_pattern
  Bytes load;                   // before the first run
  Bytes first_run;              // after the first run, including `load`
  Bytes second_run;             // likewise
};

// What ONNX Runtime would need for the nodes of the file as they are, as predicted.
struct RuntimeComparison {
  std::optional<std::string> refusal;  // why there is no prediction; the figures below are then meaningless
  Bytes in_its_order;                  // what Lowtide needs for the order of ONNX Runtime
  Bytes live;                          // the most bytes of tensors and scratch at once
  Bytes scratch;                       // the part of `live` that is scratch of kernels
  ShownStep peak_node;                 // where they are live; without an operator if there are no nodes
  Bytes pattern;                       // the block for all temporaries in the second run
  bool has_load_time_nodes = false;    // nodes of the file that it runs, and Lowtide runs when it loads the model
  std::vector<RuntimeLine> lines;      // the defaults first; not empty
};

struct Comparison {
  Bytes arena;  // of Lowtide's plan
  Bytes bound;
  bool is_proven = false;              // the arena is the bound, and all memory is counted
  std::vector<std::string> uncounted;  // Claims::uncounted of the plan
  std::vector<ComparisonLine> lines;
  RuntimeComparison onnxruntime;
};

// A table with Lowtide's plan first, then ONNX Runtime, then the others. A heading is above the first discontinued
// one. Sentences name the planners that need less, and the operators that are not counted, if there are any. A second
// table says where the bytes of ONNX Runtime come from, and a third one what its options change.
[[nodiscard]] StyledText comparison_summary(const ModelFacts& model, const Comparison& comparison);

}  // namespace lowtide
