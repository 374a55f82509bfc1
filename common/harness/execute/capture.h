// Standard output, redirected into memory: the CUDA driver writes device printf there.

#pragma once

#include <cstddef>
#include <string>

namespace tilewise {

class StdoutCapture {
 public:
  // Takes over file descriptor 1 until destroyed. Where the system refuses, output goes where it
  // went before.
  StdoutCapture();
  ~StdoutCapture();
  StdoutCapture(const StdoutCapture&) = delete;
  StdoutCapture& operator=(const StdoutCapture&) = delete;

  // What was written so far, at most `limit` bytes, with a closing note if there was more.
  std::string text(size_t limit);

 private:
  int saved_ = -1;  // the real standard output
  int file_ = -1;   // an unnamed file in memory
};

}  // namespace tilewise
