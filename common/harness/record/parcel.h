// What a case's process hands to the recorder through a pipe: the modules' PTX and the plan.
//
// The writer has run a submission's code by then and may be anything: the reader believes nothing
// but the bytes' own structure, and takes no more than kMostParcelBytes.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tilewise::record {

inline constexpr uint64_t kMostParcelBytes = 64 << 20;
inline constexpr int kMostModules = 64;

struct Module {
  std::string target;  // "sm_90"
  std::string ptx;
  bool operator==(const Module&) const = default;
};

struct Parcel {
  std::vector<Module> modules;
  std::string plan;
};

// Write to a file descriptor; false if that fails.
bool send_module(int fd, const char* target, const char* text, uint64_t bytes);
bool send_plan(int fd, const char* text, uint64_t bytes);

// nullopt unless the bytes are modules and then one plan, complete.
std::optional<Parcel> parse_parcel(const std::string& bytes);

}  // namespace tilewise::record
