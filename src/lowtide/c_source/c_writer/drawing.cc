// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/c_source/c_writer/drawing.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lowtide/base/thousands.h"
#include "lowtide/c_source/c_writer/names.h"

namespace lowtide::c_writer_internal {
namespace {

constexpr std::int64_t kMostRows = 16;
constexpr std::int64_t kMostCells = 64;
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
// Tensors without a letter of their own.
constexpr char kOther = '#';

std::int64_t divide_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

std::int64_t common_bytes(const CTensor& tensor, Interval<std::int64_t> bytes) {
  const std::int64_t begin = std::max(tensor.offset.position(), bytes.begin);
  const std::int64_t end = std::min(tensor.offset.position() + tensor.size.count(), bytes.end);
  return std::max<std::int64_t>(0, end - begin);
}

char letter_of(std::size_t tensor) { return tensor < kLetters.size() ? kLetters[tensor] : kOther; }

char cell_of(const CProgram& program, Interval<std::int64_t> bytes, Interval<std::int64_t> calls) {
  char letter = ' ';
  std::int64_t most = 0;
  for (std::size_t at = 0; at < program.tensors.size(); ++at) {
    const CTensor& tensor = program.tensors[at];
    if (!tensor.is_state && !tensor.lifespan.overlaps(calls)) continue;
    const std::int64_t common = common_bytes(tensor, bytes);
    if (common <= most) continue;
    most = common;
    letter = letter_of(at);
  }
  return letter;
}

std::string padded(const std::string& text, std::size_t width) {
  return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}

std::string legend_line(const CTensor& tensor, char letter) {
  const std::string when = tensor.is_state ? "always, as a state"
                                           : "calls " + std::to_string(tensor.lifespan.begin) + " to " +
                                                 std::to_string(tensor.lifespan.end - 1);
  return std::string(1, letter) + "  " + with_thousands(tensor.size.count()) + " B at " +
         with_thousands(tensor.offset.position()) + ", " + when + ": " + comment_text(tensor.name, 60);
}

}  // namespace

std::vector<std::string> drawing_of(const CProgram& program) {
  const auto calls = std::max<std::int64_t>(1, static_cast<std::int64_t>(program.calls.size()));
  const std::int64_t arena = std::max<std::int64_t>(program.arena.count(), 1);
  const std::int64_t calls_per_column = divide_up(calls, kMostCells);
  const std::int64_t unit = kCAlignment.count();
  const std::int64_t bytes_per_row = divide_up(divide_up(arena, kMostRows), unit) * unit;
  const std::size_t width = with_thousands(divide_up(arena, bytes_per_row) * bytes_per_row).size();
  std::vector<std::string> lines;
  for (std::int64_t row = divide_up(arena, bytes_per_row) - 1; row >= 0; --row) {
    std::string cells;
    for (std::int64_t call = 0; call < calls; call += calls_per_column) {
      cells += cell_of(program, {row * bytes_per_row, (row + 1) * bytes_per_row}, {call, call + calls_per_column});
    }
    lines.push_back("  " + padded(with_thousands(row * bytes_per_row), width) + " |" + cells + "|");
  }
  const auto columns = static_cast<std::size_t>(divide_up(calls, calls_per_column));
  lines.push_back("  " + padded("", width) + " +" + std::string(columns, '-') + "+");
  lines.emplace_back();
  for (std::size_t at = 0; at < std::min(program.tensors.size(), kLetters.size()); ++at) {
    lines.push_back(legend_line(program.tensors[at], letter_of(at)));
  }
  if (program.tensors.size() > kLetters.size()) {
    lines.push_back(std::string(1, kOther) + "  " + std::to_string(program.tensors.size() - kLetters.size()) +
                    " more tensors");
  }
  return lines;
}

}  // namespace lowtide::c_writer_internal
