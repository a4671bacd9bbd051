// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/cli/commands/tflite/micro_arena.h"
#include "lowtide/cli/commands/tflite/micro_file.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/tflite.h"
#include "lowtide/tflite/micro/tail.h"
#include "lowtide/tflite/micro_plan/stated_plan.h"

namespace lowtide::cli_internal {
namespace {

Result<MicroFigures::Line> line_of(const MicroFile& file, const StatedPlan& stated, MicroKernels kernels) {
  LOWTIDE_TRY(const MicroHead head, micro_head(file.model, kernels, stated.offsets));
  LOWTIDE_TRY(const MicroLayout layout, place_as_micro(head.buffers, stated.offsets));
  const MicroArenas arenas = micro_arenas(file.model, kernels, head, layout.size, stated.offsets);
  MicroFigures::Line line{.kernels = std::string(to_string(kernels)),
                          .stated_fault = stated.fault,
                          .head = layout.size,
                          .live = live_bytes(head.buffers),
                          .unknown = quoted_names(head.unknown_operators),
                          .arenas = {},
                          .tail_unknown = quoted_names(arenas.unknown_operators),
                          .is_above_limit = arenas.is_above_limit};
  for (const auto& [build, arena] : arenas.builds) {
    line.arenas.push_back({std::string(to_string(build)), pointer_bytes(build), arena.tail, arena.smallest});
  }
  return line;
}

Result<MicroFigures> figures_of(const MicroFile& file) {
  MicroFigures figures;
  for (MicroKernels kernels : {MicroKernels::reference, MicroKernels::cmsis_nn}) {
    const StatedPlan stated = stated_plan(file.model, file.bytes, kernels);
    figures.states_offsets = stated.is_stated;
    LOWTIDE_TRY(MicroFigures::Line line, line_of(file, stated, kernels));
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
