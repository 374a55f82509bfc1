// A launch plan: what a submission's `solve` asked the CUDA runtime to do, as data.
//
// The recorder writes it (no data, no GPU), the executor carries it out on a backend. One plan is
// one case. Device addresses in it are the recorder's; the executor allocates its own memory and
// moves every address over (Launch::relocations for parameter blocks, a scan for literal data
// copied to the device). A tensor map stands there as what it was made of: each backend makes its
// own of that.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/signature.h"
#include "warpsim/tensor_map.h"

namespace tilewise::plan {

enum class Role : uint8_t {
  kInput,    // an array of solve's, made before solve starts (device signatures)
  kOutput,   // likewise, to be filled
  kInOut,    // likewise, to be read and changed
  kStudent,  // cudaMalloc: alive from its malloc op to its free op
  kSymbol,   // a __device__ or __constant__ variable whose address the host code asked for
};

struct Buffer {
  uint32_t id = 0;
  uint64_t address = 0;  // the recorder's
  uint64_t bytes = 0;
  std::string name;  // "M", "d_M", "cudaMalloc #1"
  Role role = Role::kStudent;
  uint32_t module = 0;  // kSymbol: which variable
  std::string symbol;
};

// A host array: one of solve's if those are on the host, and with any signature
// "staging #0" and so on, memory of solve's own through which data went from the device and back to
// it.
struct HostArray {
  std::string name;
  uint64_t bytes = 0;
};

// A tensor map of the memory that begins `addend` bytes behind the start of `buffer`.
struct BufferMap {
  uint32_t buffer = 0;
  uint64_t addend = 0;
  warpsim::TensorMap map;  // without its address
};

// A run of bytes that goes to the device: a range of a host array, a tensor map (its 128 bytes), or
// the bytes themselves.
struct Segment {
  std::string host;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  std::vector<std::byte> literal;
  std::optional<BufferMap> map = std::nullopt;
};

// `call`: where solve calls it, as an offset in its library within the calling instruction; 0: not
// known. `stream`: 0 is the legacy default stream.
struct Malloc {
  uint32_t buffer = 0;
  bool in_stream = false;  // cudaMallocAsync, and below cudaFreeAsync: work of a stream itself
  uint32_t stream = 0;
  uint64_t call = 0;
};
struct Free {
  uint32_t buffer = 0;
  bool in_stream = false;
  uint32_t stream = 0;
  uint64_t call = 0;
};
struct CopyToDevice {
  uint32_t buffer = 0;
  uint64_t offset = 0, bytes = 0;
  std::vector<Segment> segments;  // together `bytes` long
  uint32_t stream = 0;
  uint64_t call = 0;
};
struct CopyToHost {
  std::string host;
  uint64_t offset = 0;
  uint32_t buffer = 0;
  uint64_t buffer_offset = 0, bytes = 0;
  uint32_t stream = 0;
  uint64_t call = 0;
};
struct CopyOnDevice {
  uint32_t buffer = 0;
  uint64_t offset = 0;
  uint32_t source = 0;
  uint64_t source_offset = 0, bytes = 0;
  uint32_t stream = 0;
  uint64_t call = 0;
  uint64_t rows = 1;  // so many pieces of `bytes`, in order, each so far behind the one before:
  uint64_t pitch = 0, source_pitch = 0;
};
struct Memset {
  uint32_t buffer = 0;
  uint64_t offset = 0;
  uint8_t value = 0;
  uint64_t bytes = 0;
  uint32_t stream = 0;
  uint64_t call = 0;
  uint64_t rows = 1, pitch = 0;  // as above
};
struct SymbolWrite {  // cudaMemcpyToSymbol
  uint32_t module = 0;
  std::string symbol;
  uint64_t offset = 0;
  std::vector<Segment> segments;
  uint32_t stream = 0;
  uint64_t call = 0;
};
struct SetAttribute {  // cudaFuncSetAttribute
  uint32_t module = 0;
  std::string kernel;
  std::string attribute;  // "max_dynamic_shared_bytes", or "preferred_shared_carveout": percent,
                          // -1 for the default
  int64_t value = 0;
};
struct SetHeap {  // cudaDeviceSetLimit(cudaLimitMallocHeapSize)
  uint64_t bytes = 0;
};
struct SetStack {  // cudaDeviceSetLimit(cudaLimitStackSize): of a thread
  uint64_t bytes = 0;
};
// The 8-byte word at `offset` of the parameter block is the address of `buffer` plus `addend`.
struct Relocation {
  uint32_t offset = 0;
  uint32_t buffer = 0;
  int64_t addend = 0;
};
// The bytes from `offset` of the parameter block are a tensor map.
struct ParameterMap {
  uint32_t offset = 0;
  BufferMap is;
};
struct Launch {
  uint32_t module = 0;
  std::string kernel;  // mangled
  std::array<uint32_t, 3> grid{},
      block{};                // as asked for: a bad configuration stands here as it is
  uint32_t shared_bytes = 0;  // dynamic shared memory
  uint32_t stream = 0;
  bool is_cooperative = false;  // all blocks are resident, and may wait for each other
  bool is_early = false;        // may begin before the launch before it in its stream has ended
  std::vector<std::byte> params;
  std::vector<Relocation> relocations;
  std::vector<ParameterMap> maps;  // in the order of their places
  uint64_t call = 0;
};
// The host waits: for the device, for stream or event `id`. Without streams only the first.
enum class WaitsFor : uint8_t { kDevice, kStream, kEvent };
struct Sync {
  WaitsFor what = WaitsFor::kDevice;
  uint32_t id = 0;
};
struct MakeStream {
  uint32_t stream = 0;
  bool is_blocking = true;
};
struct RecordEvent {
  uint32_t event = 0, stream = 0;
};
struct WaitForEvent {
  uint32_t stream = 0, event = 0;
};
// The host used memory that a copy may still have been using.
struct EarlyUse {
  enum class Kind : uint8_t { kRead, kWrite, kReturn };
  Kind kind = Kind::kRead;
  uint32_t buffer = 0;  // the copy's, on the device
  uint64_t offset = 0, bytes = 0;
  uint32_t stream = 0;
  uint64_t copy_call = 0, call = 0;  // the copy, and where the host was next seen
};
struct AskedSide {                                              // of a copy that was refused
  enum class Kind : uint8_t { kNone, kHost, kDevice, kFreed };  // kNone: a null pointer, or no side
  Kind kind = Kind::kNone;
  std::string array;    // of the host
  uint32_t buffer = 0;  // of the device
  uint64_t room = 0;    // from there to the end of the buffer
};
struct Asked {  // what a refused copy, fill or cudaFree was given
  AskedSide to, from;
  uint64_t bytes = 0;
  int64_t direction = -1;  // cudaMemcpyKind; -1: the call has none
};
struct ApiError {  // a call that returned an error to the student
  std::string api;
  int64_t code = 0;  // cudaError_t
  std::string code_name, message;
  uint64_t call = 0;
  std::optional<Asked> asked = std::nullopt;  // where the calls are to be told
};
struct Unsupported {
  std::string api;     // a call that the recorder does not provide,
  std::string reason;  // or, a sentence, cannot follow this time
};

using Op = std::variant<Malloc, Free, CopyToDevice, CopyToHost, CopyOnDevice, Memset, SymbolWrite,
                        SetAttribute, SetHeap, SetStack, Launch, Sync, MakeStream, RecordEvent,
                        WaitForEvent, EarlyUse, ApiError, Unsupported>;

struct Plan {
  std::string case_id;
  Signature signature = Signature::kSquareDevice;
  // Of the product: M is j x k, N is k x l, P is j x l, row-major. Of another signature: 0.
  uint32_t j = 0, k = 0, l = 0;
  std::string sizes;    // of another signature; the product: empty
  std::string device;   // the device file the recorder used
  std::string runtime;  // CUDA version of the runtime the submission was built for, "13.0"
  std::vector<std::string> modules;  // PTX files, relative to the plan's folder
  std::vector<Buffer> buffers;       // buffers[i].id == i
  std::vector<HostArray> host;       // solve's arrays, if on the host; staging arrays
  std::vector<Op> ops;
  // Words that solve computed itself: how many, and the first element of a host output among them:
  // of `array`, or if that is empty of the first output.
  struct {
    uint64_t count = 0;
    int64_t first = -1;
    std::string array;
  } host_writes;
  std::vector<uint32_t> leaked_buffers;       // never freed
  std::vector<std::string> unchecked_errors;  // APIs whose error nobody looked at

