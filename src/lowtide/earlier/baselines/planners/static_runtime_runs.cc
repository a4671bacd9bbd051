// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/static_runtime_runs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "lowtide/base/flags.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/earlier/baselines/baselines.h"
#include "lowtide/earlier/baselines/net/blobs.h"
#include "lowtide/earlier/baselines/net/check_options.h"
#include "lowtide/earlier/baselines/rules/sharing_rules.h"

namespace lowtide::baselines_internal {
namespace {

using BlobSizes = IdVector<BlobId, Bytes>;

// Why a graph is not one of the same model; nullopt if it is.
std::optional<std::string> difference_from(const Graph& first, const Graph& other) {
  const auto counts = [](std::size_t here, std::size_t there, const char* what) {
    return "the graph has " + std::to_string(here) + " " + what + ", that of run 1 has " + std::to_string(there);
  };
  if (other.nodes().size() != first.nodes().size()) return counts(other.nodes().size(), first.nodes().size(), "nodes");
  if (other.tensors().size() != first.tensors().size()) {
    return counts(other.tensors().size(), first.tensors().size(), "tensors");
  }
  for (NodeId id : all_ids<NodeId>(first.nodes().size())) {
    const bool is_same = first.op(id).domain == other.op(id).domain && first.op(id).type == other.op(id).type &&
                         first.node(id).inputs == other.node(id).inputs &&
                         first.node(id).outputs == other.node(id).outputs &&
                         std::ranges::equal(first.reads(id), other.reads(id));
    if (!is_same) return "node " + std::to_string(id.value()) + " is not that of run 1";
  }
  for (TensorId id : all_ids<TensorId>(first.tensors().size())) {
    const Tensor& here = other.tensor(id);
    const Tensor& there = first.tensor(id);
    if (here.role == there.role && here.is_next_state == there.is_next_state) continue;
    return "tensor " + quoted(here.name) + " has another role than in run 1";
  }
  return std::nullopt;
}

// Learned sizes are at most the sum over all runs, so no later sum is too large.
Result<void> check_sizes(const std::vector<const Graph*>& runs, Bytes alignment) {
  Bytes sum;
  for (std::size_t at = 0; at < runs.size(); ++at) {
    for (const Tensor& tensor : runs[at]->tensors()) {
      sum += round_up(tensor.size, alignment);
      if (sum.count() <= limits::kMaxArenaBytes) continue;
      return Error{ErrorCode::over_limit,
                   "the tensors of all runs up to this one have more than " + std::to_string(limits::kMaxArenaBytes) +
                       " bytes (kMaxArenaBytes)",
                   "run " + std::to_string(at + 1)};
    }
  }
  return {};
}

// The dense bytes of blobs in one run. A view has no bytes of its own.
BlobSizes sizes_in(const BlobNet& net, const Graph& graph) {
  BlobSizes sizes(net.blobs.size());
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    for (TensorId tensor : net.blobs[id].tensors) sizes[id] = std::max(sizes[id], graph.tensor(tensor).size);
  }
  return sizes;
}

// A block whose parts learn their sizes.
class LearnedBlock {
 public:
  // Gives the blob the part with this number.
  void add(BlobId blob, std::uint32_t part) {
    members_.push_back({blob, part});
    learned_.resize(std::max<std::size_t>(learned_.size(), part + std::size_t{1}));
  }
  void add_part(BlobId blob) { add(blob, static_cast<std::uint32_t>(learned_.size())); }

  // Adds what does not fit to `run`, learns the sizes, and returns the bytes of the block during the run.
  Bytes run(const BlobSizes& sizes, Bytes alignment, StaticRuntimeRun& run) {
    Bytes block;
    for (Bytes size : learned_) block += size;
    std::vector<Bytes> next = learned_;
    for (const auto& [blob, part] : members_) {
      const Bytes size = sizes[blob];
      next[part] = std::max(next[part], round_up(size, alignment));
      if (has_run_ && size <= learned_[part]) continue;
      run.outside += size;
      run.grown += has_run_ ? 1 : 0;
    }
    learned_ = std::move(next);
    has_run_ = true;
    return block;
  }

