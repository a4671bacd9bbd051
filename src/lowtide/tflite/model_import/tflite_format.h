// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/import/imported.h"

namespace lowtide {

// The format of TFLite models for ImportOptions::formats. A file has it if bytes 4 to 7 are "TFL3". The sizes of its
// tensors are those of the file. Valid for the whole program.
//
//   const Result<ImportedModel> model = import_model("model.tflite", {.formats = tflite_formats()});
[[nodiscard]] std::span<const ModelFormat> tflite_formats();

}  // namespace lowtide
