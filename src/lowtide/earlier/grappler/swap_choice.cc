// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/swap_choice.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include "lowtide/earlier/graphdef/node_attributes.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::string_view kSwapHint = "_swap_to_host";
constexpr std::int64_t kLeastBytes = 1024;
constexpr std::int64_t kLeastLife = 1'000'000;  // ns

// A node and the number of one of its inputs.
using Use = std::pair<NodeIndex, std::int64_t>;

struct Candidate {
  std::int64_t bytes = 0;
  std::vector<Use> later_uses;
  double fitness = 0;
};

double square(std::int64_t value) { return static_cast<double>(value) * static_cast<double>(value); }

std::vector<Use> uses_of(const TypedGraph& graph, NodeIndex source, std::int64_t port) {
  std::vector<Use> uses;
  for (NodeIndex reader : graph.links.readers[source]) {
    for (std::size_t input = 0; input < graph.nodes[reader].inputs.size(); ++input) {
      const DefInput name = read_input(graph.nodes[reader].inputs[input]);
      const bool is_use = graph.links.inputs[reader][input] == source && !name.is_control && name.port == port;
      if (is_use) uses.emplace_back(reader, static_cast<std::int64_t>(input));
    }
  }
  return uses;
}

// Whether the memory of an output can go. That of an Identity or a Reshape on the device of its input is its input's.
bool can_leave(const TypedGraph& graph, NodeIndex at, std::int64_t port) {
  while (true) {
    const DefNode& node = graph.nodes[at];
    if (is_persistent(node) || (gives_reference(node) && port == 0)) return false;
    if ((node.op != "Identity" && node.op != "Reshape") || node.inputs.empty()) return true;
    const DefInput input = read_input(node.inputs.front());
    const NodeIndex source = graph.links.inputs[at].front();
    if (input.is_control || graph.nodes[source].device != node.device) return true;
    at = source;
    port = input.port;
  }
}

class MemoryChoice {
 public:
  MemoryChoice(const TypedGraph& graph, const KnownRun& run, const SkipList& skipped)
      : graph_(graph), run_(run), skipped_(skipped) {}

  [[nodiscard]] std::vector<Candidate> candidates(const DevicePeak& peak) const {
    std::int64_t peak_time = -1;
    for (const LiveTensor& tensor : peak.live) peak_time = std::max(peak_time, tensor.begin);
    std::vector<Candidate> all;
    for (const LiveTensor& tensor : peak.live) {
      if (auto candidate = candidate_of(tensor, peak_time)) all.push_back(*std::move(candidate));
    }
    std::ranges::stable_sort(all, std::greater<>(), &Candidate::fitness);
    return all;
  }

 private:
  [[nodiscard]] std::optional<Candidate> candidate_of(const LiveTensor& tensor, std::int64_t peak_time) const {
    const auto found = graph_.links.by_name.find(tensor.node);
    const bool is_long = tensor.bytes > kLeastBytes && tensor.end - tensor.begin > kLeastLife;
    if (found == graph_.links.by_name.end() || !is_long || skipped_.contains(tensor.node) ||
        !can_leave(graph_, found->second, tensor.port)) {
      return std::nullopt;
    }
    Candidate candidate{.bytes = tensor.bytes, .later_uses = {}};
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (const Use& use : uses_of(graph_, found->second, tensor.port)) {
      const std::int64_t microseconds = run_.ends[use.first];
      if (microseconds < 0) return std::nullopt;
      const std::int64_t end = microseconds * 1000 + 1;
      if (end <= peak_time) continue;
      const DefNode& reader = graph_.nodes[use.first];
      if (skipped_.contains(reader.name) || skipped_.contains(reader.name + ":" + std::to_string(use.second)) ||
          takes_reference(reader, static_cast<std::size_t>(use.second))) {
        return std::nullopt;
      }
      candidate.later_uses.push_back(use);
      earliest = std::min(earliest, end);
    }
    if (candidate.later_uses.empty()) return std::nullopt;
    candidate.fitness = square(earliest - peak_time) / square(static_cast<std::int64_t>(candidate.later_uses.size())) +
                        square(tensor.begin - peak_time);
    return candidate;
  }

  const TypedGraph& graph_;
  const KnownRun& run_;
  const SkipList& skipped_;
};

}  // namespace

void choose_by_memory(const TypedGraph& graph, const KnownRun& run, const Cluster& cluster, const SkipList& skipped,
                      InputsToSwap& chosen) {
  const MemoryChoice choice(graph, run, skipped);
  for (std::size_t device = 0; device < cluster.devices.size(); ++device) {
    const DevicePeak& peak = run.peaks[device];
    const std::int64_t memory = cluster.devices[device].memory_bytes;
    if (cluster.devices[device].type != "GPU" || memory <= 0 || peak.bytes <= memory) continue;
    std::int64_t missing = peak.bytes - memory;
    for (const Candidate& candidate : choice.candidates(peak)) {
      // Those that are last here are swapped first.
      for (const auto& [reader, input] : std::views::reverse(candidate.later_uses)) {
        chosen.of(reader).push_back(input);
      }
      missing -= candidate.bytes;
      if (missing < 0) break;
    }
  }
}

bool has_swap_hint(const DefNode& node) { return has_attribute(node, kSwapHint); }

Result<void> choose_by_hint(const TypedGraph& graph, InputsToSwap& chosen) {
  for (NodeIndex at = 0; at < graph.nodes.size(); ++at) {
    const DefNode& node = graph.nodes[at];
    if (!has_swap_hint(node)) continue;
    std::vector<std::int64_t>& inputs = chosen.of(at);
    std::vector<std::int64_t> hinted = attribute_integers(node, kSwapHint);
    if (hinted.empty() && !is_attribute_list(node, kSwapHint)) hinted.push_back(0);  // a value of another kind
    for (std::int64_t input : hinted) {
      const bool is_data = input >= 0 && input < static_cast<std::int64_t>(node.inputs.size()) &&
                           !read_input(node.inputs[static_cast<std::size_t>(input)]).is_control;
      if (!is_data) {
        return Error{ErrorCode::invalid,
                     "its attribute " + std::string(kSwapHint) + " names input " + std::to_string(input) +
                         ", but a hint must name one of its data inputs",
                     shown_node(node.name, node.op)};
      }
      inputs.push_back(input);
    }
  }
  return {};
}

}  // namespace lowtide::grappler_internal
