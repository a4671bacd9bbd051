// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/verify/bounds/pieces.h"

#include <algorithm>
#include <map>
#include <utility>

namespace lowtide::verify_internal {

void sort_once(std::vector<OrderCount::Index>& all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

void Pieces::cut(std::int64_t size, bool is_alone, const std::vector<Held>& holders) {
  std::vector<std::int64_t> cuts;
  for (const Held& held : holders) cuts.insert(cuts.end(), {held.begin, held.end});
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  const auto index_of = [&](std::int64_t at) {
    return static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), at) - cuts.begin());
  };
  std::int64_t held_runs = 0;
  std::int64_t uses = 0;
  for (const Held& held : holders) {
    const auto runs = static_cast<std::int64_t>(index_of(held.end) - index_of(held.begin));
    held_runs += runs;
    uses += runs * static_cast<std::int64_t>(graph_.readers(held.tensor).size());
  }
  if (held_runs > held_runs_left_ || uses > uses_left_) return keep_whole(size, holders);
  held_runs_left_ -= held_runs;
  uses_left_ -= uses;
  std::vector<std::vector<TensorId>> inside(cuts.size());
  for (const Held& held : holders) {
    const std::size_t end = index_of(held.end);
    for (std::size_t at = index_of(held.begin); at < end; ++at) inside[at].push_back(held.tensor);
  }
  std::map<std::vector<TensorId>, std::int64_t> runs;
  for (std::size_t at = 0; at + 1 < cuts.size(); ++at) {
    if (!inside[at].empty()) runs[std::move(inside[at])] += cuts[at + 1] - cuts[at];
  }
  for (const auto& [tensors, bytes] : runs) {
    const bool is_whole = is_alone && bytes == size;
    add_piece(tensors, is_whole ? round_up(Bytes(bytes), alignment_).count() : bytes);
  }
}

void Pieces::keep_whole(std::int64_t size, const std::vector<Held>& holders) {
  std::vector<TensorId> complete;
  for (const Held& held : holders) {
    if (held.end - held.begin == size) complete.push_back(held.tensor);
  }
  if (complete.empty()) return;
  const Index piece = add_piece(complete, size);
  for (const Held& held : holders) {
    std::vector<Index>& pieces = of_[held.tensor];
    if (pieces.empty() || pieces.back() != piece) pieces.push_back(piece);
  }
}

Pieces::Index Pieces::add_piece(const std::vector<TensorId>& holders, std::int64_t size) {
  const auto index = static_cast<Index>(count_.pieces.size());
  OrderCount::Piece piece{.size = size};
  for (TensorId id : holders) {
    const Tensor& tensor = graph_.tensor(id);
    piece.is_first = piece.is_first || !tensor.producer;
    piece.is_kept = piece.is_kept || !tensor.producer || tensor.role == Role::output;
    of_[id].push_back(index);
  }
  const std::vector<Index> users = users_of(holders);
  piece.users = static_cast<Index>(users.size());
  for (Index user : users) count_.nodes[user].pieces.push_back(index);
  if (users.empty()) count_.base += std::exchange(piece.size, 0);
  count_.pieces.push_back(piece);
  return index;
}

std::vector<Pieces::Index> Pieces::users_of(const std::vector<TensorId>& holders) {
  Index first = ~Index{0};
  Index last = 0;
  std::size_t count = 0;
  const auto for_each_user = [&](auto function) {
    for (TensorId id : holders) {
      if (graph_.tensor(id).producer) function(graph_.tensor(id).producer->value());
      for (NodeId reader : graph_.readers(id)) function(reader.value());
    }
  };
  for_each_user([&](Index user) { first = std::min(first, user), last = std::max(last, user), ++count; });
  std::vector<Index> users;
  if (count == 0) return users;
  if (count > kFewUsers) mark_between(first, last);
  if (listed_left_ <= 0) {
    users = {first, last};
  } else {
    for_each_user([&](Index user) {
      if (count <= kFewUsers || !is_between_.test(user)) users.push_back(user);
    });
  }
  sort_once(users);
  listed_left_ -= static_cast<std::int64_t>(users.size());
  return users;
}

void Pieces::mark_between(Index first, Index last) {
  if (std::exchange(marked_, {first, last}) == std::pair(first, last)) return;
  for (Index node : between_) is_between_.reset(node);
  between_.clear();
  const std::vector<Index>* fewer = &count_.nodes[first].after;
  const std::vector<Index>* more = &count_.nodes[last].before;
  if (fewer->size() > more->size()) std::swap(fewer, more);
  for (Index node : *fewer) {
    if (std::binary_search(more->begin(), more->end(), node)) between_.push_back(node);
  }
  for (Index node : between_) is_between_.set(node);
}

}  // namespace lowtide::verify_internal
