// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/plan/plan.h"
#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/port.h"

namespace lowtide {

// Runs that look for defects of kernels and plans. They are slow, and need more memory than a session. Each takes one
// tensor per input, in the order of Executable::inputs(). States begin with zeros.
//
// Requires of all: Session::bind_input() accepts the inputs that are not in the arena, and the others have the bytes of
// their port. Errors: (no_memory); those of describe() for a run that fails.

// What a run found.
struct RunInspection {
  std::optional<std::string> fault;  // the first defect, with its step; nullopt: none was found
  // What a poisoned run has seen: the largest sum of bytes that were written and live at once, and the end of the
  // highest byte that was written. Buffers are rounded up to the alignment of the region, and count whole if they are
  // scratch of a kernel. Neither exceeds Claims::load and the arena of the plan. Both are equal to them if every tensor
  // has its planned size.
  Bytes seen_peak;
  Bytes seen_arena;
  // The bytes of each buffer of the plan up to the last one that was written, the sum over its parts. nullopt: it is
  // not in the arena. Empty for other runs, and for those that found a fault.
  IdVector<BufferId, std::optional<Bytes>> seen_buffers = {};
};

// Runs the executable twice. Bytes that no live buffer holds are filled with a pattern, which the second run changes.
// Finds a step that writes such bytes, because then the pattern is gone, and a step that reads them, because then its
// result changes. O(steps x arena).
[[nodiscard]] Result<RunInspection> run_poisoned(const Executable& executable, std::span<const TensorRef> inputs);

// Runs the executable twice, with memory of its own for each buffer and each input. In the first run, a page without
// access follows each of them, and in the second run it precedes them. Finds a step that accesses memory outside of a
// buffer. Installs a handler for SIGSEGV and SIGBUS during the runs, so no other thread may do the same. Takes at least
// three pages per buffer.
[[nodiscard]] Result<RunInspection> run_guarded(const Executable& executable, std::span<const TensorRef> inputs);

// Runs two executables of one graph, whose plans have the same steps, and compares all values that a step writes and
// all outputs, bit for bit. Finds the first value that differs. O(bytes of all values).
[[nodiscard]] Result<RunInspection> compare_runs(const Executable& one, const Executable& other,
                                                 std::span<const TensorRef> inputs);

// compare_runs() of the executable and of one with no_reuse_plan(). Takes the bytes of all tensors.
[[nodiscard]] Result<RunInspection> compare_without_reuse(const Executable& executable,
                                                          std::span<const TensorRef> inputs);

// A value that a step of a run wrote.
struct SeenValue {
  std::string_view path;  // "" for a value of the model, "loop/body/" for one of the body of node 'loop'
  std::string_view name;  // of its tensor
  DType dtype = DType::f32;
  std::span<const std::int64_t> extents;  // of this run
  std::span<const std::byte> bytes;       // valid until the call returns
};
using SeeValue = std::function<void(const SeenValue& value)>;

// Runs the executable, and calls `see` with each value when the step that completes it has run, once per iteration of a
// loop. At the end it calls `see` with each output. It leaves out views at the end of a body.
[[nodiscard]] Result<void> see_values(const Executable& executable, std::span<const TensorRef> inputs,
                                      const SeeValue& see);

// The same steps with memory of its own for each value. Only values that an alias step connects share bytes. There are
// unused bytes between the buffers. The plan is correct if the given one is. Bodies are included. O(plan).
[[nodiscard]] Plan no_reuse_plan(const Graph& graph, const Plan& plan);

}  // namespace lowtide
