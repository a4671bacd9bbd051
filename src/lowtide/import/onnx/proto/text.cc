// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/text.h"

#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/opsets.h"

namespace lowtide::import_internal {

std::string plain_text(std::string_view message) {
  constexpr std::size_t kMost = 600;
  std::string one_line(message.substr(0, kMost));
  for (char& c : one_line) {
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  }
  while (!one_line.empty() && one_line.back() == ' ') one_line.pop_back();
  // `quoted` escapes what is not safe to print. It also escapes quotes and backslashes, which are kept here.
  std::string out;
  std::string_view rest = one_line;
  while (true) {
    const std::size_t end = rest.find_first_of("'\\");
    const std::string piece = quoted(rest.substr(0, end), kMost);
    out.append(piece, 1, piece.size() - 2);
    if (end == std::string_view::npos) break;
    out += rest[end];
    rest.remove_prefix(end + 1);
  }
  return message.size() > kMost ? out + "..." : out;
}

std::string place_of_graph(std::string_view graph) { return "graph " + quoted(graph); }

std::string place_of_node(std::string_view graph, std::size_t index, const onnx::NodeProto& node) {
  return place_of_graph(graph) + ": node " + std::to_string(index) + " " + quoted(node.name()) + " (" +
         operator_name(node) + ")";
}

std::string operator_name(const onnx::NodeProto& node) {
  const std::string domain = normalized_domain(node.domain());
  const std::string shown = quoted(domain.empty() ? node.op_type() : domain + "." + node.op_type());
  return shown.substr(1, shown.rfind('\'') - 1);
}

Error located(const Error& error, const std::string& place, const std::string& subject) {
  Error located = error;
  if (!subject.empty()) located.message = subject + ": " + error.message;
  located.place = error.place.empty() ? place : place + ": " + error.place;
  return located;
}

}  // namespace lowtide::import_internal
