// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::proto_internal {

enum class ProtoTokenKind : std::uint8_t { name, number, text, symbol, bad, end };

struct ProtoToken {
  ProtoTokenKind kind = ProtoTokenKind::end;
  std::string_view source;  // as written; of a text without its quotes
  std::size_t line = 1;
  std::size_t column = 1;

  [[nodiscard]] bool is(std::string_view symbol) const { return kind == ProtoTokenKind::symbol && source == symbol; }
};

// Divides the text form into tokens. A token is a view into the text.
class ProtoScanner {
 public:
  explicit ProtoScanner(std::string_view text);

  [[nodiscard]] const ProtoToken& peek() const { return token_; }
  ProtoToken take();

 private:
  void skip_blanks();
  void advance(std::size_t bytes);
  void scan();

  std::string_view rest_;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
  ProtoToken token_;
};

// Resolves the escapes of a text between quotes: \n, \", \\, \101, \x41 and others. False if one is malformed.
[[nodiscard]] bool unescape_proto(std::string_view source, std::string& out);
// The inverse; every byte that is not printable ASCII becomes \ooo.
[[nodiscard]] std::string escape_proto(std::string_view text);

}  // namespace lowtide::proto_internal
