// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

// One way in which offsets are wrong.
struct OfflineFault {
  std::string place;    // "subgraph 0: operator 3 ADD"; empty: the list as a whole
  std::string message;  // a sentence without its full stop
};

// What was found about the offsets that a TFLite file states for TensorFlow Lite Micro.
struct OfflineCheck {
  bool has_offsets = false;          // whether the file states any
  std::int64_t placed = 0;           // tensors that have one and need memory
  Bytes end;                         // of the last of them
  std::vector<OfflineFault> faults;  // at most 20; empty: every run computes what it computes without the offsets
};

// Checks the metadata "OfflineMemoryAllocation" of a file. `bytes` are those of the file. The runtime obeys it without
// a check.
//
// A run is replayed, byte by byte: who wrote each byte last. Both branches of an IF run, and a WHILE runs up to two
// times. The check finds lists that are cut off or too short, offsets that are negative or not a multiple of 16, inputs
// that share bytes, a tensor that is read after another one has overwritten it, and results in the place of an operand
// where the reference kernels read that operand again. It uses no lifetimes. Tensors without an offset, and scratch,
// are safe, because the runtime places them beside everything that is live.
//
// A variable must not have an offset, because the runtime then finds the memory of other variables in the wrong places.
// Errors: over_limit (subgraphs in subgraphs, or very many runs of them). O(steps x log tensors + forks x tensors).
[[nodiscard]] Result<OfflineCheck> check_offline_plan(const TfliteModel& model, std::string_view bytes);

}  // namespace lowtide
