// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/order/order_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"

namespace lowtide::import_internal {

Error invalid_order(std::string message) { return {ErrorCode::invalid, std::move(message), ""}; }

std::string OrderNames::name_of(std::size_t node) const {
  return file_.nodes[node].name.empty() ? std::to_string(node) : file_.nodes[node].name;
}

Result<void> OrderNames::check() {
  sort_output_names();
  LOWTIDE_RETURN_IF_ERROR(check_output_names());
  for (std::size_t node = 0; node < file_.nodes.size(); ++node)
    names_.emplace_back(name_of(node), OrderTarget{.at = node});
  for (std::size_t state = 0; state < file_.states.size(); ++state) {
    const OrderTarget target{.is_state = true, .at = state};
    names_.emplace_back(file_.states[state].name, target);
    for (const std::string& other : file_.states[state].other_names) names_.emplace_back(other, target);
  }
  const auto is_less = [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.is_state, a.second.at) < std::tie(b.first, b.second.is_state, b.second.at);
  };
  std::sort(names_.begin(), names_.end(), is_less);
  const auto same =
      std::adjacent_find(names_.begin(), names_.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (same == names_.end()) return {};
  const OrderTarget& first = same->second;
  const OrderTarget& second = std::next(same)->second;
  if (first.is_state || second.is_state) {
    return invalid_order("a state and " + std::string(first.is_state ? "another state" : "a node") +
                         " are both named " + quoted(same->first) + "; give them different names");
  }
  return invalid_order("nodes " + std::to_string(first.at) + " and " + std::to_string(second.at) + " are both named " +
                       quoted(same->first) + "; give them different names or omit 'name'");
}

Result<OrderTarget> OrderNames::find_named(const std::string& name, const std::string& what) const {
  const auto found =
      std::lower_bound(names_.begin(), names_.end(), name,
                       [](const auto& entry, const std::string& wanted) { return entry.first < wanted; });
  if (found != names_.end() && found->first == name) return found->second;
  return invalid_order(what + " is " + quoted(name) + ", and no node or state has this name");
}

void OrderNames::sort_output_names() {
  for (std::size_t node = 0; node < file_.nodes.size(); ++node) {
    const OrderExtras* more = file_.extras_of(node);
    if (more == nullptr) continue;
    for (std::size_t at = 0; at < more->outputs.size(); ++at) {
      if (!more->outputs[at].name.empty()) output_names_.emplace_back(node, at);
    }
  }
  const auto key = [&](const std::pair<std::size_t, std::size_t>& output) {
    return std::tuple(output.first, std::string_view(file_.extras_of(output.first)->outputs[output.second].name),
                      output.second);
  };
  std::sort(output_names_.begin(), output_names_.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
}

Result<void> OrderNames::check_output_names() const {
  const auto name_at = [&](const std::pair<std::size_t, std::size_t>& output) -> const std::string& {
    return file_.extras_of(output.first)->outputs[output.second].name;
  };
  const auto same = std::adjacent_find(output_names_.begin(), output_names_.end(), [&](const auto& a, const auto& b) {
    return a.first == b.first && name_at(a) == name_at(b);
  });
  if (same == output_names_.end()) return {};
  const auto& [node, first] = *same;
  return invalid_order("outputs " + std::to_string(first) + " and " + std::to_string(std::next(same)->second) +
                       " of node " + quoted(name_of(node)) + " are both named " + quoted(name_at(*same)) +
                       "; give them different names or omit 'name'");
}

std::optional<std::size_t> OrderNames::find_named_output(std::size_t node, const std::string& name) const {
  const auto name_at = [&](const std::pair<std::size_t, std::size_t>& output) {
    return std::string_view(file_.extras_of(output.first)->outputs[output.second].name);
  };
  const auto found = std::lower_bound(
      output_names_.begin(), output_names_.end(), std::pair(node, std::string_view(name)),
      [&](const auto& output, const auto& wanted) { return std::pair(output.first, name_at(output)) < wanted; });
  if (found == output_names_.end() || found->first != node || name_at(*found) != name) return std::nullopt;
  return found->second;
}

Result<std::size_t> OrderNames::find_output(const OrderRef& ref, std::size_t node, const std::string& what) const {
  const OrderExtras* more = file_.extras_of(node);
  const std::vector<OrderOutput> none;
  const std::vector<OrderOutput>& outputs = more == nullptr ? none : more->outputs;
  std::size_t at = static_cast<std::size_t>(std::max(ref.output, 0));
  if (ref.output < 0) {
    const std::string& name = file_.texts[static_cast<std::size_t>(-1 - ref.output)];
    const std::optional<std::size_t> found = find_named_output(node, name);
    if (!found) {
      return invalid_order(what + " is output " + quoted(name) + " of node " + quoted(name_of(node)) +
                           ", which has no such output");
    }
    at = *found;
  }
  if (at >= std::max<std::size_t>(outputs.size(), 1)) {
    return invalid_order(what + " is output " + std::to_string(at) + " of node " + quoted(name_of(node)) +
                         ", which has " + with_count(std::max<std::size_t>(outputs.size(), 1), "output") +
                         ", counted from 0");
  }
  if (!outputs.empty() && outputs[at].same_as >= 0) return static_cast<std::size_t>(outputs[at].same_as);
  return at;
}

Result<OrderTarget> OrderNames::find(const OrderRef& ref, const std::string& what) const {
  OrderTarget target;
  if (ref.is_name) {
    Result<OrderTarget> named = find_named(file_.texts[static_cast<std::size_t>(ref.number)], what);
    if (!named) return named.error();
    target = *named;
    if (target.is_state && ref.output != 0) return invalid_order(what + " is an output of a state, which has none");
    if (target.is_state) return target;
  } else if (ref.number < 0 || ref.number >= static_cast<std::int64_t>(file_.nodes.size())) {
    return invalid_order(what + " is node " + std::to_string(ref.number) + ", but the file has " +
                         with_count(file_.nodes.size(), "node") + ", counted from 0");
  } else {
    target.at = static_cast<std::size_t>(ref.number);
  }
  const Result<std::size_t> output = find_output(ref, target.at, what);
  if (!output) return output.error();
  target.output = *output;
  return target;
}

Result<std::size_t> OrderNames::find_node(const OrderRef& ref, const std::string& what) const {
  LOWTIDE_TRY(const OrderTarget target, find(ref, what));
  if (target.is_state) return invalid_order(what + " is a state, and must be a node that runs");
  return target.at;
}

}  // namespace lowtide::import_internal
