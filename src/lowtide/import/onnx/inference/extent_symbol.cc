// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/extent_symbol.h"

#include <cstdint>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"

namespace lowtide::import_internal {
namespace {

constexpr std::size_t kKept = 64;

// FNV-1a. The numbers are those of its definition for 64 bits.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
  return hash;
}

}  // namespace

std::string extent_symbol(const std::string& tensor, std::size_t axis) {
  const std::string suffix = "[" + std::to_string(axis) + "]";
  if (tensor.size() <= static_cast<std::size_t>(limits::kMaxSymbolBytes)) return tensor + suffix;
  return tensor.substr(0, kKept) + "..." + std::to_string(hash_of(tensor)) + suffix;
}

std::string symbol_plus(const std::string& symbol, std::int64_t added) {
  if (symbol.empty() || added == 0) return symbol;
  const std::size_t plus = symbol.rfind('+');
  const std::optional<std::int64_t> before =
      plus == std::string::npos || plus == 0 ? std::nullopt : parse_number(symbol.substr(plus + 1));
  const std::optional<std::int64_t> sum = before && *before > 0 ? checked_add(*before, added) : std::nullopt;
  if (sum) return symbol.substr(0, plus + 1) + std::to_string(*sum);
  return symbol + "+" + std::to_string(added);
}

std::optional<std::int64_t> growth_over(const std::string& symbol, const std::string& larger) {
  if (larger == symbol) return 0;
  if (symbol.empty() || larger.size() <= symbol.size() + 1 || !larger.starts_with(symbol + "+")) return std::nullopt;
  const std::optional<std::int64_t> growth = parse_number(larger.substr(symbol.size() + 1));
  return growth && *growth > 0 ? growth : std::nullopt;
}

}  // namespace lowtide::import_internal
