// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide::tflite_program_internal {

// The elements of a sparse tensor whose bytes are encoded, in the order of its shape; those that are not stored are 0.
// nullopt: what the file says about them is contradictory. Requires: bounded_bytes(). O(elements x levels).
[[nodiscard]] std::optional<std::string> densified(const TfliteTensor& tensor, std::string_view bytes,
                                                   std::int64_t element_bytes);

}  // namespace lowtide::tflite_program_internal
