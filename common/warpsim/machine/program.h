// The decoded form of a function: a flat stream of operations with their operands resolved.
//
// An operand is the byte offset of a ROW in the running function's frame: 32 lanes of 4 bytes
// (registers up to 32 bits) or of 8 bytes (64-bit registers), or one 4-byte lane mask (predicates).
// Immediates and special registers are rows that hold their value in every lane, filled in before
// the frame is used. So a handler never asks what kind an operand is.

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "warpsim/lanes.h"
#include "warpsim/ptx/ir.h"

namespace warpsim {

inline constexpr uint32_t kRow32Bytes = 128;
inline constexpr uint32_t kRow64Bytes = 256;

struct Op;
struct Warp;
// Executes `op` for the warp's active lanes and returns the operation to go on with, nullptr when
// the warp has to stop (Warp::state says why).
using Handler = const Op* (*)(Warp&, const Op*);

// What an instruction orders: nothing, accesses as its block sees them, or as all blocks do.
enum class Fence : uint8_t { kNone, kBlock, kDevice };

enum class Family : uint8_t {
  kRows,  // rows alone
#define WARPSIM_FAMILY(name, Name) k##Name,
#include "warpsim/machine/families.inc"
#undef WARPSIM_FAMILY
};

// A row that holds addresses.
struct AddressRow {
  uint32_t row : 31;
  uint32_t wide : 1;  // of 64 bits
};

struct Op {
  Handler full = nullptr;                      // when all 32 lanes are active
  Handler masked = nullptr;                    // for any subset
  uint32_t d = 0, a = 0, b = 0, c = 0, e = 0;  // rows or predicates; d is the destination
  uint32_t instruction : 24 = 0;               // index into ptx::Function::code
  Family family : 8 = Family::kRows;

