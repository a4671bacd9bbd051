// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/swaps.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/grappler/device_name.h"
#include "lowtide/earlier/grappler/repeated_controls.h"
#include "lowtide/earlier/grappler/static_schedule.h"
#include "lowtide/earlier/grappler/swap_choice.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::int64_t kBytesPerNanosecond = kBytesPerSecondOfGrappler / 1'000'000'000;
constexpr std::size_t kMostSwapSteps = 2'000'000'000;

using Times = std::vector<std::optional<std::int64_t>>;

bool stops_walk(const DefNode& node) {
  constexpr std::array<std::string_view, 11> kOps = {"Enter",     "Exit",    "Merge",    "NextIteration",
                                                     "RefEnter",  "RefExit", "RefMerge", "RefNextIteration",
                                                     "RefSwitch", "Switch",  "_SwitchN"};
  return std::ranges::find(kOps, node.op) != kOps.end();
}

// Adds the pairs of copies. What it looks up is what the graph was before; inputs that it has changed already are new
// names, which the original does not find, and then it gives up.
class Swapper {
 public:
  Swapper(std::vector<DefNode>& nodes, const TypedGraph& graph, const Times& ends)
      : nodes_(nodes), graph_(graph), ends_(ends) {}

  Result<void> swap(NodeIndex at, const std::vector<std::int64_t>& inputs, SkipList& skipped) {
    if (skipped.contains(nodes_[at].name)) return {};
    LOWTIDE_TRY(const std::optional<NodeIndex> in_trigger, swap_in_trigger(at, inputs));
    if (!in_trigger) {
      skipped.insert(nodes_[at].name);
      return {};
    }
    for (std::int64_t input : inputs) {
      if (!skipped.insert(nodes_[at].name + ":" + std::to_string(input)).second) continue;
      const std::optional<NodeIndex> out_trigger = swap_out_trigger(at, input);
      if (out_trigger) add_pair(at, input, *in_trigger, *out_trigger, skipped);
    }
    return {};
  }

  std::vector<GrapplerSwap> finish() {
    std::ranges::move(added_, std::back_inserter(nodes_));
    return std::move(swapped_);
  }

 private:
  // The latest of the nodes above this one that end before the transfer must begin. None: no walk up finds one.
  Result<std::optional<NodeIndex>> swap_in_trigger(NodeIndex at, const std::vector<std::int64_t>& inputs) {
    std::int64_t bytes = 0;
    for (std::int64_t input : inputs) bytes += static_cast<std::int64_t>(bytes_of(type_of_input(at, input)));
    std::int64_t latest = 0;
    std::set<std::string, std::less<>> open;
    for (const std::string& input : nodes_[at].inputs) {
      const std::string_view name = read_input(input).node;
      const auto found = graph_.links.by_name.find(name);
      if (found == graph_.links.by_name.end() || !ends_[found->second]) return std::optional<NodeIndex>();
      latest = std::max(latest, *ends_[found->second]);
      open.emplace(name);
    }
    for (std::int64_t input : inputs) {
      open.erase(std::string(read_input(nodes_[at].inputs[static_cast<std::size_t>(input)]).node));
    }
    return latest_before(latest - bytes / kBytesPerNanosecond, std::move(open));
  }

  Result<std::optional<NodeIndex>> latest_before(std::int64_t time, std::set<std::string, std::less<>> open) {
    std::set<std::string, std::less<>> seen;
    std::optional<NodeIndex> best;
    while (!open.empty()) {
      if (++steps_ > kMostSwapSteps) {
        return Error{ErrorCode::over_limit, "the walks for nodes that could start a transfer take too long", ""};
      }
      const std::string name = std::move(open.extract(open.begin()).value());
      seen.insert(name);
      const auto found = graph_.links.by_name.find(name);
      if (found == graph_.links.by_name.end()) return std::optional<NodeIndex>();
      const NodeIndex at = found->second;
      if (stops_walk(nodes_[at])) continue;
      if (!ends_[at]) return std::optional<NodeIndex>();
      if (*ends_[at] < time) {
        // Among nodes that end at one time, the original keeps the one that it sees last.
        if (!best || *ends_[at] >= *ends_[*best]) best = at;
        continue;
      }
      for (const std::string& input : nodes_[at].inputs) {
        const std::string_view source = read_input(input).node;
        if (!seen.contains(source)) open.emplace(source);
      }
    }
    return best;
  }

  // The node that ends first among the others that read the same output.
  [[nodiscard]] std::optional<NodeIndex> swap_out_trigger(NodeIndex at, std::int64_t input) const {
    const DefInput name = read_input(graph_inputs(at)[static_cast<std::size_t>(input)]);
    const NodeIndex source = graph_.links.inputs[at][static_cast<std::size_t>(input)];
    std::optional<NodeIndex> first;
    for (NodeIndex reader : graph_.links.readers[source]) {
      if (reader == at || !ends_[reader] || (first && *ends_[reader] >= *ends_[*first])) continue;
      if (reads(reader, source, name.port)) first = reader;
    }
    return first;
  }

  [[nodiscard]] bool reads(NodeIndex reader, NodeIndex source, std::int64_t port) const {
    const std::vector<std::string>& inputs = graph_inputs(reader);
    for (std::size_t input = 0; input < graph_.links.inputs[reader].size(); ++input) {
      const DefInput name = read_input(inputs[input]);
      if (graph_.links.inputs[reader][input] == source && !name.is_control && name.port == port) return true;
    }
    return false;
  }

