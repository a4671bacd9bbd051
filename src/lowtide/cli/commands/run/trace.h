// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string>

#include "lowtide/runtime/executable.h"
#include "lowtide/runtime/step_times.h"

namespace lowtide::cli_internal {

// A run as a trace in the JSON format of Chrome's trace viewer, which Perfetto opens: a slice per step on the track of
// its thread, and a counter of the bytes that are live in the arena. Times are in microseconds.
//
// Source: "Trace Event Format", docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU.
[[nodiscard]] std::string trace_of(const Executable& executable, std::span<const StepTime> times);

}  // namespace lowtide::cli_internal
