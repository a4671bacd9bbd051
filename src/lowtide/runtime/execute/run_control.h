// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <atomic>

#include "lowtide/kernels/kernel.h"
#include "lowtide/runtime/run_place.h"

namespace lowtide::runtime_internal {

// Sees each step of a run.
class StepObserver {
 public:
  StepObserver() = default;
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;
  virtual ~StepObserver() = default;

  // The steps of a graph begin. A body begins once per iteration, with its inputs in place.
  virtual void begin(PreparedGraphId graph) = 0;
  // A step with an action begins.
  virtual void before(const RunPlace& place) = 0;
  // It has succeeded. If the result is false, the run stops.
  [[nodiscard]] virtual bool after(const RunPlace& place) = 0;
};

// What all graphs of a session share during a run.
struct RunControl {
  std::atomic<bool> is_stopped = false;               // Session::stop()
  const std::atomic<bool>* stop_of_caller = nullptr;  // SessionOptions::stop
  bool is_touching = false;          // loops end after one iteration, because their operands have no meaning
  StepObserver* observer = nullptr;  // nullptr: none; otherwise no steps run side by side

  [[nodiscard]] bool should_stop() const {
    return is_stopped.load(std::memory_order_relaxed) ||
           (stop_of_caller != nullptr && stop_of_caller->load(std::memory_order_relaxed));
  }
};

}  // namespace lowtide::runtime_internal
