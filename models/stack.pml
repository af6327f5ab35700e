/* push / sweep and push / unlink (native/deliqueue/stack.h): links, back-links, the top, and the last node swept.
 *
 * Three producers push a node each, one of them removes its node again; the looper sweeps, and unlinks nodes from top
 * and middle. At the end each node was swept once, in push order, and the stack is empty.
 *
 * Mutations:
 *   PUSH_BY_STORE      the top is read and then written: a push overwrites another
 *   POP_BY_STORE       the looper unlinks the top by a store: a push in between is lost
 *   UNLINK_UNSWEPT     a removed node is unlinked though no sweep has reached it: those below it are never swept
 *   SWEEP_FROM_BOTTOM  the sweep stops where it began the time before, not at the top it read then
 */
#define NODES 3
#define NIL 0

byte top = NIL;
byte next[4], back[4];
byte swept_top = NIL;
byte pushed[3], swept[3];      /* in order */
byte pushes = 0, sweeps = 0;
byte grave = NIL;              /* the free-list: the removed node */
bool gone[4];

proctype Producer(byte node; bool remove) {
  byte seen;
  bool done = false;
  do
  :: done -> break
  :: else ->
     seen = top;
     next[node] = seen;
#ifdef PUSH_BY_STORE
     atomic { top = node; pushed[pushes] = node; pushes++; done = true }
#else
     atomic { if :: top == seen -> top = node; pushed[pushes] = node; pushes++; done = true :: else fi }
#endif
  od;
  if :: remove -> grave = node :: else fi
}

inline sweep() {
  newest = top;
  if
  :: newest != swept_top ->
     node = newest;
     do
     :: next[node] == swept_top -> break
     :: else -> back[next[node]] = node; node = next[node]
     od;
     if :: swept_top != NIL -> back[swept_top] = node :: else fi;
#ifdef SWEEP_FROM_BOTTOM
     swept_top = node;
#else
     swept_top = newest;
#endif
     do
     :: node == NIL -> break
     :: else -> assert(sweeps < NODES); swept[sweeps] = node; sweeps++; node = back[node]
     od
  :: else
  fi
}

inline unlink(victim) {
  do
  :: back[victim] != NIL ->
     next[back[victim]] = next[victim];
     if :: next[victim] != NIL -> back[next[victim]] = back[victim] :: else fi;
     break
  :: else ->
#ifdef POP_BY_STORE
     top = next[victim]; taken = true;
#else
     atomic { taken = (top == victim); if :: taken -> top = next[victim] :: else fi };
#endif
     if
     :: taken ->
        swept_top = next[victim];
        if :: swept_top != NIL -> back[swept_top] = NIL :: else fi;
        break
     :: else -> sweep()
     fi
  od;
  gone[victim] = true
}

active proctype Looper() {
  byte newest, node, victim, i;
  bool taken;
  /* The removed node is taken out as soon as it is on the free-list, the others at some time after their sweep. */
  do
  :: grave != NIL ->
     victim = grave; grave = NIL;
#ifndef UNLINK_UNSWEPT
     sweep();
#endif
     unlink(victim)
  :: top != swept_top -> sweep()
  :: sweeps > 0 && !gone[swept[0]] && swept[0] != 1 -> victim = swept[0]; unlink(victim)
  :: sweeps > 1 && !gone[swept[1]] && swept[1] != 1 -> victim = swept[1]; unlink(victim)
  :: sweeps > 2 && !gone[swept[2]] && swept[2] != 1 -> victim = swept[2]; unlink(victim)
  :: sweeps == NODES && gone[1] && gone[2] && gone[3] -> break
  od;
  for (i : 0 .. NODES - 1) { assert(swept[i] == pushed[i]) }
  assert(top == NIL)
}

init { atomic { run Producer(1, true); run Producer(2, false); run Producer(3, false) } }
