// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/output/json.h"

#include <algorithm>

#include "lowtide/base/hex.h"
#include "lowtide/base/utf8.h"
#include "lowtide/cli/output/tool_name.h"

namespace lowtide::cli_internal {
namespace {

Json json_of_buffer(const Peak& peak, const LiveBuffer& live) {
  const Buffer& buffer = peak.plan->layout.buffers[live.buffer];
  const BufferUse& use = peak.uses[live.buffer];
  Json json{{"kind", std::string(to_string(buffer.kind))}, {"bytes", live.bytes.count()}};
  json["tensor"] = nullptr;
  if (use.name) {
    const TensorLabel& label = peak.labels->tensors[peak.plan->program.values[*use.name].tensor];
    json["tensor"] = {{"name", json_text(label.name)},
                      {"dtype", std::string(to_string(label.dtype))},
                      {"shape", label.shape.extents()}};
  }
  const bool is_read = buffer.kind != BufferKind::output;
  json["sharing"] = peak.other_values(live);
  json["steps"] = {{"begin", buffer.lifespan.begin.value()}, {"end", buffer.lifespan.end.value()}};
  json["producer"] = json_of(shown_step(*peak.plan, *peak.labels, use.first_write));
  json["last_reader"] = is_read ? json_of(shown_step(*peak.plan, *peak.labels, use.last_read)) : Json(nullptr);
  return json;
}

}  // namespace

Json json_head(std::string_view command) {
  return {{"schema_version", kJsonSchemaVersion}, {"tool", tool_name()}, {"command", std::string(command)}};
}

std::string json_text(std::string_view name) {
  std::string shown;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    const std::string_view sequence = name.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      shown += "\\x";
      append_hex(shown, static_cast<unsigned char>(sequence[0]));
    } else {
      shown += sequence == "\\" ? std::string_view("\\\\") : sequence;
    }
    name.remove_prefix(sequence.size());
  }
  return shown;
}

Json json_of(const ModelFacts& model) {
  return {{"path", json_text(model.path)},
          {"format", model.format},
          {"sha256", model.sha256},
          {"nodes", model.nodes},
          {"planned_nodes", model.planned_nodes},
          {"body_nodes", model.body_nodes},
          {"tensors", model.tensors},
          {"load_time", model.load_time ? Json{{"nodes", model.load_time->nodes},
                                               {"result_bytes", model.load_time->results.count()},
                                               {"peak_bytes", model.load_time->peak.count()}}
                                        : Json(nullptr)}};
}

Json json_of(const ShownStep& step) {
  if (step.op.empty()) return nullptr;
  return {{"name", json_text(step.name)}, {"op", json_text(step.op)}};
}

Json json_of(const std::vector<Peak>& peaks, std::size_t top) {
  Json levels = Json::array();
  for (const Peak& peak : peaks) {
    if (!peak.step) continue;
    Json buffers = Json::array();
    for (std::size_t at = 0; at < std::min(top, peak.buffers.size()); ++at)
      buffers.push_back(json_of_buffer(peak, peak.buffers[at]));
    levels.push_back({{"inside", peak.body.empty() ? Json(nullptr) : Json(json_text(peak.body))},
                      {"bytes", peak.bytes.count()},
                      {"step", peak.step->value()},
                      {"steps", peak.plan->program.steps.size()},
                      {"node", json_of(shown_step(*peak.plan, *peak.labels, peak.step))},
                      {"holders", buffers},
                      {"holders_total", peak.buffers.size()}});
  }
  return levels;
}

Json json_of(const std::vector<CopyLeft>& copies) {
  Json list = Json::array();
  for (const CopyLeft& one : copies) {
    list.push_back({{"inside", one.inside.empty() ? Json(nullptr) : Json(json_text(one.inside))},
                    {"step", one.step.value()},
                    {"op", one.op},
                    {"name", json_text(one.name)},
                    {"bytes", one.bytes.count()},
                    {"reason", std::string(to_string(one.reason))}});
  }
  return list;
}

Json json_of(const std::vector<std::string>& notes) {
  Json list = Json::array();
  for (const std::string& note : notes) list.push_back(json_text(note));
  return list;
}

void add_weights(Json& json, const std::optional<Weights>& weights) {
  if (!weights) return;
  const std::optional<Bytes>& capacity = weights->region.capacity;
  json["weights"] = {{"region", json_text(weights->region.name)},
                     {"bytes", weights->bytes.count()},
                     {"capacity", capacity ? Json(capacity->count()) : Json(nullptr)},
                     {"shortfall", weights->excess().count()}};
}

Json json_of_gap(Bytes achieved, Bytes bound) {
  const std::optional<double> gap = gap_of(achieved, bound);
  return gap ? Json(*gap) : Json(nullptr);
}

void print_json(Console& console, const Json& json) { console.write_stdout(json.text(2) + "\n"); }

}  // namespace lowtide::cli_internal
