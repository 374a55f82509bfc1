// Memory that a launch needs for as long as it runs, kept for the next one: what the system hands
// out anew it has to clear, and the first touch of each of its pages is a fault, which takes longer
// than to clear the page again.

#pragma once

#include <cstddef>
#include <cstdint>
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
    kZeros,  // when it is taken; whoever gives it back has made it so again
    // Records of 64 bits whose upper halves are numbers that number_launch() has given, or 0.
    kRecords
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
      std::swap(round_, other.round_);
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
    uint32_t round_ = 0;  // of numbers
  };
  // Must be gone before this is. Throws std::bad_alloc.
  Block take(size_t bytes, Content content);
  // As many numbers as are asked for, none of which any record that is kept bears: those that
  // follow the result, which is no less than that of the call before while there are more. So
  // nobody has to clear records. At most kMostNumbers.
  uint32_t number_launch(uint64_t count);
  static constexpr uint64_t kMostNumbers = UINT32_MAX - 1;
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
  void keep(const Kept& block, uint32_t round);
  void give_back_oldest();
  std::vector<Kept> kept_;  // the oldest first
  size_t kept_bytes_ = 0, taken_bytes_ = 0, most_taken_ = 0;
  uint32_t last_number_ = 0, round_ = 0;
};

}  // namespace warpsim
