// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/upper_bounds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"

namespace lowtide::import_internal {
namespace {

// The axis that a name without axis means: the only one that is unknown, or the only one that has a bound. nullopt:
// there is none, or there are several.
std::optional<std::size_t> axis_meant(const std::vector<KnownExtent>& extents) {
  for (const Knowledge wanted : {Knowledge::unknown, Knowledge::at_most}) {
    const auto is_wanted = [&](const KnownExtent& extent) { return extent.knowledge == wanted; };
    const auto found = std::find_if(extents.begin(), extents.end(), is_wanted);
    if (found == extents.end()) continue;
    if (std::find_if(found + 1, extents.end(), is_wanted) != extents.end()) return std::nullopt;
    return static_cast<std::size_t>(found - extents.begin());
  }
  return std::nullopt;
}

// "pos" of "pos[0]", the symbol of an extent of that tensor; empty for a symbol of the file.
std::string tensor_of_symbol(const std::string& symbol) {
  const std::size_t open = symbol.rfind('[');
  return open == std::string::npos || !symbol.ends_with(']') ? "" : symbol.substr(0, open);
}

std::string declared_symbol(const onnx::TypeProto* declared, std::size_t rank, std::size_t axis) {
  if (declared == nullptr || !declared->tensor_type().has_shape()) return "";
  const onnx::TensorShapeProto& shape = declared->tensor_type().shape();
  return static_cast<std::size_t>(shape.dim_size()) == rank ? shape.dim(static_cast<int>(axis)).dim_param() : "";
}

}  // namespace

UpperBounds::UpperBounds(const std::map<std::string, std::int64_t>& given) {
  for (const auto& [name, most] : given) {
    entries_.try_emplace(name, Entry{name, most});
    std::string meant;
    if (unescaped(name, meant) && meant != name) entries_.try_emplace(meant, Entry{name, most});
  }
}

UpperBounds::Entry* UpperBounds::find(const std::string& name) {
  const auto found = name.empty() ? entries_.end() : entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second;
}

Result<void> UpperBounds::bound(Entry& entry, std::string_view tensor, std::size_t axis, KnownExtent& extent) {
  entry.is_met = true;
  if (extent.knowledge == Knowledge::exact) {
    if (extent.extent <= entry.most) return {};
    return Error{ErrorCode::invalid,
                 "extent " + std::to_string(axis) + " of " + quoted(tensor) + " is " + std::to_string(extent.extent) +
                     ", but " + quoted(entry.given) + " is given as at most " + std::to_string(entry.most) +
                     "; give a larger number",
                 "--at-most"};
  }
  entry.is_open = true;
  if (extent.knowledge == Knowledge::at_most && extent.extent <= entry.most) return {};
  extent.knowledge = Knowledge::at_most;
  extent.extent = entry.most;
  return {};
}

Result<void> UpperBounds::apply(std::string_view tensor, const onnx::TypeProto* declared, TensorFact& fact) {
  if (entries_.empty() || !fact.is_tensor || !fact.known.extents) return {};
  std::vector<KnownExtent>& extents = *fact.known.extents;
  const std::string name(tensor);
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    KnownExtent& extent = extents[axis];
    // Exporters declare one symbol for different extents, so a known one may be larger than the bound of its symbol.
    const std::string declared_name = declared_symbol(declared, extents.size(), axis);
    if (Entry* entry = find(declared_name)) {
      entry->is_met = true;
      if (extent.knowledge != Knowledge::exact) LOWTIDE_RETURN_IF_ERROR(bound(*entry, tensor, axis, extent));
    }
    const std::string symbol = extent.symbol;
    const std::string plain = name + "[" + std::to_string(axis) + "]";  // also if the symbol has a hash of the name
    for (const std::string& one : {symbol, tensor_of_symbol(symbol), plain}) {
      if (Entry* entry = find(one)) LOWTIDE_RETURN_IF_ERROR(bound(*entry, tensor, axis, extent));
    }
  }
  Entry* entry = find(name);
  if (entry == nullptr) return {};
  if (const std::optional<std::size_t> axis = axis_meant(extents)) return bound(*entry, tensor, *axis, extents[*axis]);
  const bool is_exact = std::all_of(extents.begin(), extents.end(),
                                    [](const KnownExtent& extent) { return extent.knowledge == Knowledge::exact; });
  entry->is_met = true;
  if (is_exact) return {};
  return Error{ErrorCode::invalid,
               "several extents of " + quoted(tensor) + " are not known; name one of them, as in --at-most " +
                   quoted(extent_symbol(name, 0)) + "=" + std::to_string(entry->most),
               "--at-most"};
}

Result<void> UpperBounds::check_all_met(const std::vector<std::string>& open) const {
  std::map<std::string, bool> met;  // by what the user typed, which may have two meanings
  for (const auto& [name, entry] : entries_) met[entry.given] = met[entry.given] || entry.is_met;
  for (const auto& [given, is_met] : met) {
    if (is_met) continue;
    std::vector<std::string> names;
    for (const std::string& name : open) names.push_back(quoted(name));
    return Error{ErrorCode::invalid,
                 "no extent of the model has the name " + quoted(given) +
                     (names.empty() ? "; all sizes are known" : "; sizes that are not known: " + listed(names, "and")),
                 "--at-most"};
  }
  return {};
}

std::vector<std::string> UpperBounds::without_effect() const {
  std::map<std::string, std::pair<std::int64_t, bool>> given;  // by what the user typed, which may have two meanings
  for (const auto& [name, entry] : entries_) {
    const auto at = given.try_emplace(entry.given, entry.most, false).first;
    at->second.second = at->second.second || entry.is_open;
  }
  std::vector<std::string> names;
  for (const auto& [name, bound] : given) {
    if (!bound.second) names.push_back(quoted(name) + "=" + std::to_string(bound.first));
  }
  return names;
}

}  // namespace lowtide::import_internal
