/* remove / pop and remove / unlink: who owns a payload, and when a node is free (native/deliqueue/node.h, free_list.h).
 *
 * One message. The looper pops it while two removers want it. Whoever moves `status` from PENDING owns the payload.
 * A removed node reaches the pool through the free-list only, after its remover is done with it.
 *
 * Mutations:
 *   CLAIM_BY_STORE  the status is read and then written: two owners
 *   FREE_AT_POP     the looper frees a tombstone that it meets in the heap: its remover still uses it
 *   RELEASE_LATE    the remover buries the node first and releases its payload then
 */
mtype = { PENDING, TAKEN, REMOVED };
mtype status = PENDING;
byte owners = 0;
bool buried = false;
bool freed = false;
byte removers_done = 0;

inline claim(fate, won) {
#ifdef CLAIM_BY_STORE
  won = (status == PENDING);
  if :: won -> status = fate :: else fi
#else
  atomic { won = (status == PENDING); if :: won -> status = fate :: else fi }
#endif
}

inline release_payload() {
  assert(!freed);
  owners++;
  assert(owners == 1)
}

inline free_node() { assert(!freed); freed = true }

proctype Remover() {
  bool won;
  claim(REMOVED, won);
  if
  :: won ->
#ifdef RELEASE_LATE
     buried = true;
     release_payload()
#else
     release_payload();
     buried = true
#endif
  :: else
  fi;
  removers_done++
}

active proctype Looper() {
  bool won;
  claim(TAKEN, won);
  if
  :: won -> release_payload(); free_node()
  :: else ->
#ifdef FREE_AT_POP
     free_node()
#else
     skip
#endif
  fi;
  do
  :: buried -> atomic { buried = false }; free_node()
  :: removers_done == 2 && !buried -> break
  od;
  assert(owners == 1);
  assert(freed)
}

init { atomic { run Remover(); run Remover() } }
