// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// A message of the onnx library on one line, cut and free of control bytes: it holds names from the file as they are.
[[nodiscard]] std::string plain_text(std::string_view message);

// "graph 'main': node 12 'conv1' (Conv)"
[[nodiscard]] std::string place_of_graph(std::string_view graph);
[[nodiscard]] std::string place_of_node(std::string_view graph, std::size_t index, const onnx::NodeProto& node);

// "1 input", "2 inputs"
[[nodiscard]] std::string counted(std::size_t count, std::string_view one);

// "Conv", "com.microsoft.FusedConv"
[[nodiscard]] std::string operator_name(const onnx::NodeProto& node);

// The error with its place, and the thing that it is about, put before what it says.
[[nodiscard]] Error located(const Error& error, const std::string& place, const std::string& subject = "");

}  // namespace lowtide::import_internal
