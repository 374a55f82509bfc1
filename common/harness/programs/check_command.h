// `tilewise-exec check`: holds recorded plans against the cases that were asked for, before
// anything else reads them.

#pragma once

namespace tilewise {

//   tilewise-exec check --signature SIGNATURE --modules COUNT --output FOLDER
//                       --case ID:JxKxL=RECORDED ...
//
// Writes the plan of each case that is in order to FOLDER/ID.plan.json, as the writer of plans
// writes it, and one line a case to standard output: {"case": ID, "refused": ""}, or why it is
// refused. Ends with 0 when every case has its line, 2: bad arguments, 3: our own failure.
int check_plans(int argc, char** argv);

}  // namespace tilewise
