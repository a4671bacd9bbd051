// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/import/imported.h"

// What the program has for TFLite models. Two files define these functions: commands/tflite/part.cc, and
// without_tflite.cc for a build that leaves them out (lowtide_WITH_TFLITE=OFF).
namespace lowtide::cli_internal {

// The format of these models. Empty in a build without them, which refuses such a file with a message that names the
// option.
[[nodiscard]] std::span<const ModelFormat> tflite_model_formats();

}  // namespace lowtide::cli_internal
