// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/import/imported.h"

namespace lowtide {

// Sizes that a model leaves open, for one of several plans. They are as in ImportOptions.
struct SizeChoice {
  std::map<std::string, std::int64_t> dims = {};                 // symbol -> extent
  std::map<std::string, std::vector<std::int64_t>> shapes = {};  // graph input -> extents; -1 keeps that of the file
  friend bool operator==(const SizeChoice&, const SizeChoice&) = default;
};

// A shape of an input in the form of Provenance::dims: "x=[1,3,?,?]".
[[nodiscard]] std::string written_shape(const std::string& name, const std::vector<std::int64_t>& extents);

// Adds these sizes in this form, such as "batch=8", to those of all plans. They replace others of the same name. The
// result is sorted.
void add_written_sizes(const SizeChoice& choice, std::vector<std::string>& dims);

// Adds these sizes to those of all plans. They replace others of the same name.
void add_sizes(const SizeChoice& choice, ImportOptions& options);

}  // namespace lowtide
