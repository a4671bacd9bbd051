// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>

#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/attribute.h"

namespace lowtide::graphdef_internal {

// An AttrValue as an attribute of a graph, which knows numbers, texts and lists of them. Anything else, such as a type,
// has the text form of the message as its description: "type: DT_FLOAT". A boolean is 0 or 1 if an operator of
// TensorFlow has a boolean attribute of this name, and a description otherwise.
[[nodiscard]] AttributeValue attribute_of_value(std::string_view key, const ProtoMessage& value);

struct ValueOfAttribute {
  std::optional<ProtoMessage> value;  // nullopt: the attribute only describes what it was
  bool is_exact = true;               // off: a number lost digits, because TensorFlow has reals of 32 bits only
};

// The inverse.
[[nodiscard]] ValueOfAttribute value_of_attribute(const Attribute& attribute);

}  // namespace lowtide::graphdef_internal
