// Keeps a case's process to itself, with or without a sandbox around it.

#pragma once

namespace tilewise::record {

// From now on this process, and what it starts, can send signals to this process only: a submission
// neither stops the recorder nor ends its user's other programs. Without effect where the kernel or
// the processor is not known to allow it.
void forbid_signals_to_others();

}  // namespace tilewise::record
