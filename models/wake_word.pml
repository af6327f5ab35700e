/* post / sleep: a producer's push against a looper that goes to sleep (native/deliqueue/wake_word.h).
 *
 * Stores go through a one-entry store buffer per process, as on x86: a load may overtake the process's own earlier
 * store. seq_cst operations drain the buffer. So the model sees what a plain interleaving hides.
 *
 * Mutations, each makes spin find a looper that sleeps for ever (invalid end state):
 *   NO_RECHECK     the looper does not look at the top again after it wrote the wake word
 *   WEAK_SLEEP     the wake word is written with release only: the second look overtakes it
 *   NO_READ        the producer does not read the wake word at all
 *   CHECK_FIRST    the producer reads the wake word before it pushes
 */
#define PRODUCERS 2
#define AWAKE 0
#define ASLEEP 1

byte pushed = 0;             /* the stack's top: how many were pushed */
byte word = AWAKE;
byte buffered = 255;         /* the looper's store to `word` that others do not see yet; 255: none */
chan eventfd = [4] of { bit };
byte handled = 0;

inline drain() { atomic { if :: buffered != 255 -> word = buffered; buffered = 255 :: else fi } }

inline wake_if_asleep(seen) {
  if
  :: seen == ASLEEP ->
     atomic { seen = word; word = AWAKE }      /* exchange: one winner */
     if :: seen == ASLEEP -> eventfd ! 1 :: else fi
  :: else
  fi
}

proctype Producer() {
  byte seen;
#ifdef CHECK_FIRST
  seen = word;
  pushed++;
#else
  pushed++;                                    /* seq_cst CAS */
#ifdef NO_READ
  seen = AWAKE;
#else
  seen = word;                                 /* seq_cst load */
#endif
#endif
  wake_if_asleep(seen)
}

/* The store buffer empties itself at some time. */
active proctype Buffer() {
end:
  do
  :: atomic { buffered != 255 -> word = buffered; buffered = 255 }
  od
}

active proctype Looper() {
  do
  :: handled == PRODUCERS -> break
  :: handled < pushed -> handled = pushed      /* sweep and run */
  :: else ->
#ifdef WEAK_SLEEP
     buffered = ASLEEP;
#else
     word = ASLEEP;
#endif
#ifndef NO_RECHECK
     if
     :: handled != pushed -> drain(); word = AWAKE; goto again
     :: else
     fi;
#endif
     eventfd ? _;                              /* epoll_wait */
     drain();
     word = AWAKE;
again:
     skip
  od
}

init { atomic { byte i; for (i : 1 .. PRODUCERS) { run Producer() } } }
