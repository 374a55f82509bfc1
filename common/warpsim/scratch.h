// Memory that a launch needs for as long as it runs, kept for the next one: what the system hands
// out anew it has to clear, and the first touch of each of its pages is a fault, which takes longer
// than to clear the page again.

#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace warpsim {

class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  enum class Content {
    kAny,
    kZeros  // when it is taken; whoever gives it back has made it so again
  };
  class Block {
   public:
    Block() = default;
    Block(Block&& other) noexcept { *this = std::move(other); }
    Block& operator=(Block&& other) noexcept {
      std::swap(scratch_, other.scratch_);
      std::swap(data_, other.data_);
      std::swap(bytes_, other.bytes_);
      std::swap(content_, other.content_);
      return *this;
    }
    ~Block();
    std::byte* data() const { return data_; }

   private:
    friend class Scratch;
    Scratch* scratch_ = nullptr;
    std::byte* data_ = nullptr;
    size_t bytes_ = 0;  // at least so many as were asked for
    Content content_ = Content::kAny;
  };
  // Must be gone before this is. Throws std::bad_alloc.
  Block take(size_t bytes, Content content);
  size_t kept_bytes() const { return kept_bytes_; }

  // What is longer than this together is given back to the system, the oldest first. Above the
  // lower bound so is what would make kept and taken blocks together longer than those taken at
  // once have ever been: a process then needs hardly more memory than its largest launch.
  static constexpr size_t kMostKept = size_t{1} << 30;
  static constexpr size_t kAlwaysKept = size_t{256} << 20;

 private:
  struct Kept {
    std::byte* data;
    size_t bytes;
    Content content;
  };
  void keep(const Kept& block);
  void give_back_oldest();
  std::vector<Kept> kept_;  // the oldest first
  size_t kept_bytes_ = 0, taken_bytes_ = 0, most_taken_ = 0;
};

}  // namespace warpsim
