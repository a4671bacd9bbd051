// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/import/byte_source.h"
#include "lowtide/import/imported.h"

namespace lowtide::formats_internal {

// Whether the file is a NetDef: by its first bytes, or by its name if they say nothing (import.h). Errors: io.
[[nodiscard]] Result<bool> is_net_file(const ByteSource& file, std::string_view path);

// Reads a NetDef as a model. Errors: those of read_net and graph_of_net; invalid, for options that only ONNX models
// have; io, for the files that the options name.
[[nodiscard]] Result<ImportedModel> import_net(const ByteSource& file, const ImportOptions& options);

struct ReadMessage {
  std::string bytes;
  std::string sha256;
};

// Reads a file of protocol buffers. A binary file is checked field by field, and a text in parts, so that a large file
// of another kind is refused without reading all of it. Errors: malformed, for a null byte in a text or a field that is
// cut off; io; no_memory.
[[nodiscard]] Result<ReadMessage> read_message(const ByteSource& file);

struct ReadNet {
  NetFile file;
  std::string sha256;
};

// Errors: those of read_message and of read_net.
[[nodiscard]] Result<ReadNet> read_net_source(const ByteSource& file);

// Whether the file is a GraphDef of TensorFlow, by its first bytes. Errors: io.
[[nodiscard]] Result<bool> is_graphdef_file(const ByteSource& file);

// Reads a GraphDef as a model. Errors: those of read_graphdef and graph_of_graphdef, and as import_net.
[[nodiscard]] Result<ImportedModel> import_graphdef(const ByteSource& file, const ImportOptions& options);

// Reads a GraphDef as the model of ONNX that it is converted to. Errors: those of import_graphdef and onnx_of_graphdef.
[[nodiscard]] Result<ImportedModel> import_graphdef_to_run(const ByteSource& file, const ImportOptions& options);

// Reads a NetDef as the model of ONNX that it is converted to. Errors: those of import_net and onnx_of_net.
[[nodiscard]] Result<ImportedModel> import_net_to_run(const ByteSource& file, const ImportOptions& options);

// The options of the graph of a net. Reads the files that the options name. If there is an init net, it becomes
// `init_net` unless that is nullptr. Errors: as import_net.
[[nodiscard]] Result<NetGraphOptions> net_options(const ImportOptions& options, ProtoMessage* init_net = nullptr);

}  // namespace lowtide::formats_internal
