// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/cli/commands/tflite/micro_arena.h"
#include "lowtide/cli/commands/tflite/micro_file.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/tflite/micro/offline_plan.h"

namespace lowtide::cli_internal {
namespace {

Result<MicroFigures> figures_of(const MicroFile& file) {
  LOWTIDE_TRY(const std::optional<MicroOffsets> stated, read_offline_plan(file.model, file.bytes));
  const MicroOffsets given = stated.value_or(MicroOffsets());
  MicroFigures figures{.states_offsets = stated.has_value()};
  for (MicroKernels kernels : {MicroKernels::reference, MicroKernels::cmsis_nn}) {
    LOWTIDE_TRY(const MicroHead head, micro_head(file.model, kernels, given));
    LOWTIDE_TRY(const MicroLayout layout, place_as_micro(head.buffers, given));
    MicroFigures::Line line{.kernels = std::string(to_string(kernels)),
                            .head = layout.size,
                            .live = live_bytes(head.buffers),
                            .unknown = {},
                            .arenas = {},
                            .tail_unknown = {}};
    for (const std::string& name : head.unknown_operators) line.unknown.push_back(quoted(name, 60));
    LOWTIDE_TRY(ArenaFigures arenas, arena_figures(file.model, kernels, head, layout.size, given));
    for (const auto& [build, arena] : arenas.builds) {
      line.arenas.push_back({std::string(to_string(build)), pointer_bytes(build), arena.tail, arena.smallest});
    }
    line.tail_unknown = std::move(arenas.unknown);
    figures.lines.push_back(std::move(line));
  }
  return figures;
}

}  // namespace

std::optional<MicroFigures> micro_figures(const std::string& path) {
  const MicroFile file = read_micro_file(path);
  Result<MicroFigures> figures = figures_of(file);
  if (figures) return *std::move(figures);
  return MicroFigures{.refusal = figures.error().describe()};
}

}  // namespace lowtide::cli_internal
