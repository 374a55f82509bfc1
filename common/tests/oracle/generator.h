// The writer of random programs, one statement a method; see generate.h. generate.cpp has the
// program around the statements, statements.cpp what a thread may do alone, exchanges.cpp and
// tiles.cpp what all threads of a block do together.

#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/oracle/generate.h"
#include "tests/oracle/operations.h"

namespace oracle {

constexpr int kFunctions = 3;  // function0, function1, ...: callable from the kernel

class Generator : RandomText {
 public:
  Generator(uint32_t seed, const GeneratorOptions& options)
      : RandomText(seed), left_(options.statements) {}

  Program run();

 private:
  void line(const std::string& text) { text_ += "\t" + text + ";\n"; }
  std::string label() { return "$L" + std::to_string(labels_++); }

  // generate.cpp
  std::array<uint32_t, 3> block();
  void function(int number);
  void kernel();
  void declare_registers();
  void prologue();
  void epilogue();
  void store_results();
  void statements(uint32_t count, int depth);  // depth: of branches and loops around them, 0: none
  void statement(int depth);

  // statements.cpp
  void compute();
  void load_input();
  void load_constant();
  void local_memory();
  void unpack();
  void carry();
  void two_predicates();
  void count();
  void extreme();
  void own_atomic();
  void branch(int depth);
  void loop(int depth);
  void table_branch(int depth);
  void call();
  std::string distinct(char letter, std::vector<std::string>* used);

  // exchanges.cpp
  void collective();
  void shuffle();
  void vote();
  void exchange();
  void shared_counter();
  void block_vote();
  void uniform_loop();
  void masked();
  void early_return();

  // tiles.cpp
  void tiles();
  void tile_address(const std::string& to);
  void fill_tile(bool by_fours);
  void read_tile();
  std::string four_floats();

  uint32_t left_;  // statements still to be written; when there are none, only arithmetic follows
  uint32_t threads_ = 0;
  bool whole_warps_ = true;  // the block has no part of a warp
  std::string text_;
  int labels_ = 0;
  bool together_ = true;  // uniform loops are allowed
  bool in_function_ = false;
};

}  // namespace oracle
