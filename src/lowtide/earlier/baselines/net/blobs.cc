// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/baselines/net/blobs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "lowtide/analysis/views.h"
#include "lowtide/base/flags.h"
#include "lowtide/base/quote.h"

namespace lowtide::baselines_internal {
namespace {

// Whether ExecuTorch makes the result a view: it copies results of Squeeze and Unsqueeze, and outputs.
bool is_reshaped(const Graph& graph, NodeId id) {
  const Operator& op = graph.op(id);
  if (op.traits.view != ViewKind::whole || op.type == "Squeeze" || op.type == "Unsqueeze") return false;
  const std::optional<TensorId> result = graph.node(id).outputs.front();
  return !result || !graph.is_needed_at_end(*result);
}

Error invalid(std::string message) { return Error{ErrorCode::invalid, std::move(message), ""}; }

class BlobNetMaker {
 public:
  BlobNetMaker(const Graph& graph, const std::vector<NodeId>& order, const BaselineOptions& options, Bytes alignment)
      : graph_(graph), order_(order), options_(options), alignment_(alignment), leader_(graph.tensors().size()) {
    std::iota(leader_.begin(), leader_.end(), 0U);
    position_ = IdVector<NodeId, std::uint32_t>(graph.nodes().size());
    for (std::size_t at = 0; at < order.size(); ++at) position_[order[at]] = static_cast<std::uint32_t>(at);
    net_.view_of = IdVector<TensorId, std::optional<TensorId>>(graph.tensors().size());
    net_.graph = &graph;
  }

  Result<BlobNet> run(ViewRule views) && {
    LOWTIDE_RETURN_IF_ERROR(join_names());
    if (views != ViewRule::none) join_views(views);
    number_blobs();
    LOWTIDE_RETURN_IF_ERROR(keep_wished());
    for (Blob& blob : net_.blobs) LOWTIDE_RETURN_IF_ERROR(describe(blob));
    link_sources();
    return std::move(net_);
  }

 private:
  std::string name(TensorId id) const { return quoted(graph_.tensor(id).name); }
  std::uint32_t leader(std::uint32_t at) {
    while (leader_[at] != at) at = leader_[at] = leader_[leader_[at]];
    return at;
  }
  void join(TensorId a, TensorId b) {
    const std::uint32_t first = leader(a.value());
    const std::uint32_t second = leader(b.value());
    leader_[std::max(first, second)] = std::min(first, second);
  }
  // The position of the producer, counted from 1; 0 for a tensor that exists before the run.
  std::uint32_t written(TensorId id) const {
    const std::optional<NodeId> producer = graph_.tensor(id).producer;
    return producer ? position_[*producer] + 1 : 0;
  }

  Result<void> join_names();
  void join_views(ViewRule rule);
  void number_blobs();
  BlobId touch(TensorId id);
  Result<void> keep_wished();
  Result<void> describe(Blob& blob) const;
  Result<void> check_written_over(const Blob& blob) const;
  void link_sources();
  void link_written_over(const Blob& blob);

