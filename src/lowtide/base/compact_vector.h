// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <type_traits>
#include <utility>

#include "lowtide/base/check.h"

namespace lowtide {

// A vector for millions of objects that have few items each. It takes 8 bytes while it is empty, where std::vector
// takes 24. Otherwise, size and capacity are in the allocation of the items:
//
//   CompactVector --> | size | capacity | item 0 | item 1 | ...
//
// It grows by a quarter, where std::vector doubles, and it shrinks when it is less than half full. push_back is O(1)
// amortized. insert, erase and clear may move all items, so pointers to them become invalid. Requires: fewer than 2^31
// items.
template <typename T>
class CompactVector {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 8);

 public:
  using value_type = T;

  CompactVector() = default;
  CompactVector(std::initializer_list<T> items) : CompactVector(items.begin(), items.end()) {}
  CompactVector(const T* first, const T* last) {
    if (first == last) return;
    reallocate(size_of(first, last));
    std::copy(first, last, begin());
    head_->size = size_of(first, last);
  }
  CompactVector(const CompactVector& other) : CompactVector(other.begin(), other.end()) {}
  CompactVector(CompactVector&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment): a copy is moved in
  CompactVector& operator=(const CompactVector& other) { return *this = CompactVector(other); }
  CompactVector& operator=(CompactVector&& other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~CompactVector() { ::operator delete(head_); }

  [[nodiscard]] std::size_t size() const { return head_ == nullptr ? 0 : head_->size; }
  [[nodiscard]] std::size_t capacity() const { return head_ == nullptr ? 0 : head_->capacity; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] T* data() { return items_of(head_); }
  [[nodiscard]] const T* data() const { return items_of(head_); }
  [[nodiscard]] T* begin() { return data(); }
  [[nodiscard]] T* end() { return data() + size(); }
  [[nodiscard]] const T* begin() const { return data(); }
  [[nodiscard]] const T* end() const { return data() + size(); }
  [[nodiscard]] T& operator[](std::size_t at) { return data()[at]; }
  [[nodiscard]] const T& operator[](std::size_t at) const { return data()[at]; }
  [[nodiscard]] const T& back() const { return data()[size() - 1]; }

  void push_back(T item) { insert(end(), item); }

  // Inserts the item before `at`.
  void insert(const T* at, T item) {
    const auto index = at - begin();
    const std::size_t count = size();
    if (count == capacity()) reallocate(count + count / 4 + 1);
    std::copy_backward(begin() + index, begin() + count, begin() + count + 1);
    data()[index] = item;
    ++head_->size;
  }

  // Removes the items [first, last).
  void erase(const T* first, const T* last) {
    if (first == last) return;
    std::copy(last, std::as_const(*this).end(), begin() + (first - begin()));
    head_->size -= size_of(first, last);
    if (size() < capacity() / 2) reallocate(size());
  }

  // Removes all items and frees their memory.
  void clear() { *this = CompactVector(); }

  friend bool operator==(const CompactVector& a, const CompactVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  struct alignas(8) Head {
    std::uint32_t size = 0;
    std::uint32_t capacity = 0;
  };

  static std::uint32_t size_of(const T* first, const T* last) { return static_cast<std::uint32_t>(last - first); }
  static T* items_of(Head* head) { return head == nullptr ? nullptr : reinterpret_cast<T*>(head + 1); }

  // Requires: capacity >= size().
  void reallocate(std::size_t capacity) {
    LOWTIDE_CHECK(capacity < std::size_t{1} << 31U, "a compact vector has fewer than 2^31 items");
    Head* to = nullptr;
    if (capacity > 0) {
      to = new (::operator new(sizeof(Head) + capacity * sizeof(T))) Head;
      to->size = static_cast<std::uint32_t>(size());
      to->capacity = static_cast<std::uint32_t>(capacity);
      std::copy(begin(), end(), items_of(to));
    }
    ::operator delete(std::exchange(head_, to));
  }

  Head* head_ = nullptr;  // null if the capacity is 0
};

}  // namespace lowtide
