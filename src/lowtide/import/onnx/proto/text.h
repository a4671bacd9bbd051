// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Prepares a message of the onnx library for output: one line of limited length without control bytes. Such a
// message contains names from the file unchanged.
[[nodiscard]] std::string plain_text(std::string_view message);

// For messages: "graph 'main'", and "graph 'main': node 12 'conv1' (Conv)".
[[nodiscard]] std::string place_of_graph(std::string_view graph);
[[nodiscard]] std::string place_of_node(std::string_view graph, std::size_t index, const onnx::NodeProto& node);

// For messages: "Conv", "com.microsoft.FusedConv".
[[nodiscard]] std::string operator_name(const onnx::NodeProto& node);

// Adds a place to an error. If there is a subject, it is put before the message.
[[nodiscard]] Error located(const Error& error, const std::string& place, const std::string& subject = "");

}  // namespace lowtide::import_internal
