// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/enum_names.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro/micro.h"

// The smallest arena with which TensorFlow Lite Micro starts a model. The head is at the low end and the tail at the
// high end. While the interpreter prepares the model, it also has memory between them for a moment, such as the tables
// of the planner. So a model with a small head may need more than head and tail together.
//
//   low end                                                             high end
//   | head: tensors, scratch |  ... only while it starts ...  | tail: what lasts |
namespace lowtide {

// Builds of the runtime. Their structures have different sizes.
enum class MicroBuild : std::uint8_t {
  // Pointers of 4 bytes, gcc for arm-none-eabi with its short enumerations, the allocator of MicroInterpreter, and no
  // compressed tensors. The sizes follow from the sources of August 2026, and for the options of FULLY_CONNECTED from
  // the package below, where they have 11 bytes more. No test runs this build.
  cortex_m,
  // Pointers of 8 bytes: the Python package tflite-micro of October 2026, which records its allocations. All sizes are
  // compared with what it prints.
  python,
};
template <>
inline constexpr auto kEnumNames<MicroBuild> = enum_names<MicroBuild>({{MicroBuild::cortex_m, "cortex-m"},
                                                                       {MicroBuild::python, "python"}});

// 4 or 8.
[[nodiscard]] std::int64_t pointer_bytes(MicroBuild build);

struct MicroArena {
  Bytes tail;      // what lasts, with its alignment
  Bytes smallest;  // the tensor_arena: a multiple of kMicroAlignment, which also is the alignment of its start
  // The same if the firmware gives MicroAllocator two arenas, one for each part.
  Bytes separate_head;
  Bytes separate_tail;
};

struct MicroTail {
  // nullopt: there are unknown operators, or it is above the limit.
  std::optional<MicroArena> arena;
  // Operators of which it is not known what their kernels keep, or how much scratch they request: their types, sorted,
  // each once.
  std::vector<std::string> unknown_operators;
  bool is_above_limit = false;  // the arena has a size that the runtime cannot count
};

struct MicroFirmware {
  MicroKernels kernels = MicroKernels::reference;
  MicroBuild build = MicroBuild::cortex_m;
};

// What the runtime keeps for a model with this head, which has `head_size` bytes after it was placed. `given` is as for
// micro_head(). The firmware is taken to have as many resource variables as the model.
// O((operators + tensors) log operators).
[[nodiscard]] MicroTail micro_tail(const TfliteModel& model, const MicroFirmware& firmware, const MicroHead& head,
                                   Bytes head_size, const MicroOffsets& given = {});

// The figures of all builds that have the kernels.
struct MicroArenas {
  std::vector<std::pair<MicroBuild, MicroArena>> builds;  // those whose figures are known, cortex_m first
  std::vector<std::string> unknown_operators;             // as in MicroTail
  bool is_above_limit = false;                            // that of a build is

  // nullptr: it is not known.
  [[nodiscard]] const MicroArena* of(MicroBuild build) const;
};

// The same arguments as those of micro_tail().
[[nodiscard]] MicroArenas micro_arenas(const TfliteModel& model, MicroKernels kernels, const MicroHead& head,
                                       Bytes head_size, const MicroOffsets& given = {});

}  // namespace lowtide
