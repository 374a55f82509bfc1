#include "warpsim/ptx/opcode_table.h"

#include <algorithm>
#include <array>

namespace warpsim::ptx {

namespace {

using enum Opcode;

constexpr uint32_t kInt = kTakesInt, kBits = kTakesBits, kFloat = kTakesFloat, kHalf = kTakesHalf,
                   kPred = kTakesPred, kWord = kTakesWord, kNumber = kTakesNumber,
                   kData = kTakesData, kPair = kTakesPair, kBytes = kTakesBytes;
constexpr uint32_t kRnd = kModRounding | kModFtz | kModSat;  // floating arithmetic
constexpr uint32_t kApx = kModRounding | kModFtz | kModApprox;
constexpr uint32_t kExtreme = kModFtz | kModNan | kModRelu | kModXorsign;
constexpr uint32_t kLdSt = kModSpace | kModVector | kModMemory;

// Legend of `shape`: destinations, '=', sources; one letter an operand.
//   t  a register of the instruction's type        s  of its second type (cvt's source, ...)
//   T  S  likewise, but the register may be wider  w  of the type, twice as wide with .wide
//   u  32 bits                                     p  a predicate
//   q  a predicate after '|', may be absent        m  mov: register, vector, special register, name
//   V  ld, st: register or vector, may be wider    x  an address as a value
//   a  an address in brackets                      i  an immediate
//   l  a label                                     ?  the operands that follow may be absent
//   g  32 bits or a predicate
//   o  32 bits, may be absent although another operand follows
//   b  an address in brackets or 64 bits           d  64 bits
//   c  a texel: a vector, or one register in braces
//   k  the address of a texture or surface with its coordinates
//   n  anything that is no address
//   f  a fragment: as many registers of 32 bits (of 64 for f64) as fragment.h or wmma.h says
// A source of t, s, T, S, w, u may be an immediate. Shape "*": operands are not decoded; "call",
// "brx": see parse_instruction.cpp.
// clang-format off
constexpr OpcodeRow kTable[] = {
    // name              opcode            shape      types  modifiers
    {"add",              kAdd,             "t=tt",    1, kNumber | kPair, kRnd | kModCarry},
    {"addc",             kAddc,            "t=tt",    1, kInt, kModCarry},
    {"sub",              kSub,             "t=tt",    1, kNumber, kRnd | kModCarry},
    {"subc",             kSubc,            "t=tt",    1, kInt, kModCarry},
    {"mul",              kMul,             "w=tt",    1, kNumber, kRnd | kModPart},
    {"mul24",            kMul24,           "u=uu",    1, kInt, kModPart},
    {"mad",              kMad,             "w=ttw",   1, kNumber, kRnd | kModPart | kModCarry},
    {"mad24",            kMad24,           "u=uuu",   1, kInt, kModPart | kModSat},
    {"madc",             kMadc,            "t=ttt",   1, kInt, kModPart | kModCarry},
    {"fma",              kFma,             "t=ttt",   1, kFloat | kHalf, kRnd | kModRelu},
    {"div",              kDiv,             "t=tt",    1, kInt | kFloat, kApx},
    {"rem",              kRem,             "t=tt",    1, kInt, 0},
    {"abs",              kAbs,             "t=t",     1, kNumber, kModFtz},
    {"neg",              kNeg,             "t=t",     1, kNumber, kModFtz},
    {"min",              kMin,             "t=tt",    1, kNumber | kPair, kExtreme},
    {"max",              kMax,             "t=tt",    1, kNumber | kPair, kExtreme},
    {"sad",              kSad,             "t=ttt",   1, kInt, 0},
    {"popc",             kPopc,            "u=t",     1, kBits, 0},
    {"clz",              kClz,             "u=t",     1, kBits, 0},
    {"bfind",            kBfind,           "u=t",     1, kInt, kModAmount},
    {"brev",             kBrev,            "t=t",     1, kBits, 0},
    {"bfe",              kBfe,             "t=tuu",   1, kInt, 0},
    {"bfi",              kBfi,             "t=ttuu",  1, kBits, 0},
    {"bmsk",             kBmsk,            "u=uu",    1, kBits, kModLimit},
    {"szext",            kSzext,           "t=tu",    1, kInt, kModLimit},
    {"vabsdiff4",        kVabsdiff4,       "u=uuu",   3, kInt, kModSum},
    {"fns",              kFns,             "u=uuu",   1, kBits, 0},
    {"dp4a",             kDp4a,            "u=uuu",   2, kInt, 0},
    {"dp2a",             kDp2a,            "u=uuu",   2, kInt, kModPart},
    {"rcp",              kRcp,             "t=t",     1, kFloat, kApx},
    {"sqrt",             kSqrt,            "t=t",     1, kFloat, kApx},
    {"rsqrt",            kRsqrt,           "t=t",     1, kFloat, kApx},
    {"sin",              kSin,             "t=t",     1, kFloat, kApx},
    {"cos",              kCos,             "t=t",     1, kFloat, kApx},
    {"lg2",              kLg2,             "t=t",     1, kFloat, kApx},
    {"ex2",              kEx2,             "t=t",     1, kFloat | kHalf, kApx},
    {"tanh",             kTanh,            "t=t",     1, kFloat | kHalf, kApx},
    {"copysign",         kCopysign,        "t=tt",    1, kFloat, 0},
    {"testp",            kTestp,           "p=t",     1, kFloat, kModTestp},

    {"and",              kAnd,             "t=tt",    1, kBits | kPred, 0},
    {"or",               kOr,              "t=tt",    1, kBits | kPred, 0},
    {"xor",              kXor,             "t=tt",    1, kBits | kPred, 0},
    {"not",              kNot,             "t=t",     1, kBits | kPred, 0},
    {"cnot",             kCnot,            "t=t",     1, kBits, 0},
    {"lop3",             kLop3,            "uq=uuui?p", 1, kBits, kModBool},
    {"shl",              kShl,             "t=tu",    1, kBits, 0},
    {"shr",              kShr,             "t=tu",    1, kWord, 0},
    {"shf",              kShf,             "u=uuu",   1, kBits, kModShift},
    {"prmt",             kPrmt,            "u=uuu",   1, kBits, kModPrmt},

    {"setp",             kSetp,            "pq=tt?p", 1, kWord | kFloat | kHalf, kModCompare | kModBool | kModFtz},
    {"set",              kSet,             "t=ss?p",  2, kWord | kFloat | kHalf, kModCompare | kModBool | kModFtz},
    {"selp",             kSelp,            "t=ttp",   1, kWord | kFloat, 0},
    {"slct",             kSlct,            "t=tts",   2, kWord | kFloat, kModFtz},

    {"mov",              kMov,             "m=m",     1, kWord | kFloat | kPred, 0},
    {"cvt",              kCvt,             "T=S?S",   2, kData | kBytes, kRnd | kModRelu},
    {"cvta",             kCvta,            "t=t",     1, kInt, kModSpace | kModTo},
    {"isspacep",         kIsspacep,        "p=x",     0, 0, kModSpace},
    {"ld",               kLd,              "V=a",     1, kData, kLdSt},
    {"ldu",              kLdu,             "V=a",     1, kData, kLdSt},
    {"st",               kSt,              "=aV",     1, kData, kLdSt},
    {"prefetch",         kPrefetch,        "=a",      0, 0, kModSpace | kModMemory},
    {"prefetchu",        kPrefetch,        "=a",      0, 0, kModMemory},
    {"shfl",             kShfl,            "uq=uuu?u", 1, kBits, kModShuffle | kModSync},
    {"vote",             kVote,            "t=p?u",   1, kBits | kPred, kModVote | kModSync},
    {"match.any",        kMatch,           "u=tu",    1, kBits, kModSync},
    {"match.all",        kMatch,           "uq=tu",   1, kBits, kModSync},
    {"redux",            kRedux,           "t=tu",    1, kInt | kBits, kModAtom | kModSync},
    {"activemask",       kActivemask,      "u=",      1, kBits, 0},
    {"elect",            kElect,           "uq=u",    0, 0, kModSync},
    {"atom",             kAtom,            "T=aT?T",  1, kWord | kFloat | kHalf, kModSpace | kModAtom | kModMemory},
    {"red",              kRed,             "=aT",     1, kWord | kFloat | kHalf, kModSpace | kModAtom | kModMemory},

    {"bar.sync",         kBar,             "=u?u",    0, 0, 0},
    {"bar.arrive",       kBar,             "=uu",     0, 0, 0},
    {"bar.red",          kBar,             "t=uop"  , 1, kInt | kPred, kModBarRed},
    {"bar.cta.sync",     kBar,             "=u?u",    0, 0, 0},
    {"bar.cta.arrive",   kBar,             "=uu",     0, 0, 0},
    {"bar.cta.red",      kBar,             "t=uop"  , 1, kInt | kPred, kModBarRed},
    {"barrier.sync",     kBar,             "=u?u",    0, 0, kModSync},
    {"barrier.arrive",   kBar,             "=uu",     0, 0, kModSync},
    {"barrier.red",      kBar,             "t=uop"  , 1, kInt | kPred, kModBarRed | kModSync},
    {"barrier.cta.sync", kBar,             "=u?u",    0, 0, kModSync},
    {"barrier.cta.arrive", kBar,           "=uu",     0, 0, kModSync},
    {"barrier.cta.red",  kBar,             "t=uop"  , 1, kInt | kPred, kModBarRed | kModSync},
    {"bar.warp.sync",    kBarWarp,         "=u",      0, 0, 0},
    {"membar",           kMembar,          "=",       0, 0, kModMemory},
    {"fence",            kMembar,          "=",       0, 0, kModMemory},
    {"cp.async",         kCpAsync,         "=aai?g",  0, 0, kModSpace | kModMemory},
    {"cp.async.commit_group", kCpAsyncCommit, "=",    0, 0, 0},
    {"cp.async.wait_group", kCpAsyncWait,  "=i",      0, 0, 0},
    {"cp.async.wait_all", kCpAsyncWait,    "=",       0, 0, 0},

    {"bra",              kBra,             "=l",      0, 0, kModUni},
    {"brx.idx",          kBrx,             "brx",     0, 0, kModUni},
    {"call",             kCall,            "call",    0, 0, kModUni},
    {"ret",              kRet,             "=",       0, 0, kModUni},
    {"exit",             kExit,            "=",       0, 0, 0},
    {"trap",             kTrap,            "=",       0, 0, 0},
    {"brkpt",            kBrkpt,           "=",       0, 0, 0},
    {"nanosleep",        kNanosleep,       "=u",      1, kInt, 0},

    {"griddepcontrol",   kHint,            "=",       0, 0, kModHint},
    {"setmaxnreg",       kHint,            "=i",      1, kInt, kModHint | kModSync},
    {"pmevent",          kHint,            "=i",      0, 0, kModHint},
    {"applypriority",    kHint,            "=ai",     0, 0, kModSpace | kModMemory | kModHint},
    {"discard",          kHint,            "=ai",     0, 0, kModSpace | kModMemory},

    {"mbarrier.init",    kMbarrier,        "=au",     1, kBits, kModSpace},
    {"mbarrier.inval",   kMbarrier,        "=a",      1, kBits, kModSpace},
    {"mbarrier.arrive",  kMbarrier,        "t=a?u",   1, kBits, kModSpace | kModMemory},
    {"mbarrier.arrive.noComplete", kMbarrier, "t=au", 1, kBits, kModSpace | kModMemory},
    {"mbarrier.arrive.expect_tx", kMbarrier, "t=au",  1, kBits, kModSpace | kModMemory},
    {"mbarrier.arrive_drop", kMbarrier,    "t=a?u",   1, kBits, kModSpace | kModMemory},
    {"mbarrier.arrive_drop.noComplete", kMbarrier, "t=au", 1, kBits, kModSpace | kModMemory},
    {"mbarrier.arrive_drop.expect_tx", kMbarrier, "t=au", 1, kBits, kModSpace | kModMemory},
    {"mbarrier.expect_tx", kMbarrier,      "=au",     1, kBits, kModSpace | kModMemory},
    {"mbarrier.complete_tx", kMbarrier,    "=au",     1, kBits, kModSpace | kModMemory},
    {"mbarrier.test_wait", kMbarrierWait,  "p=at",    1, kBits, kModSpace | kModMemory},
    {"mbarrier.test_wait.parity", kMbarrierWait, "p=au", 1, kBits, kModSpace | kModMemory},
    {"mbarrier.try_wait", kMbarrierWait,   "p=at?u",  1, kBits, kModSpace | kModMemory},
    {"mbarrier.try_wait.parity", kMbarrierWait, "p=au?u", 1, kBits, kModSpace | kModMemory},
    {"mbarrier.pending_count", kMbarrierPending, "u=t", 1, kBits, 0},
    {"cp.async.mbarrier.arrive", kCopiesArrive, "=a", 1, kBits, kModSpace},
    {"cp.async.mbarrier.arrive.noinc", kCopiesArrive, "=a", 1, kBits, kModSpace},
    {"cp.async.bulk",    kBulkCopy,        "=aau?bd", 0, 0, kModBulk},
    {"cp.async.bulk.tensor", kBulkCopy,    "=aa?bd",  0, 0, kModBulk},
    {"cp.async.bulk.commit_group", kBulkCommit, "=",  0, 0, 0},
    {"cp.async.bulk.wait_group", kBulkWait, "=i",     0, 0, 0},
    {"cp.async.bulk.wait_group.read", kBulkWait, "=i", 0, 0, 0},
    {"cp.async.bulk.prefetch", kHint,      "=au?d",   0, 0, kModBulk},
    {"cp.async.bulk.prefetch.tensor", kHint, "=a?d",  0, 0, kModBulk},
    {"prefetch.tensormap", kHint,          "=a",      0, 0, 0},
    {"prefetch.param.tensormap", kHint,    "=a",      0, 0, 0},
    {"prefetch.const.tensormap", kHint,    "=a",      0, 0, 0},
    {"fence.proxy.async", kProxyFence,     "=",       0, 0, kModSpace},
    {"fence.mbarrier_init", kHint,         "=",       0, 0, kModMemory},

    {"tex",              kTex,             "cq=k?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"tex.level",        kTex,             "cq=kn?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"tex.grad",         kTex,             "cq=knn?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"tld4.r",           kTex,             "cq=k?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"tld4.g",           kTex,             "cq=k?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"tld4.b",           kTex,             "cq=k?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"tld4.a",           kTex,             "cq=k?nn", 2, kInt | kFloat | kHalf, kModTexture | kModVector},
    {"suld.b",           kSuld,            "c=k",     1, kBits | kTakesByte, kModTexture | kModVector | kModMemory},
    {"sust.b",           kSust,            "=kc",     1, kBits | kTakesByte, kModTexture | kModVector | kModMemory},
    {"txq",              kTexQuery,        "u=a",     1, kBits, kModTexture},
    {"suq",              kTexQuery,        "u=a",     1, kBits, kModTexture},

    {"wmma.load.a",      kWmmaLoad,        "f=a?u",   1, kData, kModTile | kModSpace | kModSync},
    {"wmma.load.b",      kWmmaLoad,        "f=a?u",   1, kData, kModTile | kModSpace | kModSync},
    {"wmma.load.c",      kWmmaLoad,        "f=a?u",   1, kData, kModTile | kModSpace | kModSync},
    {"wmma.store.d",     kWmmaStore,       "=af?u",   1, kData, kModTile | kModSpace | kModSync},
    {"wmma.mma",         kWmmaMma,         "f=fff",   4, kData, kModTile | kModSync | kModRounding},
    {"movmatrix",        kMovmatrix,       "u=u",     1, kBits, kModMatrix | kModSync},
    {"mma",              kMma,             "f=fff",   4, kData, kModTile | kModSync},
    {"ldmatrix",         kLdmatrix,        "f=a",     1, kData, kModMatrix | kModSpace | kModSync},
    {"stmatrix",         kStmatrix,        "=af",     1, kData, kModMatrix | kModSpace | kModSync},
};
// clang-format on

}  // namespace

std::span<const OpcodeRow> opcode_table() {
  return kTable;
}

const OpcodeRow* find_opcode(std::string_view mnemonic) {
  // Sorted once, so that a lookup is a binary search per part of the mnemonic.
  static const auto sorted = [] {
    std::array<const OpcodeRow*, std::size(kTable)> rows{};
    std::transform(std::begin(kTable), std::end(kTable), rows.begin(),
                   [](const OpcodeRow& r) { return &r; });
    std::sort(rows.begin(), rows.end(), [](auto* a, auto* b) { return a->name < b->name; });
    return rows;
  }();
  for (std::string_view prefix = mnemonic; !prefix.empty();) {
    auto row = std::lower_bound(sorted.begin(), sorted.end(), prefix,
                                [](auto* r, std::string_view name) { return r->name < name; });
    if (row != sorted.end() && (*row)->name == prefix) return *row;
    size_t dot = prefix.rfind('.');
    prefix = dot == std::string_view::npos ? std::string_view{} : prefix.substr(0, dot);
  }
  return nullptr;
}

}  // namespace warpsim::ptx
