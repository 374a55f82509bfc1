// The intermediate form of a PTX module: what the parser produces and everything else reads.
//
// One Module per PTX text. Names are resolved (registers, variables, labels and functions are
// indices), modifiers are decoded into fields, and the instructions of a function are one flat
// list; basic blocks and post-dominators are computed from it (flow.h). Nothing here executes
// anything.
//
// Source: PTX ISA 7.x to 9.x as written by nvcc 12 and 13.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpsim::ptx {

// clang-format off
enum class Type : uint8_t {
  kNone, kPred,
  kB8, kB16, kB32, kB64, kB128,
  kU8, kU16, kU32, kU64,
  kS8, kS16, kS32, kS64,
  kU16x2, kS16x2,
  kF16, kF16x2, kBF16, kBF16x2, kE4M3x2, kE5M2x2, kTF32, kF32, kF64,
};
// clang-format on

// Bytes of one element of `type` (kPred counts 1, kNone 0).
uint32_t size_bytes(Type type);
bool is_float(Type type);
bool is_signed(Type type);

enum class Space : uint8_t { kGeneric, kParam, kGlobal, kShared, kLocal, kConst };

// clang-format off
// One row per opcode in opcode_table.h: name, operand shape, families of modifiers.
enum class Opcode : uint8_t {
  // integer and floating arithmetic
  kAdd, kAddc, kSub, kSubc, kMul, kMul24, kMad, kMad24, kMadc, kFma, kDiv, kRem, kAbs, kNeg, kMin, kMax, kSad,
  kPopc, kClz, kBfind, kBrev, kBfe, kBfi, kBmsk, kSzext, kFns, kDp4a, kDp2a, kVabsdiff4,
  kRcp, kSqrt, kRsqrt, kSin, kCos, kLg2, kEx2, kTanh, kCopysign, kTestp,
  // logic and shifts
  kAnd, kOr, kXor, kNot, kCnot, kLop3, kShl, kShr, kShf, kPrmt,
  // comparison and selection
  kSetp, kSet, kSelp, kSlct,
  // data movement
  kMov, kCvt, kCvta, kIsspacep, kLd, kLdu, kSt, kPrefetch,
  kShfl, kVote, kMatch, kRedux, kActivemask, kElect,
  kAtom, kRed,
  // synchronisation
  kBar,        // bar.{sync,arrive,red} and barrier{.cta}.*
  kBarWarp,    // bar.warp.sync
  kMembar,     // membar and fence
  kCpAsync, kCpAsyncCommit, kCpAsyncWait,
  // control
  kBra, kBrx, kCall, kRet, kExit, kTrap, kBrkpt, kNanosleep,
  kHint,  // changes no value: pmevent, griddepcontrol, discard ...
  // tensor cores
  kMma, kLdmatrix, kStmatrix, kMovmatrix,
  // barriers in shared memory that count arrivals and bytes
  kMbarrier, kMbarrierWait, kMbarrierPending,
  kCopiesArrive,  // cp.async.mbarrier.arrive
  kProxyFence,    // fence.proxy.async
  kBulkCopy,      // cp.async.bulk and cp.async.bulk.tensor
  kBulkCommit, kBulkWait,
  // textures and surfaces
  kTex,  // tex and tld4
  kSuld, kSust,
  kTexQuery,  // txq and suq
  // parsed, so that the report can name the line; execution says `unsupported`
  kWmmaLoad, kWmmaStore, kWmmaMma,
  // recognised text whose meaning is not modelled; `mnemonic` has the full name; execution says
  // `unsupported`
  kUnknown,
  kCount
};

enum class CmpOp : uint8_t { kNone, kEq, kNe, kLt, kLe, kGt, kGe, kLo, kLs, kHi, kHs,
                             kEqu, kNeu, kLtu, kLeu, kGtu, kGeu, kNum, kNan };
enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };
enum class Rounding : uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
enum class MulPart : uint8_t { kNone, kLo, kHi, kWide };
enum class AtomOp : uint8_t { kNone, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor, kExch, kCas };
enum class ShflMode : uint8_t { kNone, kUp, kDown, kBfly, kIdx };
enum class VoteMode : uint8_t { kNone, kAll, kAny, kUni, kBallot };
enum class BarMode : uint8_t { kNone, kSync, kArrive, kRedAnd, kRedOr, kRedPopc };
enum class MbarrierOp : uint8_t { kNone, kInit, kInval, kArrive, kDrop, kExpectBytes, kCompleteBytes, kTestWait, kTryWait };
enum class ShiftMode : uint8_t { kNone, kLeft, kRight, kClamp, kWrap, kLeftClamp, kLeftWrap, kRightClamp, kRightWrap };
enum class LimitMode : uint8_t { kNone, kClamp, kWrap };  // bmsk, szext
// What tex, suld and sust take an array for; a layered one's layer comes first among the coordinates.
enum class Geometry : uint8_t { kNone, k1d, k2d, k3d, k1dLayered, k2dLayered, kCube, kCubeLayered };
enum class TexMode : uint8_t { kNone, kLevel, kGrad, kGatherR, kGatherG, kGatherB, kGatherA };
enum class SurfaceEdge : uint8_t { kNone, kTrap, kClamp, kZero };  // suld, sust outside of the surface
enum class TexQuery : uint8_t { kNone, kWidth, kHeight, kDepth, kLayers, kLevels, kSamples };
enum class PrmtMode : uint8_t { kNone, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };
enum class TestpOp : uint8_t { kNone, kFinite, kInfinite, kNumber, kNotanumber, kNormal, kSubnormal };
// clang-format on

// clang-format off
enum class Special : uint8_t {
  kTidX, kTidY, kTidZ, kNtidX, kNtidY, kNtidZ, kCtaidX, kCtaidY, kCtaidZ, kNctaidX, kNctaidY, kNctaidZ,
  kLaneid, kWarpid, kNwarpid, kSmid, kNsmid, kGridid,
  kLanemaskEq, kLanemaskLe, kLanemaskLt, kLanemaskGe, kLanemaskGt,
  kClock, kClockHi, kClock64, kGlobaltimer, kGlobaltimerLo, kGlobaltimerHi,
  kDynamicSmemSize, kTotalSmemSize, kPm, kEnvreg1, kEnvreg2,
};
// clang-format on

// A place in the student's source. line 0: none known.
struct SourceLine {
  int32_t file = -1;  // index into Module::files
  uint32_t line = 0;  // 1-based

  bool operator==(const SourceLine&) const = default;
};

// The product that an mma computes: M x K times K x N.
struct Tile {
  uint8_t m = 0, n = 0, k = 0;

  bool operator==(const Tile&) const = default;
};

struct Operand {
  enum class Kind : uint8_t {
    kNone,
    kRegister,   // reg
    kImmediate,  // imm: raw bits; integers sign-extended to 64, f32 literals in the low 32 bits
    kSpecial,    // special
    kSymbol,     // address of variable `symbol` plus `offset` (mov of a name, cvta of a name)
    kAddress,    // [reg + offset], [variable `symbol` + offset] or [imm]: of ld, st, atom, ...
    kVector,     // {a, b, ...}: `elements`
    kLabel,      // target: instruction index
    kFunction,   // function: index into Module::functions, as an address
    kSink,       // `_`: a destination nobody wants
  };
  Kind kind = Kind::kNone;
  bool negated = false;  // `!%p` in source position
  bool is_f32 = false;   // immediate written 0f...
  bool is_f64 = false;   // immediate written 0d... or as a decimal fraction
  Special special = Special::kTidX;
  int32_t reg = -1;       // index into Function::registers, -1: none
  int32_t symbol = -1;    // index into Module::variables, -1: none
  int32_t function = -1;  // index into Module::functions
  int32_t target = -1;    // index into Function::code
  int64_t offset = 0;     // bytes
  uint64_t imm = 0;
  std::vector<Operand> elements;

  bool operator==(const Operand&) const = default;
};