  [[nodiscard]] std::int64_t members() const { return static_cast<std::int64_t>(members_.size()); }
  [[nodiscard]] std::int64_t parts() const { return static_cast<std::int64_t>(learned_.size()); }

 private:
  std::vector<std::pair<BlobId, std::uint32_t>> members_;
  std::vector<Bytes> learned_;
  bool has_run_ = false;
};

// One version of the runtime.
struct Version {
  LearnedBlock managed;
  LearnedBlock outputs;

  StaticRuntimeRun run(const BlobSizes& sizes, const std::vector<BlobId>& unmanaged, Bytes alignment) {
    StaticRuntimeRun out;
    out.block = managed.run(sizes, alignment, out);
    out.outputs_block = outputs.run(sizes, alignment, out);
    for (BlobId id : unmanaged) out.outside += sizes[id];
    out.held = out.block + out.outputs_block + out.outside;
    return out;
  }
};

// Whether manage_output_tensors puts the blob into its block. `keep` has the tensors that the caller keeps.
bool is_managed_output(const BlobNet& net, const Blob& blob, const Flags<TensorId>& keep) {
  if (blob.tensors.size() != 1 || keep.test(blob.tensors.front())) return false;
  const Tensor& tensor = net.graph->tensor(blob.tensors.front());
  return tensor.role == Role::output && !tensor.is_next_state && tensor.producer.has_value();
}

StaticRuntimeRuns replay(const BlobNet& net, const std::vector<const Graph*>& runs,
                         const StaticRuntimeOptions& options) {
  Version side_by_side;
  Version groups;
  std::vector<BlobId> unmanaged;
  const BlockChoice choice = storage_groups(net);
  Flags<TensorId> keep(net.blob_of.size());
  for (TensorId id : options.keep) keep.set(id);
  for (BlobId id : all_ids<BlobId>(net.blobs.size())) {
    const Blob& blob = net.blobs[id];
    if (choice.block[id]) {
      side_by_side.managed.add_part(id);
      groups.managed.add(id, *choice.block[id]);
    } else if (options.manage_outputs && is_managed_output(net, blob, keep)) {
      side_by_side.outputs.add_part(id);
      groups.outputs.add_part(id);
    } else if (blob.is_placed && !blob.is_input) {
      unmanaged.push_back(id);
    }
  }
  StaticRuntimeRuns out{.managed = groups.managed.members(),
                        .managed_outputs = groups.outputs.members(),
                        .group_count = groups.managed.parts()};
  for (const Graph* graph : runs) {
    const BlobSizes sizes = sizes_in(net, *graph);
    out.side_by_side.push_back(side_by_side.run(sizes, unmanaged, options.alignment));
    out.groups.push_back(groups.run(sizes, unmanaged, options.alignment));
  }
  return out;
}

}  // namespace

Result<StaticRuntimeRuns> replay_runs(const std::vector<const Graph*>& runs, const std::vector<NodeId>& order,
                                      const StaticRuntimeOptions& options) {
  if (runs.empty()) return Error{ErrorCode::invalid, "there are no runs; give the graph of at least one", ""};
  const Graph& first = *runs.front();
  BaselineOptions settled{.alignment = options.alignment, .keep = options.keep, .devices = options.devices};
  LOWTIDE_RETURN_IF_ERROR(check_numbers(settled));
  LOWTIDE_RETURN_IF_ERROR(check_order(first, order));
  for (std::size_t at = 1; at < runs.size(); ++at) {
    const std::optional<std::string> difference = difference_from(first, *runs[at]);
    if (difference) return Error{ErrorCode::mismatch, *difference, "run " + std::to_string(at + 1)};
  }
  LOWTIDE_RETURN_IF_ERROR(check_sizes(runs, options.alignment));
  LOWTIDE_TRY(const BlobNet net, blob_net(first, order, settled, options.alignment, ViewRule::all));
  return replay(net, runs, options);
}

}  // namespace lowtide::baselines_internal

namespace lowtide {

Result<StaticRuntimeRuns> static_runtime_runs(const std::vector<const Graph*>& runs, const std::vector<NodeId>& order,
                                              const StaticRuntimeOptions& options) {
  return baselines_internal::replay_runs(runs, order, options);
}

}  // namespace lowtide
