// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/formats/net_import.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/graphdef/graph_of_graphdef.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/earlier/proto/raw_field.h"
#include "lowtide/import/import.h"

namespace lowtide::formats_internal {
namespace {

constexpr std::int64_t kSniffedBytes = std::int64_t{64} << 10;

Error in_option(const std::string& path, const Error& error) {
  const bool is_line = error.place.empty() || error.place.starts_with(':');
  return Error{error.code, error.message, shown_path(path) + (is_line ? "" : ": ") + error.place};
}

Result<void> add_init_net(const std::string& path, NetGraphOptions& to, ProtoMessage* kept) {
  LOWTIDE_TRY(const std::unique_ptr<ByteSource> file, open_file(path));
  Result<ReadNet> net = read_net_source(*file);
  if (!net) return in_option(path, net.error());
  Result<BlobTypes> types = types_written_by(net->file.net);
  if (!types) return in_option(path, types.error());
  for (auto& [name, type] : *types) {
    to.parameters.insert(name);
    to.types.emplace(name, std::move(type));
  }
  Result<BlobContents> contents = contents_written_by(net->file.net);
  if (!contents) return in_option(path, contents.error());
  to.contents = *std::move(contents);
  if (kept != nullptr) *kept = std::move(net->file.net);
  return {};
}

Result<std::string> read_option_file(const std::string& path) {
  LOWTIDE_TRY(const std::unique_ptr<ByteSource> file, open_file(path));
  std::string text(static_cast<std::size_t>(file->size()), '\0');
  if (const Result<void> done = file->read(0, text); !done) return in_option(path, done.error());
  return text;
}

constexpr std::int64_t kTextWindow = std::int64_t{1} << 20;

// Reads a text, up to the first null byte, which no text has.
Result<std::string> read_text(const ByteSource& file) {
  std::string text;
  for (std::int64_t at = 0; at < file.size(); at += kTextWindow) {
    const auto count = static_cast<std::size_t>(std::min(kTextWindow, file.size() - at));
    const auto begin = static_cast<std::size_t>(at);
    text.resize(begin + count);
    LOWTIDE_RETURN_IF_ERROR(file.read(at, {text.data() + begin, count}));
    const std::size_t null = text.find('\0', begin);
    if (null == std::string::npos) continue;
    return Error{ErrorCode::malformed, "the text has a null byte", "byte " + std::to_string(null)};
  }
  return text;
}

// Walks over the fields of the outermost message, without their content. Reads a window where a field begins outside of
// the last one, so that many small fields are few reads, and a long field is not read.
Result<void> check_fields(const ByteSource& file) {
  constexpr std::int64_t kMostHead = 20;  // a tag and a length, or a number
  constexpr std::int64_t kWindow = std::int64_t{64} << 10;
  std::string window;
  std::int64_t begin = 0;  // of the window in the file
  for (std::int64_t at = 0; at < file.size();) {
    const std::int64_t head = std::min(kMostHead, file.size() - at);
    if (at - begin + head > static_cast<std::int64_t>(window.size())) {
      begin = at;
      window.resize(static_cast<std::size_t>(std::min(kWindow, file.size() - at)));
      LOWTIDE_RETURN_IF_ERROR(file.read(at, window));
    }
    const std::string_view rest = std::string_view(window).substr(static_cast<std::size_t>(at - begin));
    const std::optional<std::int64_t> size = raw_field_size(rest.substr(0, static_cast<std::size_t>(head)));
    if (!size || *size > file.size() - at) {
      return Error{ErrorCode::malformed, "a field is cut off, or not one that this format can have",
                   "byte " + std::to_string(at)};
    }
    at += *size;
  }
  return {};
}

}  // namespace

Result<ReadMessage> read_message(const ByteSource& file) {
  std::string bytes(static_cast<std::size_t>(std::min(file.size(), kSniffedBytes)), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, bytes));
  if (is_proto_text(bytes)) {
    LOWTIDE_TRY(std::string text, read_text(file));
    bytes = std::move(text);
  } else {
    LOWTIDE_RETURN_IF_ERROR(check_fields(file));
    bytes.resize(static_cast<std::size_t>(file.size()));
    LOWTIDE_RETURN_IF_ERROR(file.read(0, bytes));
  }
  std::string digest = text_digest(bytes);
  return ReadMessage{std::move(bytes), std::move(digest)};
}

