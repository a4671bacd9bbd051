// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/grappler/relax.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/node_attributes.h"
#include "lowtide/earlier/grappler/device_name.h"
#include "lowtide/earlier/grappler/node_links.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::string_view kRelaxed = "_grappler_relax_allocator_constraints";

// Operators that never return the memory of an operand, as Grappler lists them. In order.
// clang-format off
constexpr auto kNewResults = std::to_array<std::string_view>({
    "ArgMax", "ArgMin", "AudioSpectrogram", "AvgPool", "BatchMatMul", "BatchMatMulV2",
    "BatchNormWithGlobalNormalization", "BatchToSpace", "BatchToSpaceND", "Bincount", "BroadcastArgs",
    "BroadcastGradientArgs", "Bucketize", "CTCBeamSearchDecoder", "CTCGreedyDecoder", "CTCLoss",
    "CompareAndBitpack", "ComplexAbs", "Concat", "ConcatOffset", "ConcatV2", "Conv2D", "Copy", "CopyHost", "Cross",
    "CudnnRNN", "CudnnRNNBackprop", "CudnnRNNBackpropV2", "CudnnRNNBackpropV3", "CudnnRNNCanonicalToParams",
    "CudnnRNNCanonicalToParamsV2", "CudnnRNNParamsSize", "CudnnRNNParamsToCanonical", "CudnnRNNParamsToCanonicalV2",
    "CudnnRNNV2", "CudnnRNNV3", "CumProd", "CumSum", "DebugNanCount", "DebugNumericSummary", "DecodeProtoV2",
    "DecodeWav", "DeepCopy", "DepthToSpace", "Dequantize", "Diag", "DiagPart", "EditDistance", "Empty",
    "EncodeProtoV2", "EncodeWav", "ExtractImagePatches", "ExtractVolumePatches", "Fill", "Gather", "GatherNd",
    "GatherV2", "HistogramFixedWidth", "InvertPermutation", "IsInf", "IsNan", "Isfinite", "LinSpace", "LowerBound",
    "MatMul", "MatrixDiag", "MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagV2", "Mfcc", "Multinomial", "OneHot",
    "Pack", "ParameterizedTruncatedNormal", "PopulationCount", "RandomGamma", "RandomPoisson", "RandomPoissonV2",
    "RandomStandardNormal", "RandomUniform", "RandomUniformInt", "Range", "Rank", "RequantizationRange",
    "Requantize", "ReverseSequence", "Shape", "ShapeN", "Size", "SpaceToBatch", "SpaceToBatchND", "SpaceToDepth",
    "SparseMatMul", "Split", "SplitV", "TruncatedNormal", "Unique", "UniqueV2", "UniqueWithCounts",
    "UniqueWithCountsV2", "Unpack", "UnravelIndex", "UpperBound", "Where"
});
// clang-format on

bool has_new_results(const DefNode& node) {
  return std::ranges::binary_search(kNewResults, std::string_view(node.op)) ||
         node.op.find("Segment") != std::string::npos || node.op.starts_with("Quantize");
}

bool assigns(const DefNode& node) { return node.op == "Assign" || node.op == "AssignVariableOp"; }

bool sends(const DefNode& node) { return node.op == "_Send" || node.op == "_HostSend"; }

// What the original sees before it stops at the first Send.
struct SeenNodes {
  std::vector<NodeIndex> assignments;
  std::set<std::string_view> devices;
  bool has_send = false;
};

SeenNodes seen_nodes(const std::vector<DefNode>& nodes) {
  SeenNodes seen;
  for (NodeIndex at = 0; at < nodes.size() && !seen.has_send; ++at) {
    seen.devices.insert(nodes[at].device);
    if (assigns(nodes[at])) seen.assignments.push_back(at);
    seen.has_send = sends(nodes[at]);
  }
  return seen;
}

// Where the nodes are that may read the memory of a result. Places are only added, and there are few of them.
struct Whereabouts {
  static constexpr std::uint32_t kSeveralTasks = 0xFFFF'FFFF;

  std::uint32_t task = 0;  // a number for each task
  bool on_cpu = false;
  bool on_gpu = false;
  bool is_sent = false;

  friend bool operator==(const Whereabouts&, const Whereabouts&) = default;

  void add(const Whereabouts& other) {
    if (other.task != task) task = kSeveralTasks;
    on_cpu |= other.on_cpu;
    on_gpu |= other.on_gpu;
    is_sent |= other.is_sent;
  }

