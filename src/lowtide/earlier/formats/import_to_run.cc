// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "lowtide/base/try.h"
#include "lowtide/earlier/conversion/onnx_builder.h"
#include "lowtide/earlier/formats/net_import.h"
#include "lowtide/earlier/graphdef/onnx_of_graphdef.h"
#include "lowtide/earlier/netdef/onnx_of_net.h"
#include "lowtide/earlier/proto/raw_field.h"
#include "lowtide/import/import.h"

// Models of earlier systems whose operators become operators of ONNX, so that kernels run them.
namespace lowtide::formats_internal {
namespace {

// The bytes of the form's constants become part of the table, because no file has them.
void hold_constants(const OnnxForm& form, ConstantTable& table) {
  for (ConstantSource& source : table.sources) {
    const auto* in_file = std::get_if<ConstantSource::InFile>(&source.where);
    if (in_file == nullptr) continue;
    const std::string& bytes = table.files[in_file->file].empty() ? form.model : form.constants;
    const auto all = std::as_bytes(std::span(bytes));
    const auto own =
        all.subspan(static_cast<std::size_t>(in_file->offset), static_cast<std::size_t>(source.size.count()));
    source.where = ConstantSource::Inline{{own.begin(), own.end()}};
  }
  table.files = {};
  table.files.push_back("");
}

Result<ImportedModel> import_form(const OnnxForm& form, std::vector<std::string> notes) {
  Result<ImportedModel> model = import_onnx_bytes(form.model);
  if (!model) {
    return Error{model.error().code, "as a model of ONNX: " + model.error().message, model.error().place};
  }
  hold_constants(form, model->constants);
  notes.insert(notes.end(), model->notes.begin(), model->notes.end());
  model->notes = std::move(notes);
  return model;
}

// The tensors whose sizes options state.
std::set<std::string> names_of(const NetGraphOptions& options) {
  std::set<std::string> names;
  for (const auto& [name, type] : options.types) names.insert(name);
  for (const auto& [name, extents] : options.shapes) names.insert(name);
  return names;
}

// The element type of an input that the caller has counts where nothing else says it, and so does its shape. A shape
// that options state keeps its extents, as in a plan that has them, and gets the type.
void add_given_types(const ImportOptions& options, NetGraphOptions& to) {
  for (const auto& meanings : options.given) {
    for (const auto& [name, extents] : meanings) {
      const auto type = options.given_types.find(name);
      const DType dtype = type == options.given_types.end() ? DType::f32 : type->second;
      to.types.emplace(name, BlobType{dtype, extents});
    }
  }
  for (const auto& [name, extents] : to.shapes) {
    const auto type = options.given_types.find(name);
    if (type != options.given_types.end()) to.types.emplace(name, BlobType{type->second, extents});
  }
}

// ImportedModel::given_shapes: those of `given` that the inputs have, unless options state them.
std::map<std::string, std::vector<std::int64_t>> given_shapes_of(const Graph& graph, const ImportOptions& options,
                                                                 const std::set<std::string>& stated) {
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (TensorId id : graph.inputs()) {
    const Tensor& input = graph.tensor(id);
    if (stated.contains(input.name)) continue;
    for (const auto& meanings : options.given) {
      const auto given = meanings.find(input.name);
      if (given != meanings.end() && given->second == input.shape.extents()) shapes.emplace(input.name, given->second);
    }
  }
  return shapes;
}

// The shape of a file that the caller gives for an input counts where nothing else says it.
template <typename Shapes>
void add_given_shapes(const ImportOptions& options, Shapes& to) {
  for (const auto& meanings : options.given) {
    for (const auto& [name, extents] : meanings) to.emplace(name, extents);
  }
}

}  // namespace

Result<ImportedModel> import_net_to_run(const ByteSource& file, const ImportOptions& options) {
  LOWTIDE_TRY(ReadNet read, read_net_source(file));
  const std::string format(to_string(read.file.form));
  std::optional<ProtoMessage> init_net;
  if (!options.init_net.empty()) init_net.emplace();
  LOWTIDE_TRY(NetGraphOptions given, net_options(options, init_net ? &*init_net : nullptr));
  const std::set<std::string> stated = names_of(given);
  add_given_types(options, given);
  for (const std::string& name : options.overrides) given.contents.erase(name);  // the file has another content
  const OnnxOfNetOptions to{.graph = std::move(given),
                            .init_net = init_net ? &*init_net : nullptr,
                            .given = options.overrides,
                            .makes_up_parameters = options.makes_up_parameters};
  LOWTIDE_TRY(OnnxOfNet made, onnx_of_net(read.file.net, to));
  read.file.net = {};
  init_net.reset();
  LOWTIDE_TRY(ImportedModel model, import_form(made.form, std::move(made.notes)));
  model.sha256 = read.sha256;
  model.format = format;
  model.given_shapes = given_shapes_of(model.graph, options, stated);
  return model;
}

Result<ImportedModel> import_graphdef_to_run(const ByteSource& file, const ImportOptions& options) {
  LOWTIDE_TRY(ReadMessage message, read_message(file));
  const std::string format = is_proto_text(message.bytes) ? "graphdef_text" : "graphdef";
  LOWTIDE_TRY(std::optional<ProtoMessage> graphdef, read_graphdef(message.bytes));
  message.bytes = {};
  LOWTIDE_TRY(const NetGraphOptions given, net_options(options));
  const std::set<std::string> stated = names_of(given);
  GraphDefOptions to{.shapes = given.shapes};
  for (const auto& [name, type] : given.types) to.listed_shapes.emplace(name, type.extents);
  add_given_shapes(options, to.listed_shapes);
  LOWTIDE_TRY(OnnxOfGraphDef made, onnx_of_graphdef(*graphdef, to));
  graphdef.reset();
  LOWTIDE_TRY(ImportedModel model, import_form(made.form, std::move(made.notes)));
  model.sha256 = message.sha256;
  model.format = format;
  model.given_shapes = given_shapes_of(model.graph, options, stated);
  return model;
}

}  // namespace lowtide::formats_internal
