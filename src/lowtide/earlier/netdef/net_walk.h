// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lowtide/earlier/netdef/graph_of_net.h"
#include "lowtide/earlier/netdef/op_view.h"

namespace lowtide::netdef_internal {

// One content of a blob: what is there before the net runs, or what an operator writes.
struct NetVersion {
  std::uint32_t blob = 0;
  std::optional<std::uint32_t> writer;  // operator
  std::optional<BlobType> type;
  std::optional<std::vector<float>> content = std::nullopt;  // of a short list of reals, if it is known
  bool is_read = false;
};

struct NetBlob {
  std::string_view name;
  std::vector<std::uint32_t> versions;
  NetDevice device;          // of the first operator that writes it, or else of the first one that reads it
  bool is_external = false;  // version 0 is there before the net runs
  bool is_weight = true;     // every operator that reads it uses it as a weight
  bool is_written = false;
  bool is_unshared = false;                 // NetFacts::unshared
  std::vector<std::uint32_t> waiting = {};  // operators with it as a control input, since it was written
};

struct NetOp {
  OpView view;
  std::uint32_t at = 0;                              // in the net
  std::vector<std::optional<std::uint32_t>> inputs;  // versions; nullopt for an empty name
  std::vector<std::optional<std::uint32_t>> outputs;
  std::vector<std::uint32_t> captures;  // versions that nets inside the operator read, in addition to its inputs
  // Operators that it waits for, as indices into the list of these: those that wrote its control inputs, and those that
  // have a blob as a control input that it writes again.
  std::vector<std::uint32_t> after;
};

// Follows the operators of a net in order, and finds the versions that they read and write, with their types.
class NetWalk {
 public:
  NetWalk(const ProtoMessage& net, const NetGraphOptions& options) : net_(net), options_(options) {}

  // Errors: invalid and over_limit, as graph_of_net().
  [[nodiscard]] Result<void> walk();

  [[nodiscard]] const std::vector<NetBlob>& blobs() const { return blobs_; }
  [[nodiscard]] const std::vector<NetVersion>& versions() const { return versions_; }
  [[nodiscard]] const std::vector<NetOp>& ops() const { return ops_; }
  [[nodiscard]] std::int64_t left_out() const { return left_out_; }  // Free operators
  [[nodiscard]] std::optional<std::uint32_t> find_blob(std::string_view name) const;

 private:
  Result<void> add_op(const ProtoMessage& message, std::uint32_t at);
  Result<void> add_reads(NetOp& op);
  Result<void> add_captures(NetOp& op);
  void add_controls(NetOp& op);
  Result<void> add_writes(NetOp& op);
  Result<void> infer(NetOp& op);
  Result<void> settle(const NetOp& op, std::uint32_t version, std::optional<BlobType> inferred);
  std::uint32_t blob_named(std::string_view name);
  std::uint32_t add_version(std::uint32_t blob, std::optional<std::uint32_t> writer);
  [[nodiscard]] std::optional<BlobType> given_type(std::string_view name, DType dtype) const;
  Result<std::uint32_t> current_version(std::string_view name, const NetOp& op);

  const ProtoMessage& net_;
  const NetGraphOptions& options_;
  const ProtoMessage* device_ = nullptr;  // of the net
  std::unordered_map<std::string_view, std::uint32_t> blob_ids_;
  std::unordered_set<std::string_view> listed_;  // external inputs
  std::set<std::string> nested_;                 // names that nested nets write, or know without an outer blob
  std::vector<NetBlob> blobs_;
  std::vector<NetVersion> versions_;
  std::vector<NetOp> ops_;
  std::int64_t left_out_ = 0;
};

// The names of the tensors that the versions are: that of the blob for its first one, then "fc@1", "fc@2". By version.
[[nodiscard]] std::vector<std::string> names_of_versions(const NetWalk& walk);

// The versions that are returned: the last ones of external outputs, or of blobs that no operator reads if the net
// lists none. Errors: invalid.
struct ReturnedVersions {
  std::vector<std::uint32_t> versions;
  bool are_listed = false;
};
[[nodiscard]] Result<ReturnedVersions> returned_versions(const ProtoMessage& net, const NetWalk& walk);

}  // namespace lowtide::netdef_internal
