// What may run warps in the interpreter's place: compiled code (jit/). Whatever it does is what the
// interpreter would have done: the same values, findings and counters.

#pragma once

#include <memory>

namespace warpsim {

struct Op;
struct Warp;
struct Worker;

// Belongs to one worker.
class Engine {
 public:
  virtual ~Engine() = default;
  // Runs the warp from `op` until it stops, as the interpreter's loop does. Where it stops at a
  // barrier, warps that come behind it in the block may have had their turns too, and then all
  // again from the first one on (Worker::began_round), with all that belongs to a turn: returned is
  // the one that stopped last, whose turn is not accounted for yet.
  virtual Warp& run(Warp& warp, const Op* op) = 0;
  // Hands the worker what has been counted apart. After it the worker's patterns may be dropped.
  virtual void settle() = 0;
};

// Makes engines for the workers of one image's launches; called by several workers at once.
class EngineSource {
 public:
  virtual ~EngineSource() = default;
  // nullptr: this launch is for the interpreter.
  virtual std::unique_ptr<Engine> engine_for(Worker& worker) = 0;
};

}  // namespace warpsim