Result<ReadNet> read_net_source(const ByteSource& file) {
  LOWTIDE_TRY(ReadMessage message, read_message(file));
  LOWTIDE_TRY(NetFile net, read_net(message.bytes));
  return ReadNet{std::move(net), std::move(message.sha256)};
}

Result<bool> is_graphdef_file(const ByteSource& file) {
  std::string begin(static_cast<std::size_t>(std::min(file.size(), kSniffedBytes)), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, begin));
  return is_graphdef(begin);
}

Result<ImportedModel> import_graphdef(const ByteSource& file, const ImportOptions& options) {
  if (!options.init_net.empty()) {
    return Error{ErrorCode::invalid, "only a Caffe2 net can have an init net", "--init-net"};
  }
  if (options.to_run) return import_graphdef_to_run(file, options);
  LOWTIDE_TRY(const ReadMessage message, read_message(file));
  LOWTIDE_TRY(const ProtoMessage graphdef, read_graphdef(message.bytes));
  LOWTIDE_TRY(const NetGraphOptions given, net_options(options));
  GraphDefOptions to{.shapes = given.shapes, .unit_sizes = given.unit_sizes};
  for (const auto& [name, type] : given.types) to.listed_shapes.emplace(name, type.extents);
  LOWTIDE_TRY(GraphOfGraphDef made, graph_of_graphdef(graphdef, to));
  const auto nodes = static_cast<std::int64_t>(made.graph.nodes().size());
  return ImportedModel{.graph = std::move(made.graph),
                       .nodes = nodes,
                       .sha256 = message.sha256,
                       .format = is_proto_text(message.bytes) ? "graphdef_text" : "graphdef",
                       .notes = std::move(made.notes)};
}

Result<bool> is_net_file(const ByteSource& file, std::string_view path) {
  std::string begin(static_cast<std::size_t>(std::min(file.size(), kSniffedBytes)), '\0');
  LOWTIDE_RETURN_IF_ERROR(file.read(0, begin));
  if (is_net(begin)) return true;
  if (is_graphdef(begin)) return false;
  const bool is_onnx = begin.starts_with('\x08');  // the version of the format is the first field
  return !is_onnx && !begin.empty() && (path.ends_with(".pbtxt") || path.ends_with(".prototxt"));
}

// Types of the CSV file come before those of the init net.
Result<NetGraphOptions> net_options(const ImportOptions& options, ProtoMessage* init_net) {
  if (!options.dims.empty()) {
    return Error{ErrorCode::invalid,
                 "this format has no symbol " + quoted(options.dims.begin()->first, 60) + "; set shapes with --shape",
                 "--dim"};
  }
  if (!options.overrides.empty() && !options.to_run) {
    return Error{ErrorCode::invalid, "this format has no inputs with default values", "--override"};
  }
  NetGraphOptions to{.types = {}, .shapes = options.shapes, .parameters = {}, .unit_sizes = options.unit_sizes};
  for (const auto& [name, extents] : to.shapes) {
    if (std::none_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent < 0; })) continue;
    return Error{ErrorCode::invalid,
                 "this format has no extents to keep, but the shape of " + quoted(name, 60) + " has a '?'", "--shape"};
  }
  if (!options.blob_types.empty()) {
    LOWTIDE_TRY(const std::string text, read_option_file(options.blob_types));
    Result<BlobTypes> types = parse_blob_types(text);
    if (!types) return in_option(options.blob_types, types.error());
    to.types = *std::move(types);
  }
  if (!options.init_net.empty()) LOWTIDE_RETURN_IF_ERROR(add_init_net(options.init_net, to, init_net));
  return to;
}

Result<ImportedModel> import_net(const ByteSource& file, const ImportOptions& options) {
  if (options.to_run) return import_net_to_run(file, options);
  LOWTIDE_TRY(const ReadNet read, read_net_source(file));
  LOWTIDE_TRY(const NetGraphOptions given, net_options(options));
  LOWTIDE_TRY(NetGraph made, graph_of_net(read.file.net, given));
  const auto nodes = static_cast<std::int64_t>(made.graph.nodes().size());
  ImportedModel model{.graph = std::move(made.graph),
                      .nodes = nodes,
                      .sha256 = read.sha256,
                      .format = std::string(to_string(read.file.form)),
                      .notes = std::move(made.notes)};
  model.storage = StorageFacts{.colocated = std::move(made.facts.colocated),
                               .unshared = std::move(made.facts.unshared),
                               .devices = std::move(made.facts.devices),
                               .device_names = std::move(made.facts.device_names)};
  return model;
}

}  // namespace lowtide::formats_internal
