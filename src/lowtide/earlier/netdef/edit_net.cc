// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/edit_net.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/nested_names.h"
#include "lowtide/earlier/netdef/net.h"
#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide {
namespace netdef_internal {
namespace {

Result<void> rename_in(ProtoMessage& net, const BlobNames& names, int depth);

void rename_texts(ProtoMessage& message, std::uint32_t field, const BlobNames& names) {
  edit_texts(message, field, [&](std::string& text) {
    if (const auto found = names.find(text); found != names.end()) text = found->second;
  });
}

// A net in the text of an argument is written in the form in which it was.
Result<void> rename_in_text(ProtoMessage& argument, const BlobNames& names, int depth) {
  std::optional<Error> error;
  edit_texts(argument, argument_field::kText, [&](std::string& text) {
    if (text.empty() || error) return;
    if (depth > limits::kMaxBodyNesting) {
      error = nested_too_deep("");
      return;
    }
    Result<NetFile> net = read_net(text);
    const Result<void> renamed = net ? rename_in(net->net, names, depth) : Result<void>(net.error());
    if (!renamed) {
      error = renamed.error();
      return;
    }
    Result<std::string> written = write_net(net->net, net->form);
    if (written) {
      text = *std::move(written);
    } else {
      error = written.error();
    }
  });
  if (error) return *error;
  return {};
}

void add_renaming(ProtoMessage& op, const std::string& name, const std::string& renamed) {
  ProtoMessage argument;
  add_text(argument, argument_field::kName, name + ".rename");
  add_text(argument, argument_field::kText, renamed);
  add_message(op, op_field::kArgument, std::move(argument));
}

// The inputs and outputs, each name once.
std::vector<std::string> blobs_of(const ProtoMessage& op) {
  std::vector<std::string> blobs;
  std::unordered_set<std::string> is_known;
  for (std::uint32_t field : {op_field::kInput, op_field::kOutput}) {
    for (std::string_view name : texts_of(op, field)) {
      if (is_known.emplace(name).second) blobs.emplace_back(name);
    }
  }
  return blobs;
}

Result<void> rename_in_op(ProtoMessage& op, const BlobNames& names, int depth) {
  const bool is_recurrent = find_text(op, op_field::kType).value_or("").starts_with("RecurrentNetwork");
  const std::vector<std::string> blobs = is_recurrent ? blobs_of(op) : std::vector<std::string>();
  for (std::uint32_t field : {op_field::kInput, op_field::kOutput, op_field::kControlInput}) {
    rename_texts(op, field, names);
  }
  for (ProtoMessage* argument : messages_of(op, op_field::kArgument)) {
    for (std::uint32_t field : {argument_field::kNet, argument_field::kNets}) {
      for (ProtoMessage* net : messages_of(*argument, field)) {
        LOWTIDE_RETURN_IF_ERROR(rename_in(*net, names, depth + 1));
      }
    }
    if (may_hold_net(find_text(*argument, argument_field::kName).value_or(""))) {
      LOWTIDE_RETURN_IF_ERROR(rename_in_text(*argument, names, depth + 1));
    }
  }
  for (const std::string& name : blobs) {
    if (const auto found = names.find(name); found != names.end()) add_renaming(op, name, found->second);
  }
  return {};
}

// The recursion is as deep as the nets are nested: each text is a level (limits::kMaxBodyNesting), and messages in
// messages end at kMaxProtoDepth.
Result<void> rename_in(ProtoMessage& net, const BlobNames& names, int depth) {
  if (depth > limits::kMaxBodyNesting) return nested_too_deep("");
  rename_texts(net, net_field::kExternalInput, names);
  rename_texts(net, net_field::kExternalOutput, names);
  for (ProtoMessage* op : messages_of(net, net_field::kOp)) LOWTIDE_RETURN_IF_ERROR(rename_in_op(*op, names, depth));
  return {};
}

// What an operator reads, each name once: inputs in their order, the reads of the nets inside it, and control inputs,
// since a Free operator would be another writer of the blob.
Result<std::vector<std::string>> reads_of(const OpView& op, std::size_t at) {
  std::vector<std::string> reads;
  std::unordered_set<std::string> is_known;
  for (std::string_view name : op.inputs()) {
    if (is_known.emplace(name).second) reads.emplace_back(name);
  }
  LOWTIDE_TRY(const NestedNames nested, nested_names(op, at));
  for (const std::string& name : nested.read) {
    if (is_known.insert(name).second) reads.push_back(name);
  }
  for (std::string_view name : texts_of(op.message(), op_field::kControlInput)) {
    if (is_known.emplace(name).second) reads.emplace_back(name);
  }
  return reads;
}

struct BlobUse {
  bool is_written_first = false;
  bool is_kept = false;
  std::size_t last_read = 0;
};

// Replaces the operators of a net, at the place of the first one.
void set_ops(ProtoMessage& net, std::vector<ProtoMessage> ops) {
  const auto is_op = [](const ProtoField& field) { return field.number == net_field::kOp; };
  const auto first = std::find_if(net.fields.begin(), net.fields.end(), is_op);
  if (first == net.fields.end()) return;
  first->content = std::move(ops);
  net.fields.erase(std::remove_if(first + 1, net.fields.end(), is_op), net.fields.end());
}

ProtoMessage free_op(const std::string& name) {
  ProtoMessage op;
  add_text(op, op_field::kInput, name);
  add_text(op, op_field::kOutput, name);
  add_text(op, op_field::kType, "Free");
  return op;
}

}  // namespace
}  // namespace netdef_internal

