// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/json.h"

#include <algorithm>

#include "lowtide/cli/help.h"
#include "lowtide/base/json_writer.h"

namespace lowtide::detail {
namespace {

Json json_of_node(const ShownNode& node) {
  if (node.op.empty()) return nullptr;
  return {{"name", json_text(node.name)}, {"op", json_text(node.op)}};
}

Json json_of_holder(const PeakHolder& holder) {
  Json json{{"kind", std::string(to_string(holder.kind))}, {"bytes", holder.size.count()}};
  if (holder.tensor.empty()) {
    json["tensor"] = nullptr;
  } else {
    json["tensor"] = {{"name", json_text(holder.tensor)},
                      {"dtype", std::string(to_string(holder.dtype))},
                      {"shape", holder.shape.extents()}};
  }
  json["sharing"] = holder.sharing;
  json["steps"] = {{"begin", holder.steps.begin}, {"end", holder.steps.end}};
  json["producer"] = json_of_node(holder.producer);
  json["last_reader"] = json_of_node(holder.last_reader);
  return json;
}

}  // namespace

Json json_head(std::string_view command) {
  return {{"schema_version", kJsonSchemaVersion}, {"tool", tool_name()}, {"command", std::string(command)}};
}

std::string json_text(std::string_view name) {
  std::string written;
  append_json_name(written, name);
  return Json::parse(written).get<std::string>();
}

Json json_of(const ModelFacts& model) {
  return {{"path", json_text(model.path)},
          {"format", model.format},
          {"sha256", model.sha256},
          {"nodes", model.nodes},
          {"planned_nodes", model.planned_nodes},
          {"tensors", model.tensors}};
}

Json json_of(const std::vector<Peak>& peaks, std::size_t top) {
  Json levels = Json::array();
  for (const Peak& peak : peaks) {
    if (peak.steps == 0) continue;
    Json holders = Json::array();
    for (std::size_t at = 0; at < std::min(top, peak.holders.size()); ++at)
      holders.push_back(json_of_holder(peak.holders[at]));
    levels.push_back({{"inside", peak.inside.empty() ? Json(nullptr) : Json(json_text(peak.inside))},
                      {"bytes", peak.load.count()},
                      {"step", peak.step},
                      {"steps", peak.steps},
                      {"node", json_of_node(peak.node)},
                      {"holders", holders},
                      {"holders_total", peak.holders.size()}});
  }
  return levels;
}

Json json_of(const std::vector<std::string>& notes) {
  Json list = Json::array();
  for (const std::string& note : notes) list.push_back(json_text(note));
  return list;
}

Json json_of_gap(Bytes achieved, Bytes bound) {
  const std::optional<double> gap = gap_of(achieved, bound);
  return gap ? Json(*gap) : Json(nullptr);
}

void print_json(Console& console, const Json& json) { console.write_stdout(json.dump(2) + "\n"); }

}  // namespace lowtide::detail
