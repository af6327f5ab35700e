// What loopers announce, as events of the recorder. Loopers are another extension, which may be loaded or not.
#pragma once

namespace unjank::record {

/// From now on loopers announce their messages here, also those whose extension is loaded later. False, with a Python
/// exception set, if that cannot be.
bool listen_to_loopers();
/// They do no more. What is being dispatched still ends in the trace.
void leave_loopers();

}  // namespace unjank::record
