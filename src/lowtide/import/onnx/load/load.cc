// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/load.h"

#include <google/protobuf/io/coded_stream.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "lowtide/base/try.h"
#include "lowtide/import/onnx/load/functions.h"
#include "lowtide/import/onnx/load/operators.h"
#include "lowtide/import/onnx/load/quantized_operators.h"
#include "lowtide/import/onnx/load/skeleton.h"
#include "lowtide/import/onnx/proto/runtime_operators.h"
#include "lowtide/plan/hints.h"

namespace lowtide::import_internal {
namespace {

// Says what bytes that are not an ONNX model look like: "a gzip file", "a TensorFlow Lite model". Returns an empty
// text if they match no known format.
std::string_view looks_like(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.substr(0, 2) == "\x1f\x8b"sv) return "a gzip file; unpack it first";
  if (bytes.substr(0, 4) == "PK\x03\x04"sv) return "a zip archive (a PyTorch file or a packed folder?)";
  if (bytes.substr(0, 4) == "\x28\xb5\x2f\xfd"sv) return "a zstd file; unpack it first";
  if (bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3"sv) return "a TensorFlow Lite model";
  if (bytes.size() >= 8 && bytes.substr(4, 4) == "ORTM"sv) return "a model in ONNX Runtime's own format";
  if (bytes.substr(0, 8) == "\x89HDF\r\n\x1a\n"sv) return "an HDF5 file (a Keras model?)";
  if (bytes.substr(0, 1) == "{"sv || bytes.substr(0, 1) == "["sv)
    return "JSON text; save a model in binary form, and give an ordering problem to lowtide order";
  if (bytes.substr(0, 7) == "graph \""sv)
    return "a graph in Lowtide's text form; 'lowtide convert' makes an ONNX model of it, and 'lowtide diff' takes it";
  const std::string_view head = bytes.substr(0, 64);
  const bool is_text = !head.empty() && std::all_of(head.begin(), head.end(), [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t';
  });
  if (is_text) return "text; save the model in binary form";
  return "";
}

Error not_onnx(const ByteSource& file, const std::string& fault, const std::string& place) {
  std::string head(static_cast<std::size_t>(std::min<std::int64_t>(file.size(), 64)), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, head));
  const std::string_view look = looks_like(head);
  std::string message = "not an ONNX model: " + fault;
  if (!look.empty()) message += "; it looks like " + std::string(look);
  return Error{ErrorCode::malformed, message, look.empty() ? place : ""};
}

// Returns the parsed model without the raw data that stay in the file, and the digest of the file.
Result<ParsedModel> parse(const ByteSource& file) {
  if (file.size() == 0) return Error{ErrorCode::malformed, "not an ONNX model: the file is empty", ""};
  Result<Skeleton> skeleton = read_skeleton(file);
  if (!skeleton) {
    const Error& error = skeleton.error();
    return error.code == ErrorCode::malformed ? not_onnx(file, error.message, error.place) : error;
  }
  auto model = std::make_unique<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(skeleton->bytes.data.get()),
                                                static_cast<int>(skeleton->bytes.size));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  stream.SetRecursionLimit(kMaxMessageDepth + 1);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return not_onnx(file, "protobuf cannot parse it", "");
  }
  if (!model->has_graph()) return not_onnx(file, "there is no graph", "");
  if (!model->has_ir_version()) return not_onnx(file, "there is no ir_version", "");
  return ParsedModel{std::move(model), std::move(skeleton->sha256), 0, OpsetScopes(OpsetImports{})};
}

Result<int> ir_version_of(const onnx::ModelProto& model) {
  const std::int64_t version = model.ir_version();
  if (version < 1) {
    return Error{ErrorCode::invalid, "ir_version " + std::to_string(version) + " does not exist", ""};
  }
  if (version < kOldestIrVersion) {
    return Error{ErrorCode::unsupported,
                 "ir_version " + std::to_string(version) + " is older than " + std::to_string(kOldestIrVersion) +
                     ", the oldest supported version; convert the model",
                 ""};
  }
  if (version > onnx::IR_VERSION) {
    return Error{ErrorCode::unsupported,
                 "ir_version " + std::to_string(version) + " is newer than " + std::to_string(onnx::IR_VERSION) +
                     ", the newest known version; export the model with that one",
                 ""};
  }
  return static_cast<int>(version);
}

}  // namespace

Result<ParsedModel> load_model(const ByteSource& file) {
  LOWTIDE_TRY(ParsedModel loaded, parse(file));
  onnx::ModelProto& model = *loaded.proto;
  // Planning does not need these, and they may be large.
  model.clear_training_info();
  for (const onnx::StringStringEntryProto& entry : model.metadata_props()) {
    if (entry.key() == kHintsKey) loaded.hints = entry.value();
  }
  model.clear_metadata_props();

  LOWTIDE_TRY(const int ir_version, ir_version_of(model));
  loaded.ir_version = ir_version;
  if (model.opset_import_size() == 0) {
    return Error{ErrorCode::invalid, "the model has no opset_import, so the versions of its operators are unknown", ""};
  }
  LOWTIDE_TRY(OpsetImports imports, opset_imports_from(model.opset_import()));

  loaded.opsets = OpsetScopes(std::move(imports));
  LOWTIDE_RETURN_IF_ERROR(inline_functions(model, file.size(), loaded.opsets));
  LOWTIDE_RETURN_IF_ERROR(replace_quantized_operators(*model.mutable_graph(), loaded.opsets));
  annotate_channel_blocks(*model.mutable_graph());
  LOWTIDE_RETURN_IF_ERROR(check_operators(model.graph(), loaded.opsets));
  return loaded;
}

}  // namespace lowtide::import_internal
