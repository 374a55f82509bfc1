// Where in the program's source the host is: from addresses on the stack to a file and a line.
//
// It takes debugging information (nvcc -g, or -Xcompiler -g1) and addr2line of binutils. Without
// one of them there is no line.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace warpsim::cudart {

struct HostLine {
  std::string file;
  uint32_t line = 0;  // 0: not known
};

class HostLines {
 public:
  using Stack = std::vector<const void*>;  // return addresses, the innermost first

  static Stack stack();  // the calling thread's
  // The innermost line of the program: neither of this library nor of CUDA's headers.
  HostLine at(const Stack& stack);
  HostLine here() { return at(stack()); }

 private:
  std::map<Stack, HostLine> known_;
};

}  // namespace warpsim::cudart