Result<ProtoMessage> rename_blobs(ProtoMessage net, const BlobNames& names) {
  LOWTIDE_RETURN_IF_ERROR(netdef_internal::rename_in(net, names, 0));
  return net;
}

ProtoMessage reorder_ops(const ProtoMessage& net, const std::vector<std::uint32_t>& order) {
  const std::vector<const ProtoMessage*> ops = messages_of(net, netdef_internal::net_field::kOp);
  std::vector<ProtoMessage> moved;
  for (std::uint32_t at : order) moved.push_back(*ops[at]);
  ProtoMessage to = net;
  netdef_internal::set_ops(to, std::move(moved));
  return to;
}

Result<ProtoMessage> add_free_ops(const ProtoMessage& net, const std::set<std::string, std::less<>>& keep) {
  namespace in = netdef_internal;
  const std::vector<const ProtoMessage*> ops = messages_of(net, in::net_field::kOp);
  std::unordered_map<std::string, in::BlobUse> uses;
  std::vector<std::vector<std::string>> reads;
  for (std::uint32_t field : {in::net_field::kExternalInput, in::net_field::kExternalOutput}) {
    for (std::string_view name : texts_of(net, field)) uses[std::string(name)].is_kept = true;
  }
  for (const std::string& name : keep) uses[name].is_kept = true;
  std::unordered_set<std::string> is_known;
  for (std::size_t at = 0; at < ops.size(); ++at) {
    const in::OpView op(*ops[at]);
    LOWTIDE_TRY(std::vector<std::string> read, in::reads_of(op, at));
    for (const std::string& name : read) {
      in::BlobUse& use = uses[name];
      is_known.insert(name);
      use.last_read = at;
      use.is_kept = use.is_kept || op.type() == "Alias";
    }
    for (std::string_view name : op.outputs()) {
      if (is_known.emplace(name).second) uses[std::string(name)].is_written_first = true;
    }
    reads.push_back(std::move(read));
  }
  std::vector<ProtoMessage> with_frees;
  for (std::size_t at = 0; at < ops.size(); ++at) {
    with_frees.push_back(*ops[at]);
    for (const std::string& name : reads[at]) {
      const in::BlobUse& use = uses[name];
      const bool ends = use.is_written_first && !use.is_kept && use.last_read == at && !name.empty();
      if (ends) with_frees.push_back(in::free_op(name));
    }
  }
  ProtoMessage to = net;
  in::set_ops(to, std::move(with_frees));
  return to;
}

std::size_t count_ops(const ProtoMessage& net) { return messages_of(net, netdef_internal::net_field::kOp).size(); }

Result<std::set<std::string, std::less<>>> blob_names(const ProtoMessage& net) {
  namespace in = netdef_internal;
  std::set<std::string, std::less<>> names;
  for (std::uint32_t field : {in::net_field::kExternalInput, in::net_field::kExternalOutput}) {
    for (std::string_view name : texts_of(net, field)) names.emplace(name);
  }
  std::size_t at = 0;
  for (const ProtoMessage* message : messages_of(net, in::net_field::kOp)) {
    const in::OpView op(*message);
    names.insert(op.inputs().begin(), op.inputs().end());
    names.insert(op.outputs().begin(), op.outputs().end());
    LOWTIDE_TRY(const in::NestedNames nested, in::nested_names(op, at++));
    names.insert(nested.read.begin(), nested.read.end());
    names.insert(nested.written.begin(), nested.written.end());
  }
  return names;
}

}  // namespace lowtide
