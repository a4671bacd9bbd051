// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro/micro.h"
#include "lowtide/tflite/micro/tail.h"

namespace lowtide {

struct MicroPlanOptions {
  MicroKernels kernels = MicroKernels::reference;
  std::int64_t order_effort = 5'000'000'000;   // as in PlanOptions
  std::int64_t allocate_effort = 200'000'000;  // as in PlanOptions
  const std::atomic<bool>* stop = nullptr;     // as in PlanOptions
};

// A plan for the head of TensorFlow Lite Micro's arena.
struct MicroPlan {
  std::string stated_fault;   // why the offsets that the file states do not count; empty: they do, or it states none
  Bytes head_before;          // of the file as it is, with the offsets that count
  MicroArenas arenas_before;  // the same
  Bytes head;                 // of the new file, <= head_before
  MicroArenas arenas;         // of the new file; none is larger than before
  Bytes bound;                // no order and no offsets have a smaller head, with the same kernels
  // By subgraph, the operators in their new order, as indexes of the old one; an empty list keeps the order.
  std::vector<std::vector<std::uint32_t>> orders;
  MicroOffsets offsets;       // as the new file states them; empty if it is the old one
  std::int64_t in_place = 0;  // results that have the place of an operand
  std::string file;           // the new file; the old one if nothing is won and its offsets, if any, count
  bool is_changed = false;    // whether the file is a new one

  [[nodiscard]] bool is_better() const { return head < head_before; }
};

// Plans the order of the operators and the offset of every tensor together, with the scratch of the kernels, and writes
// them into the file as the runtime reads them. `file` are the bytes of the model.
//
// Several plans are made: in the order of the file and in the best order that is found, with and without results in
// place. What the runtime makes of each is computed by its own rule, because it places scratch itself. Another order of
// operators may have a larger tail. So plans with a larger head or arena than the file has, in any build of the
// runtime, do not count. Of the others, the smallest arena counts, for the build cortex_m first. Of equal ones, the
// smallest head, and then that which changes less of the file.
//
// Wrong offsets in the file count as none, and the new file does not have them.
// Errors: unsupported (operators of which the kernels are not known, so neither is their scratch); those of
// micro_head(), plan_graph() and edit_tflite().
[[nodiscard]] Result<MicroPlan> plan_for_micro(const TfliteModel& model, std::string_view file,
                                               const MicroPlanOptions& options = {});

}  // namespace lowtide
