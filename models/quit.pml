/* quit / post and wake / close (native/deliqueue/stack.h, quit_gate.h).
 *
 * Two producers push one message each, a third thread quits, the looper runs what lies below the sentinel, waits for
 * those who write the wake handle, and closes it.
 *
 * Mutations:
 *   PUSH_OVER_SENTINEL  a push that lost its CAS does not look for the sentinel before it tries again
 *   CLOSE_AT_ONCE       close() does not wait for writers
 *   ENTER_UNCHECKED     a writer does not look at the closed bit
 *   CUTOFF_EARLY        the time that separates due from not due is read when quit is called
 */
#define PRODUCERS 2

byte top = 0;                  /* how many messages lie on the stack */
bool sentinel = false;
byte now = 1;                  /* the clock moves at every reading */
byte due[3];                   /* message i's due time; message i is the i-th pushed */
byte accepted = 0;
byte ran = 0;
byte cutoff = 0;

bool closed = false;           /* bit 0 of the gate */
byte inside = 0;               /* the rest of it */
bool handle_open = true;
byte over = 0;                 /* processes that are done */

inline read_clock(into) { atomic { now++; into = now } }

inline wake() {
  bool may;
#ifdef ENTER_UNCHECKED
  atomic { inside++; may = true };
#else
  atomic { inside++; may = !closed };
#endif
  if :: may -> assert(handle_open); assert(handle_open) :: else fi;
  inside--
}

proctype Producer() {
  byte when, seen;
  bool posted = false;
  read_clock(when);
  seen = top;
  if
  :: sentinel -> skip          /* refused */
  :: else ->
try:
     atomic {
       if
       :: seen == top && !sentinel -> due[top] = when; top++; posted = true; accepted++
#ifdef PUSH_OVER_SENTINEL
       :: seen == top && sentinel -> posted = true; accepted++      /* above the sentinel, never swept */
#endif
       :: else -> seen = top
       fi
     };
     if
     :: posted -> wake()
     :: !posted && sentinel ->
#ifdef PUSH_OVER_SENTINEL
        goto try
#else
        skip
#endif
     :: else -> goto try
     fi
  fi;
  over++
}

active proctype Quitter() {
#ifdef CUTOFF_EARLY
  read_clock(cutoff);
#endif
  sentinel = true;
  wake();
  over++
}

active proctype Looper() {
  byte i;
  sentinel;                    /* next() finds it */
#ifndef CUTOFF_EARLY
  read_clock(cutoff);
#endif
  for (i : 1 .. PRODUCERS) {
    if
    :: i <= top && due[i - 1] <= cutoff -> ran++
    :: else
    fi
  }
  closed = true;
#ifndef CLOSE_AT_ONCE
  inside == 0;
#endif
  handle_open = false;
  over++
}

active proctype Check() {
  over == PRODUCERS + 2;
  assert(ran == accepted)
}

init { atomic { byte i; for (i : 1 .. PRODUCERS) { run Producer() } } }