  const Graph& graph_;
  const std::vector<NodeId>& order_;
  const BaselineOptions& options_;
  Bytes alignment_;
  std::vector<std::uint32_t> leader_;  // disjoint sets of tensors
  IdVector<NodeId, std::uint32_t> position_;
  std::vector<std::optional<BlobId>> blob_of_leader_;
  BlobNet net_;
};

Result<void> BlobNetMaker::join_names() {
  Flags<TensorId> is_listed(graph_.tensors().size());
  for (const std::vector<TensorId>& list : options_.colocated) {
    for (TensorId id : list) {
      if (!graph_.tensors().contains(id)) {
        return invalid("tensor " + std::to_string(id.value()) + " is listed as colocated, but the graph has only " +
                       std::to_string(graph_.tensors().size()) + " tensors");
      }
      if (!is_listed.insert(id)) return invalid("tensor " + name(id) + " is listed as colocated twice; list it once");
      join(list.front(), id);
    }
  }
  return {};
}

void BlobNetMaker::join_views(ViewRule rule) {
  for (NodeId id : order_) {
    const ViewKind kind = graph_.op(id).traits.view;
    if (kind == ViewKind::none || kind == ViewKind::concat) continue;
    if (rule == ViewRule::whole && (is_partial_view(kind) || kind == ViewKind::transpose)) continue;
    if (rule == ViewRule::reshaped && !is_reshaped(graph_, id)) continue;
    for (const View& view : views_of(graph_, id)) {
      net_.view_of[view.part] = view.whole;
      join(view.part, view.whole);
    }
  }
}

BlobId BlobNetMaker::touch(TensorId id) {
  std::optional<BlobId>& blob = blob_of_leader_[leader(id.value())];
  if (!blob) blob = net_.blobs.push_back({});
  return *blob;
}

void BlobNetMaker::number_blobs() {
  blob_of_leader_.assign(graph_.tensors().size(), std::nullopt);
  // For each blob, the last op that has it as an input, and as an output. An op may have many inputs, so the lists
  // of the ops are not searched.
  IdVector<BlobId, NodeId> reader;
  IdVector<BlobId, NodeId> writer;
  for (NodeId id : order_) {
    BlobOp op{.node = id};
    const auto add_once = [&](std::vector<BlobId>& list, TensorId tensor) {
      const BlobId blob = touch(tensor);
      IdVector<BlobId, NodeId>& last = &list == &op.inputs ? reader : writer;
      const NodeId none(static_cast<std::uint32_t>(order_.size()));
      while (last.size() < net_.blobs.size()) last.push_back(none);
      if (&list == &op.inputs) op.reads.push_back(blob);
      if (std::exchange(last[blob], id) != id) list.push_back(blob);
    };
    for (std::optional<TensorId> tensor : graph_.node(id).inputs) {
      if (tensor) add_once(op.inputs, *tensor);
    }
    for (const Body& body : graph_.node(id).bodies) {
      for (const auto& [outer, inner] : body.captures) add_once(op.inputs, outer);
    }
    for (std::optional<TensorId> tensor : graph_.node(id).outputs) {
      if (tensor) add_once(op.outputs, *tensor);
    }
    net_.ops.push_back(std::move(op));
  }
  net_.blob_of = IdVector<TensorId, BlobId>(graph_.tensors().size());
  for (TensorId id : all_ids<TensorId>(graph_.tensors().size())) {
    net_.blob_of[id] = touch(id);
    net_.blobs[net_.blob_of[id]].tensors.push_back(id);
  }
}

Result<void> BlobNetMaker::keep_wished() {
  for (TensorId id : options_.keep) {
    if (!graph_.tensors().contains(id)) {
      return invalid("tensor " + std::to_string(id.value()) + " is to be kept, but the graph has only " +
                     std::to_string(graph_.tensors().size()) + " tensors");
    }
    net_.blobs[net_.blob_of[id]].is_kept = true;
  }
  return {};
}

Result<void> BlobNetMaker::describe(Blob& blob) const {
  std::stable_sort(blob.tensors.begin(), blob.tensors.end(),
                   [&](TensorId a, TensorId b) { return written(a) < written(b); });
  if (!options_.devices.empty()) blob.device = options_.devices[blob.tensors.front()];
  blob.name = graph_.tensor(blob.tensors.front()).name;
  std::optional<std::uint32_t> first;
  for (TensorId id : blob.tensors) {
    const Tensor& tensor = graph_.tensor(id);
    blob.size = std::max(blob.size, round_up(tensor.size, alignment_));
    const Result<std::int64_t> elements = element_count(tensor.shape);
    blob.elements = std::max(blob.elements, elements ? *elements : tensor.size.count());
    blob.is_kept |= tensor.role != Role::temporary || tensor.is_next_state;
    blob.is_input |= tensor.role == Role::input;
    blob.is_output |= tensor.role == Role::output || tensor.is_next_state;
    blob.is_placed &= tensor.role != Role::constant && tensor.role != Role::state;
    if (!options_.devices.empty() && options_.devices[id] != blob.device) {
      return invalid("tensors " + name(blob.tensors.front()) + " and " + name(id) +
                     " are colocated, but are on devices " + std::to_string(blob.device) + " and " +
                     std::to_string(options_.devices[id]));
    }
    const auto use = [&](NodeId node) {
      first = std::min(first.value_or(position_[node]), position_[node]);
      blob.last = std::max(blob.last, position_[node]);
    };
    if (tensor.producer) use(*tensor.producer);
    for (NodeId reader : graph_.readers(id)) {
      use(reader);
      blob.last_read = std::max(blob.last_read, position_[reader]);
    }
  }
  blob.first = first.value_or(0);
  return check_written_over(blob);
}

Result<void> BlobNetMaker::check_written_over(const Blob& blob) const {
  std::uint32_t last_read = 0;  // of all tensors before, counted from 1
  std::optional<TensorId> content;
  for (TensorId id : blob.tensors) {
    if (!net_.view_of[id]) {
      if (content && (last_read > written(id) || written(*content) == written(id))) {
        return invalid("tensors " + name(*content) + " and " + name(id) +
                       " are colocated, but the first is still needed when the second is written, by node " +
                       std::to_string(written(id)) + " of the order");
      }
      content = id;
    }
    for (NodeId reader : graph_.readers(id)) last_read = std::max(last_read, position_[reader] + 1);
  }
  for (TensorId id : blob.tensors) {
    if (graph_.tensor(id).role != Role::output || id == *content || net_.view_of[id]) continue;
    return invalid("tensor " + name(id) + " is an output, but " + name(*content) +
                   " is colocated with it and written later");
  }
  return {};
}

void BlobNetMaker::link_sources() {
  net_.sources.resize(order_.size());
  for (std::size_t at = 0; at < order_.size(); ++at) {
    for (TensorId tensor : graph_.reads(order_[at])) {
      if (graph_.tensor(tensor).producer) net_.sources[at].push_back(position_[*graph_.tensor(tensor).producer]);
    }
    for (NodeId before : graph_.node(order_[at]).control_inputs) net_.sources[at].push_back(position_[before]);
  }
  for (const Blob& blob : net_.blobs) {
    if (blob.tensors.size() > 1) link_written_over(blob);
  }
  for (std::vector<std::uint32_t>& row : net_.sources) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
}

// All uses of one version run before the next version is written.
void BlobNetMaker::link_written_over(const Blob& blob) {
  std::vector<std::uint32_t> users;
  for (TensorId id : blob.tensors) {
    if (!net_.view_of[id] && graph_.tensor(id).producer) {
      const std::uint32_t write = position_[*graph_.tensor(id).producer];
      for (std::uint32_t user : users) {
        if (user != write) net_.sources[write].push_back(user);
      }
      users = {write};
    }
    for (NodeId reader : graph_.readers(id)) users.push_back(position_[reader]);
  }
}

}  // namespace

Result<BlobNet> blob_net(const Graph& graph, const std::vector<NodeId>& order, const BaselineOptions& options,
                         Bytes alignment, ViewRule views) {
  if (!options.devices.empty() && options.devices.size() != graph.tensors().size()) {
    return invalid("devices are given for " + std::to_string(options.devices.size()) + " tensors, but the graph has " +
                   std::to_string(graph.tensors().size()));
  }
  return BlobNetMaker(graph, order, options, alignment).run(views);
}

}  // namespace lowtide::baselines_internal
