// Strict reading of JSON objects: every field is asked for by name and type, and a field nobody
// asked for is an error.
//
//   Fields op(json, "ops[3]");
//   uint64_t bytes = op.u64("bytes");
//   op.finish();                        // "ops[3].byts: unknown field."
//
// Every failure throws FieldError, whose text starts with the path of the field.

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace tilewise {

class FieldError : public std::runtime_error {
 public:
  FieldError(const std::string& path, const std::string& problem)
      : std::runtime_error(path + ": " + problem) {}
};

class Fields {
 public:
  // Throws unless `json` is an object. `json` must outlive this. An empty path is the file's top
  // level.
  Fields(const Json& json, std::string path);

  bool has(const char* name) const;
  uint64_t u64(const char* name);
  uint64_t u64_or(const char* name, uint64_t missing);
  int64_t i64(const char* name);
  int64_t i64_or(const char* name, int64_t missing);
  uint32_t u32(const char* name);
  uint32_t u32_or(const char* name, uint32_t missing);
  // A device address: a string "0x..." of up to 16 hexadecimal digits.
  uint64_t address(const char* name);
  // At most kLongestText bytes, without control characters.
  std::string string(const char* name);
  std::string string_or(const char* name, std::string missing);
  std::vector<std::byte> hex(const char* name);  // a string of hexadecimal digits, two a byte
  const Json& array(const char* name);           // throws if missing
  const Json& object(const char* name);

  // Throws for the first field that was not asked for.
  void finish() const;

  std::string path_of(const char* name) const;
  [[noreturn]] void fail(const char* name, const std::string& problem) const;

 private:
  const Json& need(const char* name);
  const Json* find(const char* name);

  const Json& json_;
  std::string path_;
  std::set<std::string> seen_;
};

// Text -> JSON, for text that somebody else wrote: no deeper than kDeepest, no field twice in one
// object (two readers could take different ones of them), at most kMostFields fields an object and
// kMostValues values in all. Throws Json::exception if it is no JSON, FieldError for the rest.
Json parse_json(const std::string& text);

constexpr int kDeepest = 8;
constexpr size_t kMostFields = 64, kMostValues = size_t{1} << 24, kLongestText = size_t{1} << 16;

// Path of element `index` of the array at `path`.
std::string element_path(const std::string& path, size_t index);

std::vector<std::byte> parse_hex(std::string_view text, const std::string& path);
std::string to_hex(const std::vector<std::byte>& bytes);

}  // namespace tilewise
