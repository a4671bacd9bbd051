// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/import.h"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/import/byte_reader.h"
#include "lowtide/import/csv.h"
#include "lowtide/import/file.h"
#include "lowtide/import/order_json.h"
#include "lowtide/import/sha256.h"
#ifdef LOWTIDE_WITH_ONNX
#include "lowtide/import/onnx/graph_import.h"
#endif

namespace lowtide {
namespace {

using import_internal::File;

Error in_file(const std::string& path, const Error& error) {
  const std::string shown = shown_path(path);
  if (error.place.starts_with(':')) return Error{error.code, error.message, shown + error.place};  // line and column
  return Error{error.code, error.message, error.place.empty() ? shown : shown + ": " + error.place};
}

// `parse(text)` returns a Result<Problem>.
template <typename Problem, typename Parse>
Result<Problem> import_problem(const std::string& path, Parse parse) {
  LOWTIDE_TRY(const import_internal::FileBytes bytes,
              import_internal::read_file(path, limits::kMaxFileBytes, "kMaxFileBytes"));
  try {
    Result<Problem> problem = parse(bytes.view());
    if (!problem) return in_file(path, problem.error());
    return problem;
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return in_file(path, {ErrorCode::no_memory, "there is not enough memory for the problem", ""});
    });
  }
}

// Whether a file that no format claims is a NetDef or a GraphDef, as far as its first byte and its name say. A model of
// ONNX begins with the version of its format, which is a number.
Result<bool> is_of_earlier_system(const File& file, std::string_view path) {
  std::string begin(file.size() > 0 ? 1 : 0, '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, begin));
  if (begin.empty() || begin == "\x08") return false;
  const auto has_ending = [&](std::string_view ending) { return path.ends_with(ending); };
  return begin == "\x0a" || has_ending(".pb") || has_ending(".pbtxt") || has_ending(".prototxt");
}

// Whether a file that no format claims is a TFLite model.
Result<bool> has_tflite_mark(const File& file) {
  std::string begin(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 8)), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, begin));
  return begin.size() == 8 && begin.ends_with("TFL3");
}

Result<ImportedModel> import_onnx_model(const ByteSource& file, const ImportOptions& options) {
#ifdef LOWTIDE_WITH_ONNX
  Result<ImportedModel> model = import_internal::import_onnx(file, options);
  if (model && (!options.init_net.empty() || !options.blob_types.empty() || options.unit_sizes)) {
    return Error{ErrorCode::invalid, "only a NetDef or a GraphDef can have a file of shapes, unit sizes or an init net",
                 ""};
  }
  return model;
#else
  static_cast<void>(file);
  static_cast<void>(options);
  return Error{ErrorCode::unsupported,
               "this build of Lowtide cannot read ONNX models; build it with lowtide_WITH_ONNX=ON", ""};
#endif
}

Result<ImportedModel> import_by_format(const File& file, std::string_view path, const ImportOptions& options) {
  for (const ModelFormat& format : options.formats) {
    const Result<bool> matches = format.matches(file, path);
    if (!matches) return matches.error();
    if (!*matches) continue;
    if (options.planned_shapes.empty()) return format.import(file, options);
    ImportOptions with_planned = options;  // these formats have no symbols that a shape could contradict
    with_planned.shapes.insert(options.planned_shapes.begin(), options.planned_shapes.end());
    return format.import(file, with_planned);
  }
  LOWTIDE_TRY(const bool is_tflite, has_tflite_mark(file));
  if (is_tflite) {
    return Error{ErrorCode::unsupported,
                 "this is a TFLite model, which is not read here; build Lowtide with lowtide_WITH_TFLITE=ON, and let "
                 "programs of your own set ImportOptions::formats",
                 ""};
  }
  const bool reads_earlier = std::ranges::any_of(options.formats, &ModelFormat::is_of_earlier_system);
  LOWTIDE_TRY(const bool is_earlier, reads_earlier ? Result<bool>(false) : is_of_earlier_system(file, path));
  if (!is_earlier) return import_onnx_model(file, options);
  return Error{ErrorCode::unsupported,
               "this looks like a NetDef or a GraphDef, and only ONNX is read here; build Lowtide with "
               "lowtide_WITH_EARLIER=ON, and let programs of your own set ImportOptions::formats",
               ""};
}

}  // namespace

void initialize_import() {
#ifdef LOWTIDE_WITH_ONNX
  import_internal::register_operators();
#endif
  static_cast<void>(import_internal::Sha256().finish());
}

Result<ImportedModel> import_model(const std::string& path, const ImportOptions& options) {
  LOWTIDE_TRY(const std::unique_ptr<File> file, File::open(path, limits::kMaxFileBytes, "kMaxFileBytes"));
  try {
    Result<ImportedModel> model = import_by_format(*file, path, options);
    if (!model) return in_file(path, model.error());
    const Result<void> unchanged = file->check_unchanged();
    if (!unchanged) return in_file(path, unchanged.error());
    return model;
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return in_file(path, {ErrorCode::no_memory, "there is not enough memory for the model", ""});
    });
  }
}

Result<ImportedModel> import_onnx_bytes(std::string_view bytes, const ImportOptions& options) {
  return import_onnx_model(import_internal::TextBytes(bytes), options);
}

Result<void> check_overrides(const Graph& graph, const std::vector<std::string>& default_inputs,
                             const std::set<std::string>& overrides) {
  for (const std::string& name : overrides) {
    const auto is_meant = [&](TensorId input) { return graph.tensor(input).name == name; };
    if (std::ranges::any_of(graph.inputs(), is_meant)) continue;
    std::vector<std::string> known;
    for (const std::string& one : default_inputs) known.push_back(quoted(one, 60));
    return Error{
        ErrorCode::invalid,
        "the model has no input " + quoted(name, 60) + " that a caller may give; " +
            (known.empty() ? "no input has a default value" : "the inputs with a default value: " + listed(known)),
        "--override"};
  }
  return {};
}

Result<std::string> model_digest(const std::string& path) {
  LOWTIDE_TRY(const std::unique_ptr<File> file, File::open(path, limits::kMaxFileBytes, "kMaxFileBytes"));
  import_internal::ByteReader reader(*file);
  reader.take(reader.size(), nullptr);
  if (reader.error()) return in_file(path, *reader.error());
  return reader.sha256();
}

std::string text_digest(std::string_view text) {
  import_internal::Sha256 hash;
  hash.add(text);
  return hash.finish();
}

Result<std::string> read_beginning(const std::string& path, std::int64_t most) {
  LOWTIDE_TRY(const std::unique_ptr<File> file, File::open(path, limits::kMaxTotalBytes, "kMaxTotalBytes"));
  std::string bytes(static_cast<std::size_t>(std::min(file->size(), most)), '\0');
  if (const Result<void> done = file->read(0, bytes); !done) return in_file(path, done.error());
  return bytes;
}

Result<PackingProblem> import_packing(const std::string& path) {
  return import_problem<PackingProblem>(path, parse_packing);
}

Result<ImportedOrderGraph> import_order_graph(const std::string& path, const OrderFileOptions& options) {
  return import_problem<ImportedOrderGraph>(path,
                                            [&](std::string_view text) { return parse_order_graph(text, options); });
}

}  // namespace lowtide
