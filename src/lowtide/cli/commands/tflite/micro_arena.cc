// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/tflite/micro_arena.h"

#include <algorithm>
#include <optional>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/tflite/micro/offline_plan.h"

namespace lowtide::cli_internal {
namespace {

bool fits(const Machine& machine, RegionId region, Bytes size) {
  const std::optional<Bytes> capacity = machine.regions[region.index()].capacity;
  return !capacity || size <= *capacity;
}

std::optional<RegionId> region_of_file(const Machine& machine) {
  if (machine.constants) return machine.constants;
  for (std::uint32_t at = 0; at < machine.regions.size(); ++at) {
    if (machine.regions[at].is_read_only) return RegionId(at);
  }
  return std::nullopt;
}

struct Part {
  std::string name;
  RegionId region;
  Bytes size;
};

// The arena, or head and tail.
std::vector<Part> parts_of(const Machine& machine, const MicroArena& arena) {
  const std::vector<RegionId> regions = writable_regions(machine, WorkerId(0));
  std::vector<Part> together = {{"arena", regions.front(), arena.smallest}};
  if (fits(machine, regions.front(), arena.smallest)) return together;
  for (const RegionId head : regions) {
    for (const RegionId tail : regions) {
      if (head == tail || !fits(machine, head, arena.separate_head) || !fits(machine, tail, arena.separate_tail)) {
        continue;
      }
      return {{"head", head, arena.separate_head}, {"tail", tail, arena.separate_tail}};
    }
  }
  return together;
}

}  // namespace

Result<ArenaFigures> arena_figures(const TfliteModel& model, MicroKernels kernels, const MicroHead& head,
                                   Bytes head_size, const MicroOffsets& given) {
  ArenaFigures figures;
  for (const MicroBuild build : {MicroBuild::cortex_m, MicroBuild::python}) {
    if (kernels == MicroKernels::cmsis_nn && build == MicroBuild::python) continue;  // the package does not have them
    LOWTIDE_TRY(const MicroTail tail, micro_tail(model, {kernels, build}, head, head_size, given));
    if (tail.arena) figures.builds.emplace_back(build, *tail.arena);
    if (!figures.unknown.empty()) continue;
    for (const std::string& type : tail.unknown_operators) figures.unknown.push_back(quoted(type, 60));
  }
  return figures;
}

Result<ArenaFigures> arena_figures(const TfliteModel& model, std::string_view file, MicroKernels kernels) {
  LOWTIDE_TRY(const std::optional<MicroOffsets> stated, read_offline_plan(model, file));
  const MicroOffsets given = stated.value_or(MicroOffsets());
  LOWTIDE_TRY(const MicroHead head, micro_head(model, kernels, given));
  LOWTIDE_TRY(const MicroLayout layout, place_as_micro(head.buffers, given));
  return arena_figures(model, kernels, head, layout.size, given);
}

std::string where_it_runs(MicroBuild build) {
  const std::string pointers = " (pointers of " + std::to_string(pointer_bytes(build)) + " bytes)";
  return (build == MicroBuild::python ? "in the Python package" : "on a Cortex-M") + pointers;
}

std::vector<RegionUse> uses_of_regions(const Machine& machine, const MicroArena& arena, Bytes file_size) {
  std::vector<Part> parts = parts_of(machine, arena);
  if (const std::optional<RegionId> region = region_of_file(machine)) parts.push_back({"model", *region, file_size});
  std::vector<RegionUse> uses;
  for (std::uint32_t at = 0; at < machine.regions.size(); ++at) {
    RegionUse use{machine.regions[at].name, {}, Bytes(0), machine.regions[at].capacity};
    for (const Part& part : parts) {
      if (part.region != RegionId(at)) continue;
      use.holds.push_back(part.name);
      use.needed += part.size;
    }
    if (!use.holds.empty()) uses.push_back(std::move(use));
  }
  return uses;
}

StyledText text_of(const std::vector<RegionUse>& uses) {
  StyledText text;
  for (const RegionUse& use : uses) {
    text.add("    " + shown_name(use.region), Style::strong).add("  " + listed(use.holds) + ": ");
    text.add(format_bytes(use.needed));
    if (use.capacity) text.add(" of " + format_bytes(*use.capacity));
    if (use.missing() > Bytes(0)) text.add(", " + format_bytes(use.missing()) + " are missing", Style::bad);
    text.end_line();
  }
  return text;
}

Json json_of(const std::vector<RegionUse>& uses) {
  Json json = Json::array();
  for (const RegionUse& use : uses) {
    json.push_back({{"name", json_text(use.region)},
                    {"holds", use.holds},
                    {"needed_bytes", use.needed.count()},
                    {"capacity_bytes", use.capacity ? Json(use.capacity->count()) : Json(nullptr)},
                    {"missing_bytes", use.missing().count()}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
