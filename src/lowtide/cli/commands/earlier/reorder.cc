// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/earlier/baselines/onnxruntime.h"
#include "lowtide/export/onnx_nodes.h"
#include "lowtide/import/byte_source.h"
#include "lowtide/pipeline/plan_graph.h"
#include "lowtide/report/reorder_summary.h"

namespace lowtide::cli_internal {
namespace {

struct OrderOfFile {
  std::string name;
  std::vector<std::size_t> nodes = {};  // positions in the file
  OnnxRuntimeMemory memory = {};
};

std::vector<NodeId> order_of_plan(const Plan& plan) {
  std::vector<NodeId> order;
  for (const Step& step : plan.program.steps) {
    if (const auto* compute = std::get_if<Compute>(&step.work)) order.push_back(compute->node);
  }
  return order;
}

// Between the nodes of a graph and those of the file that it was read from, by the names of results.
class FileNodes {
 public:
  FileNodes(const Graph& graph, const std::vector<OnnxFileNode>& nodes) : graph_(graph), nodes_(nodes) {
    std::unordered_map<std::string_view, std::size_t> makers;
    for (std::size_t at = 0; at < nodes.size(); ++at) {
      for (std::string_view name : nodes[at].writes) makers.emplace(name, at);
    }
    position_.resize(graph.nodes().size());
    for (NodeId id : all_ids<NodeId>(graph.nodes().size())) {
      for (std::optional<TensorId> output : graph.node(id).outputs) {
        if (!output || position_[id]) continue;
        const auto found = makers.find(graph.tensor(*output).name);
        if (found != makers.end()) position_[id] = found->second;
      }
    }
  }

  // All nodes of the file, in the order that these nodes of the graph have.
  [[nodiscard]] std::vector<std::size_t> file_order(const std::vector<NodeId>& order, const std::string& path) const {
    std::vector<std::size_t> wanted;
    std::vector<bool> is_listed(nodes_.size());
    for (NodeId id : order) {
      if (!position_[id] || is_listed[*position_[id]]) continue;
      is_listed[*position_[id]] = true;
      wanted.push_back(*position_[id]);
    }
    return take(complete_order(nodes_, wanted), path);
  }

  // The nodes of the graph in an order of the file. Those without a place there keep theirs behind what they read.
  [[nodiscard]] std::vector<NodeId> graph_order(const std::vector<std::size_t>& file_order) const {
    std::vector<std::size_t> rank(nodes_.size());
    for (std::size_t at = 0; at < file_order.size(); ++at) rank[file_order[at]] = at;
    IdVector<NodeId, std::size_t> ranks(position_.size());
    for (NodeId id : all_ids<NodeId>(position_.size())) {  // ids ascend along the edges
      if (position_[id]) {
        ranks[id] = rank[*position_[id]];
      } else {
        for (TensorId read : graph_.reads(id)) {
          if (const auto producer = graph_.tensor(read).producer) ranks[id] = std::max(ranks[id], ranks[*producer]);
        }
      }
    }
    std::vector<NodeId> order;
    for (NodeId id : all_ids<NodeId>(position_.size())) order.push_back(id);
    std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return ranks[a] < ranks[b]; });
    return order;
  }

 private:
  const Graph& graph_;
  const std::vector<OnnxFileNode>& nodes_;
  IdVector<NodeId, std::optional<std::size_t>> position_;
};

// The order that ONNX Runtime needs the least memory in, of those that are known; the file's if no other is better.
OrderOfFile best_order(const Graph& graph, const FileNodes& nodes, std::size_t count, const std::string& path) {
  std::vector<std::size_t> as_given(count);
  for (std::size_t at = 0; at < count; ++at) as_given[at] = at;
  const PlannedGraph planned = take(plan_graph(graph, dense_target()), path);
  if (!planned.violations.empty()) {
    throw Stop(ExitCode::internal, "the plan of Lowtide is wrong: " + planned.violations.front().message);
  }
  OrderOfFile best{.name = "as_given", .nodes = as_given};
  best.memory = take(predict_onnxruntime(graph, nodes.graph_order(as_given)), path);
  const OnnxRuntimeMemory runtimes = take(predict_onnxruntime(graph), path);
  const auto need = [](const OnnxRuntimeMemory& memory) { return std::pair(memory.pattern, memory.live); };
  for (const auto& [name, order] : {std::pair(planned.plan.claims.schedule, order_of_plan(planned.plan)),
                                    std::pair(std::string("onnxruntime"), runtimes.order)}) {
    OrderOfFile other{.name = name, .nodes = nodes.file_order(order, path)};
    other.memory = take(predict_onnxruntime(graph, nodes.graph_order(other.nodes)), path);
    if (need(other.memory) < need(best.memory)) best = std::move(other);
  }
  return best;
}

