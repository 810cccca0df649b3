// Handles the signals of a crash, in a process in which libraries may handle them too.
#ifndef BERTH_HOST_GUARD_CRASH_HANDLER_H_
#define BERTH_HOST_GUARD_CRASH_HANDLER_H_

namespace berth::host {

// Reports that this signal ends the process. Async-signal-safe. May end the process itself.
using ReportCrash = void (*)(int signal);

// Lets SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS and SIGABRT call `report` once in the life
// of the process, and then end the process by their default action. std::terminate() ends the
// process by SIGABRT, also for an exception of another language.
//
// The runtime of another language in a plugin's library may handle these signals too: Go turns a
// fault in Go code into a panic, and Ada turns one into an exception. Two orders are possible:
//   the library is loaded later    Its handler replaces this one and calls it for the faults that
//                                  are not its own. This one restores the default action, and ends
//                                  the process even if it is called again.
//   the library was loaded before  This handler calls the library's one for a fault of an
//                                  instruction of that library. `report` is called only if the
//                                  library's handler then restores the default action. Other
//                                  faults are reported.
// The first order is the better one: a handler that is called directly also finds faults in code
// that its runtime has generated.
//
// A further call in the process replaces `report`, and takes SIGABRT back from a library that has
// taken it since: no library recovers from abort(). A child process inherits the handlers from
// fork(), and calls this function to report its own crashes.
//
// In a container, process 1 ends with exit status 128 plus the signal, instead of the signal, if
// the signal was sent, as abort() does: the kernel ignores such a signal there.
//
// Called: before libraries are loaded, and while no other thread runs. The calling thread gets a
//         stack for signal handlers, unless it has one, so that an overflow of its stack is
//         reported too.
void InstallCrashHandler(ReportCrash report);

}  // namespace berth::host

#endif  // BERTH_HOST_GUARD_CRASH_HANDLER_H_
