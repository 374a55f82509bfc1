#include "warpsim/ptx/cursor.h"

#include <algorithm>

namespace warpsim::ptx {

const Token& Cursor::peek(size_t ahead) const {
  return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
}

const Token& Cursor::next() {
  const Token& token = peek();
  if (position_ + 1 < tokens_.size()) ++position_;
  return token;
}

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  next();
  return true;
}

std::string Cursor::found() const {
  if (at_end()) return "found the end of the text";
  return "found '" + std::string(peek().text.substr(0, 60)) + "'";
}

void Cursor::expect(std::string_view text, std::string_view where) {
  if (!accept(text))
    fail_here("expected '" + std::string(text) + "' " + std::string(where) + ", " + found());
}

std::string_view Cursor::expect_name(std::string_view what) {
  if (!at(Token::Kind::kName)) fail_here("expected " + std::string(what) + ", " + found());
  return next().text;
}

uint64_t Cursor::expect_integer(std::string_view what) {
  if (!at(Token::Kind::kInteger)) fail_here("expected " + std::string(what) + ", " + found());
  return next().value;
}

void Cursor::skip_balanced() {
  uint32_t line = peek().line;
  int depth = 0;
  do {
    if (at_end()) fail(name_, line, "a bracket that opens here is never closed");
    const Token& token = next();
    if (token.is("{") || token.is("(") || token.is("[")) ++depth;
    if (token.is("}") || token.is(")") || token.is("]")) --depth;
  } while (depth > 0);
}

void Cursor::skip_statement() {
  while (!at(";")) {
    if (at_end() || at("}")) fail_here("expected ';' at the end of a statement, " + found());
    if (at("{") || at("(") || at("["))
      skip_balanced();
    else
      next();
  }
  next();
}

namespace {

// Priority of a binary operator, higher binds tighter; 0: none.
int priority(const Token& token) {
  if (token.kind != Token::Kind::kPunctuation) return 0;
  constexpr std::string_view kLevels[][4] = {
      {"||"},       {"&&"},     {"|"},          {"^"}, {"&"}, {"==", "!="}, {"<", "<=", ">", ">="},
      {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"}};
  int level = 0;
  for (const auto& operators : kLevels) {
    ++level;
    for (std::string_view text : operators) {
      if (!text.empty() && token.text == text) return level;
    }
  }
  return 0;
}

// nullopt-free: the caller has excluded division by zero.
uint64_t apply(std::string_view op, uint64_t a, uint64_t b) {
  auto s = [](uint64_t v) { return static_cast<int64_t>(v); };
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "/") return s(b) == -1 ? 0 - a : static_cast<uint64_t>(s(a) / s(b));
  if (op == "%") return s(b) == -1 ? 0 : static_cast<uint64_t>(s(a) % s(b));
  if (op == "<<") return b > 63 ? 0 : a << b;
  if (op == ">>") return static_cast<uint64_t>(s(a) >> std::min<uint64_t>(b, 63));
  if (op == "&") return a & b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&&") return a && b;
  if (op == "||") return a || b;
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "<") return s(a) < s(b);
  if (op == "<=") return s(a) <= s(b);
  if (op == ">") return s(a) > s(b);
  return s(a) >= s(b);
}

constexpr int kMaxDepth = 64;

}  // namespace

Constant Cursor::unary(int depth) {
  if (depth > kMaxDepth) fail_here("a constant expression is nested too deeply");
  if (accept("+")) return unary(depth + 1);
  for (std::string_view op : {"-", "~", "!"}) {
    if (!accept(op)) continue;
    Constant value = unary(depth + 1);
    if (value.kind != Constant::Kind::kInteger) {
      if (op != "-") fail_here("'" + std::string(op) + "' applied to a floating-point literal");
      value.bits ^= value.kind == Constant::Kind::kFloat32 ? uint64_t{1} << 31 : uint64_t{1} << 63;
    } else {
      value.bits = op == "-" ? 0 - value.bits : op == "~" ? ~value.bits : uint64_t{value.bits == 0};
    }
    return value;
  }
  if (accept("(")) {
    if (at(".s64") || at(".u64")) {  // a cast: expressions have 64 bits anyway
      next();
      expect(")", "after a cast");
      return unary(depth + 1);
    }
    Constant value = binary(1, depth + 1);
    expect(")", "after a constant expression");
    return value;
  }
  if (accept("WARP_SZ")) return {Constant::Kind::kInteger, 32};
  const Token& token = peek();
  switch (token.kind) {
    case Token::Kind::kInteger:
      next();
      return {Constant::Kind::kInteger, token.value};
    case Token::Kind::kFloat32:
      next();
      return {Constant::Kind::kFloat32, token.value};
    case Token::Kind::kFloat64:
      next();
      return {Constant::Kind::kFloat64, token.value};
    default:
      fail_here("expected a number, " + found());
  }
}

Constant Cursor::binary(int lowest_priority, int depth) {
  Constant left = unary(depth);
  for (;;) {
    int level = priority(peek());
    if (level == 0 || level < lowest_priority) return left;
    std::string_view op = next().text;
    Constant right = binary(level + 1, depth + 1);
    if (left.kind != Constant::Kind::kInteger || right.kind != Constant::Kind::kInteger) {
      fail_here("an operator between floating-point literals");
    }
    if ((op == "/" || op == "%") && right.bits == 0)
      fail_here("a constant expression divides by zero");
    left.bits = apply(op, left.bits, right.bits);
  }
}

Constant Cursor::constant() {
  return binary(1, 0);
}

int64_t Cursor::integer(std::string_view what) {
  Constant value = constant();
  if (value.kind != Constant::Kind::kInteger)
    fail_here("expected " + std::string(what) + " to be an integer");
  return static_cast<int64_t>(value.bits);
}

}  // namespace warpsim::ptx
