// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/commands/tflite/micro_file.h"

#include <memory>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/import/byte_source.h"
#include "lowtide/tflite/flatbuffer/read_tflite.h"

namespace lowtide::cli_internal {

MicroFile read_micro_file(const std::string& path) {
  const std::unique_ptr<ByteSource> source = take(open_file(path));
  MicroFile file;
  file.bytes.resize(static_cast<std::size_t>(source->size()));
  if (const Result<void> done = source->read(0, file.bytes); !done) {
    throw Stop(ExitCode::bad_input, shown_path(path) + ": " + done.error().describe());
  }
  file.model = take(read_tflite(file.bytes), path);
  return file;
}

MicroKernels read_micro_kernels(const Arguments& arguments) {
  return *from_string<MicroKernels>(arguments.value("--kernels").value_or("tflm-reference"));
}

}  // namespace lowtide::cli_internal
