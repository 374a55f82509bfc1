// Threads one instruction at a time.

#include <algorithm>

#include "tests/oracle/machine.h"

namespace oracle {

using namespace warpsim::ptx;

namespace {

constexpr uint64_t kStepLimit = 2'000'000;

uint64_t align_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// `!p` of a predicate; of a float, as contracted products have it, the other sign.
uint64_t negated(const Function& function, int32_t reg, uint64_t bits) {
  const Type type = function.registers[static_cast<size_t>(reg)].type;
  if (type == Type::kPred) return !bits;
  const uint64_t sign = uint64_t{1} << (8 * size_bytes(type) - 1);
  return bits ^ sign;
}

// Places the module's variables: shared and local ones at offsets, the others in memory.
void place_variables(World* world) {
  uint64_t shared = 0, next_global = 0x100000000;
  std::map<int32_t, uint64_t> local;  // bytes by function
  const Module& module = world->module;
  world->addresses.resize(module.variables.size());
  auto take = [](uint64_t* end, const Variable& v) {
    uint64_t at = align_up(*end, std::max<uint64_t>(v.align_bytes, 16));
    *end = at + v.size_bytes;
    return at;
  };
  for (size_t n = 0; n < module.variables.size(); ++n) {
    const Variable& v = module.variables[n];
    uint64_t& address = world->addresses[n];
    if (v.space == Space::kShared && !v.is_extern) address = take(&shared, v);
    if (v.space == Space::kLocal) address = take(&local[v.function], v);
    if (v.space != Space::kGlobal && v.space != Space::kConst) continue;
    address = take(&next_global, v);
    std::vector<uint8_t> bytes = v.initial;
    bytes.resize(v.size_bytes);
    world->memory->add(address, std::move(bytes));
    if (!v.relocations.empty()) throw Undefined("initialisers with addresses are not covered");
  }
  shared = align_up(shared, 16);
  for (size_t n = 0; n < module.variables.size(); ++n) {  // dynamic shared memory behind the static
    const Variable& v = module.variables[n];
    if (v.space == Space::kShared && v.is_extern) world->addresses[n] = shared;
  }
  world->shared_bytes = shared + world->launch.dynamic_shared_bytes;
}

bool is_collective(const Instruction& i) {
  switch (i.op) {
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kBarWarp:
    case Opcode::kBar:
      return true;
    default:
      return false;
  }
}

}  // namespace

void run(const Module& module, const Launch& launch, Memory* memory) {
  World world{module, launch, memory, {}, 0};
  place_variables(&world);
  for (uint32_t z = 0; z < launch.grid[2]; ++z) {
    for (uint32_t y = 0; y < launch.grid[1]; ++y) {
      for (uint32_t x = 0; x < launch.grid[0]; ++x) Block(world, {x, y, z}).run();
    }
  }
}

Block::Block(const World& world, Dim index)
    : world_(world), index_(index), shared_(world.shared_bytes) {
  const Launch& launch = world.launch;
  int32_t kernel = world.module.find_function(launch.kernel);
  if (kernel < 0) throw Undefined("no kernel " + launch.kernel);
  const Function& function = world.module.functions[kernel];
  Frame frame;
  frame.function = &function;
  frame.registers.resize(function.registers.size());
  frame.written.resize(function.registers.size());
  for (int32_t p : function.params) {
    const Variable& v = world.module.variables[p];
    auto begin = launch.params.begin() + v.param_offset_bytes;
    frame.params[p].assign(begin, begin + static_cast<ptrdiff_t>(v.size_bytes));
  }
  for (uint32_t n = 0; n < launch.block[0] * launch.block[1] * launch.block[2]; ++n) {
    Thread thread;
    thread.number = n;
    thread.index = {n % launch.block[0], n / launch.block[0] % launch.block[1],
                    n / launch.block[0] / launch.block[1]};
    thread.frames.push_back(frame);
    thread.local.resize(1 << 16);
    threads_.push_back(std::move(thread));
  }
}

void Block::run() {
  for (;;) {
    for (Thread& thread : threads_) run_thread(&thread);
    if (std::ranges::all_of(threads_, &Thread::done)) return;
    bool progress = release_warps();
    progress |= release_barriers();
    if (!progress) throw Undefined("threads wait for each other for ever");
  }
}

void Block::run_thread(Thread* thread) {
  while (!thread->done && !thread->waiting) {
    if (++steps_ > kStepLimit) throw Undefined("the program does not end");
    step(thread);
  }
}

bool Block::guarded_out(const Frame& frame, const Instruction& i) const {
  return i.guard >= 0 && (read_register(frame, i.guard) != 0) == i.guard_negated;
}

void Block::step(Thread* thread) {
  Frame& frame = thread->frames.back();
  const Instruction& i = frame.function->code.at(frame.pc++);
  if (guarded_out(frame, i)) return;
  if (is_collective(i)) {
    for (const Operand& source : i.src) thread->operands.push_back(value(thread, source));
    if (i.op == Opcode::kBar && i.bar == BarMode::kArrive) {
      ++arrived_[thread->operands[0]];
      thread->operands.clear();
      return;
    }
    thread->waiting = &i;
    return;
  }
  switch (i.op) {
    case Opcode::kBra:
    case Opcode::kBrx:
    case Opcode::kCall:
    case Opcode::kRet:
    case Opcode::kExit:
      return control(thread, i);
    case Opcode::kLd:
    case Opcode::kLdu:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kCpAsync:
      return access(thread, i);
    case Opcode::kSetp:
    case Opcode::kTestp:
    case Opcode::kIsspacep:
      return compute_predicates(thread, i);
    case Opcode::kMov:
    case Opcode::kCvta:
      return move(thread, i);
    case Opcode::kMembar:
    case Opcode::kPrefetch:
    case Opcode::kNanosleep:
    case Opcode::kCpAsyncCommit:
    case Opcode::kCpAsyncWait:
      return;
    default:
      return compute(thread, i);
  }
}

void Block::control(Thread* thread, const Instruction& i) {
  Frame& frame = thread->frames.back();
  switch (i.op) {
    case Opcode::kBra:
      frame.pc = static_cast<size_t>(i.src[0].target);
      break;
    case Opcode::kBrx: {
      uint64_t index = value(thread, i.src[0]);
      frame.pc = static_cast<size_t>(i.src.at(1 + index).target);
      break;
    }
    case Opcode::kCall:
      return call(thread, i);
    case Opcode::kExit:
      thread->done = true;
      break;
    default:
      leave(thread);
      break;
  }
}

void Block::call(Thread* thread, const Instruction& i) {
  Frame& caller = thread->frames.back();
  int32_t index = i.src[0].function;
  if (i.src[0].kind == Operand::Kind::kRegister)
    index = static_cast<int32_t>(value(thread, i.src[0])) - 1;
  const Function& function = world_.module.functions.at(static_cast<size_t>(index));
  if (function.code.empty())
    throw Undefined("the oracle does not cover a call of " + function.name);
  Frame frame;
  frame.function = &function;
  frame.registers.resize(function.registers.size());
  frame.written.resize(function.registers.size());
  frame.local_base = caller.local_base + 4096;
  for (size_t n = 0; n < function.params.size(); ++n) {
    const Operand& argument = i.src.at(1 + n);
    if (argument.kind != Operand::Kind::kSymbol)
      throw Undefined("the oracle passes .param variables only");
    frame.params[function.params[n]] = caller.params[argument.symbol];
  }
  for (int32_t r : function.returns) frame.params[r].resize(world_.module.variables[r].size_bytes);
  if (thread->frames.size() > 15) throw Undefined("calls are nested too deeply");
  thread->frames.push_back(std::move(frame));
}

void Block::leave(Thread* thread) {
  Frame callee = std::move(thread->frames.back());
  thread->frames.pop_back();
  if (thread->frames.empty()) {
    thread->done = true;
    return;
  }
  Frame& caller = thread->frames.back();
  const Instruction& i = caller.function->code[caller.pc - 1];
  for (size_t n = 0; n < i.dst.size(); ++n) {
    caller.params[i.dst[n].symbol] = callee.params[callee.function->returns.at(n)];
  }
}

void Block::compute(Thread* thread, const Instruction& i) {
  Frame& frame = thread->frames.back();
  Sources sources;
  for (const Operand& source : i.src) sources.push_back(value(thread, source));
  if (i.dst.size() != 1 || sources.empty()) not_covered(i);
  uint64_t result = evaluate(i, sources, &frame.carry);
  // A register wider than cvt's result takes it extended by the sign of the result's type.
  if (i.op == Opcode::kCvt && !is_float(i.type))
    result = static_cast<uint64_t>(value_of(i.type, result));
  put(&frame, i.dst[0], result);
}

void Block::compute_predicates(Thread* thread, const Instruction& i) {
  Frame& frame = thread->frames.back();
  if (i.op == Opcode::kTestp)
    return put(&frame, i.dst[0], test_property(i, value(thread, i.src[0])));
  if (i.op == Opcode::kIsspacep) {
    uint64_t address = value(thread, i.src[0]);
    bool shared = address - kSharedWindow < kWindowBytes,
         local = address - kLocalWindow < kWindowBytes;
    if (i.space == Space::kConst) not_covered(i);
    return put(&frame, i.dst[0],
               i.space == Space::kShared  ? shared
               : i.space == Space::kLocal ? local
                                          : !shared && !local);
  }
  uint64_t a = value(thread, i.src[0]), b = value(thread, i.src[1]);
  bool holds = compare(i, i.type, a, b);
  bool other = i.src.size() > 2 && value(thread, i.src[2]);
  put(&frame, i.dst[0], combine(i.bool_op, holds, other));
  if (i.dst.size() > 1) put(&frame, i.dst[1], combine(i.bool_op, !holds, other));
}

void Block::move(Thread* thread, const Instruction& i) {
  Frame& frame = thread->frames.back();
  uint64_t bits = value(thread, i.src[0]);
  if (i.op == Opcode::kCvta) {
    uint64_t window = i.space == Space::kShared  ? kSharedWindow
                      : i.space == Space::kLocal ? kLocalWindow
                                                 : 0;
    return put(&frame, i.dst[0], i.to_space ? bits - window : bits + window);
  }
  if (i.dst[0].kind != Operand::Kind::kVector) return put(&frame, i.dst[0], bits);
  uint32_t part = size_bytes(i.type) / static_cast<uint32_t>(i.dst[0].elements.size());
  for (const Operand& element : i.dst[0].elements) {
    put(&frame, element, cut(bits, part));
    bits = part >= 8 ? 0 : bits >> (8 * part);
  }
}

uint64_t Block::value(Thread* thread, const Operand& o) {
  Frame& frame = thread->frames.back();
  switch (o.kind) {
    case Operand::Kind::kRegister:
      if (o.negated) return negated(*frame.function, o.reg, read_register(frame, o.reg));
      return read_register(frame, o.reg);
    case Operand::Kind::kImmediate:
      return o.imm;
    case Operand::Kind::kSpecial:
      return special(*thread, o.special);
    case Operand::Kind::kSymbol:
      return symbol_address(thread, o.symbol) + static_cast<uint64_t>(o.offset);
    case Operand::Kind::kFunction:
      return static_cast<uint64_t>(o.function) + 1;
    case Operand::Kind::kVector: {  // packed by mov
      uint64_t bits = 0;
      const Instruction& i = frame.function->code[frame.pc - 1];
      uint32_t part = size_bytes(i.type) / static_cast<uint32_t>(o.elements.size());
      for (size_t n = 0; n < o.elements.size(); ++n) {
        bits |= cut(value(thread, o.elements[n]), part) << (8 * part * n);
      }
      return bits;
    }
    default:
      throw Undefined("an operand without a value");
  }
}

uint64_t Block::symbol_address(Thread* thread, int32_t symbol) const {
  const Variable& v = world_.module.variables[symbol];
  if (v.space == Space::kParam)
    throw Undefined("the oracle does not cover addresses of parameters");
  uint64_t base = v.space == Space::kLocal ? thread->frames.back().local_base : 0;
  return base + world_.addresses[symbol];
}

uint64_t Block::read_register(const Frame& frame, int32_t index) {
  if (!frame.written[index]) {
    throw Undefined("reads " + frame.function->registers[index].name +
                    ", which nothing has written");
  }
  return frame.registers[index];
}

void Block::put(Frame* frame, const Operand& o, uint64_t bits) {
  if (o.kind == Operand::Kind::kSink) return;
  Type type = frame->function->registers[o.reg].type;
  frame->written[o.reg] = true;
  frame->registers[o.reg] = type == Type::kPred ? bits & 1 : cut(bits, size_bytes(type));
}

uint64_t Block::special(const Thread& thread, Special s) const {
  const Dim &grid = world_.launch.grid, &block = world_.launch.block;
  uint32_t lane = thread.number % 32;
  switch (s) {
    case Special::kTidX:
      return thread.index[0];
    case Special::kTidY:
      return thread.index[1];
    case Special::kTidZ:
      return thread.index[2];
    case Special::kNtidX:
      return block[0];
    case Special::kNtidY:
      return block[1];
    case Special::kNtidZ:
      return block[2];
    case Special::kCtaidX:
      return index_[0];
    case Special::kCtaidY:
      return index_[1];
    case Special::kCtaidZ:
      return index_[2];
    case Special::kNctaidX:
      return grid[0];
    case Special::kNctaidY:
      return grid[1];
    case Special::kNctaidZ:
      return grid[2];
    case Special::kLaneid:
      return lane;
    case Special::kWarpid:
      return thread.number / 32;
    case Special::kLanemaskEq:
      return uint64_t{1} << lane;
    case Special::kLanemaskLt:
      return (uint64_t{1} << lane) - 1;
    case Special::kLanemaskLe:
      return (uint64_t{2} << lane) - 1;
    case Special::kLanemaskGt:
      return ~((uint64_t{2} << lane) - 1) & UINT32_MAX;
    case Special::kLanemaskGe:
      return ~((uint64_t{1} << lane) - 1) & UINT32_MAX;
    default:
      throw Undefined("a special register whose value is the machine's own");
  }
}

}  // namespace oracle
