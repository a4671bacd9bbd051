// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/sums.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/graphdef/output_types.h"
#include "lowtide/earlier/grappler/repeated_controls.h"

namespace lowtide::grappler_internal {
namespace {

constexpr double kFullShare = 0.8;  // of the memory of a device
constexpr std::size_t kMostSumSteps = 2'000'000'000;
constexpr auto kSummedTypes = std::to_array<std::int64_t>({1, 2, 9, 19});  // f32, f64, i64, f16

bool is_sum(const DefNode& node) { return node.op == "AddN" || node.op == "AccumulateNV2"; }

std::size_t count_operands(const DefNode& node) {
  return static_cast<std::size_t>(
      std::ranges::count_if(node.inputs, [](const std::string& input) { return !read_input(input).is_control; }));
}

// The sums that read an output, by the name of its node and its port.
using SumsOfTensor = std::map<std::pair<std::string, std::int64_t>, std::set<NodeIndex>>;

SumsOfTensor sums_by_operand(const TypedGraph& graph) {
  SumsOfTensor sums;
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    const DefNode& node = graph.nodes[at];
    if (!is_sum(node) || count_operands(node) <= 2) continue;
    for (std::size_t input = 0; input < node.inputs.size(); ++input) {
      const DefInput name = read_input(node.inputs[input]);
      const DefNode& source = graph.nodes[graph.links.inputs[at][input]];
      if (!name.is_control && source.device == node.device) sums[{source.name, name.port}].insert(at);
    }
  }
  return sums;
}

std::set<NodeIndex> sums_at_peaks(const SumsOfTensor& sums, const std::vector<DevicePeak>& peaks,
                                  const Cluster& cluster) {
  std::set<NodeIndex> chosen;
  for (std::size_t device = 0; device < cluster.devices.size(); ++device) {
    const double memory = static_cast<double>(cluster.devices[device].memory_bytes);
    const DevicePeak& peak = peaks[device];
    if (memory <= 0 || static_cast<double>(peak.bytes) <= memory * kFullShare) continue;
    for (const LiveTensor& tensor : peak.live) {
      const auto found = sums.find({tensor.node, tensor.port});
      if (found != sums.end()) chosen.insert(found->second.begin(), found->second.end());
    }
  }
  return chosen;
}

// A number for each node that a node needs, in the order in which a depth-first walk leaves them. Of the inputs of a
// node, the one that is last in the list of all nodes is first.
std::vector<std::size_t> depth_first_numbers(const NodeLinks& links, NodeIndex root) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> numbers(links.inputs.size(), kNone);
  std::vector<bool> is_entered(links.inputs.size(), false);
  std::vector<std::pair<NodeIndex, bool>> stack = {{root, false}};
  std::size_t count = 0;
  while (!stack.empty()) {
    const auto [at, is_done] = stack.back();
    stack.pop_back();
    if (is_done) {
      numbers[at] = count++;
      continue;
    }
    if (is_entered[at]) continue;
    is_entered[at] = true;
    stack.emplace_back(at, true);
    std::vector<NodeIndex> inputs = links.inputs[at];
    std::ranges::sort(inputs);
    for (NodeIndex input : inputs) stack.emplace_back(input, false);
  }
  return numbers;
}

class SumReplacer {
 public:
  SumReplacer(std::vector<DefNode>& nodes, const NodeLinks& links) : nodes_(nodes), links_(links) {}

  // False: its name exists.
  bool replace(NodeIndex at, const OutputType& type, std::int64_t data_type) {
    DefNode& sum = nodes_[at];
    if (links_.by_name.contains(sum.name + "/tmp_var")) return false;
    const std::vector<std::size_t> numbers = depth_first_numbers(links_, at);
    const std::vector<NodeIndex>& sources = links_.inputs[at];
    const std::size_t operands = count_operands(sum);
    std::size_t first = 0;
    for (std::size_t input = 1; input < operands; ++input) {
      if (numbers[sources[input]] < numbers[sources[first]]) first = input;
    }
    DefNode variable = new_node(sum, "/tmp_var", "TemporaryVariable");
    std::vector<std::string> later;
    for (std::size_t input = sum.inputs.size(); input > operands; --input) {
      const bool is_before = numbers[sources[input - 1]] < numbers[sources[first]];
      (is_before ? variable.inputs : later).push_back(sum.inputs[input - 1]);
    }
    variable.inputs.push_back("^" + std::string(read_input(sum.inputs[first]).node));
    set_type(variable, "dtype", data_type);
    set_shape(variable, "shape", *type.extents);
    set_text(variable, "var_name", variable.name);
    DefNode zeros = new_node(sum, "/tmp_var_zeros", "ZerosLike");
    zeros.inputs = {sum.inputs[first]};
    set_type(zeros, "T", data_type);
    DefNode initializer = new_node(sum, "/tmp_var_initializer", "Assign");
    initializer.inputs = {variable.name, zeros.name};
    set_type(initializer, "T", data_type);
    set_boolean(initializer, "use_locking", false);
    set_boolean(initializer, "validate_shape", false);
    std::vector<std::string> inputs = {initializer.name};
    const std::string start = initializer.name;
    const std::string variable_name = variable.name;
    for (DefNode* node : {&variable, &zeros, &initializer}) added_.push_back(std::move(*node));
    for (std::size_t input = 0; input < operands; ++input) {
      DefNode addition = new_node(sum, "/tmp_var_accum_" + std::to_string(input), "AssignAdd");
      addition.inputs = {start, sum.inputs[input]};
      set_type(addition, "T", data_type);
      set_true(addition, "use_locking");
      inputs.push_back("^" + addition.name);
      added_.push_back(std::move(addition));
    }
    inputs.insert(inputs.end(), later.begin(), later.end());
    sum.op = "DestroyTemporaryVariable";
    sum.inputs = std::move(inputs);
    remove_regular_attributes(sum);
    set_type(sum, "T", data_type);
    set_text(sum, "var_name", variable_name);
    return true;
  }

