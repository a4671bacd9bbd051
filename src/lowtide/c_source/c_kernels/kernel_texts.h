// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>
#include <vector>

namespace lowtide::c_kernels_internal {

// A file of C source.
struct NamedText {
  std::string_view name;  // the stem of the file
  std::string_view text;
};

// What kernels share, such that each follows what it uses.
[[nodiscard]] const std::vector<NamedText>& helper_texts();
[[nodiscard]] const std::vector<NamedText>& kernel_texts();

}  // namespace lowtide::c_kernels_internal
