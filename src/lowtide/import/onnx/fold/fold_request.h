// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/graph/attribute.h"
#include "lowtide/import/onnx/fold/known_content.h"

namespace lowtide::import_internal {

// An attribute that is a tensor, such as `value` of ConstantOfShape.
struct ContentAttribute {
  std::string name;
  std::shared_ptr<const KnownContent> content;
};

struct FoldRequest {
  std::string_view domain;  // "" for the standard ONNX domain
  std::string_view type;
  int opset = 0;  // version of the domain that the model uses
  const std::vector<Attribute>& attributes;
  std::span<const KnownInput> inputs;
  std::size_t output_count = 1;
  std::span<const ContentAttribute> content_attributes = {};
};

}  // namespace lowtide::import_internal
