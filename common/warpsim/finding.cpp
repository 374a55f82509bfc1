#include "warpsim/finding.h"

#include <iterator>

namespace warpsim {

namespace {

// In the order of the enumerations.
constexpr const char* kSeverities[] = {"note", "warning", "error"};
constexpr const char* kCodes[] = {
#define WARPSIM_CODE(name, text) text,
#include "warpsim/codes.inc"
#undef WARPSIM_CODE
};
constexpr const char* kAccesses[] = {"", "load", "store", "atomic", "copy"};
constexpr const char* kSpaces[] = {"", "global", "shared", "local", "constant"};
constexpr const char* kCauses[] = {
#define WARPSIM_CAUSE(name, text) text,
#include "warpsim/causes.inc"
#undef WARPSIM_CAUSE
};
constexpr const char* kScopes[] = {"", "warp", "block", "grid", "streams", "host"};
constexpr const char* kShares[] = {"init", "arrival", "copy"};

static_assert(std::size(kSeverities) == size_t(Severity::kError) + 1);
static_assert(std::size(kAccesses) == size_t(AccessKind::kCopy) + 1);
static_assert(std::size(kSpaces) == size_t(MemorySpace::kConstant) + 1);
static_assert(std::size(kScopes) == size_t(Scope::kHost) + 1);
static_assert(std::size(kShares) == size_t(ShareKind::kCopy) + 1);

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
const char* to_string(ShareKind kind) {
  return kShares[size_t(kind)];
}

std::vector<std::string> names_of(const std::string& enumeration) {
  if (enumeration == "severity") return as_list(kSeverities);
  if (enumeration == "code") return as_list(kCodes);
  if (enumeration == "access") return as_list(kAccesses);
  if (enumeration == "space") return as_list(kSpaces);
  if (enumeration == "cause") return as_list(kCauses);
  if (enumeration == "scope") return as_list(kScopes);
  if (enumeration == "share") return as_list(kShares);
  return {};
}

}  // namespace warpsim
