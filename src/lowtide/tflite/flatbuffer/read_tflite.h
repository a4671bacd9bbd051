// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

#include "lowtide/base/result.h"
#include "lowtide/tflite/flatbuffer/tflite_model.h"

namespace lowtide {

// Whether the bytes look like a TFLite file. The first 8 are enough.
[[nodiscard]] bool is_tflite(std::string_view beginning);

// Reads the bytes of a TFLite file, which may have any alignment.
//
//   LOWTIDE_TRY(const TfliteModel model, read_tflite(bytes));
//   const TfliteSubgraph& main = model.subgraphs.front();
//
// Checked before anything is believed: the form of the flatbuffer, all indexes, sizes of constants against their
// shapes, quantization, and that no subgraph runs itself, through others or directly.
// Errors: malformed (not such a flatbuffer); invalid (it contradicts itself); over_limit (a limit of base/limits.h, or
// a small file that states more than 64 times its size). The place names the subgraph, and the tensor or the operator.
// O(bytes) time and memory. No recursion over what the file has.
[[nodiscard]] Result<TfliteModel> read_tflite(std::string_view bytes);

}  // namespace lowtide
