import java.util.List;
import java.util.Queue;
import java.util.function.Supplier;
import org.jctools.queues.atomic.MpmcAtomicArrayQueue;
import org.jctools.queues.atomic.MpscAtomicArrayQueue;
import org.jctools.queues.atomic.MpscChunkedAtomicArrayQueue;
import org.jctools.queues.atomic.MpscGrowableAtomicArrayQueue;
import org.jctools.queues.atomic.MpscLinkedAtomicQueue;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jctools.queues.atomic.SpmcAtomicArrayQueue;
import org.jctools.queues.atomic.SpscAtomicArrayQueue;
import org.jctools.queues.atomic.SpscLinkedAtomicQueue;
import org.jctools.queues.atomic.SpscUnboundedAtomicArrayQueue;

/** JCTools' queues that are built on updaters: what goes in comes out, once and in order. */
public final class Queues {
  private static final int EACH = 5_000;

  private Queues() {}

  public static void main(String[] arguments) throws Exception {
    List<Supplier<Queue<Integer>>> singles =
        List.of(
            () -> new SpscAtomicArrayQueue<>(64),
            SpscLinkedAtomicQueue::new,
            () -> new SpscUnboundedAtomicArrayQueue<>(64),
            () -> new SpmcAtomicArrayQueue<>(64));
    for (Supplier<Queue<Integer>> queue : singles) {
      pass(queue.get(), 1);
    }
    List<Supplier<Queue<Integer>>> shared =
        List.of(
            () -> new MpscAtomicArrayQueue<>(64),
            () -> new MpscChunkedAtomicArrayQueue<>(8, 64),
            () -> new MpscGrowableAtomicArrayQueue<>(8, 64),
            MpscLinkedAtomicQueue::new,
            () -> new MpscUnboundedAtomicArrayQueue<>(64),
            () -> new MpmcAtomicArrayQueue<>(64));
    for (Supplier<Queue<Integer>> queue : shared) {
      pass(queue.get(), 3);
    }
  }

  /** Each producer's numbers must arrive in its order. */
  private static void pass(Queue<Integer> queue, int producers) throws InterruptedException {
    Thread[] threads = new Thread[producers];
    for (int p = 0; p < producers; p++) {
      int mine = p;
      threads[p] = new Thread(() -> fill(queue, mine));
      threads[p].start();
    }
    int[] next = new int[producers];
    boolean ordered = true;
    for (int taken = 0; taken < producers * EACH; ) {
      Integer value = queue.poll();
      if (value == null) {
        Thread.yield();
        continue;
      }
      taken++;
      ordered &= value % EACH == next[value / EACH]++;
    }
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.println(queue.getClass().getSimpleName() + ": " + ordered + " " + queue.isEmpty() + " " + queue.peek());
  }

  private static void fill(Queue<Integer> queue, int producer) {
    for (int n = 0; n < EACH; n++) {
      while (!queue.offer(producer * EACH + n)) {
        Thread.yield();
      }
    }
  }
}
