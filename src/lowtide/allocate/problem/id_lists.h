// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lowtide::allocate_internal {

// A list of T for each id below a count. All lists are in one vector, one list after another.
template <typename IdType, typename T>
class IdLists {
 public:
  // No lists yet: `append` adds them.
  IdLists() = default;

  // `for_each(visit)` calls visit(id, item) for every item of every list, in the order of the items within each list.
  // It is called twice and must visit the same items both times.
  template <typename ForEach>
  IdLists(std::size_t count, ForEach&& for_each) : first_(count + 1, 0) {
    for_each([&](IdType id, const T&) { ++first_[id.index() + 1]; });
    for (std::size_t at = 1; at < first_.size(); ++at) first_[at] += first_[at - 1];
    items_.resize(first_.back());
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for_each([&](IdType id, const T& item) { items_[next[id.index()]++] = item; });
  }

  // Adds the list of the next id.
  void append(std::span<const T> list) {
    items_.insert(items_.end(), list.begin(), list.end());
    first_.push_back(items_.size());
  }

  [[nodiscard]] std::span<const T> operator[](IdType id) const {
    return {items_.data() + first_[id.index()], first_[id.index() + 1] - first_[id.index()]};
  }
  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] std::size_t total() const { return items_.size(); }

 private:
  std::vector<std::size_t> first_ = {0};  // id -> index into items_; one more at the end
  std::vector<T> items_;
};

}  // namespace lowtide::allocate_internal
