// Text -> tokens. Comments, layout and line ends vanish; every token knows its line.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpsim::ptx {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kName,         // tiled, %r1, $L__BB0_2, _
    kDotted,       // .global, .L2::128B: the dot belongs to the text
    kInteger,      // value
    kFloat32,      // 0f3F800000: value has the bits
    kFloat64,      // 0d3FF0000000000000 or 1.5: value has the bits
    kString,       // text without the quotes
    kPunctuation,  // one of ( ) [ ] { } , ; : = @ | & ! ~ + - * / % < > ^ ? or a pair such as <<
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  // points into the source text
  uint64_t value = 0;
  uint32_t line = 0;  // 1-based

  bool is(std::string_view what) const { return kind != Kind::kString && text == what; }
};

// The last token is kEnd. Throws ParseError for a character, number or string that PTX does not
// have; `name` is the module's. The tokens point into `text`, which must outlive them.
std::vector<Token> tokenize(std::string_view text, const std::string& name);

// The one form of all parse errors: "NAME, line 12 of its PTX: WHAT".
[[noreturn]] void fail(const std::string& name, uint32_t line, const std::string& what);

}  // namespace warpsim::ptx
