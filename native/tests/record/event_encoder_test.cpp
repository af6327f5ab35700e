// What the trace says of an event: the contract with those who read it.
#include "record/event_encoder.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "tests/record/trace_reader.h"

namespace unjank::record {

namespace {

/// An encoder with a few entries in its dictionary.
struct Desk {
  Dictionary dictionary;
  ThreadRegistry threads;
  std::shared_ptr<ThreadLog> waiter = threads.attach();
  std::shared_ptr<ThreadLog> owner = threads.attach();
  std::uint32_t post = dictionary.sites.add({"Ledger.post", "/srv/bank.py", "bank.py", 12});
  std::uint32_t total = dictionary.sites.add({"Ledger.total", "/srv/app/sums.py", "sums.py", 30});
  std::uint32_t wait = dictionary.sites.add({"Condition.wait", "", "", 0});
  std::uint32_t clock = dictionary.sites.add({"Clock", "", "", 0});
  std::uint32_t lock = dictionary.names.add({"Ledger._lock.mutex (bank.py:4)", "Ledger._lock (bank.py:4)"});
  std::uint32_t stack = dictionary.stacks.intern({total, post});
  EventEncoder encoder{dictionary, threads, 77};

  Desk() {
    threads.rename(*owner, "teller");
    encoder.session({"bank.py", {"bank.py"}, {{"gil", "on"}}}, 1);
  }
  Event contention() const {
    Event event;
    event.ts_ns = 10;
    event.kind = EventKind::kContentionBegin;
    event.lock_kind = LockKind::kRLock;
    event.owner = owner->number;
    event.owner_site = post;
    event.site = total;
    event.name = lock;
    event.stack = stack;
    event.waiters = 2;
    event.lock_id = 5;
    return event;
  }
  Event message(EventKind kind) const {
    Event event;
    event.kind = kind;
    event.ts_ns = 10;
    event.looper = 3;
    event.looper_tid = static_cast<std::uint32_t>(owner->tid.load());
    event.pending = 41;
    event.target = post;
    event.handler = clock;
    event.site = total;
    event.flow = 99;
    event.delay_ns = 1500;
    return event;
  }
  static Event end(WaitResult result) {
    Event event;
    event.ts_ns = 20;
    event.result = result;
    return event;
  }
  test::ReadTrace trace() const { return test::read_trace(encoder.bytes()); }
};

using Arguments = std::map<std::string, std::string>;

}  // namespace

TEST_CASE("a contention tells owner, places, lock and stack") {
  Desk desk;
  desk.encoder.event(*desk.waiter, desk.contention());
  const test::ReadTrace trace = desk.trace();
  const std::string tid = std::to_string(desk.owner->tid.load());
  const test::ReadEvent& event = trace.events.back();
  CHECK(event.type == test::ReadEvent::kBegin);
  CHECK(event.category == "lock");
  CHECK(event.name == "monitor contention with owner teller (" + tid +
                          ") at void Ledger.post()(bank.py:12) waiters=2 blocking from void Ledger.total()(sums.py:30)");
  CHECK(event.arguments == Arguments{{"lock", "Ledger._lock.mutex (bank.py:4)"},
                                     {"lock_id", "5"},
                                     {"lock_type", "RLock"},
                                     {"owner_tid", tid},
                                     {"waiters", "2"},
                                     {"owner_path", "/srv/bank.py"},
                                     {"waiter_path", "/srv/app/sums.py"},
                                     {"stack", "Ledger.total (sums.py:30) < Ledger.post (bank.py:12)"}});
}

TEST_CASE("the same event twice says the same twice") {
  Desk desk;
  desk.encoder.event(*desk.waiter, desk.contention());
  desk.encoder.event(*desk.waiter, desk.contention());
  const auto events = desk.trace().events;
  CHECK(events[events.size() - 2].name == events.back().name);
  CHECK(events[events.size() - 2].arguments == events.back().arguments);
}

TEST_CASE("an owner that was renamed is called by its new name from then on") {
  Desk desk;
  desk.encoder.event(*desk.waiter, desk.contention());
  desk.threads.rename(*desk.owner, "clerk");
  desk.encoder.event(*desk.waiter, desk.contention());
  const auto events = desk.trace().events;
  CHECK(events[events.size() - 2].name.find("owner teller (") != std::string::npos);
  CHECK(events.back().name.find("owner clerk (") != std::string::npos);
}

TEST_CASE("an end tells its result, and figures only where they were measured") {
  Desk desk;
  desk.encoder.event(*desk.waiter, desk.contention());
  desk.encoder.event(*desk.waiter, desk.contention());
  Event measured = Desk::end(WaitResult::kAcquired);
  measured.gil_ns = 0;
  measured.owner_run_ns = 3;
  measured.owner_wait_ns = 4;
  measured.owner_nice = -5;
  desk.encoder.event(*desk.waiter, measured);
  desk.encoder.event(*desk.waiter, Desk::end(WaitResult::kTimeout));
  const auto events = desk.trace().events;
  CHECK(events[events.size() - 2].arguments ==
        Arguments{{"result", "acquired"}, {"gil_ns", "0"}, {"owner_run_ns", "3"}, {"owner_wait_ns", "4"}, {"owner_nice", "-5"}});
  CHECK(events.back().arguments == Arguments{{"result", "timeout"}});
  CHECK(events.back().type == test::ReadEvent::kEnd);
}

TEST_CASE("a wait tells its kind, object, place and stack") {
  Desk desk;
  Event event = desk.contention();
  event.kind = EventKind::kWaitBegin;
  event.owner_site = desk.wait;
  desk.encoder.event(*desk.waiter, event);
  const test::ReadTrace trace = desk.trace();
  CHECK(trace.events.back().name == "wait Condition.wait");
  CHECK(trace.events.back().category == "wait");
  CHECK(trace.events.back().arguments ==
        Arguments{{"object", "Ledger._lock (bank.py:4)"},
                  {"lock_id", "5"},
                  {"site", "void Ledger.total()(sums.py:30)"},
                  {"stack", "Ledger.total (sums.py:30) < Ledger.post (bank.py:12)"}});
}

TEST_CASE("a join is a wait for the thread by its name") {
  Desk desk;
  Event event;
  event.kind = EventKind::kWaitBegin;
  event.owner = desk.owner->number;
  event.owner_site = desk.wait;
  desk.encoder.event(*desk.waiter, event);
  CHECK(desk.trace().events.back().argument("object") == "teller");
}

TEST_CASE("a post tells what is called, for whom, from where, when it is due, and the queue's length") {
  Desk desk;
  desk.encoder.describe_thread(*desk.owner, "teller", 2);
  desk.encoder.event(*desk.waiter, desk.message(EventKind::kPost));
  const auto events = desk.trace().events;
  const test::ReadEvent& post = events[events.size() - 2];
  CHECK(post.type == test::ReadEvent::kInstant);
  CHECK(post.category == "mq");
  CHECK(post.name == "post Ledger.post");
  CHECK(post.flow != 0);
  CHECK(!post.ends_flow);
  CHECK(post.arguments == Arguments{{"callback", "Ledger.post (bank.py:12)"},
                                    {"handler", "Clock"},
                                    {"looper", "3"},
                                    {"looper_tid", std::to_string(desk.owner->tid.load())},
                                    {"site", "void Ledger.total()(sums.py:30)"},
                                    {"due_in_ns", "1500"}});
  CHECK(events.back().type == test::ReadEvent::kCounter);
  CHECK(events.back().counter == 41);
}

TEST_CASE("a dispatch is a slice that ends its post's flow, and tells how late it is") {
  Desk desk;
  desk.encoder.event(*desk.waiter, desk.message(EventKind::kPost));
  Event dispatch = desk.message(EventKind::kDispatchBegin);
  dispatch.site = 0;
  dispatch.target = desk.dictionary.sites.add({"Clock.handle_message", "", "", 0});
  dispatch.what = static_cast<std::uint64_t>(-7);
  desk.encoder.event(*desk.owner, dispatch);
  Event end;
  end.kind = EventKind::kDispatchEnd;
  desk.encoder.event(*desk.owner, end);
  const test::ReadTrace trace = desk.trace();
  const test::ReadEvent post = trace.named("post Ledger.post").at(0);
  const test::ReadEvent begin = trace.named("dispatch Clock.handle_message").at(0);
  CHECK(begin.type == test::ReadEvent::kBegin);
  CHECK(begin.ends_flow);
  CHECK(begin.flow == post.flow);
  CHECK(begin.arguments == Arguments{{"callback", "Clock.handle_message"}, {"handler", "Clock"}, {"what", "-7"},
                                     {"looper", "3"}, {"delay_ns", "1500"}});
  CHECK(trace.events.back().type == test::ReadEvent::kEnd);
  CHECK(trace.events.back().track == begin.track);
  CHECK(trace.events.back().arguments.empty());
}

TEST_CASE("a queue's length is one track below the looper's thread, or the process's while that is unknown") {
  Desk desk;
  Event removal = desk.message(EventKind::kQueueLength);
  desk.encoder.event(*desk.waiter, removal);
  removal.pending = 7;
  desk.encoder.event(*desk.owner, removal);
  removal.looper = 4;
  removal.looper_tid = 0x7fffffff;
  desk.encoder.event(*desk.waiter, removal);
  const test::ReadTrace trace = desk.trace();
  std::vector<std::int64_t> lengths;
  for (const test::ReadEvent& event : trace.events) {
    if (event.type == test::ReadEvent::kCounter && event.track != trace.events.back().track) lengths.push_back(event.counter);
  }
  CHECK(lengths == std::vector<std::int64_t>{41, 7});
  REQUIRE(trace.counters.size() == 2);
  const auto& known = trace.counters.at(trace.events[trace.events.size() - 2].track);
  const auto& unknown = trace.counters.at(trace.events.back().track);
  CHECK(known.first == "messages pending (looper 3)");
  CHECK((known.second & 1) == 1);  // a thread
  CHECK(unknown.first == "messages pending (looper 4)");
  CHECK(trace.processes.contains(unknown.second));
}

TEST_CASE("processes that were forked have flows of their own, and none is 0") {
  Desk desk;
  EventEncoder child{desk.dictionary, desk.threads, 78};
  Event post = desk.message(EventKind::kPost);
  desk.encoder.event(*desk.waiter, post);
  child.event(*desk.waiter, post);
  const auto flow = [](const test::ReadTrace& trace) { return trace.named("post Ledger.post").at(0).flow; };
  CHECK(flow(desk.trace()) != flow(test::read_trace(child.bytes())));
  post.flow = std::uint64_t{77} << 44;
  EventEncoder other{desk.dictionary, desk.threads, 77};
  other.event(*desk.waiter, post);
  CHECK(flow(test::read_trace(other.bytes())) != 0);
}

TEST_CASE("what is unknown is called so") {
  Desk desk;
  Event event;
  event.kind = EventKind::kContentionBegin;
  desk.encoder.event(*desk.waiter, event);
  CHECK(desk.trace().events.back().name ==
        "monitor contention with owner unknown (0) at void unknown()(unknown:0) waiters=0 "
        "blocking from void unknown()(unknown:0)");
}

TEST_CASE("an end without a begin in this recording is left out") {
  Desk desk;
  const std::size_t before = desk.trace().events.size();
  desk.encoder.event(*desk.waiter, Desk::end(WaitResult::kAcquired));
  CHECK(desk.trace().events.size() == before);
}

TEST_CASE("session, facts of threads, drops and the end of the session are instants") {
  Desk desk;
  desk.owner->facts = {-3, "0-1"};
  desk.encoder.describe_thread(*desk.owner, "teller", 2);
  desk.encoder.thread_facts(*desk.owner, "teller", 2);
  desk.encoder.dropped(*desk.owner, 4, 3);
  desk.encoder.flush_slice(123, 4, 5, 6, 7);
  desk.encoder.session_end("exited", 9);
  const test::ReadTrace trace = desk.trace();
  CHECK(trace.named("session").at(0).arguments == Arguments{{"gil", "on"}});
  CHECK(trace.named("thread facts").at(0).arguments == Arguments{{"name", "teller"}, {"nice", "-3"}, {"cpus", "0-1"}});
  CHECK(trace.named("events dropped").at(0).arguments == Arguments{{"count", "4"}});
  CHECK(trace.named("events dropped").at(0).track == trace.track_of("teller"));
  CHECK(trace.named("flush").at(0).arguments == Arguments{{"events", "6"}, {"bytes", "7"}});
  CHECK(trace.named("flush").at(0).track == trace.track_of("unjank writer"));
  CHECK(trace.named("session end").at(0).arguments == Arguments{{"exit", "exited"}, {"events", "0"}, {"dropped", "4"}});
}

TEST_CASE("interned state that starts anew keeps every text right") {
  Desk desk;
  std::string bytes;
  const std::string filler(4'096, 'p');
  for (int i = 0; i < 6'000; ++i) {
    Event event = desk.contention();
    event.site = desk.dictionary.sites.add({"f" + std::to_string(i), filler + std::to_string(i), "f.py", 1});
    desk.encoder.event(*desk.waiter, event);
    bytes.append(reinterpret_cast<const char*>(desk.encoder.bytes().data()), desk.encoder.size());
    desk.encoder.clear();
  }
  const test::ReadTrace trace = test::read_trace(bytes);
  CHECK(trace.states_cleared >= 2);
  for (std::size_t i = 1; i < trace.events.size(); ++i) {  // the first is the session
    const test::ReadEvent& event = trace.events[i];
    REQUIRE(event.argument("waiter_path") == filler + std::to_string(i - 1));
    REQUIRE(event.name.ends_with("blocking from void f" + std::to_string(i - 1) + "()(f.py:1)"));
    REQUIRE(event.argument("lock") == "Ledger._lock.mutex (bank.py:4)");
  }
}

}  // namespace unjank::record
