// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/earlier/session_prediction.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace lowtide::cli_internal {
namespace {

bool gives_sizes(const ImportOptions& bindings) {
  return !bindings.dims.empty() || !bindings.shapes.empty() || !bindings.given.empty() || !bindings.at_most.empty();
}

std::vector<std::string> extents_of(const OpenSizes::OpenTensor& tensor) {
  std::vector<std::string> extents = tensor.extents.value_or(std::vector<std::string>());
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const std::string& text = extents[axis];
    const bool is_number = std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) continue;
    extents[axis] = tensor.symbols[axis].empty() ? OnnxRuntimeShapes::kUnknown : tensor.symbols[axis];
  }
  return extents;
}

Error other_format(const char* what) {
  return {ErrorCode::unsupported, std::string("does not apply: it does not run ") + what, ""};
}

}  // namespace

OnnxRuntimeShapes session_shapes(const ModelRequest& request, const ImportedModel& model) {
  OnnxRuntimeShapes shapes{.declared = model.declared_extents};
  if (!gives_sizes(request.bindings)) return shapes;
  ImportOptions bindings = request.bindings;
  bindings.dims.clear();
  bindings.shapes.clear();
  bindings.given.clear();
  bindings.at_most.clear();
  bindings.keeps_open_sizes = true;
  const Result<ImportedModel> open = import_model(request.path, bindings);
  if (!open.ok() || !open->open) return shapes;
  for (const OpenSizes::OpenTensor& tensor : open->open->tensors) {
    shapes.open[open->graph.tensor(tensor.tensor).name] = extents_of(tensor);
  }
  return shapes;
}

Result<OnnxRuntimeMemory> predict_session(const ModelRequest& request, const ImportedModel& model) {
  if (model.format.starts_with("netdef")) return other_format("nets of Caffe2");
  if (model.format.starts_with("graphdef")) return other_format("graphs of TensorFlow");
  if (model.format == "tflite") return other_format("models of TFLite");
  return predict_onnxruntime(model.graph, session_shapes(request, model));
}

}  // namespace lowtide::cli_internal
