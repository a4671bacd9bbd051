// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/plan/machine.h"
#include "lowtide/report/styled_text.h"
#include "lowtide/tflite/micro/tail.h"

// The arena that TensorFlow Lite Micro needs for a model, and whether it fits a machine.
namespace lowtide::cli_internal {

struct ArenaFigures {
  std::vector<std::pair<MicroBuild, MicroArena>> builds;  // empty: there are unknown operators
  std::vector<std::string> unknown;                       // as in MicroTail, quoted
};

// `head_size` is what `head` has after it was placed. Errors: those of micro_tail().
[[nodiscard]] Result<ArenaFigures> arena_figures(const TfliteModel& model, MicroKernels kernels, const MicroHead& head,
                                                 Bytes head_size, const MicroOffsets& given);

// The same for the bytes of a file, whose offsets count.
[[nodiscard]] Result<ArenaFigures> arena_figures(const TfliteModel& model, std::string_view file, MicroKernels kernels);

// "on a Cortex-M (pointers of 4 bytes)".
[[nodiscard]] std::string where_it_runs(MicroBuild build);

// What the firmware puts into a region of a machine.
struct RegionUse {
  std::string region;
  std::vector<std::string> holds;  // "arena", or "head" and "tail" if they are apart; "model": the bytes of the file
  Bytes needed;
  std::optional<Bytes> capacity;  // nullopt: no limit

  [[nodiscard]] Bytes missing() const {
    return capacity && *capacity < needed ? Bytes(needed.count() - capacity->count()) : Bytes(0);
  }
};

// Places the arena into the first region that the first worker can write, and the file into the region of the
// constants, or else into the first one that is read-only. If the arena does not fit, but head and tail fit into two
// regions, they are apart. Without a region for the constants, the file counts nowhere.
[[nodiscard]] std::vector<RegionUse> uses_of_regions(const Machine& machine, const MicroArena& arena, Bytes file_size);

[[nodiscard]] StyledText text_of(const std::vector<RegionUse>& uses);
[[nodiscard]] Json json_of(const std::vector<RegionUse>& uses);

}  // namespace lowtide::cli_internal
