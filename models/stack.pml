/* push / sweep and push / unlink (native/deliqueue/stack.h): links, back-links, the top with its mark, and the last
 * node swept.
 *
 * Three producers push a node each, one of them removes its node again; the looper sweeps, and unlinks nodes from top
 * and middle. At the end each node was swept once, in push order, and the stack is empty. Node 1 has a due time, node 2
 * is at the front, node 3 is due now: it goes without a due time, if no node on the stack has one at that moment.
 *
 * Mutations:
 *   PUSH_BY_STORE      the top is read and then written: a push overwrites another
 *   POP_BY_STORE       the looper unlinks the top by a store: a push in between is lost
 *   UNLINK_UNSWEPT     a removed node is unlinked though no sweep has reached it: those below it are never swept
 *   SWEEP_FROM_BOTTOM  the sweep stops where it began the time before, not at the top it read then
 *   MARK_LOST_BY_PUSH  a node at the front takes the mark off the top, though a timed node lies below
 *   MARK_LOST_BY_POP   unlinking the top takes the mark away, though a timed node lies below
 *   MARK_NOT_COMPARED  whether a node may go without a due time is looked at before the push, not with it
 */
#define NODES 3
#define NIL 0
#define TIMED 1
#define FRONT 2
#define NOW 3

byte top = NIL;
bool mark = false;             /* changes in one step with the top */
byte next[4], back[4];
byte swept_top = NIL;
byte pushed[3], swept[3];      /* in order */
byte pushes = 0, sweeps = 0;
byte grave = NIL;              /* the free-list: the removed node */
bool gone[4];
bool timed[4];
byte timed_on_stack = 0;       /* what is so, for the assertion */
byte timed_swept = 0;          /* the looper's count */

inline publish(node) {
  assert(timed[node] || node == FRONT || timed_on_stack == 0);
  if :: timed[node] -> timed_on_stack++; mark = true :: else fi;
#ifdef MARK_LOST_BY_PUSH
  if :: node == FRONT -> mark = false :: else fi;
#endif
  top = node; pushed[pushes] = node; pushes++; done = true
}

#ifdef MARK_NOT_COMPARED
#define SAME (top == seen)
#else
#define SAME (top == seen && mark == seen_mark)
#endif

proctype Producer(byte node; bool remove) {
  byte seen;
  bool seen_mark;
  bool done = false;
  timed[node] = (node == TIMED);
  do
  :: done -> break
  :: else ->
#ifdef MARK_NOT_COMPARED
     seen_mark = mark;
     seen = top;
#else
     atomic { seen = top; seen_mark = mark };
#endif
     if :: node == NOW && seen_mark -> timed[node] = true :: else fi;
     next[node] = seen;
#ifdef PUSH_BY_STORE
     atomic { publish(node) }
#else
     atomic { if :: SAME -> publish(node) :: else fi }
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
     :: else ->
        assert(sweeps < NODES);
        swept[sweeps] = node; sweeps++;
        timed_swept = timed_swept + timed[node];
        node = back[node]
     od
  :: else
  fi
}

inline pop(victim) {
  top = next[victim];
#ifdef MARK_LOST_BY_POP
  mark = false;
#else
  mark = (timed_swept > timed[victim] -> mark : false);
#endif
  timed_on_stack = timed_on_stack - timed[victim]
}

inline unlink(victim) {
  do
  :: back[victim] != NIL ->
     atomic { next[back[victim]] = next[victim]; timed_on_stack = timed_on_stack - timed[victim] };
     if :: next[victim] != NIL -> back[next[victim]] = back[victim] :: else fi;
     break
  :: else ->
#ifdef POP_BY_STORE
     atomic { pop(victim); taken = true };
#else
     atomic { taken = (top == victim); if :: taken -> pop(victim) :: else fi };
#endif
     if
     :: taken ->
        swept_top = next[victim];
        if :: swept_top != NIL -> back[swept_top] = NIL :: else fi;
        break
     :: else -> sweep()
     fi
  od;
  timed_swept = timed_swept - timed[victim];
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
  assert(top == NIL && timed_swept == 0)
}

init { atomic { run Producer(1, true); run Producer(2, false); run Producer(3, false) } }
