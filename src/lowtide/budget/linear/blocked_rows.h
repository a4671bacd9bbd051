// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::budget_internal {

// A matrix of doubles whose rows are mostly 0. A row is divided into blocks of kWidth columns, and a block has memory
// once something in it is not 0. Finding a number takes O(1), as in a dense matrix. A tableau of 3,000 rows and columns
// needs a few MB in place of 72 MB, which would have to be cleared first.
//
//   row 0   | . . . . | 3 0 0 1 | . . . . |      .  no memory: 0
//   row 1   | 0 7 0 0 | . . . . | . . . . |
class BlockedRows {
 public:
  static constexpr std::size_t kWidth = 16;
  using Block = std::array<double, kWidth>;

  explicit BlockedRows(std::size_t columns) : blocks_of_row_((columns + kWidth - 1) / kWidth) {}

  // Adds a row of zeros.
  void add_row() { places_.resize(places_.size() + blocks_of_row_, kNone); }

  [[nodiscard]] std::size_t blocks_of_row() const { return blocks_of_row_; }
  // The numbers of columns kWidth * block and following, or nullptr if all of them are 0. Valid until the next make().
  [[nodiscard]] const Block* block(std::size_t row, std::size_t block) const {
    const std::uint32_t place = places_[row * blocks_of_row_ + block];
    return place == kNone ? nullptr : &blocks_[place];
  }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const {
    const Block* found = block(row, column / kWidth);
    return found == nullptr ? 0 : (*found)[column % kWidth];
  }
  // The same block, with memory from now on.
  Block& make(std::size_t row, std::size_t block) {
    std::uint32_t& place = places_[row * blocks_of_row_ + block];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(blocks_.size());
      blocks_.emplace_back();
    }
    return blocks_[place];
  }
  void set(std::size_t row, std::size_t column, double number) { make(row, column / kWidth)[column % kWidth] = number; }
  void add(std::size_t row, std::size_t column, double number) {
    make(row, column / kWidth)[column % kWidth] += number;
  }
  // Adds a multiple of a row to another one.
  void add_multiple(std::size_t row, std::size_t added, double factor) {
    for (std::size_t at = 0; at < blocks_of_row_; ++at) {
      if (block(added, at) == nullptr) continue;
      Block& target = make(row, at);
      const Block& source = *block(added, at);
      for (std::size_t column = 0; column < kWidth; ++column) target[column] += factor * source[column];
    }
  }
  // Calls act(column, number) for the columns of a row that have memory, ascending. `number` may be changed.
  template <typename Act>
  void for_each(std::size_t row, Act act) {
    for (std::size_t at = 0; at < blocks_of_row_; ++at) {
      const std::uint32_t place = places_[row * blocks_of_row_ + at];
      if (place == kNone) continue;
      for (std::size_t column = 0; column < kWidth; ++column) act(kWidth * at + column, blocks_[place][column]);
    }
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  std::size_t blocks_of_row_;
  std::vector<std::uint32_t> places_;  // by row and block: the place in blocks_, or kNone
  std::vector<Block> blocks_;
};

}  // namespace lowtide::budget_internal
