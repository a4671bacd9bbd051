// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/tflite.h"
#include "lowtide/tflite/model_import/tflite_format.h"

namespace lowtide::cli_internal {

std::span<const ModelFormat> tflite_model_formats() { return tflite_formats(); }

}  // namespace lowtide::cli_internal
