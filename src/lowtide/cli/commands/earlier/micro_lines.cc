// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/micro_lines.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/listed.h"

namespace lowtide::cli_internal {
namespace {

Json json_names(const std::vector<std::string>& names) {
  Json json = Json::array();
  for (const std::string& name : names) json.push_back(json_text(name));
  return json;
}

Json fault_or_null(const std::string& fault) { return fault.empty() ? Json(nullptr) : Json(json_text(fault)); }

}  // namespace

StyledText text_of(const MicroFigures& figures) {
  StyledText text("TensorFlow Lite Micro, by its own rule", Style::strong);
  const bool counts =
      std::ranges::any_of(figures.lines, [](const MicroFigures::Line& line) { return line.stated_fault.empty(); });
  text.add(figures.states_offsets && counts ? " and with the offsets in the file" : "").end_line();
  if (!figures.refusal.empty()) return text.add("  does not apply: " + figures.refusal).end_line();
  for (const MicroFigures::Line& line : figures.lines) {
    text.add("  head " + format_bytes(line.head) + " with the kernels " + line.kernels);
    if (line.unknown.empty()) {
      text.add("; " + format_bytes(line.live) + " live at most, in the order of the file");
    } else {
      text.add(" at least, without the scratch of " + listed(line.unknown));
    }
    text.end_line();
    if (!line.stated_fault.empty()) {
      text.add("    the offsets in the file are wrong and do not count: " + line.stated_fault, Style::bad).end_line();
    }
    for (const MicroFigures::Arena& arena : line.arenas) {
      text.add("    smallest arena " + format_bytes(arena.smallest) + " for the build " + arena.build +
               " (pointers of " + std::to_string(arena.pointer_bytes) + " bytes), with a tail of " +
               format_bytes(arena.tail));
      text.end_line();
    }
    if (!line.tail_unknown.empty()) {
      text.add("    tail not known, because of " + listed(line.tail_unknown)).end_line();
    }
    if (line.is_above_limit) text.add("    the arena with its tail is above the 2 GiB that it can have").end_line();
  }
  return text.add("  Its inputs are in the head. 'lowtide plan MODEL --tflm FILE' plans it.", Style::dim).end_line();
}

Json json_of(const MicroFigures& figures) {
  Json json;
  json["refusal"] = fault_or_null(figures.refusal);
  json["states_offsets"] = figures.states_offsets;
  json["kernels"] = Json::array();
  for (const MicroFigures::Line& line : figures.lines) {
    Json arenas = Json::array();
    for (const MicroFigures::Arena& arena : line.arenas) {
      arenas.push_back({{"build", arena.build},
                        {"pointer_bytes", arena.pointer_bytes},
                        {"tail_bytes", arena.tail.count()},
                        {"arena_bytes", arena.smallest.count()}});
    }
    json["kernels"].push_back({{"name", line.kernels},
                               {"stated_fault", fault_or_null(line.stated_fault)},
                               {"head_bytes", line.head.count()},
                               {"live_bytes", line.live.count()},
                               {"unknown_operators", json_names(line.unknown)},
                               {"arenas", std::move(arenas)},
                               {"tail_unknown_operators", json_names(line.tail_unknown)},
                               {"above_limit", line.is_above_limit}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
