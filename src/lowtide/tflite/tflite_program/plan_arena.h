// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/interval.h"
#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

// The order of the operators of a model and the places of its tensors, for kernels in C.
namespace lowtide::tflite_program_internal {

// What the kernel of an operator allows.
struct OperatorRules {
  std::vector<std::size_t> in_place;  // inputs whose place the first result may have
  bool is_copy = false;               // it only copies its first input
  Bytes scratch = {};                 // that it needs while it runs
};

struct ArenaOptions {
  Bytes alignment;                          // of all offsets and sizes
  std::int64_t order_effort = 0;            // as in PlanOptions
  std::int64_t allocate_effort = 0;         // as in PlanOptions
  const std::atomic<bool>* stop = nullptr;  // as in PlanOptions
};

struct TensorPlace {
  Offset offset;
  // The calls at which it is live. An input is live from the first call on, an output to the last one.
  Interval<std::int64_t> lifespan;
};

struct ArenaPlan {
  std::vector<std::uint32_t> calls;                 // operators that run, in their order
  std::vector<std::optional<Offset>> scratch;       // per call; nullopt: it needs none
  std::vector<std::optional<TensorPlace>> tensors;  // per tensor; nullopt: it has no place in the arena
  Bytes arena;
  Bytes bound;  // no order and no places need less, with these kernels
};

// Requires: the model has one subgraph, `rules` has an entry per operator. An operator whose result has the bytes of an
// input, such as RESHAPE, has no call if both can have one place. Errors: those of graph_of_tflite() and plan_graph().
[[nodiscard]] Result<ArenaPlan> plan_arena(const TfliteModel& model, std::string_view bytes,
                                           const std::vector<OperatorRules>& rules, const ArenaOptions& options);

}  // namespace lowtide::tflite_program_internal
