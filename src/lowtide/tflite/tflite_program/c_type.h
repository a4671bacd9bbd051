// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/c_source/c_program/c_program.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

// The element type of a program for that of a file; nullopt: programs have none. Resources and types below 8 bits are
// not there.
[[nodiscard]] std::optional<CType> c_type(TfliteType type);

// The constant of a program for a tensor with bytes in the file. Errors: unsupported, if programs lack the type.
// Requires: is_constant(model, tensor).
[[nodiscard]] Result<CConstant> c_constant(const TfliteModel& model, std::string_view file, const TfliteTensor& tensor);

}  // namespace lowtide
