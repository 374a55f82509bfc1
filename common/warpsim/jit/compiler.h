// Compiles an image's functions once a launch has proved to be long, and gives its workers engines
// that run the code. Small launches never get here: they stay with the interpreter.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "warpsim/machine/engine.h"
#include "warpsim/machine/image.h"

namespace warpsim::jit {

struct CompiledImage;

class Compiler final : public EngineSource {
 public:
  // Must not outlive the image, nor its present decoding.
  explicit Compiler(const Image& image);
  ~Compiler() override;
  // nullptr: compiled code cannot be had here (see why_not).
  std::unique_ptr<Engine> engine_for(Worker& worker) override;
  // Whether there is code for the function already.
  bool has_code_for(int32_t function) const;

 private:
  std::unique_ptr<Engine> make_engine(Worker& worker);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Empty if kernels are compiled here; else why not, in a sentence without a full stop.
std::string why_not();
// Whether compiled code has vectors of 512 bits. Shuffles between lanes are compiled only then.
bool has_wide_vectors();

}  // namespace warpsim::jit
