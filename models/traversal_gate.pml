/* traverse / unlink: a visitor walks the stack while the looper unlinks and reuses nodes
 * (native/deliqueue/traversal_gate.h, limbo.h).
 *
 * Two visitors, nodes that come and go. `linked` is the node that the stack's top leads to. A visitor's read of it may
 * be stale: any node that was linked when the visitor last acquired something from the looper (here: the epoch it
 * confirmed) or later. `seen_by_epoch[e]` is the oldest node a visitor that confirmed epoch e may still find.
 *
 * Mutations:
 *   NO_DEFERRAL    an unlinked node is reused at once
 *   ONE_EPOCH      it is reused after one advance instead of two
 *   NO_CONFIRM     the visitor does not read the epoch again after it counted itself
 *   NO_COUNT       the looper advances without looking at the count
 */
#define NODES 4
#define VISITORS 2

byte epoch = 0;
byte visitors[2];
byte linked = 0;               /* node 0 is linked first, then 1, 2, 3 */
byte oldest[8];                /* per epoch: what was linked when it began */
bool reused[5];

proctype Visitor() {
  byte e, confirmed, node;
enter:
  e = epoch;
  visitors[e & 1]++;
#ifndef NO_CONFIRM
  confirmed = epoch;
  if :: confirmed != e -> visitors[e & 1]--; goto enter :: else fi;
#endif
  /* Any node linked since the confirmed epoch began, by an acquire or staler. */
  atomic {
    node = oldest[e];
    do :: node < linked -> node++ :: break od
  }
  assert(!reused[node]);       /* first touch */
  assert(!reused[node]);       /* it stays safe until the visitor leaves */
  visitors[e & 1]--
}

inline try_advance(ok) {
#ifdef NO_COUNT
  ok = true;
#else
  ok = (visitors[(epoch + 1) & 1] == 0);
#endif
  if :: ok -> atomic { oldest[epoch + 1] = linked; epoch++ } :: else fi
}

active proctype Looper() {
  byte current = 255, previous = 255;
  byte n;
  bool ok;
  for (n : 0 .. NODES - 2) {
    linked = n + 1;            /* unlink n */
#ifdef NO_DEFERRAL
    reused[n] = true;
#else
    current = n;
    do
    :: current != 255 || previous != 255 ->
       try_advance(ok);
       if
       :: ok ->
#ifdef ONE_EPOCH
          previous = current; current = 255;
          if :: previous != 255 -> reused[previous] = true; previous = 255 :: else fi
#else
          if :: previous != 255 -> reused[previous] = true :: else fi;
          previous = current; current = 255
#endif
       :: else -> break        /* a visitor is in the way: go on, try at the next node */
       fi
    :: else -> break
    od;
    /* what could not be retired yet is forgotten by this model: leaking is not a fault */
    current = 255; previous = 255
#endif
  }
}

init { atomic { byte i; for (i : 1 .. VISITORS) { run Visitor() } } }