  // What solve's parameters are in this case, in the signature's order. Throws
  // std::invalid_argument if `sizes` does not fit the signature.
  std::vector<Argument> arguments() const;
  // Rows and columns of one of solve's arrays; false for another name.
  bool shape(const std::string& name, uint32_t* rows, uint32_t* columns) const;
  // Which array's element host_writes.first is.
  std::string written_by_host() const;
};

// Text -> Plan. `name` is used in messages. Throws HarnessError with one sentence that names the
// field, also for anything that no recorder writes or that could not be carried out: an unknown
// buffer, a copy past a buffer's end, a matrix that does not fit its shape (check.h has the rest).
// What a student may get wrong (a bad launch configuration, a kernel's use of a freed buffer) is
// let through.
Plan parse(const std::string& text, const std::string& name);
// The plan in a file; module paths become absolute or relative to the working folder, ready to
// open.
Plan load(const std::string& path);

// The most rows of all operations that have some.
constexpr uint64_t kMostRows = uint64_t(1) << 24;

// How far behind the first piece the last one begins; none of the plan's is out of 64 bits.
inline uint64_t to_last(uint64_t rows, uint64_t pitch) {
  return (rows - 1) * pitch;
}

// The inverse of parse().
std::string to_text(const Plan& plan);

const char* to_string(Role role);

}  // namespace tilewise::plan
