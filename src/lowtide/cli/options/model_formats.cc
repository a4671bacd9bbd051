// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/model_formats.h"

#include <vector>

#include "lowtide/cli/earlier.h"
#include "lowtide/cli/tflite.h"

namespace lowtide::cli_internal {

std::span<const ModelFormat> model_formats() {
  static const std::vector<ModelFormat> formats = [] {
    std::vector<ModelFormat> all;
    for (const auto& some : {tflite_model_formats(), earlier_model_formats()}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return formats;
}

std::string_view files_of_models() {
  const bool has_earlier = !earlier_model_formats().empty();
  if (tflite_model_formats().empty()) return has_earlier ? "an ONNX file, a NetDef or a GraphDef" : "an ONNX file";
  return has_earlier ? "an ONNX or TFLite file, a NetDef or a GraphDef" : "an ONNX or TFLite file";
}

}  // namespace lowtide::cli_internal
