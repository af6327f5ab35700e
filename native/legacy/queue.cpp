#include "legacy/queue.h"

#include <new>

#include "deliqueue/node.h"

namespace unjank::legacy {

namespace {

// Criteria read a message through these names, as they read a node's atomics.
struct Fields {
  const Message& message;
  const void* match_target() const { return message.target; }
  std::int64_t match_what() const { return message.what; }
  const void* match_obj() const { return message.obj; }
  const void* match_callback() const { return message.callback; }
  const void* match_receiver() const { return message.receiver; }
  const void* match_token() const { return message.token; }
};

}  // namespace

Queue::~Queue() { release(unlink_if([](const Node&) { return true; })); }

PostResult Queue::post(const Message& message) { return post_node(message, false); }

PostResult Queue::post_now(const Message& message) {
  Message due = message;
  due.when_ns = clock_.now_ns();
  return post_node(due, false);
}

PostResult Queue::post_barrier(std::int64_t when_ns) { return post_node({.when_ns = when_ns}, true); }

PostResult Queue::post_node(Message message, bool barrier) {
  message.when_ns = deliqueue::clamped(message.when_ns);
  const std::lock_guard lock(mutex_);
  if (quitting_) return {PostStatus::kQuit};
  Node* const node = new (std::nothrow) Node{message, next_id_, barrier};
  if (node == nullptr) return {PostStatus::kNoMemory};
  ++next_id_;
  insert(node);
  const Handle handle{this, node->id};
  return {PostStatus::kAccepted, wake_locked(!barrier && calls_for_wake(*node)), handle};
}

bool Queue::preload(std::span<const Message> messages) {
  std::vector<Node*> nodes;
  nodes.reserve(messages.size());
  const std::lock_guard lock(mutex_);
  if (head_ != nullptr || quitting_) return false;
  for (const Message& message : messages) nodes.push_back(new Node{message, next_id_++, false});
  std::stable_sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->key() < b->key(); });
  Node** link = &head_;
  for (Node* node : nodes) link = &(*link = node)->next;
  return true;
}

// Behind what is due earlier or at the same time; at the front before everything.
void Queue::insert(Node* node) {
  Node** link = &head_;
  if (!node->message.at_front()) {
    while (*link != nullptr && (*link)->key() <= node->key()) link = &(*link)->next;
  }
  node->next = *link;
  *link = node;
}

// A sleeper needs to know of a new head; behind a barrier also of an asynchronous message due before its deadline.
bool Queue::calls_for_wake(const Node& node) const {
  if (head_ == &node) return true;
  return head_->barrier && node.message.asynchronous() && node.message.when_ns < deadline_;
}

int Queue::wake_locked(bool needed) {
  if (!needed || !blocked_ || closed_) return 0;
  const int error = waker_.wake();
  if (error == 0) blocked_ = false;
  return error;
}

RemoveResult Queue::remove_barrier(Handle handle) {
  std::vector<Node*> removed;
  int error = 0;
  {
    const std::lock_guard lock(mutex_);
    if (handle.node != this) return {};
    removed = unlink_if([&](const Node& node) { return node.barrier && node.id == handle.generation; });
    error = wake_locked(!removed.empty());
  }
  return {release(removed), error};
}

RemoveResult Queue::remove(const Criteria& criteria) {
  std::vector<Node*> removed;
  {
    const std::lock_guard lock(mutex_);
    removed = unlink_if([&](const Node& node) { return !node.barrier && criteria.matches(Fields{node.message}); });
  }
  return {release(removed)};
}

RemoveResult Queue::cancel(Handle handle) {
  std::vector<Node*> removed;
  {
    const std::lock_guard lock(mutex_);
    if (handle.node != this) return {};
    removed = unlink_if([&](const Node& node) { return !node.barrier && node.id == handle.generation; });
  }
  return {release(removed)};
}

std::size_t Queue::release(const std::vector<Node*>& nodes) {
  for (Node* node : nodes) {
    node->message.drop();
    delete node;
  }
  return nodes.size();
}

bool Queue::has(const Criteria& criteria) {
  const std::lock_guard lock(mutex_);
  for (const Node* node = head_; node != nullptr; node = node->next) {
    if (!node->barrier && criteria.matches(Fields{node->message})) return true;
  }
  return false;
}

bool Queue::has_due() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = clock_.now_ns();
  for (const Node* node = head_; node != nullptr && node->key() <= now; node = node->next) {
    if (!node->barrier) return true;
  }
  return false;
}

int Queue::quit(QuitMode mode) {
  std::vector<Node*> dropped;
  int error = 0;
  {
    const std::lock_guard lock(mutex_);
    if (quitting_) return 0;
    quitting_ = true;
    const std::int64_t now = clock_.now_ns();
    dropped = unlink_if([&](const Node& n) { return mode == QuitMode::kDrop || n.barrier || n.key() > now; });
    error = wake_locked(true);
  }
  release(dropped);
  return error;
}

bool Queue::quitting() const {
  const std::lock_guard lock(mutex_);
  return quitting_;
}

int Queue::wake() {
  const std::lock_guard lock(mutex_);
  return wake_locked(true);
}

// The link to the first message that may run, due or not; to null if there is none.
Queue::Node** Queue::runnable() {
  Node** link = &head_;
  if (head_ == nullptr || !head_->barrier) return link;
  while (*link != nullptr && ((*link)->barrier || !(*link)->message.asynchronous())) link = &(*link)->next;
  return link;
}

Next Queue::take(Node** link) {
  Node* const node = std::exchange(*link, (*link)->next);
  const Next next{.kind = Next::Kind::kMessage, .message = node->message, .handle = {this, node->id}};
  delete node;
  return next;
}

Next Queue::next() {
  const std::lock_guard lock(mutex_);
  Node** const link = runnable();
  if (*link != nullptr && (*link)->key() <= clock_.now_ns()) {
    return take(link);
  }
  if (quitting_) return {.kind = Next::Kind::kQuit};
  deadline_ = *link == nullptr ? kForever : (*link)->key();
  blocked_ = true;  // posts wake from here on, as in the original: prepare_sleep() then has nothing to re-check
  return {.kind = Next::Kind::kWait, .deadline_ns = deadline_};
}

// False: somebody has woken the looper since next().
bool Queue::prepare_sleep() {
  const std::lock_guard lock(mutex_);
  return blocked_;
}

void Queue::finish_sleep() {
  const std::lock_guard lock(mutex_);
  blocked_ = false;
}

std::int64_t Queue::next_due() {
  const std::lock_guard lock(mutex_);
  Node** const link = runnable();
  if (*link == nullptr) return kForever;
  return (*link)->message.at_front() ? clock_.now_ns() : (*link)->key();
}

std::size_t Queue::backlog() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const Node* node = head_; node != nullptr; node = node->next) count += !node->barrier;
  return count;
}

void Queue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

}  // namespace unjank::legacy
