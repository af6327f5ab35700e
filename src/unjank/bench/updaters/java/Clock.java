import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.IntConsumer;

/**
 * Prints one line for each thing timed: its name and the median of the batches in ns per repetition. It is this
 * thread's CPU time, so that others on the machine and the compiler's threads do not count.
 *
 * <p>Arguments, all in ms but the second: how long a batch should take, how many batches count, and how long to warm
 * up before them. Warming up also finds out how many repetitions fill a batch.
 */
final class Clock {
  /** What is written here cannot be optimised away. */
  static volatile Object sink;

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final long batchNs;
  private final int batches;
  private final long warmUpNs;

  Clock(String[] arguments) {
    batchNs = nanoseconds(arguments[0]);
    batches = Integer.parseInt(arguments[1]);
    warmUpNs = nanoseconds(arguments[2]);
  }

  private static long nanoseconds(String milliseconds) {
    return Math.max(1, (long) (Double.parseDouble(milliseconds) * 1e6));
  }

  void time(String name, IntConsumer body) {
    int times = warmUp(body);
    double[] found = new double[batches];
    for (int batch = 0; batch < batches; batch++) {
      found[batch] = (double) run(body, times) / times;
    }
    Arrays.sort(found);
    System.out.println(name + " " + found[batches / 2]);
  }

  /** How many repetitions fill a batch once the code is as fast as it gets in the time given. */
  private int warmUp(IntConsumer body) {
    long end = threads.getCurrentThreadCpuTime() + warmUpNs;
    int times = 16;
    do {
      long took = run(body, times);
      double wanted = times * ((double) batchNs / Math.max(1, took));
      times = (int) Math.max(1, Math.min(wanted, Math.min(2.0 * times, 1 << 28)));
    } while (threads.getCurrentThreadCpuTime() < end);
    return times;
  }

  private long run(IntConsumer body, int times) {
    long begin = threads.getCurrentThreadCpuTime();
    body.accept(times);
    return threads.getCurrentThreadCpuTime() - begin;
  }
}
