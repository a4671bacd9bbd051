// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/file.h"
#include "lowtide/import/import.h"
#include "lowtide/import/onnx/graph_import.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "onnx/defs/parser.h"

namespace lowtide::testing {

// Parses a model in the text form of the onnx library. A model without a header gets IR version 8 and opset 17.
inline onnx::ModelProto model_from(const std::string& text) {
  onnx::ModelProto model;
  const bool has_header = text.find("ir_version") != std::string::npos;
  const std::string header = has_header ? "" : "<ir_version: 8, opset_import: [\"\" : 17, \"local\" : 1]>\n";
  const auto status = onnx::OnnxParser::Parse(model, (header + text).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << "\n" << text;
  return model;
}

inline Result<ImportedModel> import_bytes(std::string_view bytes, const ImportOptions& options = {}) {
  return import_internal::import_onnx(import_internal::TextBytes(bytes), options);
}

inline Result<ImportedModel> import(const onnx::ModelProto& model, const ImportOptions& options = {}) {
  return import_bytes(model.SerializeAsString(), options);
}

inline Result<ImportedModel> import(const std::string& text, const ImportOptions& options = {}) {
  return import(model_from(text), options);
}

// Checks that the result is an error with this code, whose text contains all the words.
template <typename T>
void expect_refused(const Result<T>& result, ErrorCode code, std::initializer_list<std::string_view> words) {
  ASSERT_FALSE(result.ok()) << "was accepted";
  const std::string text = result.error().describe();
  EXPECT_EQ(to_string(result.error().code), to_string(code)) << text;
  for (std::string_view word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "lacks: " << word << "\n" << text;
}

// Returns "f32[1,3]" for a tensor of the graph itself, or "none" if there is no such tensor.
inline std::string type_of(const Graph& graph, std::string_view name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) return std::string(to_string(tensor.dtype)) + to_string(tensor.shape);
  }
  return "none";
}

inline const Tensor* find_tensor(const Graph& graph, std::string_view name) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.name == name) return &tensor;
  }
  return nullptr;
}

}  // namespace lowtide::testing
