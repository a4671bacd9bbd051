// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/text_reader.h"

#include <bit>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"

namespace lowtide::graph_internal {
namespace {

constexpr std::size_t kMostShown = 40;

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end: return "the end of the text";
    case TokenKind::text: return "the text " + quoted(token.text, kMostShown);
    case TokenKind::bad:
      return token.text.size() == 1 ? "the character " + quoted(token.text) : std::string(token.text);
    default: return quoted(token.text, kMostShown);
  }
}

}  // namespace

std::string TextReader::place(TextPosition at) const {
  return source_name_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column);
}

bool TextReader::fail(ErrorCode code, TextPosition at, std::string message) {
  if (!error_) error_ = Error{code, std::move(message), place(at)};
  return false;
}

bool TextReader::fail_expected(std::string_view what) {
  return fail(ErrorCode::malformed, peek().at, "expected " + std::string(what) + ", found " + describe(peek()));
}

bool TextReader::fail_expected_on_line(std::string_view what) {
  if (!peek().starts_line || peek().kind == TokenKind::end) return fail_expected(what);
  return fail(ErrorCode::malformed, peek().at,
              "expected " + std::string(what) + " on the previous line, found a new line");
}

bool TextReader::accept(std::string_view symbol) {
  if (!peek().is_symbol(symbol)) return false;
  take();
  return true;
}

bool TextReader::expect(std::string_view symbol, std::string_view where) {
  return accept(symbol) || fail_expected("'" + std::string(symbol) + "' " + std::string(where));
}

bool TextReader::read_text(std::string_view what, std::string& out) {
  if (peek().kind != TokenKind::text) return fail_expected(what);
  const Token token = take();
  if (unescaped(token.text, out)) return true;
  return fail(ErrorCode::malformed, token.at,
              "the text " + quoted(token.text, kMostShown) +
                  " has an escape other than \\\\ \\\" \\' and \\x with two hexadecimal digits");
}

bool TextReader::read_name(std::string_view what, std::string& out) {
  if (peek().kind == TokenKind::text) return read_text(what, out);
  if (peek().kind != TokenKind::name) return fail_expected(what);
  if (is_reserved(peek().text)) {
    return fail(ErrorCode::malformed, peek().at,
                "expected " + std::string(what) + ", found the reserved word " + quoted(peek().text) + "; write \"" +
                    std::string(peek().text) + "\" if it is a name");
  }
  out = take().text;
  return true;
}

bool TextReader::read_integer(std::string_view what, std::int64_t& out) {
  const std::optional<std::int64_t> number =
      peek().kind == TokenKind::number ? parse_integer(peek().text) : std::nullopt;
  if (!number) return fail_expected(std::string(what) + " (an integer of 64 bits)");
  out = *number;
  take();
  return true;
}

bool TextReader::read_extents(std::vector<std::int64_t>& extents, std::vector<int>& at_most) {
  if (!expect("[", "before the extents")) return false;
  if (accept("]")) return true;
  do {
    const TextPosition at = peek().at;
    if (static_cast<int>(extents.size()) == limits::kMaxRank) {
      return fail(ErrorCode::over_limit, at,
                  "a type has more extents than the limit of " + std::to_string(limits::kMaxRank) + " (kMaxRank)");
    }
    if (accept("<=")) at_most.push_back(static_cast<int>(extents.size()));
    std::int64_t extent = 0;
    if (!read_integer("an extent", extent)) return false;
    if (extent < 0) return fail(ErrorCode::invalid, at, "the extent " + std::to_string(extent) + " is negative");
    extents.push_back(extent);
  } while (accept(","));
  return expect("]", "or ',' after an extent");
}

bool TextReader::read_type(TensorType& out) {
  const std::optional<DType> dtype = peek().kind == TokenKind::name ? from_string<DType>(peek().text) : std::nullopt;
  if (!dtype) return fail_expected("a type such as f32[1,3,8,8]");
  const TextPosition at = take().at;
  std::vector<std::int64_t> extents;
  std::vector<int> at_most;
  if (!read_extents(extents, at_most)) return false;
  out = {*dtype, Shape(std::move(extents))};
  for (int axis : at_most) out.shape.mark_at_most(axis);
  const Result<Bytes> size = dense_size(out.dtype, out.shape);
  return size.ok() || fail(size.error().code, at, size.error().message);
}

