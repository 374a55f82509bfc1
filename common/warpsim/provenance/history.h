// Where values come from: which matrix elements, by which loads and through which shared words, a
// number in memory is made of.
//
// A History is filled while launches run (Options::history; follower.h does it) and read
// afterwards. Every value is a Node; nodes point at the nodes they are made of, so a sum of
// products is a chain that can be read back term by term. Numbers themselves are not kept: whether
// a value is right is for whoever reads the history to say.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace warpsim::provenance {

using Value = uint32_t;  // index of a node

enum class Kind : uint8_t {
  kPlain,       // made of no matrix element: an index, data of another buffer
  kUnset,       // nobody has written it
  kNumber,      // a literal; `place` has the bits of a float
  kElement,     // element `place` of matrix number `array`, loaded from global memory
  kShared,      // `a` after it was put into shared array number `array` at byte `place`
  kRead,        // `a` after it was read from shared memory
  kStored,      // `a` after it was stored in global memory; `b`: what was stored there before
  kProduct,     // a * b
  kSum,         // a + b
  kDifference,  // a - b
  kConverted,   // `a` with loss, see `conversion`
  kPacked,      // two words, or two halves of a word, side by side, `a` the low one
  kFragment,    // `a` as a tensor core takes it: of lane `thread`, `place` has a FragmentPlace
  kOther,       // made of `a` (and `b`) in another way
};

// kToBfloat16Cut: towards zero, instead of to the nearest.
enum class Conversion : uint8_t { kNone, kToInt, kToHalf, kToBfloat16, kToBfloat16Cut, kToTf32 };

// Where in a lane's registers of A or B a number lay.
struct FragmentPlace {
  bool is_b = false;
  uint8_t reg = 0;   // of the instruction's list: 0 to 3 of A, 0 and 1 of B
  uint8_t part = 0;  // of the register: 0, and 1 where two numbers lie in it
  uint32_t bits() const { return uint32_t{is_b} << 8 | uint32_t{reg} << 4 | part; }
  static FragmentPlace from(uint32_t bits) {
    return {(bits >> 8 & 1) != 0, uint8_t(bits >> 4 & 15), uint8_t(bits & 15)};
  }
};

struct Node {
  Kind kind = Kind::kPlain;
  Conversion conversion = Conversion::kNone;
  uint16_t array = 0;
  uint32_t line = 0;      // of the student's source, 0: unknown
  uint32_t thread = 0;    // within its block, linear
  uint32_t block = 0;     // linear
  uint32_t interval = 0;  // barriers that the block had passed
  Value a = 0, b = 0;
  uint32_t place = 0;
};

class History {
 public:
  // kWays: of a value no more than whether it came from global memory, and whether through shared
  // memory: enough to count factors, and small however much is followed.
  enum class Keeps : uint8_t { kNodes, kWays };
  // Follows at most so many values (kWays: products); what is beyond is lost, and is_complete()
  // says so.
  explicit History(size_t most_nodes = size_t{1} << 23, Keeps keeps = Keeps::kNodes);

  // Of kWays, of the products that were followed: their factors that reach them from global memory
  // by way of shared memory alone, and those that reach them in another way as well.
  struct Factors {
    uint64_t from_tiles = 0, past_tiles = 0;
  };
  const Factors& factors() const { return factors_; }
  bool keeps_ways() const { return keeps_ == Keeps::kWays; }

  // From now on the elements (of 4 bytes) at `address` are those of the matrix from `first` on.
  void bind(uint64_t address, uint64_t bytes, const std::string& matrix, uint64_t first);
  // What was copied, or overwritten by something that is not followed.
  void copy(uint64_t target, uint64_t source, uint64_t bytes);
  void forget(uint64_t address, uint64_t bytes);

  // Only the blocks that lie here in each launch's grid are followed; none given: all.
  struct GridPlace {
    double y = 0, x = 0;  // 0 to 1
  };
  std::vector<GridPlace> places;

  // The kStored node of the word at `address`, 0: no followed block has stored there.
  Value stored(uint64_t address) const;
  const Node& operator[](Value value) const { return nodes_[value]; }
  size_t size() const { return nodes_.size(); }
  const std::string& matrix(const Node& element) const { return matrices_[element.array]; }
  const std::string& shared_array(const Node& shared) const {
    return shared_arrays_[shared.array].name;
  }
  uint32_t shared_array_bytes(const Node& shared) const {
    return shared_arrays_[shared.array].bytes;
  }
  bool is_complete() const { return !is_full_; }
  std::array<uint32_t, 3> block_extent{};  // of the last launch: threads
  std::array<uint32_t, 3> grid_extent{};   // blocks

  // --- for the follower
  static constexpr Value kPlainValue = 0, kUnsetValue = 1;
  static constexpr Value kFromGlobal = 2;  // where ways are kept
  Value add(const Node& node);
  Value number(uint32_t bits);
  // What a load of 4 bytes at `address` finds; `at` has line, thread, block and interval.
  Value load(uint64_t address, const Node& at);
  void store(uint64_t address, Value value, const Node& at);
  // A word is stored as a whole: what its upper half alone was is gone.
  void drop(uint64_t address) { words_.erase(address); }
  uint16_t shared_array_number(const std::string& name, uint32_t bytes);

 private:
  struct Range {
    uint64_t address, bytes;
    uint16_t matrix;
    uint64_t first;
  };
  struct SharedArrayName {
    std::string name;
    uint32_t bytes;
  };
  const Range* range_of(uint64_t address) const;
  void add_values_of_ways();
  Value add_way(const Node& node);
  uint8_t way_of(Value value) const;
  void count_factor(Value value);

  Keeps keeps_;
  Factors factors_;
  std::vector<Node> nodes_;
  size_t most_nodes_;
  bool is_full_ = false;
  std::vector<std::string> matrices_;
  std::vector<SharedArrayName> shared_arrays_;
  std::vector<Range> ranges_;                    // the newest last
  std::unordered_map<uint64_t, Value> words_;    // by address: kStored, or a copied element
  std::unordered_map<uint32_t, Value> numbers_;  // by bits
};

const char* to_string(Kind kind);
const char* to_string(Conversion conversion);

}  // namespace warpsim::provenance