struct Instruction {
  Opcode op = Opcode::kUnknown;
  Type type = Type::kNone;  // the instruction's type; for cvt the destination's
  // The second type: cvt's source, set's source, slct's selector, the factors of mma; else kNone.
  Type src_type = Type::kNone;
  // ld, st, atom, red, cvta, isspacep, prefetch, cp.async (destination shared, source global);
  // cp.async.bulk: of the destination, shared or global, and the source is the other
  Space space = Space::kGeneric;
  bool to_space = false;     // cvta.to.SPACE (generic -> space) rather than cvta.SPACE
  uint8_t vector_width = 1;  // 1, 2, 4 (8 on newer targets): .v2, .v4
  MulPart part = MulPart::kNone;
  Rounding rounding = Rounding::kNone;
  CmpOp cmp = CmpOp::kNone;
  BoolOp bool_op = BoolOp::kNone;
  AtomOp atom = AtomOp::kNone;
  ShflMode shfl = ShflMode::kNone;
  VoteMode vote = VoteMode::kNone;
  BarMode bar = BarMode::kNone;
  ShiftMode shift = ShiftMode::kNone;
  PrmtMode prmt = PrmtMode::kNone;
  LimitMode limit = LimitMode::kNone;
  TestpOp testp = TestpOp::kNone;
  bool ftz = false, sat = false;
  bool approx = false, full = false;  // div.full, div.approx, ex2.approx ...
  bool carry_out = false;             // .cc
  bool uni = false;                   // bra.uni, call.uni
  bool is_volatile = false;           // also .relaxed/.acquire/.release
  bool non_coherent = false;          // ld.global.nc
  bool past_l1 = false;               // cp.async.cg: not through the first-level cache
  bool match_all = false;             // match.all (else match.any)
  bool aligned = true;        // bar.sync / barrier...aligned; barrier.sync without .aligned: false
  bool shift_amount = false;  // bfind.shiftamt: the left shift that brings the found bit to the top
  bool nan = false;           // min.NaN, max.NaN: a NaN operand makes the result NaN
  bool relu = false;          // a negative result becomes 0
  bool sat_finite = false;    // what is beyond the largest number becomes it
  bool xorsign = false;       // min, max .xorsign.abs: of the magnitudes, with the signs' product
  bool accumulate = false;    // vabsdiff4.add: the sum of all, added to c
  uint8_t dimensions = 0;     // cp.async.bulk.tensor: of the tensor
  Geometry geometry = Geometry::kNone;
  TexMode tex = TexMode::kNone;
  SurfaceEdge edge = SurfaceEdge::kNone;
  TexQuery query = TexQuery::kNone;
  Tile tile;                // mma, wmma
  uint8_t matrices = 0;     // ldmatrix, stmatrix: .x1 .x2 .x4
  bool transposed = false;  // ldmatrix, stmatrix, movmatrix
  MbarrierOp mbarrier = MbarrierOp::kNone;
  bool parity = false;         // mbarrier waits: the phase is given by its parity, not by a state
  bool no_complete = false;    // mbarrier arrivals: the last of a phase is not among them
  bool expects = false;        // mbarrier arrivals: the number is one of bytes to expect
  bool no_increment = false;   // cp.async.mbarrier.arrive: its arrival is among those expected
  bool of_whole_warp = false;  // a lane that is not there is a finding: the first of a wmma

  int32_t guard = -1;          // predicate register, -1: always
  bool guard_negated = false;  // @!%p

