// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string_view>

namespace lowtide::report_internal {

// The page without a plan, cut where a plan fills it in. Made of page/ when the library is built (page/embed.cmake).
struct PageSource {
  std::string_view before_title;
  std::string_view before_sheets;
  std::string_view after_sheets;
};

[[nodiscard]] const PageSource& page_source();

}  // namespace lowtide::report_internal
