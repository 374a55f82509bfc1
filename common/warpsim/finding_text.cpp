#include "warpsim/finding_text.h"

#include <fmt/format.h>

#include "warpsim/finding_words.h"

namespace warpsim {

using namespace words;

namespace {

constexpr uint64_t kLaunchFailed = 719;  // CUDA_ERROR_LAUNCH_FAILED

// "P[3][7]".
std::string element_text(const Diagnostic& d) {
  std::string text = d.array;
  for (uint32_t index : d.element) text += "[" + std::to_string(index) + "]";
  return text;
}

std::string global_place(const Diagnostic& d) {
  std::string text = d.array + " at byte " + std::to_string(d.offset_bytes);
  if (d.offset_bytes >= 0 && d.access_bytes > 0)
    text += fmt::format(" (element {})", d.offset_bytes / d.access_bytes);
  return text;
}

std::string out_of_bounds(const Diagnostic& d) {
  const std::string what = std::string(verb(d)) + " " + bytes_text(d.access_bytes);
  switch (d.cause) {
    case Cause::kNoArray:
      return fmt::format("{} of shared memory at byte {}, but the kernel has no shared array", what,
                         d.offset_bytes);
    case Cause::kNullPointer:
      return what + " through a null pointer";
    case Cause::kHostPointer:
    case Cause::kNoAllocation:
      return what + " at an address that is no device memory";
    case Cause::kAddressSpace:
      return what + " with an instruction for " +
             (d.space == MemorySpace::kShared ? "shared" : "constant") +
             " memory, but the address is not there" +
             (d.array.empty() ? "" : ": it is in " + d.array);
    case Cause::kConstantMemory:
      return "writes to " + d.array + ", which is constant memory";
    case Cause::kOutsideTexture:
    case Cause::kOutsideSurface:
    case Cause::kNoTexture:
    case Cause::kTextureKind:
      return texture_fault(d);
    case Cause::kFreed:
      return what + " of " + global_place(d) + ", after it was freed";
    default:
      break;
  }
  const bool before = d.cause == Cause::kBeforeStart;
  if (d.space == MemorySpace::kShared) {
    return fmt::format("{} at {}, {}: the array has {}", what, place_text(d),
                       before ? "before its beginning" : "past its end", bytes_text(d.array_bytes));
  }
  if (d.space == MemorySpace::kLocal) {
    return fmt::format("{} of the thread's local memory at byte {}, which has {}", what,
                       d.offset_bytes, bytes_text(d.array_bytes));
  }
  if (d.access_bytes == 0) {  // on a GPU: seen afterwards, in the fences around the arrays
    return fmt::format("{} bytes beside {} were overwritten, the first {} bytes {} its {}.",
                       d.amount, d.array, before ? d.beyond_bytes : d.beyond_bytes - 1,
                       before ? "before" : "past", before ? "start" : "end");
  }
  return what + " of " + global_place(d) + ", which has " + bytes_text(d.array_bytes);
}

std::string uninitialised(const Diagnostic& d) {
  if (d.space == MemorySpace::kGlobal)
    return "reads " + bytes_text(d.access_bytes) + " of " + global_place(d) +
           ", which nobody has written";
  const std::string read = "reads " + bytes_text(d.access_bytes) + " at " + place_text(d);
  if (d.cause == Cause::kCopyInFlight)
    return read + ": the asynchronous copy issued" + line_text(d) + " has not been waited for";
  return read + ": nobody has written it since the block began";
}

std::string race(const Diagnostic& d, const Extents& shape) {
  const Party other = d.other.value_or(Party{});
  const bool shared = d.space == MemorySpace::kShared;
  const char* did = !other.writes()                               ? "read"
                    : shared && other.access == AccessKind::kCopy ? "copied to"
                                                                  : "wrote";
  const std::string mine =
      shared && d.access == AccessKind::kCopy ? "copies to" : std::string(verb(d));
  const std::string where =
      shared ? place_text(d) : d.array + " at byte " + std::to_string(d.offset_bytes);
  std::string who = thread_name(other, shape);
  if (d.scope == Scope::kGrid) who = block_name(other.block, shape) + " " + who;
  const char* missing =
      d.scope == Scope::kGrid   ? " in the same launch: blocks run in no particular order"
      : d.scope == Scope::kWarp ? ", with no __syncthreads() or __syncwarp() between"
                                : ", with no __syncthreads() between";
  return mine + " " + where + ", which " + who + " " + did + line_text(d) + missing;
}

std::string barrier(const Diagnostic& d, const Extents& shape) {
  const Party other = d.other.value_or(Party{});
  switch (d.cause) {
    case Cause::kAnotherBarrier:
      return fmt::format(
          "waits at this barrier while {} waits at the one of line {}: what happens then is "
          "undefined "
          "by the CUDA programming guide (all threads of a block have to reach the same "
          "__syncthreads()), although GPUs of today count arrivals and go on",
          thread_name(other, shape), other.line);
    case Cause::kExited:
      return thread_name(other, shape) +
             " of the block returned before this barrier, so it does not take part in it";
    case Cause::kNeverComplete:
      return fmt::format(
          "the warps of a block wait at barrier {} for ever: the other warps wait elsewhere or "
          "have "
          "finished",
          d.amount);
    default:
      return fmt::format(
          "not all threads of the warp reach this barrier together: {} does not{}",
          thread_name(other, shape),
          other.line != 0 ? ", it goes on at line " + std::to_string(other.line) : "");
  }
}

// Instructions of tensor cores and their fragments: they take no mask, and want the whole warp.
bool is_of_the_whole_warp(std::string_view instruction) {
  return instruction.starts_with("mma") || instruction.starts_with("wmma") ||
         instruction.starts_with("ldmatrix") || instruction.starts_with("stmatrix") ||
         instruction.starts_with("movmatrix");
}

std::string wrong_mask(const Diagnostic& d, const Extents& shape) {
  const std::string other = thread_name(d.other.value_or(Party{}), shape);
  if (is_of_the_whole_warp(d.words)) {
    const bool goes_on = d.other && d.other->line != 0;
    return d.words.substr(0, d.words.find('.')) +
           " is an instruction of all 32 lanes of a warp, and " + other + " does not take part" +
           (goes_on ? ": it goes on at line " + std::to_string(d.other->line) : "");
  }
  const std::string mask = fmt::format("the mask 0x{:08x} of {}", d.amount, d.words);
  switch (d.cause) {
    case Cause::kNotNamed:
      return mask + " does not name the thread that calls it";
    case Cause::kAnotherMask:
      return mask + " names " + other + ", which gives another mask";
    default:
      return mask + " names " + other + ", which does not take part" +
             (d.other && d.other->line != 0
                  ? ": it goes on at line " + std::to_string(d.other->line)
                  : "");
  }
}

std::string misaligned(const Diagnostic& d) {
  if (d.cause != Cause::kNone) return refused_copy(d);
  std::string text = fmt::format("{} {} at an address that is not a multiple of {}", verb(d),
                                 bytes_text(d.access_bytes), d.access_bytes);
  return d.array.empty() ? text : text + ": " + place_text(d);
}

std::string timeout(const Diagnostic& d) {
  if (d.cause == Cause::kTimeLimit) {
    return fmt::format(
        "{} had not ended after {} s: does a loop never end?",
        d.kernel.empty() ? "What solve asked for, copies and launches together," : d.kernel,
        d.limit);
  }
  if (d.cause == Cause::kLocalMemory) {
    return fmt::format(
        "the launch was stopped after {} warp instructions: each thread has {} bytes of local "
        "memory, which makes every one of them slow; make the arrays that its threads declare "
        "smaller",
        d.limit, d.amount);
  }
  if (d.cause == Cause::kManyWarps) {
    return fmt::format(
        "the launch was stopped after {} warp instructions, its budget: its {} warps do far more "
        "work than the product needs, though none of them seems to run without end",
        d.limit, d.amount);
  }
  return fmt::format("the launch used up its budget of {} warp instructions: a loop without end?",
                     d.limit);
}

std::string stream_name(const Party& p) {
  return p.stream == 0 ? "the default stream" : "stream " + std::to_string(p.stream);
}

// "tiled in stream 2".
std::string work_name(const Party& p) {
  return p.operation + (p.line != 0 ? fmt::format(" (line {})", p.line) : "") + " in " +
         stream_name(p);
}

std::string unordered(const Diagnostic& d) {
  const Party other = d.other.value_or(Party{});
  const std::string place =
      d.array.empty() ? "memory" : d.array + " at byte " + std::to_string(d.offset_bytes);
  switch (d.cause) {
    case Cause::kHostRead:
      return fmt::format(
          "the host reads {} bytes of what the {} brings from {} before it has waited for it: "
          "cudaStreamSynchronize() or its like is missing between",
          d.amount, work_name(other), d.array);
    case Cause::kHostWrote:
      return fmt::format(
          "the host changes the memory that the {} reads before it has waited for it: "
          "cudaStreamSynchronize() or its like is missing between",
          work_name(other));
    case Cause::kSolveReturned:
      return fmt::format(
          "solve returns before the {} has been waited for: its caller reads {} at once",
          work_name(other), d.array);
    case Cause::kBegunEarly:
      return fmt::format(
          "{} {} {}, which {} {}: it may begin before that launch has ended (programmatic stream "
          "serialization), and has not waited for it; cudaGridDependencySynchronize() before this "
          "access would",
          work_name(d), verb(d), place, work_name(other), other.writes() ? "writes" : "reads");
    default:
      return fmt::format(
          "{} {} {}, which {} {}: nothing orders the two; an event, one stream for both or a wait "
          "of the host would",
          work_name(d), verb(d), place, work_name(other), other.writes() ? "writes" : "reads");
  }
}

// A copy to the host of memory that nobody has written.
std::string never_written(const Diagnostic& d) {
  const std::string copy = fmt::format("copies {} of {} to the host", bytes_text(d.limit), d.array);
  if (d.cause == Cause::kAllUnwritten) return copy + ", and nobody has written any of them";
  if (d.cause == Cause::kPadding) {
    return fmt::format(
        "{}; nobody has written {} of them, {} in each {}: padding of a structure, or a member "
        "that "
        "is left out",
        copy, d.amount, d.beyond_bytes, d.element_bytes);
  }
  return fmt::format("{}; nobody has written {} of them, the first at byte {}", copy, d.amount,
                     d.offset_bytes);
}

std::string unchecked(const Diagnostic& d) {
  if (d.cause == Cause::kFaultNotSeen) {
    return d.kernel +
           " was stopped, and the program ends without a call that would say so: "
           "cudaDeviceSynchronize() or its like is missing after the launch";
  }
  return "the launch of " + d.kernel +
         " failed, and the program never asks: cudaGetLastError() is missing after it";
}

std::string leak(const Diagnostic& d) {
  if (d.limit == 1) return fmt::format("{} ({}) is never freed", d.array, bytes_text(d.amount));
  return fmt::format("{} allocations ({}) are never freed, the first is {}", d.limit,
                     bytes_text(d.amount), d.array);
}

std::string by_sides(const std::array<uint32_t, 3>& sides) {
  return fmt::format("{}", fmt::join(sides, "x"));
}

// A launch that was not carried out.
std::string refused(const Diagnostic& d) {
  const Refusal r = d.refusal.value_or(Refusal{});
  const char axis = "xyz"[r.axis];
  switch (d.cause) {
    case Cause::kZeroExtent:
      return fmt::format("The {} has 0 in {}: every dimension of grid and block is at least 1.",
                         r.is_grid ? "grid" : "block", axis);
    case Cause::kBlockThreads:
      return fmt::format("A block of {} = {} threads: at most {} threads fit in a block.",
                         by_sides(r.block), d.amount, d.limit);
    case Cause::kBlockExtent:
      return fmt::format("The block has {} threads in {}: at most {}.", d.amount, axis, d.limit);
    case Cause::kGridExtent:
      return fmt::format("The grid has {} blocks in {}: at most {}.", d.amount, axis, d.limit);
    case Cause::kSharedMemory:
      if (r.is_static) {
        return fmt::format(
            "The kernel declares {} bytes of static shared memory: at most {}, larger tiles need "
            "dynamic shared memory.",
            d.amount, d.limit);
      }
      return fmt::format("The block asks for {} bytes of shared memory: {} has at most {} a block.",
                         d.amount, r.device, d.limit);
    case Cause::kSharedGranted:
      return fmt::format(
          "The launch asks for {} bytes of dynamic shared memory, cudaFuncSetAttribute granted {}.",
          d.amount, d.limit);
    case Cause::kSharedNotAsked:
      return fmt::format(
          "The block asks for {} bytes of shared memory: above {} a kernel must first ask for more "
          "with cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes).",
          d.amount, d.limit);
    case Cause::kRegisters:
      return fmt::format("{} threads with {} registers each need {} registers: a block has {}.",
                         uint64_t{r.block[0]} * r.block[1] * r.block[2], r.registers, d.amount,
                         d.limit);
    case Cause::kLaunchBounds:
      return fmt::format("A block of {} threads, but __launch_bounds__ promises at most {}.",
                         d.amount, d.limit);
    case Cause::kRequiredBlock:
      return fmt::format("A block of {}, but the kernel is made for blocks of {}.",
                         by_sides(r.block), by_sides(r.required_block));
    case Cause::kNoKernel:
      return "The module has no kernel " + d.kernel + ".";
    default:
      return "The GPU refused the launch: " + d.words + ".";
  }
}

// Threads that wait in loops for each other, or for a block that cannot begin.
std::string deadlock(const Diagnostic& d, const Extents& shape) {
  if (d.cause != Cause::kNone) return waits_for_phase(d, shape);
  std::string text =
      "waits in a loop for a value that no running thread will write: all threads of ";
  text += d.amount == 1 ? "the one block that runs wait"
                        : fmt::format("the {} blocks that run wait", d.amount);
  if (d.limit != 0)
    text +=
        fmt::format(", and the device has no room for the {} blocks that have not begun", d.limit);
  else if (!d.other)
    text += ", and the host goes on only when the launch has ended";
  if (d.other && d.other->line != 0)
    text +=
        fmt::format("; thread {} of {} waits at line {}", coordinates(d.other->thread, shape.block),
                    block_name(d.other->block, shape), d.other->line);
  return text;
}

// What the GPU's driver said, and what that means.
std::string of_driver(const Diagnostic& d) {
  const char* meaning = "The GPU stopped the kernel.";
  switch (d.code) {
    case Code::kOutOfBoundsGlobal:
      meaning = "The kernel accessed an address that belongs to no array, and the GPU stopped it.";
      break;
    case Code::kMisalignedAccess:
      meaning = "The kernel accessed an address that is no multiple of the access's size.";
      break;
    case Code::kAssert:
      meaning = "A device assert failed.";
      break;
    case Code::kTimeout:
      meaning = "The kernel ran longer than the GPU allows.";
      break;
    default:
      if (d.amount != kLaunchFailed) break;
      meaning =
          "The GPU stopped the kernel (unspecified launch failure): most often an access outside "
          "shared or local memory, or a trap.";
  }
  return std::string(meaning) + " The driver said " + d.words +
         ". Run it with --backend sim to see the line.";
}

std::string unwritten(const Diagnostic& d) {
  if (d.amount == d.limit) return "No element of P was written.";
  if (d.amount == 1)
    return fmt::format("One of {} elements of {} was never written: {}.", d.limit, d.array,
                       element_text(d));
  return fmt::format("{} of {} elements of {} were never written, the first is {}.", d.amount,
                     d.limit, d.array, element_text(d));
}

}  // namespace

std::string block_name(const std::array<uint32_t, 3>& block, const Extents& shape) {
  return "block " + coordinates(block, shape.grid);
}

std::string sentence(const Diagnostic& d, const Extents& shape) {
  if (d.cause == Cause::kDriver) return of_driver(d);
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
  switch (d.code) {  // no default
    case Code::kOutOfBoundsGlobal:
    case Code::kOutOfBoundsShared:
      return out_of_bounds(d);
    case Code::kMisalignedAccess:
      return misaligned(d);
    case Code::kUninitialisedShared:
    case Code::kUninitialisedGlobal:
      return uninitialised(d);
    case Code::kRaceShared:
    case Code::kRaceGlobal:
      return race(d, shape);
    case Code::kBarrierDivergence:
      return barrier(d, shape);
    case Code::kTimeout:
      return timeout(d);
    case Code::kDeadlock:
      return deadlock(d, shape);
    case Code::kAssert: {
      const Assertion a = d.assertion.value_or(Assertion{});
      return fmt::format("assertion `{}` failed in {} at {}:{}", a.condition, a.function, a.file,
                         a.line);
    }
    case Code::kTrap:
      return d.cause == Cause::kNoFunction
                 ? "calls by an address that is none of a device function with these parameters"
                 : "the kernel executed a trap";
    case Code::kStackOverflow:
      return fmt::format(
          "calls {}, by then {} calls deep: that takes {} bytes of stack, and a thread has {}",
          d.words, d.interval.value_or(0), d.amount, d.limit);
    case Code::kUnsupported:
      return "the instruction " + d.words + " is not modelled";
    case Code::kLaunchConfig:
      return refused(d);
    case Code::kNoLaunch:
      return "solve returned without launching a kernel.";
    case Code::kHostComputed:
      return fmt::format(
          "solve wrote {} of {} elements of {} on the host, the first is {}: {} must come from a "
          "kernel.",
          d.amount, d.limit, d.array, element_text(d), d.array);
    case Code::kInputModified:
      return fmt::format(
          "{} of the elements of {} changed, the first is {}: {} is an input and must stay as it "
          "is.",
          d.amount, d.array, element_text(d), d.array);
    case Code::kUnwrittenOutput:
      return unwritten(d);
    case Code::kWrongMask:
      return wrong_mask(d, shape);
    case Code::kUnorderedStreams:
      return unordered(d);
    case Code::kNeverWrittenCopy:
      return never_written(d);
    case Code::kUncheckedLaunch:
      return unchecked(d);
    case Code::kMemoryLeak:
      return leak(d);
    case Code::kPhase:
      return phase(d);
    case Code::kAsyncProxy:
      return async_proxy(d, shape);
    case Code::kHostCrash:
      return "the host follows a device pointer" +
             (d.array.empty() ? "" : ": " + d.array + " at byte " + std::to_string(d.offset_bytes));
  }
#pragma GCC diagnostic pop
  return "";
}

}  // namespace warpsim
