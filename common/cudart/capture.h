// Streams whose work is put into a graph and not done: between cudaStreamBeginCapture and
// cudaStreamEndCapture, and other streams that wait for an event of theirs.

#pragma once

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "cudart/graph.h"

namespace warpsim::cudart {

struct Stream;

enum class CaptureMode : int { kGlobal = 0, kThreadLocal = 1, kRelaxed = 2 };

struct Capture {
  uint64_t id = 0;
  std::unique_ptr<Graph> own;  // empty: into a graph of the program's
  Graph* graph = nullptr;
  const Stream* origin = nullptr;
  CaptureMode mode = CaptureMode::kGlobal;
  std::thread::id thread;
  Error broken = kSuccess;  // a call that cannot be captured was made
  // What the next work of each stream depends on.
  std::map<const Stream*, std::vector<GraphNode*>> fronts;
};

// An event that was recorded in a stream while it was captured.
struct CapturedPoint {
  uint64_t capture = 0;
  std::vector<GraphNode*> front;
};

class Captures {
 public:
  // nullptr: the stream's work is done at once.
  Capture* of(const Stream* stream) const;
  Error begin(const Stream* stream, Graph* into, std::vector<GraphNode*> front, int mode,
              bool is_legacy);
  // The capture of which `stream` was the first.
  Error end(const Stream* stream, std::unique_ptr<Capture>* ended);

  // Adds a node to the stream's front; *made may be nullptr.
  Error add(Capture* capture, const Stream* stream, GraphWork work, const void* made_at,
            GraphNode** made = nullptr);

  void record(const Event* event, const Stream* stream);
  void forget(const Event* event) { points_.erase(event); }
  bool is_captured(const Event* event) const;
  // The stream waits for an event of a capture, whose stream it becomes.
  Error join(const Stream* stream, const Event* event);

  // Ends in an error, and so does the capture, if the call may not be made while streams are
  // captured: one that waits for a stream or has to do with what it is doing (`of_stream`), one
  // that uses the legacy default stream, one that may do either.
  Error forbids_wait(const Stream* of_stream);
  Error forbids_legacy();
  Error forbids_unsafe();
  // The calling thread's mode, exchanged.
  static CaptureMode exchange_mode(CaptureMode mode);

 private:
  Error breaks(Capture* capture, Error error);

  uint64_t made_ = 0;
  std::map<uint64_t, std::unique_ptr<Capture>> active_;
  std::map<const Event*, CapturedPoint> points_;
};

}  // namespace warpsim::cudart
