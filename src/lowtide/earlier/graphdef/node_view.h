// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/earlier/proto/message.h"
#include "lowtide/graph/dtype.h"

namespace lowtide::graphdef_internal {

using Extents = std::vector<std::int64_t>;

// Reads a NodeDef. The views are valid as long as the message does not change.
class NodeView {
 public:
  explicit NodeView(const ProtoMessage& node);

  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view op() const { return op_; }
  [[nodiscard]] std::string_view device() const { return device_; }
  [[nodiscard]] const std::vector<std::string_view>& inputs() const { return inputs_; }

  [[nodiscard]] const ProtoMessage* value(std::string_view attribute) const;
  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  [[nodiscard]] double real(std::string_view attribute, double otherwise) const;
  [[nodiscard]] bool is_set(std::string_view attribute) const;
  [[nodiscard]] std::string_view text(std::string_view attribute, std::string_view otherwise) const;
  [[nodiscard]] Extents integers(std::string_view attribute) const;
  [[nodiscard]] std::optional<DType> dtype(std::string_view attribute) const;
  [[nodiscard]] const std::vector<const ProtoMessage*>& entries() const { return entries_; }

 private:
  std::string_view name_;
  std::string_view op_;
  std::string_view device_;
  std::vector<std::string_view> inputs_;
  std::vector<const ProtoMessage*> entries_;
};

// "node 'conv' ('Conv2D')"
[[nodiscard]] std::string shown_node(const NodeView& node);

// The element type for a DataType, or for a reference to one. nullopt: not a type of dense tensors of numbers.
[[nodiscard]] std::optional<DType> dtype_of(std::uint64_t data_type);

// The name of the first DataType in the attributes that dtype_of() does not have, such as "DT_INT4". Empty: none.
[[nodiscard]] std::string unread_type(const NodeView& node);

// The DataType of a type; 0: TensorFlow has none.
[[nodiscard]] std::int64_t data_type_of(DType dtype);

// The extents of a TensorShapeProto; nullopt if the rank or an extent is unknown.
[[nodiscard]] std::optional<Extents> extents_of(const ProtoMessage& shape);
// The same, with kOpen for each unknown extent.
[[nodiscard]] std::optional<Extents> open_extents_of(const ProtoMessage& shape);
inline constexpr std::int64_t kOpen = -1;

// The integers in a TensorProto of int32 or int64 with at most 64 elements, such as a shape, axes or paddings.
[[nodiscard]] std::optional<Extents> integers_of_tensor(const ProtoMessage& tensor);
// The same for tensors of any rank with at most 4,096 elements.
[[nodiscard]] std::optional<Extents> known_integers_of_tensor(const ProtoMessage& tensor);

}  // namespace lowtide::graphdef_internal
