// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/load.h"

#include <google/protobuf/io/coded_stream.h>

#include <limits>
#include <string>
#include <utility>

#include "lowtide/import/onnx/load/functions.h"
#include "lowtide/import/onnx/load/operators.h"
#include "lowtide/import/onnx/load/wire_scan.h"
#include "lowtide/import/onnx/proto/runtime_operators.h"

namespace lowtide::import_internal {
namespace {

Error not_onnx(std::string_view bytes, const std::string& fault, const std::string& place) {
  const std::string_view look = looks_like(bytes);
  std::string message = "not an ONNX model: " + fault;
  if (!look.empty()) message += "; it looks like " + std::string(look);
  return Error{ErrorCode::malformed, message, look.empty() ? place : ""};
}

// Rewords the error of a scan as an error of load_model.
Error refused(std::string_view bytes, const Error& error) {
  return error.code == ErrorCode::malformed ? not_onnx(bytes, error.message, error.place) : error;
}

Result<std::unique_ptr<onnx::ModelProto>> parse(std::string_view bytes) {
  if (bytes.empty()) return Error{ErrorCode::malformed, "not an ONNX model: the file is empty", ""};
  const Result<WireSummary> summary = scan_model(bytes);
  if (!summary) return refused(bytes, summary.error());

  auto model = std::make_unique<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(std::numeric_limits<int>::max());
  stream.SetRecursionLimit(kMaxMessageDepth + 1);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return not_onnx(bytes, "protobuf cannot parse it", "");
  }
  if (!model->has_graph()) return not_onnx(bytes, "there is no graph", "");
  if (!model->has_ir_version()) return not_onnx(bytes, "there is no ir_version", "");
  return model;
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

Result<void> check_head_of_model(std::string_view head, std::int64_t file_bytes) {
  const Result<void> scanned = scan_head(head, file_bytes);
  if (!scanned) return refused(head, scanned.error());
  return {};
}

Result<ParsedModel> load_model(FileBytes bytes) {
  const auto file_bytes = static_cast<std::int64_t>(bytes.size);
  Result<std::unique_ptr<onnx::ModelProto>> model = parse(bytes.view());
  bytes = {};
  if (!model) return model.error();
  // Planning does not need these, and they may be large.
  (*model)->clear_training_info();
  (*model)->clear_metadata_props();

  const Result<int> ir_version = ir_version_of(**model);
  if (!ir_version) return ir_version.error();
  if ((*model)->opset_import_size() == 0) {
    return Error{ErrorCode::invalid, "the model has no opset_import, so the versions of its operators are unknown", ""};
  }
  Result<OpsetImports> imports = opset_imports_from((*model)->opset_import());
  if (!imports) return imports.error();

  ParsedModel loaded{*std::move(model), *ir_version, OpsetScopes(*std::move(imports))};
  LOWTIDE_RETURN_IF_ERROR(inline_functions(*loaded.proto, file_bytes, loaded.opsets));
  annotate_channel_blocks(*loaded.proto->mutable_graph());
  LOWTIDE_RETURN_IF_ERROR(check_operators(loaded.proto->graph(), loaded.opsets));
  return loaded;
}

}  // namespace lowtide::import_internal