  void add_new_nodes() { std::ranges::move(added_, std::back_inserter(nodes_)); }

 private:
  static DefNode new_node(const DefNode& sum, const std::string& suffix, std::string op) {
    return {.name = sum.name + suffix, .op = std::move(op), .device = sum.device, .inputs = {}, .attributes = {}};
  }

  std::vector<DefNode>& nodes_;
  const NodeLinks& links_;
  std::vector<DefNode> added_;
};

// All sums except for those that are chosen.
void leave_out_all(const std::vector<DefNode>& nodes, const std::string& why, const std::set<NodeIndex>& chosen,
                   std::vector<GrapplerRemark>& left_out) {
  for (NodeIndex at = 0; at < nodes.size(); ++at) {
    if (is_sum(nodes[at]) && count_operands(nodes[at]) > 2 && !chosen.contains(at)) {
      left_out.push_back({nodes[at].name, why});
    }
  }
}

std::string why_not_at_peak(const std::vector<DevicePeak>& peaks, const Cluster& cluster) {
  std::string peak;
  for (std::size_t device = 0; device < cluster.devices.size(); ++device) {
    const std::int64_t memory = cluster.devices[device].memory_bytes;
    if (memory <= 0) continue;
    if (static_cast<double>(peaks[device].bytes) > static_cast<double>(memory) * kFullShare) {
      return "is a sum, but none of its operands on its device is live at the peak of a device that uses more than 80 "
             "% "
             "of its memory";
    }
    peak += (peak.empty() ? "" : ", ") + std::to_string(peaks[device].bytes) + " of " + std::to_string(memory) + " B";
  }
  if (peak.empty()) return "is a sum, but the memory of no device is known";
  return "is a sum, but no device uses more than 80 % of its memory: " + peak;
}

}  // namespace

bool has_copies(const std::vector<DefNode>& nodes) {
  return std::ranges::any_of(nodes, [](const DefNode& node) { return node.op == "_CopyFromGpuToHost"; });
}

Result<void> find_peaks(const TypedGraph& graph, const Surroundings& around, KnownPeaks& peaks) {
  if (peaks) return {};
  LOWTIDE_TRY(Simulation simulation, simulate(graph, around.cluster, around.feeds, around.fetches));
  peaks = std::move(simulation.peaks);
  return {};
}

Result<std::vector<std::string>> replace_sums(std::vector<DefNode>& nodes, const Surroundings& around,
                                              KnownPeaks& peaks, std::vector<GrapplerRemark>& left_out) {
  LOWTIDE_RETURN_IF_ERROR(drop_repeated_controls(nodes));
  std::vector<std::string> replaced;
  left_out.clear();
  if (has_copies(nodes)) {
    leave_out_all(nodes, "is a sum, but something is swapped, and TensorFlow simulates no graph with such copies", {},
                  left_out);
    return replaced;
  }
  std::set<NodeIndex> chosen;
  {
    LOWTIDE_TRY(const TypedGraph graph, type_nodes(nodes));
    const SumsOfTensor sums = sums_by_operand(graph);
    if (sums.empty()) return replaced;
    LOWTIDE_RETURN_IF_ERROR(find_peaks(graph, around, peaks));
    chosen = sums_at_peaks(sums, *peaks, around.cluster);
    leave_out_all(nodes, why_not_at_peak(*peaks, around.cluster), chosen, left_out);
    if (chosen.empty()) return replaced;
  }
  LOWTIDE_TRY(TypedGraph graph, type_nodes(nodes, around.feeds));
  if (chosen.size() > kMostSumSteps / nodes.size()) {
    return Error{ErrorCode::over_limit,
                 "each of " + std::to_string(chosen.size()) + " sums needs a walk over " +
                     std::to_string(nodes.size()) + " nodes",
                 ""};
  }
  SumReplacer replacer(nodes, graph.links);
  bool is_stopped = false;
  for (NodeIndex at : chosen) {
    const OutputType& type = graph.type_of(at, 0);
    const std::int64_t data_type = attribute_type(nodes[at], "T").value_or(0);
    const bool is_known = type.extents && std::ranges::none_of(*type.extents, [](std::int64_t one) { return one < 0; });
    if (!is_known) {
      left_out.push_back({nodes[at].name, "is a sum whose shape TensorFlow does not know without the feeds: " +
                                              (type.extents ? shown_extents(*type.extents) : "any")});
    } else if (std::ranges::find(kSummedTypes, data_type) == kSummedTypes.end()) {
      left_out.push_back({nodes[at].name, "is a sum of another element type than f16, f32, f64 and i64"});
    } else if (is_stopped || !replacer.replace(at, type, data_type)) {
      is_stopped = true;
      left_out.push_back({nodes[at].name, "is a sum, but a node ends in '/tmp_var' already, where TensorFlow stops"});
    } else {
      replaced.push_back(nodes[at].name);
    }
  }
  replacer.add_new_nodes();
  if (!replaced.empty()) peaks.reset();
  return replaced;
}

}  // namespace lowtide::grappler_internal
