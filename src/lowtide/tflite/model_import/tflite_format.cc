// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/model_import/tflite_format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/byte_source.h"
#include "lowtide/import/import.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"
#include "lowtide/tflite/model_import/graph_of_tflite.h"

namespace lowtide {
namespace {

Result<bool> is_tflite_file(const ByteSource& file, std::string_view /*path*/) {
  std::string begin(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 8)), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, begin));
  return is_tflite(begin);
}

Error no_such(std::string message, std::string option) {
  return {ErrorCode::invalid, std::move(message), std::move(option)};
}

// Options that would change sizes.
Result<void> check_options(const ImportOptions& options) {
  if (!options.dims.empty()) {
    return no_such("a TFLite model has no symbol " + quoted(options.dims.begin()->first, 60) + "; its sizes are fixed",
                   "--dim");
  }
  if (!options.at_most.empty()) return no_such("the sizes of a TFLite model are fixed", "--at-most");
  if (!options.overrides.empty()) return no_such("a TFLite model has no inputs with default values", "--override");
  if (!options.init_net.empty() || !options.blob_types.empty() || options.unit_sizes) {
    return no_such("only a NetDef or a GraphDef can have a file of shapes, unit sizes or an init net", "");
  }
  return {};
}

// A shape that is given may only repeat that of the file.
Result<void> check_shapes(const Graph& graph, const ImportOptions& options) {
  for (const auto& [name, extents] : options.shapes) {
    const auto input = std::find_if(graph.inputs().begin(), graph.inputs().end(), [&](TensorId id) {
      return graph.tensor(id).name == name || quoted(graph.tensor(id).name) == "'" + name + "'";
    });
    if (input == graph.inputs().end()) return no_such("the model has no input " + quoted(name, 60), "--shape");
    const auto& stated = graph.tensor(*input).shape.extents();
    const bool is_same = std::equal(extents.begin(), extents.end(), stated.begin(), stated.end(),
                                    [](std::int64_t given, std::int64_t own) { return given < 0 || given == own; });
    if (is_same) continue;
    return no_such("input " + quoted(name, 60) + " has the shape " + to_string(Shape(stated)) +
                       " in the file, and the sizes of a TFLite model are fixed; convert it again for another shape",
                   "--shape");
  }
  return {};
}

Result<ImportedModel> import_tflite(const ByteSource& file, const ImportOptions& options) {
  LOWTIDE_RETURN_IF_ERROR(check_options(options));
  std::string bytes(static_cast<std::size_t>(file.size()), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, bytes));
  LOWTIDE_TRY(const TfliteModel model, read_tflite(bytes));
  LOWTIDE_TRY(GraphOfTflite made, graph_of_tflite(model, bytes));
  LOWTIDE_RETURN_IF_ERROR(check_shapes(made.graph, options));
  const std::int64_t nodes = made.graph.total_nodes();
  return ImportedModel{.graph = std::move(made.graph),
                       .nodes = nodes,
                       .sha256 = text_digest(bytes),
                       .format = "tflite",
                       .notes = std::move(made.notes),
                       .constants = std::move(made.constants)};
}

}  // namespace

std::span<const ModelFormat> tflite_formats() {
  static constexpr std::array<ModelFormat, 1> kFormats = {{{is_tflite_file, import_tflite}}};
  return kFormats;
}

}  // namespace lowtide
