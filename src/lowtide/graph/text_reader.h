// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lowtide/base/result.h"
#include "lowtide/graph/attribute.h"
#include "lowtide/graph/text.h"
#include "lowtide/graph/text_lexer.h"

namespace lowtide::graph_internal {

// Reads the parts of the text form that do not depend on a graph: names, numbers, types and values. Each function reads
// one of them and returns whether it was there. The first error is kept in `error`. After an error, the caller must
// read nothing more.
class TextReader {
 public:
  TextReader(std::string_view text, std::string source_name) : lexer_(text), source_name_(std::move(source_name)) {}

  [[nodiscard]] const Token& peek() const { return lexer_.peek(); }
  Token take() { return lexer_.take(); }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] std::string place(TextPosition at) const;

  // Returns false, so that a caller can return the result.
  bool fail(ErrorCode code, TextPosition at, std::string message);
  // "expected ..., found ..." at the next token.
  bool fail_expected(std::string_view what);
  // The same for a token that must be on the same line as the one before it.
  bool fail_expected_on_line(std::string_view what);

  // Reads the symbol if it is next, and returns whether it was. accept_on_line reads it only on the same line.
  bool accept(std::string_view symbol);
  bool accept_on_line(std::string_view symbol) { return !peek().starts_line && accept(symbol); }
  bool expect(std::string_view symbol, std::string_view where);

  bool read_text(std::string_view what, std::string& out);
  // Reads a name with or without quotes.
  bool read_name(std::string_view what, std::string& out);
  bool read_integer(std::string_view what, std::int64_t& out);
  bool read_type(TensorType& out);
  // Reads a list such as "[2, 3]".
  bool read_integers(std::vector<std::int64_t>& out);
  // Reads the value of an attribute that is not a graph.
  bool read_value(AttributeValue& out);

 private:
  bool read_extents(std::vector<std::int64_t>& extents, std::vector<int>& at_most);
  bool read_nan(double& out);
  bool read_number(AttributeValue& out);
  bool read_list(AttributeValue& out);
  bool read_empty_list(AttributeValue& out);

  TextLexer lexer_;
  std::string source_name_;
  std::optional<Error> error_;
};

}  // namespace lowtide::graph_internal