  // Operands in PTX order, destinations first. setp p|q and shfl d|p: two destinations.
  //   ld                  dst = {register or vector}, src = {address}
  //   st, red             src = {address, value...}
  //   atom                dst, then address, operands
  //   cp.async            src = {shared address, global address, bytes [, source bytes]}
  //   cp.async.wait_all   src empty; cp.async.wait_group N: src = {immediate N}
  //   call                dst = returned .param variables as kSymbol,
  //                       src = {function, arguments as kSymbol or register/immediate}
  //   bra                 src = {label}; brx.idx: src = {index, label, label, ...}
  //   mma                 dst = {vector}, src = {vector, vector, vector}: A, B, C
  //   ldmatrix, stmatrix  like ld and st, of so many registers as there are matrices
  //   bar, barrier        src = {barrier [, thread count]}, for .red then the predicate
  //   mbarrier            src = {address, count, state or parity, time limit}, as far as it has
  //   them cp.async.bulk       src = {destination, source, bytes [, mbarrier]}; .tensor without the
  //   bytes;
  //                       the address of a tensor has the coordinates as elements
  //   wmma                as mma; load and store with the stride of a row (or column) at the end
  //   tex, tld4           dst = {vector [, predicate]}, src = {address [, level or gradients]};
  //                       the address, of the object, has the coordinates as elements
  //   suld, sust          like tex; like st, of a vector in either case
  //   kUnknown: no operands
  // Literals have the width of the operand they stand for: 1.5 in an f32 instruction is kept as
  // float bits.
  std::vector<Operand> dst;
  std::vector<Operand> src;

  std::string mnemonic;       // the opcode with all its modifiers, as written
  SourceLine where;           // the student's line (see Module::files)
  uint32_t ptx_line = 0;      // 1-based line in the PTX text
  bool by_algorithm = false;  // of a library of algorithms, which the student's line calls

  bool operator==(const Instruction&) const = default;
};

struct Register {
  std::string name;  // as declared, unique in its function: a second %p1 in an inner { } is %p1$2
  Type type = Type::kB32;

  bool operator==(const Register&) const = default;
};

// A variable in any state space: of module or function scope, a parameter of a kernel, of a
// function or of a call.
struct Variable {
  std::string name;         // as in PTX (mangled)
  std::string source_name;  // as the student wrote it, where that can be told: `Mds`
  Space space = Space::kGlobal;
  Type type = Type::kB8;  // element type
  uint32_t align_bytes = 1;
  uint64_t size_bytes = 0;  // 0 with `is_extern`: dynamic shared memory
  bool is_extern = false;
  bool is_managed = false;          // the host uses it at the same address
  int32_t function = -1;            // owning function, -1: module scope
  uint32_t param_offset_bytes = 0;  // of a function's own parameters: place in its block of them
  std::vector<uint8_t> initial;     // may be shorter than size_bytes: the rest is zero
  struct Relocation {
    uint32_t offset_bytes = 0;  // where in `initial` the address goes
    int32_t symbol = -1;        // index into Module::variables, or Module::functions if is_function
    int64_t addend = 0;         // bytes
    bool generic = false;       // generic(x): an address in the generic space
    bool is_function = false;
    bool operator==(const Relocation&) const = default;
  };
  std::vector<Relocation> relocations;  // initialisers that are addresses; 8 bytes each

  bool operator==(const Variable&) const = default;
};

struct Function {
  std::string name;                    // as in PTX (mangled)
  std::string source_name;             // demangled, without the parameter list: `tiled`
  bool is_kernel = false;              // .entry
  bool is_extern = false;              // declared only (vprintf, __assertfail, malloc, free)
  std::vector<int32_t> params;         // Module::variables, in order
  std::vector<int32_t> returns;        // likewise (functions only)
  uint32_t param_bytes = 0;            // size of the whole parameter block
  std::vector<Register> registers;     // those the code uses, in order of first use
  std::vector<Instruction> code;       // ends with kRet, kExit, kTrap or an unconditional branch
  uint32_t max_threads_per_block = 0;  // .maxntid product, 0: not given
  uint32_t min_blocks_per_sm = 0;      // .minnctapersm
  uint32_t max_registers = 0;          // .maxnreg
  uint32_t required_block[3] = {0, 0, 0};  // .reqntid

  bool operator==(const Function&) const = default;
};

struct Module {
  std::string name;  // what to call it in messages
  int version_major = 0, version_minor = 0;
  std::string target;              // "sm_90"
  std::vector<std::string> files;  // .file table; the student's paths as nvcc wrote them
  std::vector<Variable> variables;
  std::vector<Function> functions;

  // Index into functions / variables, -1 if there is none.
  int32_t find_function(const std::string& name) const;
  int32_t find_variable(const std::string& name) const;
};

}  // namespace warpsim::ptx
