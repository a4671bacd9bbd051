// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lowtide/earlier/graphdef/op_rules.h"
#include "lowtide/earlier/graphdef/shape_math.h"

namespace lowtide::graphdef_internal {
namespace {

constexpr std::string_view kEllipsis = "...";

// What the letters of an equation such as "...ij,jk->...ik" stand for.
struct EinsumAxes {
  std::map<char, std::int64_t> extents;
  Extents others;  // of the axes of "...", which are broadcast
};

std::string without_blanks(std::string_view text) {
  std::string kept;
  for (char one : text) {
    if (one != ' ') kept += one;
  }
  return kept;
}

// Adds the axes of one operand. Returns false if they do not fit its letters or those of other operands.
bool add_operand(std::string_view letters, const Extents& shape, EinsumAxes& axes) {
  const std::size_t dots = letters.find(kEllipsis);
  const bool has_dots = dots != std::string_view::npos;
  const std::size_t named = letters.size() - (has_dots ? kEllipsis.size() : 0);
  if (shape.size() < named || (!has_dots && shape.size() != named)) return false;
  const std::size_t others = shape.size() - named;
  std::size_t axis = 0;
  for (std::size_t at = 0; at < letters.size(); ++at) {
    if (has_dots && at == dots) {
      const auto begin = shape.begin() + static_cast<std::ptrdiff_t>(axis);
      auto both = open_broadcast(axes.others, {begin, begin + static_cast<std::ptrdiff_t>(others)});
      if (!both) return false;
      axes.others = *std::move(both);
      axis += others;
      at += kEllipsis.size() - 1;
      continue;
    }
    const auto [found, is_new] = axes.extents.emplace(letters[at], shape[axis]);
    if (found->second == kOpen || found->second == 1) found->second = shape[axis];
    const bool agrees = found->second == shape[axis] || shape[axis] == kOpen || shape[axis] == 1;
    if (!is_new && !agrees) return false;
    ++axis;
  }
  return true;
}

}  // namespace

void infer_einsum(NodeTypes& types) {
  const std::string equation = without_blanks(types.node.text("equation", ""));
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string::npos) return;
  EinsumAxes axes;
  std::string_view rest = std::string_view(equation).substr(0, arrow);
  for (std::size_t operand = 0; operand < types.inputs.size(); ++operand) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (types.extents(operand) == nullptr) return;
    if (!add_operand(rest.substr(0, comma), *types.extents(operand), axes)) return;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (!rest.empty()) return;
  Extents result;
  const std::string_view to = std::string_view(equation).substr(arrow + 2);
  for (std::size_t at = 0; at < to.size(); ++at) {
    if (to.substr(at).starts_with(kEllipsis)) {
      result.insert(result.end(), axes.others.begin(), axes.others.end());
      at += kEllipsis.size() - 1;
      continue;
    }
    const auto found = axes.extents.find(to[at]);
    if (found == axes.extents.end()) return;
    result.push_back(found->second);
  }
  types.set(0, std::move(result));
}

}  // namespace lowtide::graphdef_internal
