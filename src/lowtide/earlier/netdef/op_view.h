// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"

namespace lowtide::netdef_internal {

// Reads an OperatorDef. The views are valid as long as the message does not change.
class OpView {
 public:
  explicit OpView(const ProtoMessage& op);

  [[nodiscard]] const ProtoMessage& message() const { return *op_; }
  [[nodiscard]] std::string_view type() const { return type_; }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] const std::vector<std::string_view>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<std::string_view>& outputs() const { return outputs_; }
  [[nodiscard]] const std::vector<const ProtoMessage*>& arguments() const { return arguments_; }

  // nullptr if there is no such argument.
  [[nodiscard]] const ProtoMessage* argument(std::string_view name) const;
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  // Also an integer.
  [[nodiscard]] double real(std::string_view name, double otherwise) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name, std::string_view otherwise) const;

 private:
  const ProtoMessage* op_;
  std::string_view type_;
  std::string_view name_;
  std::vector<std::string_view> inputs_;
  std::vector<std::string_view> outputs_;
  std::vector<const ProtoMessage*> arguments_;
};

// "operator 3 'conv1' (Conv)": how messages name an operator.
[[nodiscard]] std::string shown_op(const OpView& op, std::size_t at);

// A device as Caffe2 compares them: type 0 is the CPU, whatever its id.
struct NetDevice {
  std::int32_t type = 0;
  std::int32_t id = 0;
  friend auto operator<=>(const NetDevice&, const NetDevice&) = default;
};
// `of_net` is the device option of the net, for operators without one; nullptr if there is none.
[[nodiscard]] NetDevice device_of(const ProtoMessage* of_net, const ProtoMessage& op);
// "cpu", "cuda:1", "device 7:0"
[[nodiscard]] std::string shown_device(NetDevice device);

// A net inside an operator: a NetDef in an argument, or one in the text of an argument whose name ends in "step_net".
struct NestedNet {
  std::string argument;
  ProtoMessage net;
};
// `depth` nets are around the operator's own net. Errors: invalid (an argument with both encodings; a text that is not
// a net); over_limit, before a text is read (limits::kMaxBodyNesting).
[[nodiscard]] Result<std::vector<NestedNet>> nested_nets(const OpView& op, std::size_t at, int depth);
[[nodiscard]] Error nested_too_deep(std::string place);
[[nodiscard]] bool may_hold_net(std::string_view argument);

}  // namespace lowtide::netdef_internal
