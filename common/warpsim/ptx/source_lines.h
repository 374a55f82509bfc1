// From PTX's .file and .loc to the line of the student's file.
//
// After inlining, one instruction has a chain of places: "line 190 of an NVIDIA header, inlined
// into line 219 of that header, inlined into line 54 of matmul.cu". We speak of the innermost place
// in a file that is the user's own.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "warpsim/ptx/ir.h"

namespace warpsim::ptx {

// True for headers that come with the CUDA toolkit, the compiler, the system or the course.
bool is_library_file(std::string_view path);

// True for headers that hold parallel algorithms: thrust, cub, and the reductions and scans of
// cooperative_groups.
bool is_algorithm_file(std::string_view path);

class SourceLines {
 public:
  struct Place {
    uint64_t file = 0, line = 0, column = 0;  // file: the number of a .file directive
    auto operator<=>(const Place&) const = default;
  };

  // .loc PLACE [, inlined_at CALLER]. Returns the id of this location, to be given to instructions
  // that follow.
  int32_t add_location(Place place, const Place* caller);
  void add_file(uint64_t number, std::string path);
  // Chains do not reach from one function into another.
  void begin_function() { latest_.clear(); }

  // When all .file directives are known (they stand behind the code): the table for Module::files,
  // and the line of a location.
  std::vector<std::string> files() const;
  SourceLine resolve(int32_t location) const;  // -1: none
  // Whether such a header stands between the instruction and the line of resolve().
  bool is_by_algorithm(int32_t location) const;

 private:
  struct Location {
    Place place;
    int32_t caller;
  };  // caller: a location, -1 none
  SourceLine at(const Place& place) const;

  std::vector<Location> locations_;
  std::map<Place, int32_t> latest_;  // the last location for a place in this function
  std::map<uint64_t, std::string> paths_;
};

}  // namespace warpsim::ptx
