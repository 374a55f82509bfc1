#include "warpsim/observe/barrier.h"

#include "warpsim/exec/worker.h"

namespace warpsim {

namespace {

std::string first_thread(const Warp& w, uint32_t lanes) {
  return thread_name(*w.worker->launch, w.index * kLanes + uint32_t(__builtin_ctz(lanes)));
}

uint32_t any_lane(const Warp& w) {
  return w.mask != 0 ? uint32_t(__builtin_ctz(w.mask)) : 0;
}

Image::InstructionRef place_of(const Warp& w, const Op* op) {
  return w.worker->image->barriers[op->aux];
}

Diagnostic* add(Fault fault, const Warp& w, const Op* op, uint32_t lane) {
  const Image::InstructionRef place = place_of(w, op);
  return w.worker->reporter.add(fault, w, lane, place.function, place.instruction);
}

// The line at which lanes that do not run now will go on, or 0.
uint32_t waiting_line(const Warp& w, uint32_t lanes) {
  const Image& image = *w.worker->image;
  for (auto path = w.paths.rbegin(); path != w.paths.rend() && !path->is_call; ++path) {
    if (!(path->mask & lanes) || path->at == nullptr) continue;
    const auto function = uint32_t(w.program - image.programs.data());
    return image.instruction(function, path->at->instruction).where.line;
  }
  return 0;
}

}  // namespace

void report_missing_lanes(const Warp& w, const Op* op, uint32_t missing) {
  Diagnostic* d = add(Fault::kBarrierDivergence, w, op, uint32_t(__builtin_ctz(missing)));
  if (d == nullptr) return;
  const uint32_t line = waiting_line(w, missing);
  d->message =
      "not all threads of the warp reach this barrier together: " + first_thread(w, missing) +
      " does not" + (line != 0 ? ", it goes on at line " + std::to_string(line) : "");
}

void report_different_lines(const Warp& w, const Warp& other) {
  const Image& image = *w.worker->image;
  const Image::InstructionRef here = place_of(w, w.barrier_op);
  const Image::InstructionRef there = place_of(other, other.barrier_op);
  const ptx::SourceLine line = image.instruction(here.function, here.instruction).where;
  const ptx::SourceLine other_line = image.instruction(there.function, there.instruction).where;
  const bool same = line.line == other_line.line && line.file == other_line.file;
  if (line.line == 0 || other_line.line == 0 || same) return;
  Diagnostic* d = add(Fault::kBarrierDivergence, w, w.barrier_op, any_lane(w));
  if (d == nullptr) return;
  w.worker->reporter.set_line(d, true, there.function, there.instruction);
  d->other_block = d->block;
  d->other_thread = w.worker->launch->thread_of(other.index * kLanes + any_lane(other));
  d->message = "waits at this barrier while " + first_thread(other, other.mask) +
               " waits at the one of line " + std::to_string(other_line.line) +
               ": all threads of a block have to reach the same __syncthreads()";
}

bool warn_about_exited(const Warp& waiting) {
  for (const Warp& other : waiting.worker->warps) {
    const uint32_t left = other.exited & other.started;
    if (left == 0) continue;
    Diagnostic* d =
        add(Fault::kExitedBeforeBarrier, waiting, waiting.barrier_op, any_lane(waiting));
    if (d == nullptr) return true;
    d->severity = Severity::kWarning;
    d->message = first_thread(other, left) +
                 " of the block returned before this barrier, so it does not take part in it";
    return true;
  }
  return false;
}

std::string report_waiting_for_ever(const Warp& w) {
  const std::string text = "the warps of a block wait at barrier " + std::to_string(w.barrier_id) +
                           " for ever: the other warps wait elsewhere or have finished";
  Diagnostic* d = add(Fault::kBarrierDivergence, w, w.barrier_op, any_lane(w));
  if (d != nullptr) d->message = text;
  return text;
}

}  // namespace warpsim
