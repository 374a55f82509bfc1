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

// Every enumeration below has its names in finding.cpp: they stand in JSON, and
// grader/results/finding.py and docs/finding.schema.json know the same ones (a test holds them
// together).

// The diagnostic codes that the simulator and the executor give; the grader has more.
enum class Code : uint8_t {
  kOutOfBoundsGlobal,
  kOutOfBoundsShared,
  kMisalignedAccess,
  kUninitialisedShared,
  kUninitialisedGlobal,
  kRaceShared,
  kRaceGlobal,
  kBarrierDivergence,
  kTimeout,
  kAssert,
  kTrap,
  kUnsupported,
  kLaunchConfig,
  kNoLaunch,
  kHostComputed,
  kInputModified,
  kUnwrittenOutput,
  kWrongMask,
  kUnorderedStreams,
  kDeadlock,  // `amount` blocks wait for others, `limit` more cannot begin; `other` waits elsewhere
  kNeverWrittenCopy,  // what the host did or left undone: these and the next three
  kUncheckedLaunch,
  kMemoryLeak,
  kHostCrash,
  kPhase,       // of an mbarrier: misused; `interval` is how many of its phases were complete
  kAsyncProxy,  // a copy in bulk and what `other` wrote, with no fence of the proxies between
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
  kNone,
  // Of out-of-bounds-*: where the access went.
  kBeforeStart,     // beyond_bytes before the array
  kPastEnd,         // its last byte is the array's beyond_bytes-th one too many
  kNoArray,         // shared memory of a kernel that has none
  kNullPointer,     // near address 0
  kHostPointer,     // through a parameter that holds a host address
  kNoAllocation,    // far from every allocation
  kFreed,           // an allocation that is none any more
  kConstantMemory,  // a store to it
  kAddressSpace,    // an instruction for one state space, an address of another one
  // Of uninitialised-*.
  kNeverWritten,
  kCopyInFlight,  // `other` is the asynchronous copy, which was not waited for
  // Of barrier-divergence.
  kLanesMissing,    // `other` is where the missing lanes go on
  kAnotherBarrier,  // `other` waits at another barrier
  kExited,          // `other` had returned
  kNeverComplete,   // barrier number `amount`
  // Of timeout.
  kInstructionBudget,  // of `limit` warp instructions
  kTimeLimit,          // of `limit` seconds
  kLocalMemory,        // a thread has `amount` bytes of it: `limit` warp instructions take too long
  kManyWarps,          // `amount` of them, no one for long, used up `limit` warp instructions
  // Of launch-config.
  kZeroExtent,
  kBlockThreads,    // more threads than a block may have
  kBlockExtent,     // along one axis
  kGridExtent,      // along one axis
  kSharedMemory,    // static, or in all, more than the device has
  kSharedNotAsked,  // more than without cudaFuncSetAttribute
  kSharedGranted,   // more than cudaFuncSetAttribute granted
  kRegisters,       // of all threads of a block
  kLaunchBounds,    // more threads than __launch_bounds__ promises
  kRequiredBlock,   // another block than the kernel is made for
  kNoKernel,        // the module has no kernel of that name
  kDriverRefused,   // `words` are the driver's
  // Of wrong-mask: a function of a warp and the lanes that its mask names.
  kNotNamed,      // the mask lacks the lane that calls it
  kNamedMissing,  // `other` is named and not there
  kAnotherMask,   // `other` is named, and gives another mask itself
  // Of unordered-streams: two pieces of work, or one and the host, that nothing orders.
  kNoEvent,        // `other` is in another stream
  kBegunEarly,     // `other` is the launch before, for which the kernel has not waited
  kHostRead,       // the host read `amount` bytes that the copy `other` may not have brought yet
  kHostWrote,      // the host wrote to memory that the copy `other` may not have read yet
  kSolveReturned,  // and the copy to the host may not have ended
  kNoFunction,     // of trap: a call by an address at which there is no such function
  // Of never-written-copy: a copy to the host, of whose `limit` bytes nobody has written `amount`.
  kAllUnwritten,
  kPartUnwritten,
  kPadding,  // a few bytes at equal distances, as between the members of a structure
  // Of unchecked-launch.
  kErrorNotAsked,  // the launch failed, and the program never called cudaGetLastError
  kFaultNotSeen,   // the kernel was stopped, and no later call could say so
  // Of host-crash.
  kDevicePointer,  // the host followed one
  // Of deadlock: a wait at an mbarrier, of which `interval` phases are complete.
  kArrivalsLack,  // `amount` of the `limit` that a phase expects
  kBytesLack,     // of `limit` announced, by `other`, `amount` do not come
  kBytesTooMany,  // `amount` more have come than the `limit` announced
  // Of phase.
  kNotInitialised,
  kInvalidated,       // and used
  kOverwritten,       // by something else than operations of mbarriers
  kInitialisedAgain,  // while `amount` of `limit` arrivals had come
  kInvalidatedInUse,  // likewise
  kBadCount,          // `amount` arrivals: at least one, at most `limit`
  kTooManyArrivals,   // `amount`, where `limit` are still expected
  kTooManyBytes,      // `amount` on their way: at most `limit`
  kCompletesPhase,    // an arrival that must not be the last one is
  kNotWaited,         // what the copy `other` brings is used before its phase is complete
  kWrongParity,       // likewise, by who waited for the phase before, which was complete
  kEndsInFlight,      // the block has ended, and nobody has waited for the copy
  // Of misaligned-access: a copy in bulk.
  kBulkAlignment,     // an address that is `amount` bytes beyond a multiple of `limit`
  kBulkSize,          // of `amount` bytes, no multiple of `limit`
  kNoTensorMap,       // no map lies where it is looked for
  kTensorDimensions,  // `amount` of them, and `limit` in the map
  // Of out-of-bounds-global: textures and surfaces. offset_bytes is a coordinate.
  kOutsideTexture,  // element offset_bytes of linear memory that has `limit`: a fetch gives 0
  kOutsideSurface,  // where there are `limit` bytes of a row (`amount` 0), rows (1), planes (2),
                    // layers (3)
  kNoTexture,       // the handle is none, or, `amount` 1, none any more
  kTextureKind,     // the object is made for another instruction
  // Of any code, on a GPU: the driver reported error number `amount`, `words` are its own.
  kDriver,
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

// All names of an enumeration above, in order: "code", "severity", "access", "space", "cause",
// "scope".
std::vector<std::string> names_of(const std::string& enumeration);

}  // namespace warpsim
