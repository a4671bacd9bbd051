// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/attribute.h"
#include "lowtide/import/file.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Returns the attributes of a node in their order. Attributes that contain graphs are omitted, because they become
// bodies. A tensor with one element becomes a number: an integer for integers and booleans, otherwise a real. Other
// tensors of domain ai.onnx.ml become lists of numbers or texts, because they are the parameters of the model. Other
// tensors and types become OpaqueAttribute, and so does external data. `file`: has the raw data that the parsed model
// lacks. Errors: an attribute without a type (invalid); a tensor of ai.onnx.ml whose data do not fit its type (as
// fact_from_tensor()); io.
[[nodiscard]] Result<std::vector<Attribute>> attributes_of(const onnx::NodeProto& node, const ByteSource& file);

// The attribute of a node as it is in the file; nullptr if the node has none of this name.
[[nodiscard]] const onnx::AttributeProto* attribute_of(const onnx::NodeProto& node, std::string_view name);
// The integer of an attribute, or another one if the node does not have it.
[[nodiscard]] std::int64_t integer_or(const onnx::NodeProto& node, std::string_view name, std::int64_t otherwise);

[[nodiscard]] bool is_graph_attribute(const onnx::AttributeProto& attribute);

}  // namespace lowtide::import_internal
