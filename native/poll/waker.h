// What ends a looper's sleep. Behind an interface, so that a looper may sleep in epoll, in an asyncio loop, or in a
// model checker.
#pragma once

namespace unjank::poll {

class Waker {
 public:
  virtual ~Waker() = default;
  // Any thread. Ends the current sleep or, if there is none, the next one. Returns 0 or an errno.
  virtual int wake() noexcept = 0;
};

}  // namespace unjank::poll
