// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/cli/commands/earlier/handlers.h"
#include "lowtide/cli/commands/earlier/session_prediction.h"
#include "lowtide/cli/model/model.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/output/json.h"
#include "lowtide/cli/output/output_files.h"
#include "lowtide/cli/output/progress.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/earlier/rewrite/reorder_onnx.h"
#include "lowtide/export/onnx_nodes.h"
#include "lowtide/import/byte_source.h"
#include "lowtide/report/reorder_summary.h"

namespace lowtide::cli_internal {
namespace {

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
  ModelRequest request = read_model_request(arguments, dense_target());
  request.bindings.keeps_declared_extents = true;
  const std::optional<std::string> destination = arguments.value("--output");
  if (!destination) stop_usage("'reorder' needs the file to write: -o FILE");
  const OutputFiles files({*destination}, {request.path}, arguments.has("--json"));
  if (files.uses_stdout()) console.keep_stdout_free();
  refuse_other_formats(request);
  const LoadedModel loaded = load_model(request, console);
  files.protect(weight_files(request.path, loaded.model.constants));
  const std::string bytes = take(read_text_file(request.path, limits::kMaxFileBytes));
  const std::vector<OnnxFileNode> nodes = take(read_onnx_nodes(bytes), request.path);
  const Stopwatch watch;
  const OnnxOrder best = [&] {
    const Progress progress(console, "ordering");
    return take(reorder_onnx(loaded.model.graph, nodes, session_shapes(request, loaded.model)), request.path);
  }();
  files.write(*destination, with_node_order(bytes, nodes, best.nodes), console);
  note_moved_weights(request.path, *destination, loaded.model.constants, console);

  if (!arguments.has("--json")) {
    console.result(
        reorder_summary(request.path, {line_of("its own", best.usual, "the order of the file does not count"),
                                       line_of("PRIORITY_BASED, this file", best.given, ""),
                                       line_of("PRIORITY_BASED, reordered", best.reordered, "order " + best.name)}));
    return ExitCode::done;
  }
  Json json = json_head("reorder");
  json["model"] = json_of(loaded.facts);
  json["order"] = best.name;
  json["nodes"] = best.nodes;
  json["default"] = json_of(best.usual);
  json["given"] = json_of(best.given);
  json["reordered"] = json_of(best.reordered);
  json["notes"] = json_of(loaded.model.notes);
  json["seconds"] = {{"import", loaded.seconds}, {"order", watch.seconds()}};
  print_json(console, json);
  return ExitCode::done;
}

}  // namespace lowtide::cli_internal
