// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/micro_lines.h"

#include <string>

#include "lowtide/base/listed.h"

namespace lowtide::cli_internal {

StyledText text_of(const MicroFigures& figures) {
  StyledText text("TensorFlow Lite Micro, by its own rule", Style::strong);
  text.add(figures.states_offsets ? " and with the offsets in the file" : "").end_line();
  if (!figures.refusal.empty()) return text.add("  does not apply: " + figures.refusal).end_line();
  for (const MicroFigures::Line& line : figures.lines) {
    text.add("  head " + format_bytes(line.head) + " with the kernels " + line.kernels);
    if (line.unknown.empty()) {
      text.add("; " + format_bytes(line.live) + " live at most, in the order of the file");
    } else {
      text.add(" at least, without the scratch of " + listed(line.unknown));
    }
    text.end_line();
  }
  return text.add("  Its inputs are in the head. 'lowtide plan MODEL --tflm FILE' plans it.", Style::dim).end_line();
}

Json json_of(const MicroFigures& figures) {
  Json json;
  json["refusal"] = figures.refusal.empty() ? Json(nullptr) : Json(json_text(figures.refusal));
  json["states_offsets"] = figures.states_offsets;
  json["kernels"] = Json::array();
  for (const MicroFigures::Line& line : figures.lines) {
    Json unknown = Json::array();
    for (const std::string& name : line.unknown) unknown.push_back(json_text(name));
    json["kernels"].push_back({{"name", line.kernels},
                               {"head_bytes", line.head.count()},
                               {"live_bytes", line.live.count()},
                               {"unknown_operators", std::move(unknown)}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
