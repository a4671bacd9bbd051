// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/net_walk.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/netdef/format.h"
#include "lowtide/earlier/netdef/infer.h"
#include "lowtide/earlier/netdef/nested_names.h"
#include "lowtide/graph/shape.h"

namespace lowtide::netdef_internal {
namespace {

Error invalid(const NetOp& op, std::string message) {
  return Error{ErrorCode::invalid, std::move(message), shown_op(op.view, op.at)};
}

// The values of a fill, if they are a short list of reals.
std::optional<std::vector<float>> content_of_fill(const OpView& op) {
  constexpr std::size_t kMostReals = 64;
  const ProtoMessage* values = op.type() == "GivenTensorFill" ? op.argument("values") : nullptr;
  const std::vector<std::uint64_t> reals =
      values == nullptr ? std::vector<std::uint64_t>() : numbers_of(*values, argument_field::kReals);
  if (reals.empty() || reals.size() > kMostReals) return std::nullopt;
  std::vector<float> content;
  for (std::uint64_t bits : reals) content.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  return content;
}

}  // namespace

Result<void> NetWalk::walk() {
  device_ = find_message(net_, net_field::kDevice);
  for (std::string_view name : texts_of(net_, net_field::kExternalInput)) listed_.insert(name);
  const std::vector<const ProtoMessage*> messages = messages_of(net_, net_field::kOp);
  if (static_cast<std::int64_t>(messages.size()) > limits::kMaxNodes) {
    return Error{ErrorCode::over_limit,
                 "the net has " + std::to_string(messages.size()) + " operators, more than " +
                     std::to_string(limits::kMaxNodes) + " (kMaxNodes)",
                 ""};
  }
  for (std::size_t at = 0; at < messages.size(); ++at) {
    LOWTIDE_RETURN_IF_ERROR(add_op(*messages[at], static_cast<std::uint32_t>(at)));
  }
  for (const std::string& name : nested_) {
    if (const std::optional<std::uint32_t> blob = find_blob(name)) blobs_[*blob].is_unshared = true;
  }
  return {};
}

std::optional<std::uint32_t> NetWalk::find_blob(std::string_view name) const {
  const auto found = blob_ids_.find(name);
  return found == blob_ids_.end() ? std::nullopt : std::optional(found->second);
}

Result<void> NetWalk::add_op(const ProtoMessage& message, std::uint32_t at) {
  NetOp op{.view = OpView(message), .at = at, .inputs = {}, .outputs = {}, .captures = {}, .after = {}};
  if (op.view.type().empty()) return invalid(op, "the operator has no type");
  if (op.view.type() == "Free") {
    ++left_out_;
    return {};
  }
  LOWTIDE_RETURN_IF_ERROR(add_reads(op));
  LOWTIDE_RETURN_IF_ERROR(add_captures(op));
  add_controls(op);
  LOWTIDE_RETURN_IF_ERROR(add_writes(op));
  LOWTIDE_RETURN_IF_ERROR(infer(op));
  ops_.push_back(std::move(op));
  return {};
}

std::uint32_t NetWalk::blob_named(std::string_view name) {
  const auto [at, is_new] = blob_ids_.emplace(name, static_cast<std::uint32_t>(blobs_.size()));
  if (is_new) blobs_.push_back({.name = name});
  return at->second;
}

std::uint32_t NetWalk::add_version(std::uint32_t blob, std::optional<std::uint32_t> writer) {
  const auto id = static_cast<std::uint32_t>(versions_.size());
  versions_.push_back({.blob = blob, .writer = writer, .type = std::nullopt});
  blobs_[blob].versions.push_back(id);
  return id;
}

// A blob that no operator has written yet is an external input.
Result<std::uint32_t> NetWalk::current_version(std::string_view name, const NetOp& op) {
  const std::uint32_t blob = blob_named(name);
  if (blobs_[blob].versions.empty()) {
    if (!listed_.empty() && !listed_.contains(name)) {
      return invalid(op, "no operator before it writes the input " + quoted(name, 60) +
                             ", and the net does not list it as an external input");
    }
    const std::uint32_t id = add_version(blob, std::nullopt);
    blobs_[blob].is_external = true;
    blobs_[blob].device = device_of(device_, op.view.message());
    versions_[id].type = given_type(name, DType::f32);
    if (const auto content = options_.contents.find(name); content != options_.contents.end()) {
      versions_[id].content = content->second;
    }
  }
  return blobs_[blob].versions.back();
}

Result<void> NetWalk::add_reads(NetOp& op) {
  for (std::size_t at = 0; at < op.view.inputs().size(); ++at) {
    const std::string_view name = op.view.inputs()[at];
    if (name.empty()) {
      op.inputs.emplace_back();
      continue;
    }
    LOWTIDE_TRY(const std::uint32_t version, current_version(name, op));
    versions_[version].is_read = true;
    NetBlob& blob = blobs_[versions_[version].blob];
    blob.is_weight = blob.is_weight && is_weight(op.view.type(), at);
    blob.is_unshared = blob.is_unshared || op.view.type() == "Alias";
    op.inputs.emplace_back(version);
  }
  return {};
}

// Names that only the nested net knows are not captured. A name that it writes, or that is not yet a blob, must keep
// its meaning, so that the blob of this name shares its memory with no other one.
Result<void> NetWalk::add_captures(NetOp& op) {
  LOWTIDE_TRY(const NestedNames names, nested_names(op.view, op.at));
  std::unordered_set<std::uint32_t> inputs;
  for (const std::optional<std::uint32_t>& input : op.inputs) {
    if (input) inputs.insert(*input);
  }
  for (const std::string& name : names.read) {
    const auto listed = listed_.find(name);
    const std::optional<std::uint32_t> blob = find_blob(name);
    if (!blob && listed == listed_.end()) {
      nested_.insert(name);
      continue;
    }
    // The text of the nested net may be gone after this, but that of the list or of the blob stays.
    LOWTIDE_TRY(const std::uint32_t version, current_version(blob ? blobs_[*blob].name : *listed, op));
    versions_[version].is_read = true;
    blobs_[versions_[version].blob].is_weight = false;
    if (!inputs.contains(version)) op.captures.push_back(version);
  }
  nested_.insert(names.written.begin(), names.written.end());
  return {};
}

void NetWalk::add_controls(NetOp& op) {
  for (std::string_view name : texts_of(op.view.message(), op_field::kControlInput)) {
    const std::optional<std::uint32_t> blob = find_blob(name);
    if (!blob) continue;
    // Another blob in its memory would have its name, and then the operator would wait for the writer of that one.
    blobs_[*blob].is_unshared = true;
    blobs_[*blob].waiting.push_back(static_cast<std::uint32_t>(ops_.size()));
    const std::optional<std::uint32_t> writer = versions_[blobs_[*blob].versions.back()].writer;
    if (writer) op.after.push_back(*writer);
  }
}

Result<void> NetWalk::add_writes(NetOp& op) {
  // Copies to the host have their results there, whatever the device of the operator.
  const bool is_to_host = op.view.type() == "CopyGPUToCPU" || op.view.type() == "EnsureCPUOutput";
  const NetDevice device = is_to_host ? NetDevice{} : device_of(device_, op.view.message());
  for (std::string_view name : op.view.outputs()) {
    if (name.empty()) {
      op.outputs.emplace_back();
      continue;
    }
    const std::uint32_t blob = blob_named(name);
    if (!blobs_[blob].versions.empty() &&
        versions_[blobs_[blob].versions.back()].writer == static_cast<std::uint32_t>(ops_.size())) {
      return invalid(op, "two outputs have the name " + quoted(name, 60));
    }
    if (!blobs_[blob].is_written) blobs_[blob].device = device;
    blobs_[blob].is_written = true;
    blobs_[blob].is_unshared = blobs_[blob].is_unshared || op.view.type() == "Alias";
    for (std::uint32_t other : std::exchange(blobs_[blob].waiting, {})) {
      if (other != ops_.size()) op.after.push_back(other);
    }
    op.outputs.emplace_back(add_version(blob, static_cast<std::uint32_t>(ops_.size())));
  }
  return {};
}

std::optional<BlobType> NetWalk::given_type(std::string_view name, DType dtype) const {
  const auto type = options_.types.find(name);
  const auto shape = options_.shapes.find(std::string(name));
  if (shape != options_.shapes.end()) {
    return BlobType{type == options_.types.end() ? dtype : type->second.dtype, shape->second};
  }
  return type == options_.types.end() ? std::nullopt : std::optional(type->second);
}

Result<void> NetWalk::infer(NetOp& op) {
  OpTypes types{.op = op.view, .inputs = {}, .outputs = std::vector<std::optional<BlobType>>(op.outputs.size())};
  for (std::optional<std::uint32_t> version : op.inputs) {
    types.inputs.push_back(version ? versions_[*version].type : std::nullopt);
    types.contents.push_back(version ? versions_[*version].content : std::nullopt);
  }
  infer_types(types);
  if (!types.fault.empty()) return invalid(op, types.fault);
  for (std::size_t at = 0; at < op.inputs.size(); ++at) {
    if (op.inputs[at] && !versions_[*op.inputs[at]].writer) versions_[*op.inputs[at]].type = types.inputs[at];
  }
  for (std::size_t at = 0; at < op.outputs.size(); ++at) {
    if (!op.outputs[at]) continue;
    LOWTIDE_RETURN_IF_ERROR(settle(op, *op.outputs[at], std::move(types.outputs[at])));
    versions_[*op.outputs[at]].content = content_of_fill(op.view);
  }
  return {};
}

// What is given for a blob holds for its only content, or for those that are not known otherwise.
Result<void> NetWalk::settle(const NetOp& op, std::uint32_t version, std::optional<BlobType> inferred) {
  const NetBlob& blob = blobs_[versions_[version].blob];
  const DType dtype = inferred ? inferred->dtype : DType::f32;
  const std::optional<BlobType> given = given_type(blob.name, dtype);
  if (inferred && given && *inferred != *given && blob.versions.size() == 1) {
    return invalid(op, "its output " + quoted(blob.name, 60) + " is " + shown_type(*inferred) +
                           ", but the given type is " + shown_type(*given));
  }
  versions_[version].type = inferred ? inferred : given;
  return {};
}

std::vector<std::string> names_of_versions(const NetWalk& walk) {
  std::vector<std::string> names;
  std::unordered_set<std::string> taken;
  for (std::uint32_t id = 0; id < walk.versions().size(); ++id) {
    const NetBlob& blob = walk.blobs()[walk.versions()[id].blob];
    const auto at = std::lower_bound(blob.versions.begin(), blob.versions.end(), id) - blob.versions.begin();
    std::string name(blob.name);
    if (at > 0) name += "@" + std::to_string(at);
    while (at > 0 && (walk.find_blob(name) || taken.contains(name))) name += "'";
    taken.insert(name);
    names.push_back(std::move(name));
  }
  return names;
}

Result<ReturnedVersions> returned_versions(const ProtoMessage& net, const NetWalk& walk) {
  const std::vector<std::string_view> names = texts_of(net, net_field::kExternalOutput);
  const std::vector<std::string_view> inputs = texts_of(net, net_field::kExternalInput);
  const std::unordered_set<std::string_view> is_input(inputs.begin(), inputs.end());
  ReturnedVersions returned{.versions = {}, .are_listed = !names.empty()};
  for (std::string_view name : names) {
    const std::optional<std::uint32_t> blob = walk.find_blob(name);
    if (!blob && is_input.contains(name)) continue;
    if (!blob) return Error{ErrorCode::invalid, "no operator writes the external output " + quoted(name, 60), ""};
    returned.versions.push_back(walk.blobs()[*blob].versions.back());
  }
  for (const NetBlob& blob : walk.blobs()) {
    const NetVersion& last = walk.versions()[blob.versions.back()];
    if (names.empty() && last.writer && !last.is_read) returned.versions.push_back(blob.versions.back());
  }
  return returned;
}

}  // namespace lowtide::netdef_internal
