#include "warpsim/finding_words.h"

#include <fmt/format.h>

#include <algorithm>

namespace warpsim::words {

std::string bytes_text(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

std::string place_text(const Diagnostic& d) {
  if (d.element_bytes != 0 && d.offset_bytes >= 0 && d.offset_bytes % d.element_bytes == 0)
    return d.array + "[" + std::to_string(d.offset_bytes / d.element_bytes) + "]";
  const int64_t offset = d.offset_bytes;
  return d.array + (offset < 0 ? "-" : "+") + std::to_string(offset < 0 ? -offset : offset);
}

const char* verb(const Party& p) {
  switch (p.access) {
    case AccessKind::kAtomic:
      return "updates";
    case AccessKind::kStore:
    case AccessKind::kCopy:
      return "writes";
    default:
      return "reads";
  }
}

std::string line_text(const Diagnostic& d) {
  if (!d.other || d.other->line == 0) return "";
  return " at line " + std::to_string(d.other->line);
}

std::string coordinates(const std::array<uint32_t, 3>& at, const std::array<uint32_t, 3>& size) {
  std::string text = "(" + std::to_string(at[0]);
  if (size[1] > 1 || size[2] > 1) text += "," + std::to_string(at[1]);
  if (size[2] > 1) text += "," + std::to_string(at[2]);
  return text + ")";
}

std::string thread_name(const Party& p, const Extents& shape) {
  return "thread " + coordinates(p.thread, shape.block);
}

// A copy in bulk that no GPU carries out.
std::string refused_copy(const Diagnostic& d) {
  const char* space = d.space == MemorySpace::kShared ? "shared" : "global";
  switch (d.cause) {
    case Cause::kBulkSize:
      return fmt::format("copies {} in bulk: a multiple of {}, and more than none",
                         bytes_text(d.amount), d.limit);
    case Cause::kNoTensorMap:
      return "copies a box of a tensor, but there is no tensor map at the address it gives";
    case Cause::kTensorDimensions:
      return fmt::format("copies a box of {} dimensions with a tensor map of {}", d.amount,
                         d.limit);
    default:
      return fmt::format(
          "copies in bulk with an address of {} memory that is no multiple of {}: {} beyond one",
          space, d.limit, bytes_text(d.amount));
  }
}

std::string texture_fault(const Diagnostic& d) {
  constexpr const char* kPlaces[] = {"byte {} of a row", "row {}", "plane {}", "layer {}"};
  constexpr const char* kExtents[] = {"{} bytes a row", "{} rows", "{} planes", "{} layers"};
  const size_t axis = std::min<size_t>(d.amount, 3);
  switch (d.cause) {
    case Cause::kOutsideTexture:
      return fmt::format(
          "fetches element {} of a texture of linear memory, {}, which has {}: the value is 0",
          d.offset_bytes, d.array, d.limit);
    case Cause::kOutsideSurface:
      return fmt::format("{} {} of a surface, {}, at {}, where it has {}", verb(d),
                         bytes_text(d.access_bytes), d.array,
                         fmt::format(fmt::runtime(kPlaces[axis]), d.offset_bytes),
                         fmt::format(fmt::runtime(kExtents[axis]), d.limit));
    case Cause::kNoTexture:
      return d.amount == 1 ? "uses a texture or surface object that has been destroyed"
                           : "uses a texture or surface object that is none: was it created?";
    default:
      return "uses an object of " + (d.array.empty() ? "linear memory" : d.array) +
             " with a function for textures or surfaces of another kind";
  }
}

// "phase 2 of the mbarrier full[3]": the first one is phase 0.
std::string phase_text(const Diagnostic& d) {
  return fmt::format("phase {} of the mbarrier {}", d.interval.value_or(0), place_text(d));
}

// A copy in bulk that is not waited for.
std::string used_in_flight(const Diagnostic& d) {
  std::string text = fmt::format("{} {} at {}: the copy issued{} ", verb(d),
                                 bytes_text(d.access_bytes), place_text(d), line_text(d));
  if (!d.interval) return text + "has not been waited for";
  if (d.cause == Cause::kNotWaited)
    return text + fmt::format("has not been waited for: it ends with phase {} of its mbarrier",
                              *d.interval);
  return text + fmt::format(
                    "ends with phase {} of its mbarrier, and the wait was for the phase before, "
                    "which was complete already: the parity of phase {} is {}",
                    *d.interval, *d.interval, *d.interval % 2);
}

// What a thread wrote, and a copy in bulk.
std::string async_proxy(const Diagnostic& d, const Extents& shape) {
  const Party other = d.other.value_or(Party{});
  return fmt::format(
      "copies in bulk {} {}, which {} wrote{}, with no fence.proxy.async between: the copy may not "
      "see what was written",
      d.writes() ? "to" : "from", place_text(d), thread_name(other, shape), line_text(d));
}

// A misuse of an mbarrier.
std::string phase(const Diagnostic& d) {
  if (d.cause == Cause::kNotWaited || d.cause == Cause::kWrongParity) return used_in_flight(d);
  if (d.cause == Cause::kEndsInFlight)
    return fmt::format(
        "copies in bulk to {}, and the block ends without waiting for {} of the copy's mbarrier: "
        "the copy may write after the block's shared memory has been given to another block",
        place_text(d), d.interval ? fmt::format("phase {}", *d.interval) : "the phase");
  const std::string barrier = "the mbarrier " + place_text(d);
  switch (d.cause) {
    case Cause::kNotInitialised:
      return "uses " + barrier + ", which has not been initialised (mbarrier.init)";
    case Cause::kInvalidated:
      return "uses " + barrier + ", which has been invalidated and not initialised again";
    case Cause::kOverwritten:
      return barrier +
             " has been overwritten: its eight bytes are no longer those that "
             "operations of mbarriers left there";
    case Cause::kInitialisedAgain:
      return fmt::format("initialises {} while it is in use: {} of {} arrivals of {} have come",
                         barrier, d.amount, d.limit, phase_text(d));
    case Cause::kInvalidatedInUse:
      return fmt::format("invalidates {} while it is in use: {} of {} arrivals of {} have come",
                         barrier, d.amount, d.limit, phase_text(d));
    case Cause::kBadCount:
      return fmt::format("gives {} a count of {} arrivals: at least 1, at most {}", barrier,
                         d.amount, d.limit);
    case Cause::kTooManyArrivals:
      return fmt::format("arrives {} times at {}, where {} arrivals are still expected", d.amount,
                         phase_text(d), d.limit);
    case Cause::kTooManyBytes:
      return fmt::format("{} bytes are on their way to {}: at most {}", d.amount, phase_text(d),
                         d.limit);
    default:
      return "arrives with .noComplete as the last of " + phase_text(d);
  }
}

// A wait at an mbarrier that nobody can end.
std::string waits_for_phase(const Diagnostic& d, const Extents& shape) {
  std::string text = "waits for ever for the end of " + phase_text(d) + ": ";
  if (d.cause != Cause::kArrivalsLack) {
    const bool is_short = d.cause == Cause::kBytesLack;
    const uint64_t arrived = is_short ? d.limit - d.amount : d.limit + d.amount;
    text += d.limit == 0
                ? "no bytes have been announced"
                : fmt::format("it waits for {}, announced{}", bytes_text(d.limit), line_text(d));
    return text +
           fmt::format(", and {} {} arrived", bytes_text(arrived), arrived == 1 ? "has" : "have");
  }
  text += fmt::format("{} of {} arrivals lack, and all threads that run wait", d.amount, d.limit);
  if (d.other && d.other->line != 0)
    text += fmt::format("; {} waits at line {}", thread_name(*d.other, shape), d.other->line);
  return text;
}

}  // namespace warpsim::words