bool TextReader::read_integers(std::vector<std::int64_t>& out) {
  out.clear();
  if (!expect("[", "before the integers")) return false;
  if (accept("]")) return true;
  do {
    if (!read_integer("an element", out.emplace_back())) return false;
  } while (accept(","));
  return expect("]", "or ',' after an element");
}

// nan, or nan(0x7ff8000000000001)
bool TextReader::read_nan(double& out) {
  take();
  out = std::bit_cast<double>(std::uint64_t{0x7FF8000000000000});
  if (!accept_on_line("(")) return true;
  const std::optional<double> number = peek().kind == TokenKind::number ? parse_nan_bits(peek().text) : std::nullopt;
  if (!number) return fail_expected("the bits of a NaN, such as 0x7ff8000000000001");
  take();
  out = *number;
  return expect(")", "after the bits of a NaN");
}

bool TextReader::read_number(AttributeValue& out) {
  if (peek().is_name("nan")) return read_nan(out.emplace<double>());
  if (const std::optional<std::int64_t> integer = parse_integer(peek().text)) {
    out = *integer;
  } else if (const std::optional<double> real = parse_real(peek().text);
             real && peek().text.find_first_of(".ef") != std::string_view::npos) {  // not an integer beyond 64 bits
    out = *real;
  } else {
    return fail_expected("a number that fits 64 bits");
  }
  take();
  return true;
}

bool TextReader::read_value(AttributeValue& out) {
  const Token& token = peek();
  if (token.kind == TokenKind::text) return read_text("a text", out.emplace<std::string>());
  if (token.is_symbol("[")) return read_list(out);
  if (token.is_name("opaque")) {
    take();
    return read_text("a description in quotes after 'opaque'", out.emplace<OpaqueAttribute>().description);
  }
  if (token.is_name("int") || token.is_name("float") || token.is_name("text")) return read_empty_list(out);
  if (token.kind == TokenKind::number || token.is_name("nan") || token.is_name("inf")) return read_number(out);
  return fail_expected("a value: a number, a text in quotes, a list, opaque \"...\" or a graph");
}

bool TextReader::read_empty_list(AttributeValue& out) {
  const Token kind = take();
  if (kind.text == "int") out = std::vector<std::int64_t>();
  if (kind.text == "float") out = std::vector<double>();
  if (kind.text == "text") out = std::vector<std::string>();
  return expect("[", "of an empty list") && expect("]", "of an empty list");
}

bool TextReader::read_list(AttributeValue& out) {
  take();
  if (peek().is_symbol("]")) return fail_expected("an element; an empty list is written int[], float[] or text[]");
  AttributeValue element;
  const auto append = [&]<typename T>(const T& item) {
    if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> || std::is_same_v<T, std::string>) {
      if (auto* items = std::get_if<std::vector<T>>(&out)) {
        items->push_back(item);
        return true;
      }
    }
    return false;
  };
  for (bool is_first = true; is_first || accept(","); is_first = false) {
    const TextPosition at = peek().at;
    if (peek().is_symbol("[")) return fail_expected("an element: lists do not nest");
    if (!read_value(element)) return false;
    if (is_first && std::holds_alternative<std::int64_t>(element)) out = std::vector<std::int64_t>();
    if (is_first && std::holds_alternative<double>(element)) out = std::vector<double>();
    if (is_first && std::holds_alternative<std::string>(element)) out = std::vector<std::string>();
    if (!std::visit(append, element)) {
      return fail(ErrorCode::malformed, at,
                  "the elements of a list must all be integers (2), reals (2.0) or texts (\"2\")");
    }
  }
  return expect("]", "or ',' after an element");
}

}  // namespace lowtide::graph_internal

namespace lowtide {

std::optional<TensorType> parse_tensor_type(std::string_view text) {
  graph_internal::TextReader reader(text, "");
  TensorType type;
  if (!reader.read_type(type) || reader.peek().kind != graph_internal::TokenKind::end) return std::nullopt;
  return type;
}

}  // namespace lowtide