  // What an operation needs besides rows: the member named after its family. A distance is counted
  // in operations, from this one.
  struct Enter {
    uint32_t block;          // index into Image::blocks
    uint32_t instructions;   // of that block
    uint32_t multiply_adds;  // among them, of floats
    uint32_t products;       // among them, on tensor cores
  };
  struct Guard {
    uint32_t operations;  // so many of the following ones are governed, none of them control
  };
  struct Branch {
    uint32_t number;  // index into Image::branches
    int32_t target;   // distance
    int32_t meeting;  // distance to where the lanes meet again; 0: only when they return
  };
  struct Table {
    uint32_t number;   // index into Image::branches
    uint32_t targets;  // so many of the following operations are Branches that are only read
    int32_t meeting;   // as in Branch
  };
  struct Call {
    uint32_t site;  // index into Image::calls
  };
  struct Indirect {
    uint32_t site;    // index into Image::indirect_calls
    int32_t meeting;  // as in Branch
  };
  struct Place {
    uint32_t function;  // index into ptx::Module::functions
  };
  struct Barrier {
    uint32_t number;  // index into Image::barriers
    ptx::BarMode mode;
    bool negated;  // the predicate of bar.red
  };
  struct Fence {
    warpsim::Fence scope;
  };
  struct Mbarrier {
    int32_t offset;  // bytes
    AddressRow address;
    uint32_t site;  // index into Image::sites
    ptx::MbarrierOp mode;
    // Of a wait: the phase is given by its parity. Of an arrival: see ptx::Instruction.
    bool parity : 1, no_complete : 1, expects : 1;
    bool may_give_up : 1;  // a wait: more than its answer decides whether it is made again
    uint16_t work_ahead;   // multiply-adds and products of the block behind it, counted already
  };
  struct Bulk {
    uint32_t index;  // into Image::bulk_copies
  };
  struct Texture {
    uint32_t index;  // into Image::textures
  };
  struct Address {
    uint8_t bytes;  // per lane
    uint8_t granule_shift;
  };
  struct Access {
    int64_t offset;      // bytes, to be added to the address
    uint32_t site;       // index into Image::sites
    AddressRow address;  // for lanes taken one by one
  };
  // cp.async; the operation after it, which is only read, is its CopyTarget. Row e of that one is
  // the multiply-adds among `ahead`.
  struct Copy {
    int32_t global_offset;  // bytes
    AddressRow global;
    uint32_t global_site;  // index into Image::sites
    uint32_t bytes;        // per lane: 4, 8, 16
  };
  struct CopyTarget {
    int32_t shared_offset;  // bytes
    AddressRow shared;
    uint32_t shared_site;  // index into Image::sites
    uint32_t ahead;        // instructions of the block behind the copy, counted already
  };
  struct Wait {
    uint64_t open;   // so many of the newest groups may still be on their way
    uint32_t ahead;  // as in CopyTarget, the wait included
    uint32_t multiply_adds_ahead;
  };
  struct Param {
    int64_t offset;  // bytes into the parameter block
    uint32_t bytes;  // 1, 2, 4, 8
  };
  struct Local {
    int64_t offset;  // bytes into the function's local memory
    bool wide;       // d has 64 bits
  };
  struct Compare {
    uint32_t yes;         // of set: what the row gets where the comparison holds
    ptx::BoolOp combine;  // with predicate c
    bool negated;         // c
    // In which cases the comparison holds, added up: 1 a is less, 2 equal, 4 greater, 8 one of the
    // two is a NaN. Handlers that are made for one comparison do not look at it.
    uint8_t when;
  };
  struct Negated {
    bool a, b, c;  // predicates
  };
  struct Lanes {
    uint32_t members;   // row of masks; 0: none are given
    uint32_t function;  // index into ptx::Module::functions
    bool negated;       // predicate a of a vote
  };
  struct Matrices {
    uint32_t index;  // into Image::fragments
  };
  struct Lookup {
    uint32_t table;  // of lop3
  };
  struct Clock {
    uint32_t shift;  // bits
  };
  struct Space {
    ptx::Space space;
  };
  struct Counter {
    uint32_t index;  // into Image::guarded_fma
  };
  struct Poll {
    bool wide;          // a has 64 bits
    bool wide_address;  // so has b
  };
  struct Word {
    int32_t offset;  // bytes
    AddressRow address;
    uint32_t site;  // index into Image::sites
    bool reads : 1, writes : 1;
    bool adds : 1;        // to what is there: an atomic
    uint16_t work_ahead;  // as in Mbarrier
  };
  struct Watch {
    uint32_t index;  // into sample::Dependence::watches
  };
  union {
    uint64_t none[2] = {};
#define WARPSIM_FAMILY(name, Name) Name name;
#include "warpsim/machine/families.inc"
#undef WARPSIM_FAMILY
  };
#define WARPSIM_FAMILY(name, Name) \
  void set(const Name& value) {    \
    name = value;                  \
    family = Family::k##Name;      \
  }
#include "warpsim/machine/families.inc"
#undef WARPSIM_FAMILY
};
static_assert(sizeof(Op) == 56);  // every operation executed is read

// Which lanes-wide functions carry out an operation and how wide the rows are that they expect.
struct Handlers {
  Handler full = nullptr, masked = nullptr;
  bool wide_d = false, wide_a = false, wide_b = false, wide_c = false;  // 64-bit rows
  explicit operator bool() const { return full != nullptr; }
};

// One static memory instruction.
struct MemorySite {
  ptx::Space space = ptx::Space::kGlobal;
  uint8_t element_bytes = 4;
  uint8_t elements = 1;
  bool is_store = false;
  bool is_atomic = false;
  bool is_volatile = false;  // or .relaxed, .acquire, .release
  bool is_polling = false;   // waits for its value, see ptx/polling.h
  ptx::AtomOp atom = ptx::AtomOp::kNone;
  bool is_used = true;            // of an atomic: somebody reads the old value
  bool is_reduction = false;      // an atomic of which machine code asks no old value
  bool is_merged_atomic = false;  // one for the whole warp, as all its lanes have one address
  bool is_loop_atomic = false;    // of shared memory: machine code has no instruction for it
  bool is_count_atomic = false;   // adds 1 to shared memory: lanes at one address are added at once
  Fence fence = Fence::kNone;     // of a .release or .acq_rel
  bool is_async = false;          // the shared side of cp.async
  bool is_matrix = false;         // ldmatrix, stmatrix
  bool is_mbarrier = false;
  bool is_bulk = false;  // a side of cp.async.bulk
  bool past_l1 = false;  // the global side of cp.async.cg
  bool in_const_space = false;
  // The one shared array the address can come from, index into Image::shared; -1: look it up.
  int32_t shared_array = -1;
  // Of accesses to shared memory that ptxas makes one of (ptx/merge.h): the first one stands for
  // all, with so many bytes per lane; the others are not counted. 0: not the first, or alone.
  uint8_t merged_bytes = 0;
  uint8_t merged_times = 1;  // so many accesses of merged_bytes, where a load falls apart
  bool merged_away = false;
  uint32_t function = 0;     // index into ptx::Module::functions
  uint32_t instruction = 0;  // index into its code
  uint32_t bytes() const { return uint32_t{element_bytes} * elements; }
  // An exchange whose old value nobody reads: it needs none.
  bool only_stores() const { return is_atomic && !is_used && atom == ptx::AtomOp::kExch; }
};

// What a tensor-core instruction works on: rows of registers, those of each matrix in the order of
// the instruction; of 32 bits, or of 64 where the sums are doubles.
struct Fragments {
  uint32_t instruction = 0;  // index into the code of its function
  ptx::Type factors = ptx::Type::kNone, sums = ptx::Type::kNone;  // mma
  ptx::Tile tile;                                                 // mma
  uint8_t matrices = 0;                                           // ldmatrix, stmatrix
  bool transposed = false;
  // ldmatrix writes d and stmatrix reads a.
  std::array<uint32_t, 4> d{}, a{}, b{}, c{};
};

// A copy in bulk. Rows; of a side that is a tensor's, the address is its map's.
struct BulkInstruction {
  struct Side {
    AddressRow address{};
    int64_t offset = 0;
    uint32_t site = 0;  // index into Image::sites
  };
  Side shared, global;
  Side barrier;        // of a load
  uint32_t bytes = 0;  // row
  uint8_t dimensions = 0;
  std::array<uint32_t, 5> at{};  // rows of coordinates
  bool is_store = false;
};

// tex, tld4, suld, sust, txq. Rows.
struct TextureInstruction {
  AddressRow object{};  // the handle
  uint32_t site = 0;    // index into Image::sites
  ptx::Geometry geometry = ptx::Geometry::kNone;
  ptx::TexMode mode = ptx::TexMode::kNone;
  ptx::SurfaceEdge edge = ptx::SurfaceEdge::kNone;
  ptx::TexQuery query = ptx::TexQuery::kNone;
  bool has_elements = false;  // the coordinates are integers
  bool is_surface = false;
  std::array<uint32_t, 4> at{};     // of coordinates, the layer first
  std::array<uint32_t, 4> value{};  // of what is loaded or stored
  uint8_t element_bytes = 4, elements = 4;
  bool has_resident = false;  // a predicate says that the texel is in memory
  uint32_t resident = 0;
};

// A run of instructions that are executed together; counted once per entry.
struct BasicBlock {
  uint32_t function = 0;
  uint32_t first = 0, end = 0;  // instructions [first, end)
};

struct CallSite {
  int32_t callee = -1;  // index into ptx::Module::functions
  struct Copy {
    uint32_t from = 0, to = 0, rows = 0;
  };  // 32-bit rows, caller <-> callee frame
  std::vector<Copy> arguments, results;
};

// A call by address: what each function that may be meant needs.
struct IndirectCall {
  uint32_t function = 0;              // that calls
  std::map<int32_t, CallSite> sites;  // by callee
};

struct Program {
  bool decoded = false;
  std::vector<Op> ops;
  uint32_t frame_bytes = 0;     // multiple of 64
  uint32_t register_bytes = 0;  // its beginning: predicates, parameters, registers
  uint32_t local_bytes = 0;     // of the function's own local variables, per thread
  struct Constant {
    uint32_t row;
    bool wide;
    uint64_t bits;
  };
  struct SpecialRow {
    uint32_t row;
    bool wide;
    ptx::Special special;
  };
  std::vector<Constant> constants;
  std::vector<SpecialRow> specials;
  // First row of Function::params[i], then of Function::returns[i].
  std::vector<uint32_t> param_rows;
  std::vector<int32_t> callees;  // functions this one calls
  // One operation a line, for people: where in the PTX it comes from, its family, rows and fields.
  std::string dump(const ptx::Function& function) const;
};

}  // namespace warpsim
