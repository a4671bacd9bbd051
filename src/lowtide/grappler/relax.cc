// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/grappler/relax.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "lowtide/grappler/device_name.h"
#include "lowtide/grappler/node_links.h"

namespace lowtide::grappler_internal {
namespace {

constexpr std::string_view kRelaxed = "_grappler_relax_allocator_constraints";

// Operators that never return the memory of an operand, as Grappler lists them. In order.
constexpr auto kNewResults = std::to_array<std::string_view>({
    "ArgMax",
    "ArgMin",
    "AudioSpectrogram",
    "AvgPool",
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchNormWithGlobalNormalization",
    "BatchToSpace",
    "BatchToSpaceND",
    "Bincount",
    "BroadcastArgs",
    "BroadcastGradientArgs",
    "Bucketize",
    "CTCBeamSearchDecoder",
    "CTCGreedyDecoder",
    "CTCLoss",
    "CompareAndBitpack",
    "ComplexAbs",
    "Concat",
    "ConcatOffset",
    "ConcatV2",
    "Conv2D",
    "Copy",
    "CopyHost",
    "Cross",
    "CudnnRNN",
    "CudnnRNNBackprop",
    "CudnnRNNBackpropV2",
    "CudnnRNNBackpropV3",
    "CudnnRNNCanonicalToParams",
    "CudnnRNNCanonicalToParamsV2",
    "CudnnRNNParamsSize",
    "CudnnRNNParamsToCanonical",
    "CudnnRNNParamsToCanonicalV2",
    "CudnnRNNV2",
    "CudnnRNNV3",
    "CumProd",
    "CumSum",
    "DebugNanCount",
    "DebugNumericSummary",
    "DecodeProtoV2",
    "DecodeWav",
    "DeepCopy",
    "DepthToSpace",
    "Dequantize",
    "Diag",
    "DiagPart",
    "EditDistance",
    "Empty",
    "EncodeProtoV2",
    "EncodeWav",
    "ExtractImagePatches",
    "ExtractVolumePatches",
    "Fill",
    "Gather",
    "GatherNd",
    "GatherV2",
    "HistogramFixedWidth",
    "InvertPermutation",
    "IsInf",
    "IsNan",
    "Isfinite",
    "LinSpace",
    "LowerBound",
    "MatMul",
    "MatrixDiag",
    "MatrixDiagPart",
    "MatrixDiagPartV2",
    "MatrixDiagV2",
    "Mfcc",
    "Multinomial",
    "OneHot",
    "Pack",
    "ParameterizedTruncatedNormal",
    "PopulationCount",
    "RandomGamma",
    "RandomPoisson",
    "RandomPoissonV2",
    "RandomStandardNormal",
    "RandomUniform",
    "RandomUniformInt",
    "Range",
    "Rank",
    "RequantizationRange",
    "Requantize",
    "ReverseSequence",
    "Shape",
    "ShapeN",
    "Size",
    "SpaceToBatch",
    "SpaceToBatchND",
    "SpaceToDepth",
    "SparseMatMul",
    "Split",
    "SplitV",
    "TruncatedNormal",
    "Unique",
    "UniqueV2",
    "UniqueWithCounts",
    "UniqueWithCountsV2",
    "Unpack",
    "UnravelIndex",
    "UpperBound",
    "Where",
});

bool has_new_results(const DefNode& node) {
  return std::ranges::binary_search(kNewResults, std::string_view(node.op)) ||
         node.op.find("Segment") != std::string::npos || node.op.starts_with("Quantize");
}

bool assigns(const DefNode& node) { return node.op == "Assign" || node.op == "AssignVariableOp"; }

bool sends(const DefNode& node) { return node.op == "_Send" || node.op == "_HostSend"; }

bool needs_transfer(const DeviceParts& from, const DeviceParts& to) {
  if (from.task != to.task) return true;
  const auto is = [](const DeviceParts& device, std::string_view kind) {
    return device.kind.find(kind) != std::string::npos;
  };
  return (is(from, "CPU") && is(to, "GPU")) || (is(from, "GPU") && is(to, "CPU"));
}

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

// The nodes that may return the memory of this one's result, or read it, and the node itself.
class DataReaders {
 public:
  DataReaders(const std::vector<DefNode>& nodes, const NodeLinks& links) : nodes_(nodes), readers_(nodes.size()) {
    for (NodeIndex at = 0; at < nodes.size(); ++at) {
      for (std::size_t input = 0; input < nodes[at].inputs.size(); ++input) {
        if (!read_input(nodes[at].inputs[input]).is_control) readers_[links.inputs[at][input]].push_back(at);
      }
    }
  }

  [[nodiscard]] std::vector<NodeIndex> reached_from(NodeIndex from) const {
    std::vector<NodeIndex> reached = {from};
    std::vector<bool> is_reached(nodes_.size(), false);
    is_reached[from] = true;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      if (has_new_results(nodes_[reached[next]])) continue;
      for (NodeIndex reader : readers_[reached[next]]) {
        if (is_reached[reader]) continue;
        is_reached[reader] = true;
        reached.push_back(reader);
      }
    }
    return reached;
  }

 private:
  const std::vector<DefNode>& nodes_;
  std::vector<std::vector<NodeIndex>> readers_;
};

Result<std::vector<NodeIndex>> relaxable(const std::vector<DefNode>& nodes) {
  const SeenNodes seen = seen_nodes(nodes);
  if (!seen.has_send && seen.devices.size() == 1) return seen.assignments;
  const Result<NodeLinks> links = link_nodes(nodes);
  if (!links) return links.error();
  const DataReaders readers(nodes, *links);
  std::vector<bool> is_done(nodes.size(), false);
  std::vector<NodeIndex> all;
  for (NodeIndex assignment : seen.assignments) {
    if (is_done[assignment]) continue;
    const DeviceParts device = device_parts(nodes[assignment].device);
    const std::vector<NodeIndex> reached = readers.reached_from(assignment);
    const bool is_bound = std::ranges::any_of(reached, [&](NodeIndex at) {
      return sends(nodes[at]) || needs_transfer(device_parts(nodes[at].device), device);
    });
    is_done[assignment] = true;
    if (is_bound) continue;
    for (NodeIndex at : reached) {
      if (!assigns(nodes[at]) || (at != assignment && is_done[at])) continue;
      is_done[at] = true;
      all.push_back(at);
    }
  }
  return all;
}

}  // namespace

Result<std::vector<std::string>> relax_assignments(std::vector<DefNode>& nodes) {
  const Result<std::vector<NodeIndex>> found = relaxable(nodes);
  if (!found) return found.error();
  std::vector<std::string> names;
  for (NodeIndex at : *found) {
    set_true(nodes[at], kRelaxed);
    names.push_back(nodes[at].name);
  }
  return names;
}

}  // namespace lowtide::grappler_internal
