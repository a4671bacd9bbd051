// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/findings.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/text.h"

namespace lowtide::import_internal {
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

// Returns the name as it can be typed in a shell. It has single quotes unless the shell takes it unchanged. Characters
// that cannot be typed are escaped, and --dim and --shape understand these escapes. A single quote becomes \x27,
// because no shell accepts one between single quotes.
std::string typed(const std::string& name) {
  if (is_plain_word(name)) return name;
  const std::string lossless = escaped(name);
  std::string text = "'";
  for (char c : lossless.substr(1, lossless.size() - 2)) text += c == '\'' ? "\\x27" : std::string(1, c);
  return text + "'";
}

// Returns "1x3xNxN" for "f32[1,3,h,w]".
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

// Lists the symbols of inputs by name, each once.
void list_symbols(const std::vector<UnknownSize>& unknown, std::vector<std::string>& lines) {
  std::map<std::string, std::pair<std::string, std::size_t>> uses;  // symbol -> first use, count
  for (const UnknownSize& size : unknown) {
    if (size.cause != UnknownSize::Cause::input || size.symbol.empty()) continue;
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
    if (size.cause != UnknownSize::Cause::input || !size.symbol.empty()) continue;
    if (!listed.insert(size.tensor).second) continue;
    lines.push_back("input " + quoted(size.tensor) + " is " + size.type + ": give --shape " + typed(size.tensor) + "=" +
                    shape_option(size.type));
  }
}

// Adds one line per tensor.
void list_makers(const std::vector<UnknownSize>& unknown, UnknownSize::Cause cause, std::vector<std::string>& lines) {
  std::set<std::pair<std::string, std::string>> listed;
  for (const UnknownSize& size : unknown) {
    if (size.cause != cause || !listed.emplace(size.maker, size.tensor).second) continue;
    lines.push_back(quoted(size.tensor) + " is " + size.type + ", " +
                    (size.maker.empty() ? "passed in from outside its graph" : "produced by " + size.maker) +
                    ": its size depends on data, and no bound is known");
  }
}

}  // namespace

void Findings::append(Findings&& other) {
  move_behind(unknown, other.unknown);
  move_behind(unsupported, other.unsupported);
  move_behind(upper_bounds, other.upper_bounds);
  move_behind(sorted_graphs, other.sorted_graphs);
  move_behind(default_values, other.default_values);
  move_behind(dead_branches, other.dead_branches);
  move_behind(impossible_branches, other.impossible_branches);
  move_behind(stale_sizes, other.stale_sizes);
  move_behind(stale_pools, other.stale_pools);
}

Result<void> outcome_of(const Findings& findings) {
  if (!findings.unsupported.empty()) {
    return Error{ErrorCode::unsupported,
                 (findings.unsupported.size() == 1
                      ? "1 value is not a dense tensor of numbers"
                      : std::to_string(findings.unsupported.size()) + " values are not dense tensors of numbers") +
                     std::string(", which is not supported:\n  ") + joined(findings.unsupported, kMostShown, "\n  "),
                 ""};
  }
  if (findings.unknown.empty()) return {};
  std::vector<std::string> lines;
  list_symbols(findings.unknown, lines);
  list_unnamed(findings.unknown, lines);
  list_makers(findings.unknown, UnknownSize::Cause::node, lines);
  if (lines.empty()) list_makers(findings.unknown, UnknownSize::Cause::inherited, lines);
  std::set<std::string> tensors;
  for (const UnknownSize& size : findings.unknown) tensors.insert(size.tensor);
  return Error{ErrorCode::unresolved,
               "the sizes of " + with_count(tensors.size(), "tensor") +
                   " are not known before the run, because of:\n  " + joined(lines, kMostShown, "\n  "),
               ""};
}

std::vector<std::string> notes_of(const Findings& findings) {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> notes;
  const auto note = [&](const std::vector<std::string>& found, const char* one, const char* many,
                        const char* separator) {
    if (found.empty()) return;
    const std::string said = found.size() == 1 ? one : std::to_string(found.size()) + " " + many;
    notes.push_back(said + ": " + joined(found, kMostNamed, separator));
  };
  if (!findings.sorted_graphs.empty()) {
    notes.push_back("the nodes of these graphs were not in topological order, so they were sorted: " +
                    joined(findings.sorted_graphs, kMostNamed, ", "));
  }
  note(findings.upper_bounds, "1 tensor has a size that depends on data and is planned at its upper bound",
       "tensors have sizes that depend on data and are planned at their upper bound", ", ");
  std::vector<std::string> default_values;
  for (const std::string& name : findings.default_values) default_values.push_back(quoted(name));
  note(default_values, "1 input has a default value in the file and is planned as a constant",
       "inputs have default values in the file and are planned as constants", ", ");
  note(findings.dead_branches, "1 branch never runs, because the condition of this node is known",
       "branches never run, because the conditions of these nodes are known", ", ");
  note(findings.impossible_branches, "1 branch cannot run with these sizes and is left out",
       "branches cannot run with these sizes and are left out", "; ");
  note(findings.stale_sizes, "1 size declared in a body contradicts the operators and was ignored",
       "sizes declared in bodies contradict the operators and were ignored", "; ");
  note(findings.stale_pools, "1 declared size counts a window of a pool that begins after its operand, and was ignored",
       "declared sizes count windows of pools that begin after their operands, and were ignored", "; ");
  return notes;
}

}  // namespace lowtide::import_internal
