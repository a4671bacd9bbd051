// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/adapt/size_choice.h"

#include <algorithm>
#include <utility>

namespace lowtide {

std::string written_shape(const std::string& name, const std::vector<std::int64_t>& extents) {
  std::string text;
  for (const std::int64_t extent : extents) {
    text += (text.empty() ? "" : ",") + (extent < 0 ? std::string("?") : std::to_string(extent));
  }
  return name + "=[" + text + "]";
}

void add_written_sizes(const SizeChoice& choice, std::vector<std::string>& dims) {
  const auto add = [&](const std::string& name, std::string written) {
    std::erase_if(dims, [&](const std::string& line) { return line.substr(0, line.rfind('=')) == name; });
    dims.push_back(std::move(written));
  };
  for (const auto& [name, extent] : choice.dims) add(name, name + "=" + std::to_string(extent));
  for (const auto& [name, extents] : choice.shapes) add(name, written_shape(name, extents));
  std::ranges::sort(dims);
}

void add_sizes(const SizeChoice& choice, ImportOptions& options) {
  for (const auto& [name, extent] : choice.dims) options.dims[name] = extent;
  for (const auto& [name, extents] : choice.shapes) options.shapes[name] = extents;
}

}  // namespace lowtide
