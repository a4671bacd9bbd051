// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/formats/net_file.h"

#include <memory>
#include <new>
#include <utility>

#include "lowtide/base/no_memory.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/formats/net_import.h"
#include "lowtide/import/byte_source.h"

namespace lowtide {
namespace {

Error at_path(const std::string& path, const Error& error) {
  const bool is_line = error.place.empty() || error.place.starts_with(':');
  return Error{error.code, error.message, shown_path(path) + (is_line ? "" : ": ") + error.place};
}

template <typename T, typename Make>
Result<T> with_memory(const std::string& path, Make make) {
  try {
    Result<T> made = make();
    if (!made) return at_path(path, made.error());
    return made;
  } catch (const std::bad_alloc&) {
    return no_memory_error([&] {
      return at_path(path, {ErrorCode::no_memory, "there is not enough memory for the net", ""});
    });
  }
}

}  // namespace

Result<NetFile> read_net_file(const std::string& path) {
  LOWTIDE_TRY(const std::unique_ptr<ByteSource> file, open_file(path));
  const Result<bool> is_graphdef = formats_internal::is_graphdef_file(*file);
  if (!is_graphdef) return at_path(path, is_graphdef.error());
  if (*is_graphdef) {
    return at_path(path, {ErrorCode::malformed, "the file is a GraphDef of TensorFlow, and no net of Caffe2", ""});
  }
  LOWTIDE_TRY(formats_internal::ReadNet read,
              with_memory<formats_internal::ReadNet>(path, [&] { return formats_internal::read_net_source(*file); }));
  return std::move(read.file);
}

Result<bool> is_net_path(const std::string& path) {
  LOWTIDE_TRY(const std::unique_ptr<ByteSource> file, open_file(path));
  return formats_internal::is_net_file(*file, path);
}

Result<ImportedNet> import_net_file(const std::string& path, const ImportOptions& options) {
  LOWTIDE_TRY(NetFile file, read_net_file(path));
  LOWTIDE_TRY(const NetGraphOptions given, formats_internal::net_options(options));
  LOWTIDE_TRY(NetGraph graph, with_memory<NetGraph>(path, [&] { return graph_of_net(file.net, given); }));
  return ImportedNet{std::move(file), std::move(graph)};
}

}  // namespace lowtide
