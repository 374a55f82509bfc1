#include "warpsim/finding.h"

#include <iterator>

namespace warpsim {

namespace {

// In the order of the enumerations.
constexpr const char* kSeverities[] = {"note", "warning", "error"};
constexpr const char* kCodes[] = {"out-of-bounds-global",
                                  "out-of-bounds-shared",
                                  "misaligned-access",
                                  "uninitialised-shared",
                                  "uninitialised-global",
                                  "race-shared",
                                  "race-global",
                                  "barrier-divergence",
                                  "timeout",
                                  "assert",
                                  "trap",
                                  "unsupported",
                                  "launch-config",
                                  "no-launch",
                                  "host-computed",
                                  "input-modified",
                                  "unwritten-output",
                                  "wrong-mask",
                                  "unordered-streams",
                                  "deadlock",
                                  "never-written-copy",
                                  "unchecked-launch",
                                  "memory-leak",
                                  "host-crash",
                                  "phase",
                                  "async-proxy"};
constexpr const char* kAccesses[] = {"", "load", "store", "atomic", "copy"};
constexpr const char* kSpaces[] = {"", "global", "shared", "local", "constant"};
constexpr const char* kCauses[] = {"",
                                   "before-start",
                                   "past-end",
                                   "no-array",
                                   "null-pointer",
                                   "host-pointer",
                                   "no-allocation",
                                   "freed",
                                   "constant-memory",
                                   "address-space",
                                   "never-written",
                                   "copy-in-flight",
                                   "lanes-missing",
                                   "another-barrier",
                                   "exited",
                                   "never-complete",
                                   "instruction-budget",
                                   "time-limit",
                                   "local-memory",
                                   "many-warps",
                                   "zero-extent",
                                   "block-threads",
                                   "block-extent",
                                   "grid-extent",
                                   "shared-memory",
                                   "shared-not-asked",
                                   "shared-granted",
                                   "registers",
                                   "launch-bounds",
                                   "required-block",
                                   "no-kernel",
                                   "driver-refused",
                                   "not-named",
                                   "named-missing",
                                   "another-mask",
                                   "no-event",
                                   "begun-early",
                                   "host-read",
                                   "host-wrote",
                                   "solve-returned",
                                   "no-function",
                                   "all-unwritten",
                                   "part-unwritten",
                                   "padding",
                                   "error-not-asked",
                                   "fault-not-seen",
                                   "device-pointer",
                                   "arrivals-lack",
                                   "bytes-lack",
                                   "bytes-too-many",
                                   "not-initialised",
                                   "invalidated",
                                   "overwritten",
                                   "initialised-again",
                                   "invalidated-in-use",
                                   "bad-count",
                                   "too-many-arrivals",
                                   "too-many-bytes",
                                   "completes-phase",
                                   "not-waited",
                                   "wrong-parity",
                                   "ends-in-flight",
                                   "bulk-alignment",
                                   "bulk-size",
                                   "no-tensor-map",
                                   "tensor-dimensions",
                                   "outside-texture",
                                   "outside-surface",
                                   "no-texture",
                                   "texture-kind",
                                   "driver"};
constexpr const char* kScopes[] = {"", "warp", "block", "grid", "streams", "host"};

static_assert(std::size(kSeverities) == size_t(Severity::kError) + 1);
static_assert(std::size(kCodes) == size_t(Code::kAsyncProxy) + 1);
static_assert(std::size(kAccesses) == size_t(AccessKind::kCopy) + 1);
static_assert(std::size(kSpaces) == size_t(MemorySpace::kConstant) + 1);
static_assert(std::size(kCauses) == size_t(Cause::kDriver) + 1);
static_assert(std::size(kScopes) == size_t(Scope::kHost) + 1);

template <size_t size>
std::vector<std::string> as_list(const char* const (&names)[size]) {
  return {std::begin(names), std::end(names)};
}

}  // namespace

const char* to_string(Severity severity) {
  return kSeverities[size_t(severity)];
}
const char* to_string(Code code) {
  return kCodes[size_t(code)];
}
const char* to_string(AccessKind kind) {
  return kAccesses[size_t(kind)];
}
const char* to_string(MemorySpace space) {
  return kSpaces[size_t(space)];
}
const char* to_string(Cause cause) {
  return kCauses[size_t(cause)];
}
const char* to_string(Scope scope) {
  return kScopes[size_t(scope)];
}

std::vector<std::string> names_of(const std::string& enumeration) {
  if (enumeration == "severity") return as_list(kSeverities);
  if (enumeration == "code") return as_list(kCodes);
  if (enumeration == "access") return as_list(kAccesses);
  if (enumeration == "space") return as_list(kSpaces);
  if (enumeration == "cause") return as_list(kCauses);
  if (enumeration == "scope") return as_list(kScopes);
  return {};
}

}  // namespace warpsim
