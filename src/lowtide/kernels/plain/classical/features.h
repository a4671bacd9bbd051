// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lowtide/kernels/common/family.h"

namespace lowtide::kernels_internal {

// Operators of domain ai.onnx.ml that change or choose features: ArrayFeatureExtractor, Binarizer, FeatureVectorizer,
// Imputer, Normalizer and Scaler.
[[nodiscard]] Family feature_family();

// LabelEncoder and OneHotEncoder of numbers, of the same domain.
[[nodiscard]] Family encoder_family();

}  // namespace lowtide::kernels_internal
