// Single random instructions: the table of what is generated, and the operands.

#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace oracle {

// How many registers of a kind a program has: %r 32 bits, %d 64 bits, %h 16 bits, %f f32, %g f64,
// %p predicates.
constexpr int kWords = 8, kDoubles = 6, kHalves = 4, kFloats = 6, kReals = 4, kPredicates = 6;

class RandomText {
 public:
  explicit RandomText(uint32_t seed) : random_(seed) {}

  uint32_t below(uint32_t end) { return random_() % end; }
  bool chance(uint32_t percent) { return below(100) < percent; }

  // One of `count` registers.
  std::string name(const char* prefix, int count) {
    return prefix + std::to_string(below(static_cast<uint32_t>(count)));
  }
  // An operand of the kind the letter stands for (see operations.cpp); another letter is itself.
  std::string operand(char letter);
  // The pattern with one of the words in each {a|b}.
  std::string choose(std::string_view pattern);
  // One whole instruction, without guard and semicolon.
  std::string operation();

 private:
  std::string word_literal();
  std::string float_literal();
  std::string double_literal();

  std::mt19937 random_;
};

}  // namespace oracle
