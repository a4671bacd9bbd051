// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>

#include "lowtide/import/imported.h"

namespace lowtide {

// The formats of earlier systems for ImportOptions::formats: Caffe2's NetDef and TensorFlow's GraphDef, each in binary
// or text form. The content decides. The name counts only for files that look like neither and not like ONNX: .pbtxt
// and .prototxt are read as NetDef. Valid for the whole program.
[[nodiscard]] std::span<const ModelFormat> earlier_formats();

}  // namespace lowtide
