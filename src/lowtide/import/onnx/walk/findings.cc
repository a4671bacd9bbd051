// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/walk/findings.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <span>
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

// Returns "1x3x?x?" for "f32[1,3,h,w]".
std::string shape_option(const std::string& type) {
  const std::size_t begin = type.find('[');
  if (begin == std::string::npos) return "AxBxC";
  std::string option;
  std::string item;
  for (std::size_t at = begin + 1; at < type.size(); ++at) {
    if (type[at] != ',' && at + 1 < type.size()) {
      item += type[at];
      continue;
    }
    const bool is_number =
        !item.empty() && std::all_of(item.begin(), item.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    option += (option.empty() ? "" : "x") + (is_number ? item : "?");
    item.clear();
  }
  return option;
}

// Lists the inputs that must get sizes, in their order. An input is left out if those before it have all its symbols,
// because a symbol is bound everywhere.
void list_inputs(const std::vector<UnknownSize>& unknown, std::vector<std::string>& lines) {
  std::set<std::string> bound;  // symbols
  for (std::size_t at = 0; at < unknown.size();) {
    const UnknownSize& first = unknown[at];
    bool is_new = false;
    for (; at < unknown.size() && unknown[at].tensor == first.tensor && unknown[at].cause == first.cause; ++at) {
      if (unknown[at].cause != UnknownSize::Cause::input) continue;
      is_new = unknown[at].symbol.empty() || bound.insert(unknown[at].symbol).second || is_new;
    }
    if (!is_new) continue;
    if (first.type.starts_with("a tensor of unknown type")) {
      lines.push_back("input " + quoted(first.tensor) + " is " + first.type + ": the file must state its element type");
      continue;
    }
    const std::string option = shape_option(first.type);
    lines.push_back("input " + quoted(first.tensor) + " is " + first.type + ": give --shape " + typed(first.tensor) +
                    "=" + option + (option.find('?') != std::string::npos ? ", with a number for each ?" : ""));
  }
}

// The options that bound the extents of one tensor.
std::string bound_options(std::span<const UnknownSize> sizes) {
  if (sizes.size() == 1) return "--at-most " + typed(sizes.front().tensor) + "=N";
  std::string options;
  for (const UnknownSize& size : sizes) {
    const std::string name = size.tensor + "[" + std::to_string(*size.axis) + "]";
    options += (options.empty() ? "" : " ") + ("--at-most " + typed(name) + "=N");
  }
  return options;
}

// Adds one line per tensor.
void list_makers(const std::vector<UnknownSize>& unknown, UnknownSize::Cause cause, std::vector<std::string>& lines) {
  std::set<std::pair<std::string, std::string>> listed;
  for (std::size_t at = 0; at < unknown.size();) {
    const UnknownSize& first = unknown[at];
    const std::size_t begin = at;
    while (at < unknown.size() && unknown[at].tensor == first.tensor && unknown[at].maker == first.maker) ++at;
    if (first.cause != cause || !listed.emplace(first.maker, first.tensor).second) continue;
    const std::string remedy = first.axis ? "; give " + bound_options(std::span(unknown).subspan(begin, at - begin)) +
                                                ", with a number that it never exceeds"
                                          : ", and its rank must be known";
    lines.push_back(quoted(first.tensor) + " is " + first.type + ", " +
                    (first.maker.empty() ? "passed in from outside its graph" : "produced by " + first.maker) +
                    ": its size depends on data" + remedy);
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
  move_behind(idle_bounds, other.idle_bounds);
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
  list_inputs(findings.unknown, lines);
  // Where inputs are open, most of the other sizes follow from them.
  if (lines.empty()) list_makers(findings.unknown, UnknownSize::Cause::node, lines);
  if (lines.empty()) list_makers(findings.unknown, UnknownSize::Cause::inherited, lines);
  return Error{ErrorCode::unresolved,
               with_count(lines.size(), "size") + (lines.size() == 1 ? " is" : " are") +
                   " not known before the run:\n  " + joined(lines, kMostShown, "\n  "),
               ""};
}

std::vector<std::string> open_names(const Findings& findings) {
  std::set<std::string> names;
  for (const UnknownSize& size : findings.unknown) {
    if (size.cause == UnknownSize::Cause::inherited) continue;
    names.insert(size.cause == UnknownSize::Cause::input && !size.symbol.empty() ? size.symbol : size.tensor);
  }
  return {names.begin(), names.end()};
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
  note(findings.stale_sizes, "1 declared size contradicts the operators and was ignored",
       "declared sizes contradict the operators and were ignored", "; ");
  note(findings.idle_bounds, "1 --at-most has no effect, because all extents that it names are known",
       "--at-most have no effect, because all extents that they name are known", ", ");
  return notes;
}

}  // namespace lowtide::import_internal
