// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace lowtide {

// An index into one kind of table. `Id<struct NodeTag>` does not convert to `Id<struct TensorTag>` or to an integer.
// Ids are dense and start at 0. 32 bits are enough, because limits::kMaxTensors is 4 * 10^7.
template <typename Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}

  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }

  friend constexpr auto operator<=>(Id, Id) = default;

 private:
  std::uint32_t value_ = 0;
};

// A std::vector that only the matching id can index. The range of an id is not checked.
template <typename IdType, typename T>
class IdVector {
 public:
  using value_type = T;
  using const_iterator = typename std::vector<T>::const_iterator;

  IdVector() = default;
  explicit IdVector(std::size_t count, const T& value = T()) : items_(count, value) {}
  IdVector(std::initializer_list<T> items) : items_(items) {}

  [[nodiscard]] T& operator[](IdType id) { return items_[id.index()]; }
  [[nodiscard]] const T& operator[](IdType id) const { return items_[id.index()]; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }
  [[nodiscard]] bool empty() const { return items_.empty(); }
  [[nodiscard]] bool contains(IdType id) const { return id.index() < items_.size(); }
  void reserve(std::size_t count) { items_.reserve(count); }
  void resize(std::size_t count) { items_.resize(count); }

  // Appends and returns the id of the new element.
  IdType push_back(T item) {
    items_.push_back(std::move(item));
    return IdType(static_cast<std::uint32_t>(items_.size() - 1));
  }

  [[nodiscard]] auto begin() { return items_.begin(); }
  [[nodiscard]] auto end() { return items_.end(); }
  [[nodiscard]] auto begin() const { return items_.begin(); }
  [[nodiscard]] auto end() const { return items_.end(); }

  friend bool operator==(const IdVector&, const IdVector&) = default;

 private:
  std::vector<T> items_;
};

// All ids below `count`, in ascending order: `for (NodeId node : all_ids<NodeId>(count))`.
template <typename IdType>
class IdRange {
 public:
  class Iterator {
   public:
    explicit Iterator(std::uint32_t value) : value_(value) {}
    IdType operator*() const { return IdType(value_); }
    Iterator& operator++() {
      ++value_;
      return *this;
    }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    std::uint32_t value_;
  };
  explicit IdRange(std::size_t count) : count_(static_cast<std::uint32_t>(count)) {}
  [[nodiscard]] Iterator begin() const { return Iterator(0); }
  [[nodiscard]] Iterator end() const { return Iterator(count_); }

 private:
  std::uint32_t count_;
};

template <typename IdType>
[[nodiscard]] IdRange<IdType> all_ids(std::size_t count) {
  return IdRange<IdType>(count);
}

}  // namespace lowtide

template <typename Tag>
struct std::hash<lowtide::Id<Tag>> {
  std::size_t operator()(lowtide::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>()(id.value()); }
};
