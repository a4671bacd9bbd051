// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Imports any bytes as an ONNX model. A model that is not refused is planned and verified.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "fuzz/plan_and_verify.h"
#include "lowtide/import/import.h"

namespace {

// import_model() takes a path, so the bytes go to an unlinked temporary file, which is overwritten each time.
std::string write_input(const std::uint8_t* bytes, std::size_t size) {
  static const int file = [] {
    char name[] = "/tmp/fuzz_onnx_XXXXXX";
    const int made = mkstemp(name);
    unlink(name);
    return made;
  }();
  if (ftruncate(file, 0) != 0 || pwrite(file, bytes, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const auto model = lowtide::import_model(write_input(bytes, size));
  if (!model) return 0;
  lowtide::plan_and_verify(model->graph);
  return 0;
}
