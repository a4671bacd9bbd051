// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/earlier/proto/message.h"

// Changes to a NetDef as Caffe2's memonger makes them. Everything that they do not name stays as it is.
namespace lowtide {

// New names of blobs, by their old names.
using BlobNames = std::map<std::string, std::string, std::less<>>;

// Returns the net with other names of blobs: in the inputs, outputs and control inputs of operators, in the lists of
// external inputs and outputs, and in the nets inside operators, in both of their encodings. An operator whose type
// begins with RecurrentNetwork gets an argument "<old name>.rename" with the new name for each of its inputs and
// outputs, because it also has names in other arguments. Errors: those of reading a nested net; over_limit
// (limits::kMaxBodyNesting). O(size of the net).
[[nodiscard]] Result<ProtoMessage> rename_blobs(ProtoMessage net, const BlobNames& names);

// Returns the net with its operators in this order. Requires: `order` has each number of an operator once.
[[nodiscard]] ProtoMessage reorder_ops(const ProtoMessage& net, const std::vector<std::uint32_t>& order);

// Returns the net with an operator `Free b -> b` behind the last reader of each blob b that is written before it is
// read, except for external inputs and outputs, inputs of Alias, and the names in `keep`. Errors: as rename_blobs.
[[nodiscard]] Result<ProtoMessage> add_free_ops(const ProtoMessage& net,
                                                const std::set<std::string, std::less<>>& keep = {});

[[nodiscard]] std::size_t count_ops(const ProtoMessage& net);

// The names of all blobs of a net, also of those inside operators. Errors: as rename_blobs.
[[nodiscard]] Result<std::set<std::string, std::less<>>> blob_names(const ProtoMessage& net);

}  // namespace lowtide
