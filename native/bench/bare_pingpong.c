/* The yardstick of `unjank bench pingpong`: two threads or two processes pass a token through two pipes, and nothing else.
 *
 *   bare_pingpong threads|processes FIRST_CPU SECOND_CPU ROUNDS      (a CPU of -1: not pinned)
 *
 * Prints the CPU time of both threads in ns (-1 for processes), then the nanoseconds that each tenth of the rounds took. On
 * purpose it shares no code with what it is compared to: no clock within the loop, no counters, no abstraction. A twentieth
 * of the rounds goes before, to warm up. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
enum { TENTHS = 10 };
static long rounds, warm_up;
static int cpus[2];

static void die(const char *what) {
  perror(what);
  exit(2);
}

static void pin(int cpu) {
  cpu_set_t set;
  if (cpu < 0) return;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) die("bare_pingpong: pinning");
}

static void *echo(void *unused) {
  int token;
  (void)unused;
  pin(cpus[1]);
  for (long i = 0; i < warm_up + rounds; ++i) {
    if (read(there[0], &token, sizeof token) != sizeof token) die("bare_pingpong: read");
    if (write(back[1], &token, sizeof token) != sizeof token) die("bare_pingpong: write");
  }
  return NULL;
}

static void call(long count) {
  int token = 1;
  for (long i = 0; i < count; ++i) {
    if (write(there[1], &token, sizeof token) != sizeof token) die("bare_pingpong: write");
    if (read(back[0], &token, sizeof token) != sizeof token) die("bare_pingpong: read");
  }
}

static long long now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void measure(int threads) {
  long long at[TENTHS + 1], cpu;
  pin(cpus[0]);
  call(warm_up);
  cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  at[0] = now_ns(CLOCK_MONOTONIC);
  for (int i = 1; i <= TENTHS; ++i) {
    call(rounds / TENTHS);
    at[i] = now_ns(CLOCK_MONOTONIC);
  }
  cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  printf("%lld", threads ? cpu : -1);
  for (int i = 0; i < TENTHS; ++i) printf(" %lld", at[i + 1] - at[i]);
  printf("\n");
}

static void with_process(void) {
  pid_t parent = getpid(), child = fork();
  if (child < 0) die("bare_pingpong: fork");
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(2);
    echo(NULL);
    _exit(0);
  }
  measure(0);
  waitpid(child, NULL, 0);
}

static void with_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, echo, NULL) != 0) die("bare_pingpong: thread");
  measure(1);
  pthread_join(thread, NULL);
}

int main(int argc, char **argv) {
  if (argc != 5 || (rounds = atol(argv[4])) < TENTHS || rounds % TENTHS != 0) {
    fprintf(stderr, "usage: bare_pingpong threads|processes FIRST_CPU SECOND_CPU ROUNDS   (tens of them)\n");
    return 2;
  }
  cpus[0] = atoi(argv[2]);
  cpus[1] = atoi(argv[3]);
  warm_up = rounds / 20 + 1;
  if (pipe(there) != 0 || pipe(back) != 0) die("bare_pingpong: pipe");
  if (strcmp(argv[1], "threads") == 0) {
    with_thread();
  } else if (strcmp(argv[1], "processes") == 0) {
    with_process();
  } else {
    fprintf(stderr, "bare_pingpong: threads or processes, not %s\n", argv[1]);
    return 2;
  }
  return 0;
}
