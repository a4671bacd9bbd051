// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>

namespace lowtide {

// The version of ONNX that gave an operator of its standard domain the newest meaning, if it changed without another
// signature: Softmax-11 works on all axes from `axis` on, Softmax-13 on one. A node with an older meaning has the
// attribute kSinceAttribute (lowered.h). nullopt: the operator has one meaning.
[[nodiscard]] std::optional<int> opset_of_newest_meaning(std::string_view type);

}  // namespace lowtide