  // Whether memory that a node here writes must be one that devices transfer from, if it is read in all these places.
  [[nodiscard]] bool needs_transfer(const Whereabouts& all) const {
    return all.is_sent || all.task == kSeveralTasks || (on_cpu && all.on_gpu) || (on_gpu && all.on_cpu);
  }
};

std::vector<Whereabouts> own_whereabouts(const std::vector<DefNode>& nodes) {
  std::unordered_map<std::string_view, Whereabouts> by_device;
  std::map<std::string, std::uint32_t> tasks;
  std::vector<Whereabouts> all;
  all.reserve(nodes.size());
  for (const DefNode& node : nodes) {
    const auto [found, is_new] = by_device.try_emplace(node.device);
    if (is_new) {
      const DeviceParts parts = device_parts(node.device);
      found->second.task = tasks.emplace(parts.task, static_cast<std::uint32_t>(tasks.size())).first->second;
      found->second.on_cpu = parts.kind.find("CPU") != std::string::npos;
      found->second.on_gpu = parts.kind.find("GPU") != std::string::npos;
    }
    all.push_back(found->second);
    all.back().is_sent = sends(node);
  }
  return all;
}

// Data inputs alone. A result may be in the memory of an operand, unless the operator always makes new memory.
class MemoryFlow {
 public:
  MemoryFlow(const std::vector<DefNode>& nodes, const NodeLinks& links)
      : nodes_(nodes), inputs_(nodes.size()), readers_(nodes.size()) {
    for (NodeIndex at = 0; at < nodes.size(); ++at) {
      for (std::size_t input = 0; input < nodes[at].inputs.size(); ++input) {
        if (read_input(nodes[at].inputs[input]).is_control) continue;
        const NodeIndex source = links.inputs[at][input];
        if (has_new_results(nodes[source])) continue;
        inputs_[at].push_back(source);
        readers_[source].push_back(at);
      }
    }
  }

  // For each node, where the memory of its result is read: here, by its readers, and by what may pass it on.
  [[nodiscard]] std::vector<Whereabouts> places(std::vector<Whereabouts> own) const {
    std::vector<NodeIndex> changed;
    for (NodeIndex at = 0; at < nodes_.size(); ++at) changed.push_back(at);
    while (!changed.empty()) {
      const NodeIndex at = changed.back();
      changed.pop_back();
      for (NodeIndex source : inputs_[at]) {
        Whereabouts grown = own[source];
        grown.add(own[at]);
        if (grown == own[source]) continue;
        own[source] = grown;
        changed.push_back(source);
      }
    }
    return own;
  }

  // Calls `visit` with the nodes that the memory of this result reaches, except for those that were visited before.
  template <typename Visit>
  void visit_from(NodeIndex from, std::vector<bool>& is_visited, const Visit& visit) const {
    std::vector<NodeIndex> next = {from};
    while (!next.empty()) {
      const NodeIndex at = next.back();
      next.pop_back();
      if (is_visited[at]) continue;
      is_visited[at] = true;
      visit(at);
      next.insert(next.end(), readers_[at].begin(), readers_[at].end());
    }
  }

 private:
  const std::vector<DefNode>& nodes_;
  std::vector<std::vector<NodeIndex>> inputs_;
  std::vector<std::vector<NodeIndex>> readers_;
};

// The original goes through the assignments in order. With one that needs no transfer, it also marks the later ones
// that the memory of its result reaches, whatever they need.
Result<std::vector<NodeIndex>> relaxable(const std::vector<DefNode>& nodes) {
  const SeenNodes seen = seen_nodes(nodes);
  if (!seen.has_send && seen.devices.size() == 1) return seen.assignments;
  LOWTIDE_TRY(const NodeLinks links, link_nodes(nodes));
  const MemoryFlow flow(nodes, links);
  const std::vector<Whereabouts> own = own_whereabouts(nodes);
  const std::vector<Whereabouts> places = flow.places(own);
  std::vector<bool> is_visited(nodes.size(), false);
  std::vector<NodeIndex> all;
  for (NodeIndex assignment : seen.assignments) {
    if (own[assignment].needs_transfer(places[assignment])) continue;
    flow.visit_from(assignment, is_visited, [&](NodeIndex at) {
      if (assigns(nodes[at]) && at >= assignment) all.push_back(at);
    });
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

Result<std::vector<std::string>> relax_assignments(std::vector<DefNode>& nodes) {
  LOWTIDE_TRY(const std::vector<NodeIndex> found, relaxable(nodes));
  std::vector<std::string> names;
  for (NodeIndex at : found) {
    set_true(nodes[at], kRelaxed);
    names.push_back(nodes[at].name);
  }
  return names;
}

}  // namespace lowtide::grappler_internal
