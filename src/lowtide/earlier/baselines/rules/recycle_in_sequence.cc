// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>

#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {

BlockChoice recycle_in_sequence(const BlobNet& net) {
  BlockChoice choice;
  choice.block = IdVector<BlobId, std::optional<std::uint32_t>>(net.blobs.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> free;  // by device; the back was released last
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    std::vector<BlobId> released;
    for (BlobId id : net.ops[at].inputs) {
      const Blob& blob = net.blobs[id];
      // A blob that is written again after its last read keeps its block, because that write would destroy the
      // bytes of the next blob.
      if (!blob.is_kept && blob.last == at && blob.last_read == at) released.push_back(id);
    }
    for (BlobId id : net.ops[at].outputs) {
      const Blob& blob = net.blobs[id];
      std::vector<std::uint32_t>& stack = free[blob.device];
      if (blob.is_kept || blob.first != at || stack.empty()) continue;
      choice.block[id] = stack.back();
      stack.pop_back();
    }
    for (BlobId id : released) {
      if (!choice.block[id]) {
        choice.block[id] = static_cast<std::uint32_t>(choice.names.size());
        choice.names.push_back("__m" + std::to_string(choice.names.size()) + "_shared");
      }
      free[net.blobs[id].device].push_back(*choice.block[id]);
    }
  }
  return choice;
}

BlockChoice storage_groups(const BlobNet& net) {
  BlockChoice choice;
  choice.block = IdVector<BlobId, std::optional<std::uint32_t>>(net.blobs.size());
  std::map<std::uint32_t, std::vector<std::uint32_t>> free;
  for (std::uint32_t at = 0; at < net.ops.size(); ++at) {
    const BlobOp& op = net.ops[at];
    for (BlobId id : op.outputs) {
      const Blob& blob = net.blobs[id];
      if (blob.is_kept || blob.first != at) continue;
      std::vector<std::uint32_t>& stack = free[blob.device];
      if (stack.empty()) {
        stack.push_back(static_cast<std::uint32_t>(choice.names.size()));
        choice.names.push_back("group " + std::to_string(choice.names.size()));
      }
      choice.block[id] = stack.back();
      stack.pop_back();
    }
    std::vector<BlobId> ending;
    for (const std::vector<BlobId>& list : {op.inputs, op.outputs}) {
      for (BlobId id : list) {
        if (choice.block[id] && net.blobs[id].last == at) ending.push_back(id);
      }
    }
    std::sort(ending.begin(), ending.end());
    ending.erase(std::unique(ending.begin(), ending.end()), ending.end());
    for (BlobId id : ending) free[net.blobs[id].device].push_back(*choice.block[id]);
  }
  return choice;
}

}  // namespace lowtide::baselines_internal
