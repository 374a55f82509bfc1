// How tilewise-record steers libcudart in record mode: C functions that it looks up in the loaded
// library.
//
// Order: tilewise_record_modules once the submission is loaded; then, in a process of its own for
// each case, tilewise_record_begin, solve, tilewise_record_end.

#pragma once

#include <cstdint>

extern "C" {

// One case of a submission. Pointers live until tilewise_record_end.
struct TilewiseRecordCase {
  const char* id;
  const char* signature;  // as text, see plan/signature.h
  uint32_t j, k, l;       // of the product
  const char* sizes;      // of another signature
};

// The arrays that solve is to be called with, in the order of its parameters: addresses on the host
// or on the device, as the signature says.
struct TilewiseRecordPointers {
  uint64_t array[8];
};

// A text that lives as long as the process.
struct TilewiseRecordText {
  const char* text;
  uint64_t bytes;
  char target[16];  // of a module: "sm_90"
};

// Why there is no plan: what a caller decides by. The sentence beside it is for people, and may
// hold a student's own words. Names: harness/record/reason.cpp.
enum class TilewiseRecordReason : int {
  kNone,
  // solve was ended by
  kException,          // subject: its type
  kSegmentationFault,  // at an address of nothing that is known
  kDevicePointer,      // used on the host; subject: the buffer, if known
  kInputWritten,       // or passed; subject: the host array
  kOutputPassed,       // host memory past the end of an output
  kStackOverflow,
  kDivisionByZero,
  kAbort,
  kSignal,  // any other; subject: its name
  kExit,    // a call of exit
  kTimeLimit,
  // the runtime
  kNotProvided,  // solve crashed without a call that is not provided; subject: the call
  kTooMuch,      // more than can be recorded
  kNoMemory,
  kDeviceCode,  // the device code cannot be had
  kNoPlan,      // the plan cannot be made
  kDamaged,     // the recorder's memory was overwritten
  // the submission cannot be loaded
  kUndefinedSymbol,  // subject: the symbol, as it stands in the file
  kMissingLibrary,   // subject: the library
  kNotLoadable,
  kNoSolve,
};

// Filled in by tilewise_record_crash, and by tilewise-record itself.
struct TilewiseRecordFailure {
  TilewiseRecordReason reason;
  char subject[256];
  char message[1024];  // one sentence
};

// The PTX of every module the submission registered; entries past `capacity` are left out. Returns
// how many there are; -1 and a sentence in `message` if that is not possible.
using TilewiseRecordModules = int(TilewiseRecordText* modules, int capacity, char* message,
                                  int bytes);

// Makes the case's arrays. False if there is no memory for them.
using TilewiseRecordBegin = bool(const TilewiseRecordCase* case_description,
                                 TilewiseRecordPointers* pointers);

// The plan. False and a sentence in `message` if that is not possible.
using TilewiseRecordEnd = bool(TilewiseRecordText* plan, char* message, int bytes);

// Whether a call of solve has returned an error: who leaves by exit() then has looked at it.
using TilewiseRecordFailed = bool();

// Why a signal ended solve, with the device array that `address` points into, if any. Called from a
// signal handler: it allocates, which a lost process can try.
using TilewiseRecordCrash = void(int signal, uint64_t address, TilewiseRecordFailure* failure);

}  // extern "C"

#define TILEWISE_RECORD_MODULES "tilewise_record_modules"
#define TILEWISE_RECORD_BEGIN "tilewise_record_begin"
#define TILEWISE_RECORD_END "tilewise_record_end"
#define TILEWISE_RECORD_FAILED "tilewise_record_failed"
#define TILEWISE_RECORD_CRASH "tilewise_record_crash"
