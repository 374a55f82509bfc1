// One thread block in the oracle: threads, their frames, and the places where they wait for each
// other.

#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tests/oracle/arithmetic.h"
#include "tests/oracle/oracle.h"

namespace oracle {

// Where the generic address space has its windows onto shared and local memory.
constexpr uint64_t kSharedWindow = 0x7E0000000000, kLocalWindow = 0x7D0000000000,
                   kWindowBytes = 1 << 24;

// One activation of a function.
struct Frame {
  const warpsim::ptx::Function* function = nullptr;
  size_t pc = 0;                    // the next instruction
  std::vector<uint64_t> registers;  // bits, cut to the register's width; see read_register
  std::vector<bool> written;        // per register
  std::map<int32_t, std::vector<uint8_t>>
      params;               // .param variables by index into Module::variables
  uint64_t local_base = 0;  // of its .local variables in the thread's local memory
  bool carry = false;
};

struct Thread {
  Dim index{};
  uint32_t number = 0;  // x + y * ntid.x + ...; lane = number % 32
  std::vector<Frame> frames;
  std::vector<uint8_t> local;
  // The instruction it waits at, with the bits of its sources; nullptr: it runs.
  const warpsim::ptx::Instruction* waiting = nullptr;
  Sources operands;
  bool done = false;
};

// What does not change while a launch runs.
struct World {
  const warpsim::ptx::Module& module;
  const Launch& launch;
  Memory* memory;
  std::vector<uint64_t> addresses;  // per variable: in its space; local variables: in their frame
  uint64_t shared_bytes = 0;        // static and dynamic
};

class Block {
 public:
  Block(const World& world, Dim index);
  void run();

 private:
  // interpreter.cpp: runs until the thread is done or waits.
  void run_thread(Thread* thread);
  void step(Thread* thread);
  bool guarded_out(const Frame& frame, const warpsim::ptx::Instruction& i) const;
  void control(Thread* thread, const warpsim::ptx::Instruction& i);
  void call(Thread* thread, const warpsim::ptx::Instruction& i);
  void leave(Thread* thread);
  void compute(Thread* thread, const warpsim::ptx::Instruction& i);
  void compute_predicates(Thread* thread, const warpsim::ptx::Instruction& i);
  void move(Thread* thread, const warpsim::ptx::Instruction& i);
  uint64_t value(Thread* thread, const warpsim::ptx::Operand& operand);
  uint64_t symbol_address(Thread* thread, int32_t symbol) const;
  uint64_t special(const Thread& thread, warpsim::ptx::Special special) const;
  static uint64_t read_register(const Frame& frame,
                                int32_t index);  // Undefined if nothing was written
  static void put(Frame* frame, const warpsim::ptx::Operand& operand, uint64_t bits);

  // memory_access.cpp
  void access(Thread* thread, const warpsim::ptx::Instruction& i);
  void load(Thread* thread, const warpsim::ptx::Instruction& i);
  void store(Thread* thread, const warpsim::ptx::Instruction& i);
  void atomic(Thread* thread, const warpsim::ptx::Instruction& i);
  void copy_async(Thread* thread, const warpsim::ptx::Instruction& i);
  uint64_t read(Thread* thread, warpsim::ptx::Space space, const warpsim::ptx::Operand& address,
                uint64_t offset, uint32_t bytes);
  void write(Thread* thread, warpsim::ptx::Space space, const warpsim::ptx::Operand& address,
             uint64_t offset, uint64_t bits, uint32_t bytes);
  uint64_t effective_address(Thread* thread, warpsim::ptx::Space space,
                             const warpsim::ptx::Operand& address, uint64_t offset,
                             uint32_t bytes) const;
  uint8_t* inside(std::vector<uint8_t>* memory, uint64_t offset, uint32_t bytes) const;
  uint8_t* own_place(Thread* thread, warpsim::ptx::Space space,
                     const warpsim::ptx::Operand& address, uint64_t at, uint32_t bytes);

  // collectives.cpp: true if somebody could go on.
  bool release_warps();
  bool release_group(uint32_t first_thread, uint32_t lane);
  void exchange(const std::vector<Thread*>& group, uint32_t warp_first);
  bool release_barriers();
  void resume(Thread* thread, size_t destination, uint64_t bits);

  const World& world_;
  Dim index_;
  std::vector<Thread> threads_;
  std::vector<uint8_t> shared_;
  std::map<uint64_t, uint32_t> arrived_;  // bar.arrive so far, by barrier
  uint64_t steps_ = 0;
};

}  // namespace oracle
