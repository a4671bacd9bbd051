// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/findings.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/quote.h"

namespace lowtide::detail {
namespace {

constexpr std::size_t kMostShown = 50;

template <typename T>
void move_behind(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::string joined(const std::vector<std::string>& items, std::size_t most, const char* separator) {
  std::string text;
  for (std::size_t at = 0; at < std::min(items.size(), most); ++at) text += (at == 0 ? "" : separator) + items[at];
  if (items.size() > most) text += separator + ("and " + std::to_string(items.size() - most) + " more");
  return text;
}

bool is_plain_word(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-' || c == '/' || c == ':';
  });
}

// As it would be typed; quoted where the shell or terminal would not take it as it is.
std::string typed(const std::string& name) { return is_plain_word(name) ? name : quoted(name); }

// "1x3x?x?" from "f32[1,3,h,w]"
std::string shape_option(const std::string& type) {
  const std::size_t begin = type.find('[');
  if (begin == std::string::npos) return "...";
  std::string option;
  bool is_number = true;
  std::string item;
  const auto flush = [&] {
    option += (option.empty() ? "" : "x") + (is_number && !item.empty() ? item : std::string("N"));
    item.clear();
    is_number = true;
  };
  for (std::size_t at = begin + 1; at < type.size(); ++at) {
    if (type[at] == ',' || at + 1 == type.size()) {
      flush();
    } else {
      item += type[at];
      is_number = is_number && std::isdigit(static_cast<unsigned char>(type[at])) != 0;
    }
  }
  return option;
}

std::string what_is_unknown(const UnknownSize& unknown) {
  if (unknown.axis) return "extent " + std::to_string(*unknown.axis) + " of " + quoted(unknown.tensor);
  return "rank or element type of " + quoted(unknown.tensor);
}

// Symbols of inputs, each once, in the order of their names.
void list_symbols(const std::vector<UnknownSize>& unknown, std::vector<std::string>& lines) {
  std::map<std::string, std::pair<std::string, std::size_t>> uses;  // symbol -> first use, count
  for (const UnknownSize& size : unknown) {
    if (size.origin != UnknownSize::Origin::input || size.symbol.empty()) continue;
    auto& [first, count] = uses[size.symbol];
    if (count++ == 0) first = what_is_unknown(size);
  }
  for (const auto& [symbol, use] : uses) {
    const auto& [first, count] = use;
    lines.push_back("symbol " + quoted(symbol) + " (" + first +
                    (count > 1 ? " and " + std::to_string(count - 1) + " more" : "") + "): give --dim " +
                    typed(symbol) + "=N");
  }
}

void list_unnamed(const std::vector<UnknownSize>& unknown, std::vector<std::string>& lines) {
  std::set<std::string> listed;
  for (const UnknownSize& size : unknown) {
    if (size.origin != UnknownSize::Origin::input || !size.symbol.empty()) continue;
    if (!listed.insert(size.tensor).second) continue;
    lines.push_back("input " + quoted(size.tensor) + " is " + size.type + ": give --shape " + typed(size.tensor) + "=" +
                    shape_option(size.type));
  }
}

// One line a tensor.
void list_makers(const std::vector<UnknownSize>& unknown, UnknownSize::Origin origin, std::vector<std::string>& lines) {
  std::set<std::pair<std::string, std::string>> listed;
  for (const UnknownSize& size : unknown) {
    if (size.origin != origin || !listed.emplace(size.maker, size.tensor).second) continue;
    lines.push_back(quoted(size.tensor) + " is " + size.type + ", " +
                    (size.maker.empty() ? "given from outside its graph" : "made by " + size.maker) +
                    ": its size depends on data, and no bound is known");
  }
}

}  // namespace

void Findings::append(Findings&& other) {
  move_behind(unknown, other.unknown);
  move_behind(unsupported, other.unsupported);
  move_behind(upper_bounds, other.upper_bounds);
  move_behind(sorted_graphs, other.sorted_graphs);
  move_behind(standard_values, other.standard_values);
  move_behind(dead_branches, other.dead_branches);
  move_behind(impossible_branches, other.impossible_branches);
}

Result<void> outcome_of(const Findings& findings) {
  if (!findings.unsupported.empty()) {
    return Error{ErrorCode::unsupported,
                 std::to_string(findings.unsupported.size()) +
                     " values are not dense tensors of numbers, which is not supported:\n  " +
                     joined(findings.unsupported, kMostShown, "\n  "),
                 ""};
  }
  if (findings.unknown.empty()) return {};
  std::vector<std::string> lines;
  list_symbols(findings.unknown, lines);
  list_unnamed(findings.unknown, lines);
  list_makers(findings.unknown, UnknownSize::Origin::node, lines);
  if (lines.empty()) list_makers(findings.unknown, UnknownSize::Origin::inherited, lines);
  std::set<std::string> tensors;
  for (const UnknownSize& size : findings.unknown) tensors.insert(size.tensor);
  return Error{ErrorCode::unresolved,
               "the sizes of " + std::to_string(tensors.size()) +
                   " tensors are not known before the run, because of:\n  " + joined(lines, kMostShown, "\n  "),
               ""};
}

std::vector<std::string> notes_of(const Findings& findings) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> notes;
  if (!findings.sorted_graphs.empty()) {
    notes.push_back("the nodes were not in topological order and have been sorted in: " +
                    joined(findings.sorted_graphs, kMostNamed, ", "));
  }
  if (!findings.upper_bounds.empty()) {
    notes.push_back(std::to_string(findings.upper_bounds.size()) +
                    " tensors have sizes that depend on data and are planned at their upper bound: " +
                    joined(findings.upper_bounds, kMostNamed, ", "));
  }
  if (!findings.standard_values.empty()) {
    notes.push_back(std::to_string(findings.standard_values.size()) +
                    " inputs have a standard value in the file and are planned as constants: " +
                    joined(findings.standard_values, kMostNamed, ", "));
  }
  if (!findings.dead_branches.empty()) {
    notes.push_back(std::to_string(findings.dead_branches.size()) +
                    " branches never run, since their condition is known, and are left out: of " +
                    joined(findings.dead_branches, kMostNamed, ", "));
  }
  if (!findings.impossible_branches.empty()) {
    notes.push_back(std::to_string(findings.impossible_branches.size()) +
                    " branches cannot run with these sizes and are left out: " +
                    joined(findings.impossible_branches, kMostNamed, "; "));
  }
  return notes;
}

}  // namespace lowtide::detail
