// One fault that was found, as facts: what, where, by whom. No sentences: finding_text.h puts a
// finding into words, finding_json.h writes it as JSON.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace warpsim {

// A note says what is worth knowing and no fault by itself: --error-exitcode takes none for one.
enum class Severity : uint8_t { kNote, kWarning, kError };

// Every enumeration below has its names in finding.cpp, those of Code and Cause in their tables:
// they stand in JSON, and grader/results/finding.py and docs/finding.schema.json know the same ones
// (a test holds them together).

// The diagnostic codes that the simulator and the executor give; the grader has more.
enum class Code : uint8_t {
#define WARPSIM_CODE(name, text) name,
#include "warpsim/codes.inc"
#undef WARPSIM_CODE
};

enum class AccessKind : uint8_t {
  kNone,  // no memory access
  kLoad,
  kStore,
  kAtomic,
  kCopy,  // the side of an asynchronous copy that writes
};

enum class MemorySpace : uint8_t { kNone, kGlobal, kShared, kLocal, kConstant };

// What makes the code true, where one code has several ways.
enum class Cause : uint8_t {
#define WARPSIM_CAUSE(name, text) name,
#include "warpsim/causes.inc"
#undef WARPSIM_CAUSE
};

// What would put two accesses that race in an order.
enum class Scope : uint8_t {
  kNone,
  kWarp,     // __syncwarp()
  kBlock,    // __syncthreads()
  kGrid,     // nothing within one launch but fences and atomics
  kStreams,  // one stream, or an event
  kHost,     // a wait of the host: cudaStreamSynchronize and its like
};

// One side of a finding: who did what, and where.
struct Party {
  AccessKind access = AccessKind::kNone;
  uint32_t access_bytes = 0;        // per thread; 0: not known, or no access
  std::string file;                 // as nvcc wrote it
  uint32_t line = 0;                // 1-based, 0: unknown
  std::array<uint32_t, 3> block{};  // first occurrence in (block, warp, lane) order
  std::array<uint32_t, 3> thread{};
  // Work of a stream: the kernel's name, or what the call does; which stream; where the program
  // calls it, as an offset in its file that lies within the instruction. 0: not known.
  std::string operation{};
  uint32_t stream = 0;
  uint64_t call = 0;
  bool writes() const { return access != AccessKind::kNone && access != AccessKind::kLoad; }
  bool operator==(const Party&) const = default;
};

enum class ShareKind : uint8_t {
  kInit,     // an mbarrier's: the arrivals that a phase expects
  kArrival,  // of the running phase, all that one line made
  kCopy,     // in bulk, all of the phase that one line asked for and one place got
};

// What the numbers of a finding are made of.
struct Share {
  ShareKind kind = ShareKind::kInit;
  std::string file;
  uint32_t line = 0;
  uint64_t amount = 0;  // arrivals, or bytes
  // Of a copy by a tensor map: where the map lies in the parameter block, -1: elsewhere; of its box
  // and of the tensor, elements, innermost first; and how far the next place is that copies fill.
  int32_t parameter = -1;
  std::vector<uint32_t> box{};
  std::vector<uint64_t> sizes{};
  uint32_t element_bytes = 0;
  uint64_t pitch = 0;  // bytes from one row to the next
  uint64_t room = 0;   // bytes, 0: not known
  // The array in shared memory that it fills, and from where on.
  std::string array{};
  uint64_t array_bytes = 0;
  int64_t place = 0;
  bool operator==(const Share&) const = default;
};

// What a device assert says. All of it is the student's text: data, never looked into.
struct Assertion {
  std::string condition, function, file;
  uint32_t line = 0;
  bool operator==(const Assertion&) const = default;
};

// A launch that is not carried out: what was asked for, where Diagnostic::amount and limit do not
// say it.
struct Refusal {
  std::array<uint32_t, 3> block{}, required_block{};
  uint8_t axis = 0;        // of an extent that is 0 or too large
  bool is_grid = false;    // that extent is the grid's
  bool is_static = false;  // static shared memory alone is too much
  uint32_t registers = 0;  // per thread
  std::string device{};    // its name
  bool operator==(const Refusal&) const = default;
};

// One fault, merged over all threads that showed it at this place.
struct Diagnostic : Party {
  Code code = Code::kTrap;
  Severity severity = Severity::kError;
  Cause cause = Cause::kNone;
  std::string kernel;  // source name
  uint64_t count = 0;  // occurrences (threads x executions)
  // The memory that it is about, so that a caller who knows the shapes can say P[3][7]; empty or 0
  // otherwise.
  MemorySpace space = MemorySpace::kNone;
  std::string array;         // shared array or allocation name
  int64_t offset_bytes = 0;  // of the access within it; may be negative or past its end
  uint64_t array_bytes = 0;
  // Of one element of that memory, as far as the instruction says; 0: it takes several at once.
  uint32_t element_bytes = 0;
  std::vector<uint32_t> element;  // indices of the element, where the array's shape is known
  uint64_t beyond_bytes = 0;      // how far outside the array, see Cause
  // Races: what would order the two. The other access, and other second parties (see Cause).
  Scope scope = Scope::kNone;
  std::optional<Party> other;
  std::vector<Share> shares;
  std::optional<uint64_t> interval;  // barriers that the block had passed by then
  // Numbers of the cause: how many, and of how many.
  uint64_t amount = 0, limit = 0;
  std::optional<Assertion> assertion;
  std::optional<Refusal> refusal;
  std::string words;    // somebody else's, such as the driver's: data, never looked into
  std::string message;  // by finding_text.h
  int32_t event = -1;   // of the launch's trace that shows it, -1: there is none
  bool operator==(const Diagnostic&) const = default;
};

const char* to_string(Severity severity);
const char* to_string(Code code);
const char* to_string(AccessKind kind);
const char* to_string(MemorySpace space);
const char* to_string(Cause cause);
const char* to_string(Scope scope);
const char* to_string(ShareKind kind);

// All names of an enumeration above, in order: "code", "severity", "access", "space", "cause",
// "scope", "share".
std::vector<std::string> names_of(const std::string& enumeration);

}  // namespace warpsim