Json json_of(const OnnxRuntimeMemory& memory) {
  return {{"pattern_bytes", memory.pattern.count()}, {"live_bytes", memory.live.count()}};
}

ReorderLine line_of(const std::string& order, const OnnxRuntimeMemory& memory, std::string note) {
  return {.order = order, .first_run = memory.live, .pattern = memory.pattern, .note = std::move(note)};
}

// The paths of external weights are relative to the folder of the model.
void note_moved_weights(const std::string& from, const std::string& to, const ConstantTable& table, Console& console) {
  const auto folder = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::path(path), ignored).parent_path();
  };
  if (to == "-" || folder(from) == folder(to)) return;
  for (const std::string& file : table.files) {
    if (file.empty()) continue;
    console.note("the weights in " + shown_path(file) + " are found beside the model only; copy that file, or write " +
                 "the new model into the same folder");
  }
}

// Before such a file asks for the sizes of its tensors.
void refuse_other_formats(const ModelRequest& request) {
  const std::unique_ptr<ByteSource> file = take(open_file(request.path), request.path);
  for (const ModelFormat& format : request.bindings.formats) {
    if (!take(format.matches(*file, request.path), request.path)) continue;
    throw Stop(ExitCode::bad_input, shown_path(request.path) + ": ONNX Runtime runs ONNX models only");
  }
}

}  // namespace

ExitCode run_reorder(const Arguments& arguments, Console& console) {
  const ModelRequest request = read_model_request(arguments, dense_target());
  const std::optional<std::string> destination = arguments.value("--output");
  if (!destination) stop_usage("'reorder' needs the file to write: -o FILE");
  const OutputFiles files({*destination}, {request.path}, arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();
  refuse_other_formats(request);
  const LoadedModel loaded = load_model(request, console);
  files.protect(weight_files(request.path, loaded.model.constants));
  const std::string bytes = take(read_text_file(request.path, limits::kMaxFileBytes));
  const std::vector<OnnxFileNode> nodes = take(read_onnx_nodes(bytes), request.path);
  const Graph& graph = loaded.model.graph;
  const FileNodes places(graph, nodes);
  const Stopwatch watch;
  const OrderOfFile best = [&] {
    const Progress progress(console, "ordering");
    return best_order(graph, places, nodes.size(), request.path);
  }();
  files.write(*destination, with_node_order(bytes, nodes, best.nodes), console);
  note_moved_weights(request.path, *destination, loaded.model.constants, console);

  std::vector<std::size_t> as_given(nodes.size());
  for (std::size_t at = 0; at < nodes.size(); ++at) as_given[at] = at;
  const OnnxRuntimeMemory usual = take(predict_onnxruntime(graph), request.path);
  const OnnxRuntimeMemory given = take(predict_onnxruntime(graph, places.graph_order(as_given)), request.path);
  if (!arguments.has("--json")) {
    console.result(
        reorder_summary(request.path, {line_of("its own", usual, "the order of the file does not count"),
                                       line_of("PRIORITY_BASED, this file", given, ""),
                                       line_of("PRIORITY_BASED, reordered", best.memory, "order " + best.name)}));
    return ExitCode::done;
  }
  Json json = json_head("reorder");
  json["model"] = json_of(loaded.facts);
  json["order"] = best.name;
  json["nodes"] = best.nodes;
  json["default"] = json_of(usual);
  json["given"] = json_of(given);
  json["reordered"] = json_of(best.memory);
  json["notes"] = json_of(loaded.model.notes);
  json["seconds"] = {{"import", loaded.seconds}, {"order", watch.seconds()}};
  print_json(console, json);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
