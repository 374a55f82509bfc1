// Memory pools: where cudaMallocAsync takes memory from. What is allocated lies where other memory
// does; a pool keeps the books that programs ask for.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "cudart/abi.h"

namespace warpsim::cudart {

struct Pool {
  MemPoolProps props{};
  // By cudaMemPoolAttr: reuse by events, opportunistic, by internal dependencies; threshold.
  uint64_t reuse[3] = {1, 1, 1};
  uint64_t release_threshold = 0;
  uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  int access = 3;  // of the device: it may read and write

  // False if the pool may not become so large.
  bool take(uint64_t bytes);
  void give(uint64_t bytes) { used -= bytes; }
  // Memory that is not used goes back to the device, but for so many bytes.
  void trim(uint64_t kept);
};

class Pools {
 public:
  Pools();
  Pool* default_pool() { return default_.get(); }
  Pool* current() { return current_; }
  // Of memory that nodes of graphs allocate.
  Pool& of_graphs() { return of_graphs_; }
  // What such nodes own, whether it is allocated at the moment or not.
  void add_of_graphs(uint64_t address) { owned_by_graphs_.insert(address); }
  bool is_of_graphs(uint64_t address) const { return owned_by_graphs_.contains(address); }
  void set_current(Pool* pool) { current_ = pool; }
  Pool* make(const MemPoolProps& props);
  Pool* find(const void* handle);
  // What it has given out stays.
  bool destroy(const void* handle);

  void allocated(Pool* pool, uint64_t address, uint64_t bytes) { at_[address] = {pool, bytes}; }
  void released(uint64_t address);
  // The host has waited: pools keep no more than they were told to.
  void trim_all();

 private:
  struct Part {
    Pool* pool = nullptr;
    uint64_t bytes = 0;
  };
  std::unique_ptr<Pool> default_;
  Pool* current_ = nullptr;
  Pool of_graphs_;
  std::set<uint64_t> owned_by_graphs_;
  std::map<const void*, std::unique_ptr<Pool>> made_;
  std::map<uint64_t, Part> at_;
};

}  // namespace warpsim::cudart
