// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <string_view>

#include "lowtide/import/imported.h"

namespace lowtide::cli_internal {

// All formats of models beside ONNX that this build reads. Valid for the whole program.
[[nodiscard]] std::span<const ModelFormat> model_formats();

// The files that this build reads as models: "an ONNX or TFLite file, a NetDef or a GraphDef".
[[nodiscard]] std::string_view files_of_models();

}  // namespace lowtide::cli_internal
