// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/aitemplate_details.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string_view>

#include "lowtide/base/json_reader.h"
#include "lowtide/base/limits.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/report/profiled_times.h"

namespace lowtide::cli_internal {
namespace {

// Milliseconds by the names of nodes.
class ProfileReader {
 public:
  ProfileReader(std::string_view text, std::string source_name) : text_(text), json_(text, std::move(source_name)) {}

  Result<std::map<std::string, double>> read() {
    const bool ok = json_.read_any_object([&](const std::string& key) { return read_member(key); }) && json_.read_end();
    if (!ok) return *json_.error();
    return std::move(is_of_bench_ ? of_steps_ : times_);
  }

 private:
  bool read_member(const std::string& key) {
    switch (json_.peek()) {
      case '[':
        is_of_bench_ = is_of_bench_ || key == "steps";
        return key == "steps" ? json_.read_array([&] { return read_step(); }) : json_.skip_value(1);
      case '{':
      case '"':
      case 't':
      case 'f':
      case 'n': return json_.skip_value(1);  // other members of what 'bench' printed
      default: return read_time(times_[key]);
    }
  }

  // A step of `bench`. Copies have no name.
  bool read_step() {
    std::string node;
    double ms = 0;
    const auto read_member = [&](const std::string& key) {
      if (key == "node") return json_.read_text(node);
      return key == "ms" ? read_time(ms) : json_.skip_value(3);
    };
    if (!json_.read_any_object(read_member)) return false;
    if (!node.empty()) of_steps_[node] += ms;  // a node may run again
    return true;
  }

  bool read_time(double& ms) {
    json_.peek();  // skips blanks
    const std::size_t begin = json_.position();
    if (!json_.skip_value(2)) return false;
    const char* const end = text_.data() + json_.position();
    const auto [stop, code] = std::from_chars(text_.data() + begin, end, ms);
    if (code == std::errc() && stop == end) return true;
    return json_.fail(ErrorCode::malformed, "expected milliseconds");
  }

  std::string_view text_;
  JsonReader json_;
  std::map<std::string, double> times_;
  std::map<std::string, double> of_steps_;
  bool is_of_bench_ = false;  // its other numbers are not times of nodes
};

Json json_of(const NodeTime& time) {
  return {{"start_ms", time.start_ms}, {"end_ms", time.end_ms}, {"order", time.order}};
}

double end_of(const IdVector<NodeId, NodeTime>& times) {
  double end = 0;
  for (const NodeTime& time : times) end = std::max(end, time.end_ms);
  return end;
}

}  // namespace

void read_multistream(const Arguments& arguments, BaselineOptions& options) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (const auto count = read_count(arguments, "--nodes-at-once", 1, kMost))
    options.nodes_at_once = static_cast<std::uint32_t>(*count);
  if (const auto count = read_count(arguments, "--streams", 1, kMost))
    options.streams = static_cast<std::uint32_t>(*count);
}

std::optional<ProfiledTimes> read_profiled_times(const Arguments& arguments, const Graph& graph,
                                                 const std::vector<NodeId>& order) {
  const std::optional<std::string> path = arguments.value("--times");
  if (!path) return std::nullopt;
  const std::string text = take(read_text_file(*path, limits::kMaxFileBytes));
  const std::map<std::string, double> profile = take(ProfileReader(text, name_of_file(*path)).read());
  return take(profile_times(graph, order, profile), *path);
}

Json json_of_times(const Graph& graph, const std::vector<NodeId>& order, const ProfiledTimes& times) {
  Json json;
  json["percentile_70_ms"] = times.percentile_70_ms;
  json["percentile_90_ms"] = times.percentile_90_ms;
  json["percentile_95_ms"] = times.percentile_95_ms;
  json["longest_ms"] = times.longest_ms;
  json["total_ms"] = times.total_ms;
  json["nodes"] = Json::array();
  for (NodeId id : order) {
    json["nodes"].push_back({{"node", json_text(graph.node(id).name)},
                             {"op", json_text(full_name(graph.op(id)))},
                             {"one_stream", json_of(times.one_stream[id])},
                             {"all_streams", json_of(times.all_streams[id])}});
  }
  return json;
}

StyledText text_of_times(const Graph& graph, const ProfiledTimes& times) {
  std::uint32_t waves = 0;
  for (const NodeTime& time : times.all_streams) waves = std::max(waves, time.order + 1);
  return profiled_times_summary({.nodes = static_cast<std::int64_t>(graph.nodes().size()),
                                 .waves = waves,
                                 .one_stream_ms = end_of(times.one_stream),
                                 .all_streams_ms = end_of(times.all_streams),
                                 .percentile_70_ms = times.percentile_70_ms,
                                 .percentile_90_ms = times.percentile_90_ms,
                                 .percentile_95_ms = times.percentile_95_ms,
                                 .longest_ms = times.longest_ms});
}

Json json_of_places(const Graph& graph, const BaselineOutcome& outcome) {
  Json json;
  json["baseline"] = outcome.baseline;
  json["blocks"] = Json::array();
  for (const BaselineBlock& block : outcome.blocks)
    json["blocks"].push_back({{"name", json_text(block.name)}, {"bytes", block.size.count()}});
  json["tensors"] = Json::array();
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    const std::optional<SharingPlace>& place = outcome.sharing.places[id];
    const bool is_constant = id.index() < outcome.constant_at.size() && outcome.constant_at[id];
    if (!place && !is_constant) continue;
    json["tensors"].push_back(
        {{"name", json_text(tensor.name)},
         {"block", is_constant ? Json("constants") : Json(json_text(outcome.blocks[place->block].name))},
         {"offset", (is_constant ? *outcome.constant_at[id] : place->offset).position()},
         {"bytes", tensor.size.count()}});
  }
  return json;
}

}  // namespace lowtide::cli_internal
