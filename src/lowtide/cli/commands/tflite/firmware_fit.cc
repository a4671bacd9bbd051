// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/tflite/firmware_fit.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/listed.h"

namespace lowtide::cli_internal {
namespace {

struct Part {
  std::string name;
  RegionId region;
  Bytes size;
};
using Parts = std::vector<Part>;

std::vector<RegionUse> uses_of(const Machine& machine, const Parts& parts) {
  std::vector<RegionUse> uses;
  for (const RegionId region : all_ids<RegionId>(machine.regions.size())) {
    RegionUse use{machine.regions[region.index()].name, {}, Bytes(0), machine.regions[region.index()].capacity};
    for (const Part& part : parts) {
      if (part.region != region) continue;
      use.holds.push_back(part.name);
      use.needed += part.size;
    }
    if (!use.holds.empty()) uses.push_back(std::move(use));
  }
  return uses;
}

Bytes missing(const Machine& machine, const Parts& parts) {
  Bytes bytes;
  for (const RegionUse& use : uses_of(machine, parts)) bytes += use.missing();
  return bytes;
}

// What lacks the fewest bytes besides these parts, the first of equals. Requires: there is a choice.
Parts with_best(const Machine& machine, const Parts& parts, const std::vector<Parts>& choices) {
  std::optional<std::pair<Bytes, Parts>> best;
  for (const Parts& choice : choices) {
    Parts all = parts;
    all.insert(all.end(), choice.begin(), choice.end());
    const Bytes lacks = missing(machine, all);
    if (!best || lacks < best->first) best = {lacks, std::move(all)};
  }
  return std::move(best->second);
}

std::vector<Parts> places_of_file(const Machine& machine, Bytes size) {
  if (machine.constants) return {{{"model", *machine.constants, size}}};
  std::vector<Parts> places;
  for (const RegionId region : all_ids<RegionId>(machine.regions.size())) {
    const bool may_hold =
        machine.regions[region.index()].is_read_only && can_address(machine.workers[WorkerId(0)], region);
    if (may_hold) places.push_back({{"model", region, size}});
  }
  return places;
}

std::vector<Parts> places_of_arena(const Machine& machine, const MicroArena& arena) {
  const std::vector<RegionId> regions = writable_regions(machine, WorkerId(0));
  std::vector<Parts> places;
  for (const RegionId region : regions) places.push_back({{"arena", region, arena.smallest}});
  for (const RegionId head : regions) {
    for (const RegionId tail : regions) {
      if (head == tail) continue;
      places.push_back({{"head", head, arena.separate_head}, {"tail", tail, arena.separate_tail}});
    }
  }
  return places;
}

}  // namespace

bool FirmwareFit::is_missing_bytes() const {
  return std::ranges::any_of(uses, [](const RegionUse& use) { return use.missing() > Bytes(0); });
}

std::optional<bool> FirmwareFit::fits() const {
  if (is_missing_bytes()) return false;
  return has_place_for_file ? std::optional(true) : std::nullopt;
}

FirmwareFit fit_firmware(const Machine& machine, const MicroArena& arena, Bytes file_size) {
  FirmwareFit fit;
  Parts parts;
  const std::vector<Parts> of_file = places_of_file(machine, file_size);
  fit.has_place_for_file = !of_file.empty();
  if (fit.has_place_for_file) parts = with_best(machine, parts, of_file);
  fit.uses = uses_of(machine, with_best(machine, parts, places_of_arena(machine, arena)));
  return fit;
}

StyledText text_of(const FirmwareFit& fit) {
  StyledText text;
  for (const RegionUse& use : fit.uses) {
    text.add("    " + shown_name(use.region), Style::strong).add("  " + listed(use.holds) + ": ");
    text.add(format_bytes(use.needed));
    if (use.capacity) text.add(" of " + format_bytes(*use.capacity));
    if (use.missing() > Bytes(0)) text.add(", " + format_bytes(use.missing()) + " are missing", Style::bad);
    text.end_line();
  }
  if (!fit.has_place_for_file) {
    text.add("    the target has no region for the file of the model, so it is not known whether the file fits; ");
    text.add("'read_only' or 'constants' names one", Style::bad).end_line();
  }
  return text;
}

Json json_of(const FirmwareFit& fit) {
  Json json = Json::array();
  for (const RegionUse& use : fit.uses) {
    json.push_back({{"name", json_text(use.region)},
                    {"holds", use.holds},
                    {"needed_bytes", use.needed.count()},
                    {"capacity_bytes", use.capacity ? Json(use.capacity->count()) : Json(nullptr)},
                    {"missing_bytes", use.missing().count()}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