  // The inputs before any swap.
  [[nodiscard]] const std::vector<std::string>& graph_inputs(NodeIndex at) const {
    const auto found = before_.find(at);
    return found == before_.end() ? nodes_[at].inputs : found->second;
  }

  [[nodiscard]] const OutputType& type_of_input(NodeIndex at, std::int64_t input) const {
    const auto number = static_cast<std::size_t>(input);
    return graph_.type_of(graph_.links.inputs[at][number], read_input(graph_inputs(at)[number]).port);
  }

  void add_pair(NodeIndex at, std::int64_t input, NodeIndex in_trigger, NodeIndex out_trigger, SkipList& skipped) {
    const OutputType& type = type_of_input(at, input);
    const bool is_on_gpu = device_parts(nodes_[at].device).kind.find("GPU") != std::string::npos;
    const std::string place = nodes_[at].name + "_" + std::to_string(input);
    DefNode out{.name = "swap_out_" + place,
                .op = "_CopyFromGpuToHost",
                .device = nodes_[at].device,
                .inputs = {},
                .attributes = {}};
    DefNode in{.name = "swap_in_" + place,
               .op = "_CopyFromHostToGpu",
               .device = nodes_[at].device,
               .inputs = {},
               .attributes = {}};
    if (!is_on_gpu || type.data_type == 0 || takes_reference(nodes_[at], static_cast<std::size_t>(input)) ||
        graph_.links.by_name.contains(out.name) || graph_.links.by_name.contains(in.name)) {
      return;
    }
    before_.try_emplace(at, nodes_[at].inputs);
    before_.try_emplace(out_trigger, nodes_[out_trigger].inputs);
    for (DefNode* node : {&out, &in, &nodes_[at]}) add_to_list(*node, "_class", "loc@" + place);
    for (DefNode* node : {&out, &in}) set_type(*node, "T", type.data_type);
    std::string& swapped = nodes_[at].inputs[static_cast<std::size_t>(input)];
    out.inputs = {swapped};
    in.inputs = {out.name, "^" + nodes_[in_trigger].name};
    swapped = in.name;
    nodes_[out_trigger].inputs.push_back("^" + out.name);
    skipped.insert({out.name, in.name});
    swapped_.push_back({.node = nodes_[at].name, .input = input});
    added_.push_back(std::move(out));
    added_.push_back(std::move(in));
  }

  std::vector<DefNode>& nodes_;
  const TypedGraph& graph_;
  const Times& ends_;
  std::map<NodeIndex, std::vector<std::string>> before_;  // inputs of nodes that have changed
  std::vector<DefNode> added_;
  std::vector<GrapplerSwap> swapped_;
  std::size_t steps_ = 0;
};

// The memory of a device matters only if it is a GPU with too little of it.
bool lacks_memory(const std::vector<DevicePeak>& peaks, const Cluster& cluster) {
  for (std::size_t device = 0; device < cluster.devices.size(); ++device) {
    const ClusterDevice& one = cluster.devices[device];
    if (one.type == "GPU" && one.memory_bytes > 0 && peaks[device].bytes > one.memory_bytes) return true;
  }
  return false;
}

// Whether a GPU lacks memory.
Result<bool> needs_swaps(const std::vector<DefNode>& nodes, const Surroundings& around, KnownPeaks& peaks) {
  if (!peaks) {
    LOWTIDE_TRY(const TypedGraph graph, type_nodes(nodes));
    LOWTIDE_RETURN_IF_ERROR(find_peaks(graph, around, peaks));
  }
  return lacks_memory(*peaks, around.cluster);
}

}  // namespace

Result<std::vector<GrapplerSwap>> swap_inputs(std::vector<DefNode>& nodes, const Surroundings& around, bool by_memory,
                                              SkipList& skipped, KnownPeaks& peaks) {
  bool is_short = false;
  if (by_memory && !has_copies(nodes)) {
    LOWTIDE_TRY(const bool found, needs_swaps(nodes, around, peaks));
    is_short = found;
  }
  if (!is_short && std::ranges::none_of(nodes, has_swap_hint)) return std::vector<GrapplerSwap>();
  LOWTIDE_RETURN_IF_ERROR(drop_repeated_controls(nodes));
  LOWTIDE_TRY(const TypedGraph graph, type_nodes(nodes));
  InputsToSwap chosen;
  if (is_short) {
    LOWTIDE_TRY(const Simulation simulation, simulate(graph, around.cluster, around.feeds, around.fetches));
    choose_by_memory(graph, {.peaks = *peaks, .ends = simulation.ends}, around.cluster, skipped, chosen);
  }
  LOWTIDE_RETURN_IF_ERROR(choose_by_hint(graph, chosen));
  const Times ends = earliest_ends(graph, around.cluster);
  Swapper swapper(nodes, graph, ends);
  // The original goes through a hash table of addresses, which mostly is last first.
  for (const InputsToSwap::OfNode& one : std::views::reverse(chosen.nodes())) {
    LOWTIDE_RETURN_IF_ERROR(swapper.swap(one.node, one.inputs, skipped));
  }
  return swapper.finish();
}

}  // namespace lowtide::grappler_internal
