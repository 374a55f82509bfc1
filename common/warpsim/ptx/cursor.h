// A place in the token stream, and the constant expressions that may stand wherever PTX wants a
// number.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "warpsim/ptx/lexer.h"

namespace warpsim::ptx {

// The value of a literal or a constant expression.
struct Constant {
  enum class Kind : uint8_t { kInteger, kFloat32, kFloat64 };
  Kind kind = Kind::kInteger;
  uint64_t bits = 0;  // integers in 64-bit two's complement; kFloat32 in the low 32 bits
};

class Cursor {
 public:
  // `tokens` ends with kEnd; both arguments outlive the cursor.
  Cursor(const std::vector<Token>& tokens, const std::string& name)
      : tokens_(tokens), name_(name) {}

  const Token& peek(size_t ahead = 0) const;
  const Token& next();  // stays at kEnd
  bool at_end() const { return peek().kind == Token::Kind::kEnd; }
  bool at(std::string_view text) const { return peek().is(text); }
  bool at(Token::Kind kind) const { return peek().kind == kind; }
  bool accept(std::string_view text);  // steps over `text` if it is next

  // Step over what must come next, or fail with "expected TEXT WHERE, found ...".
  void expect(std::string_view text, std::string_view where);
  std::string_view expect_name(std::string_view what);
  uint64_t expect_integer(std::string_view what);  // one literal, no expression

  // A constant expression with the operators of C on 64-bit integers; a float literal may carry a
  // sign but no operator.
  Constant constant();
  int64_t integer(std::string_view what);  // constant() that must be an integer

  // From `{`, `(` or `[` to behind its match. Steps over ordinary tokens up to `;` and beyond it.
  void skip_balanced();
  void skip_statement();

  [[noreturn]] void fail_here(const std::string& what) const { fail(name_, peek().line, what); }
  std::string found() const;  // "found 'x'" for messages
  const std::string& module_name() const { return name_; }

 private:
  Constant binary(int lowest_priority, int depth);
  Constant unary(int depth);

  const std::vector<Token>& tokens_;
  const std::string& name_;
  size_t position_ = 0;
};

}  // namespace warpsim::ptx
