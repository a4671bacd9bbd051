// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "lowtide/base/id.h"

namespace lowtide::allocate_internal {

// A table that never changes. Copies share its memory. It is freed with the last of them.
template <typename IdType, typename T>
class SharedTable {
 public:
  SharedTable() = default;
  explicit SharedTable(IdVector<IdType, T> items)
      : owner_(std::make_shared<const IdVector<IdType, T>>(std::move(items))),
        items_(std::to_address(owner_->begin())) {}

  [[nodiscard]] const T& operator[](IdType id) const { return items_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return owner_ ? owner_->size() : 0; }
  [[nodiscard]] const T* begin() const { return items_; }
  [[nodiscard]] const T* end() const { return items_ + size(); }

 private:
  std::shared_ptr<const IdVector<IdType, T>> owner_;
  const T* items_ = nullptr;  // of `owner_`, to read an item without a detour
};

}  // namespace lowtide::allocate_internal
