#include "warpsim/ptx/lexer.h"

#include <bit>
#include <charconv>

#include "warpsim/ptx/parser.h"

namespace warpsim::ptx {

void fail(const std::string& name, uint32_t line, const std::string& what) {
  throw ParseError(name + ", line " + std::to_string(line) + " of its PTX: " + what, line);
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_name_start(char c) {
  return is_letter(c) || c == '_' || c == '$';
}
bool is_name_char(char c) {
  return is_name_start(c) || is_digit(c);
}

// Value of a digit in any base up to 16, 16 if it is none.
int digit_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

class Lexer {
 public:
  Lexer(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text_.size() / 4);
    while (skip_blank()) tokens.push_back(next());
    Token end;
    end.line = line_;
    tokens.push_back(end);
    return tokens;
  }

 private:
  char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }

  // Moves to the next token; false at the end of the text. A NUL ends the text, as in a fatbinary.
  bool skip_blank() {
    while (position_ < text_.size() && peek() != '\0') {
      char c = peek();
      if (c == '\n') {
        ++line_;
        ++position_;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        ++position_;
      } else if (c == '/' && peek(1) == '/') {
        while (position_ < text_.size() && peek() != '\n') ++position_;
      } else if (c == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  void skip_block_comment() {
    uint32_t first = line_;
    size_t end = text_.find("*/", position_ + 2);
    if (end == std::string_view::npos) fail(name_, first, "a comment that begins here never ends");
    for (; position_ < end + 2; ++position_) line_ += peek() == '\n';
  }

  Token take(Token::Kind kind, size_t length, uint64_t value = 0) {
    Token token{kind, text_.substr(position_, length), value, line_};
    position_ += length;
    return token;
  }

  Token next() {
    char c = peek();
    if (is_name_start(c) || (c == '%' && is_name_start(peek(1)))) return name();
    if (c == '.' && (is_name_char(peek(1)))) return dotted();
    if (is_digit(c)) return number();
    if (c == '"') return string();
    for (std::string_view pair : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"}) {
      if (text_.substr(position_, 2) == pair) return take(Token::Kind::kPunctuation, 2);
    }
    if (std::string_view("()[]{},;:=@|&!~+-*/%<>^?").find(c) != std::string_view::npos) {
      return take(Token::Kind::kPunctuation, 1);
    }
    fail(name_, line_,
         "the character with code " + std::to_string(static_cast<unsigned char>(c)) +
             " has no place in PTX");
  }

  Token name() {
    size_t length = 1;
    while (is_name_char(peek(length))) ++length;
    return take(Token::Kind::kName, length);
  }

  Token dotted() {
    size_t length = 1;
    while (is_name_char(peek(length)) ||
           (peek(length) == ':' && peek(length + 1) == ':' && is_name_char(peek(length + 2))) ||
           (peek(length) == ':' && peek(length - 1) == ':')) {
      ++length;
    }
    return take(Token::Kind::kDotted, length);
  }

  Token string() {
    size_t length = 1;
    while (peek(length) != '"') {
      if (peek(length) == '\0' || peek(length) == '\n') {
        fail(name_, line_, "a string that begins here has no closing quote");
      }
      length +=
          peek(length) == '\\' && peek(length + 1) != '\0' && peek(length + 1) != '\n' ? 2 : 1;
    }
    Token token{Token::Kind::kString, text_.substr(position_ + 1, length - 1), 0, line_};
    position_ += length + 1;
    return token;
  }

  // 12, 12U, 0x1F, 0b101, 017, 0f3F800000, 0d3FF0000000000000, 1.5, 1e9
  Token number() {
    char second = peek(1);
    if (peek() == '0' && (second == 'f' || second == 'F')) return bits(Token::Kind::kFloat32, 8);
    if (peek() == '0' && (second == 'd' || second == 'D')) return bits(Token::Kind::kFloat64, 16);
    if (peek() == '0' && (second == 'x' || second == 'X')) return integer(16, 2);
    if (peek() == '0' && (second == 'b' || second == 'B')) return integer(2, 2);
    size_t length = 0;
    while (is_digit(peek(length))) ++length;
    bool exponent =
        (peek(length) == 'e' || peek(length) == 'E') &&
        (is_digit(peek(length + 1)) || peek(length + 1) == '-' || peek(length + 1) == '+');
    if ((peek(length) == '.' && is_digit(peek(length + 1))) || exponent) return decimal_fraction();
    return integer(peek() == '0' ? 8 : 10, 0);
  }

  Token bits(Token::Kind kind, size_t digits) {
    uint64_t value = 0;
    size_t length = 2;
    for (; digit_value(peek(length)) < 16; ++length) value = value << 4 | digit_value(peek(length));
    if (length != digits + 2 || is_name_char(peek(length))) {
      fail(name_, line_,
           "a floating-point literal needs exactly " + std::to_string(digits) +
               " hexadecimal digits");
    }
    return take(kind, length, value);
  }

  Token integer(int base, size_t prefix) {
    uint64_t value = 0;
    size_t length = prefix;
    for (; digit_value(peek(length)) < base; ++length) {
      uint64_t digit = digit_value(peek(length));
      if (value > (UINT64_MAX - digit) / base)
        fail(name_, line_, "an integer literal exceeds 64 bits");
      value = value * base + digit;
    }
    if (length == prefix) fail(name_, line_, "a number has a prefix but no digits");
    if (peek(length) == 'U' || peek(length) == 'u') ++length;
    if (is_name_char(peek(length)))
      fail(name_, line_, "a number is followed by letters or digits that do not belong to it");
    return take(Token::Kind::kInteger, length, value);
  }

  Token decimal_fraction() {
    size_t length = 0;
    while (is_digit(peek(length)) || peek(length) == '.') ++length;
    if (peek(length) == 'e' || peek(length) == 'E') {
      length += peek(length + 1) == '-' || peek(length + 1) == '+' ? 2 : 1;
      while (is_digit(peek(length))) ++length;
    }
    std::string_view digits = text_.substr(position_, length);
    double value = 0;
    auto [end, error] = std::from_chars(digits.data(), digits.data() + length, value);
    if (error != std::errc{} || end != digits.data() + length) {
      fail(name_, line_, "'" + std::string(digits) + "' is not a number");
    }
    return take(Token::Kind::kFloat64, length, std::bit_cast<uint64_t>(value));
  }

  std::string_view text_;
  const std::string& name_;
  size_t position_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, const std::string& name) {
  return Lexer(text, name).run();
}

}  // namespace warpsim::ptx
