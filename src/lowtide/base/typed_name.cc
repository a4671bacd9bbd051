// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/base/typed_name.h"

#include "lowtide/base/quote.h"

namespace lowtide {

bool means_name(std::string_view given, std::string_view name) {
  std::string meant;
  return given == name || (unescaped(given, meant) && meant == name);
}

std::string typed_name(std::string_view name) {
  const std::string shown = quoted(name, name.size());
  return shown.substr(1, shown.size() - 2);
}

}  // namespace lowtide
