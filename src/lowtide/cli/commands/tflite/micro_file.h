// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "lowtide/cli/options/arguments.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"
#include "lowtide/tflite/micro/micro.h"

namespace lowtide::cli_internal {

// A TFLite model and the bytes of its file.
struct MicroFile {
  std::string bytes;
  TfliteModel model;
};

// Reads such a file. Stops with exit code 3 if it cannot, or if the file is of another format.
[[nodiscard]] MicroFile read_micro_file(const std::string& path);

// The kernels of --kernels; the reference ones without the option.
[[nodiscard]] MicroKernels read_micro_kernels(const Arguments& arguments);

}  // namespace lowtide::cli_internal
