import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.IntConsumer;

/** Times the same operations through updaters and on Atomic objects; see {@link Clock} for what is printed. */
public final class Operations {
  private Operations() {}

  static final Object FIRST = new Object();
  static final Object SECOND = new Object();

  /** What most users of updaters look like: fields of the class itself, updaters in private constants. */
  static final class Holder {
    private volatile Object state = FIRST;
    private volatile int count;
    private static final AtomicReferenceFieldUpdater<Holder, Object> STATE =
        AtomicReferenceFieldUpdater.newUpdater(Holder.class, Object.class, "state");
    private static final AtomicIntegerFieldUpdater<Holder> COUNT =
        AtomicIntegerFieldUpdater.newUpdater(Holder.class, "count");

    void compareAndSet(int times) {
      for (int i = 0; i < times; i++) {
        STATE.compareAndSet(this, FIRST, SECOND);
        STATE.compareAndSet(this, SECOND, FIRST);
      }
    }

    void getAndSet(int times) {
      for (int i = 0; i < times; i++) {
        Clock.sink = STATE.getAndSet(this, FIRST);
      }
    }

    void set(int times) {
      for (int i = 0; i < times; i++) {
        STATE.set(this, FIRST);
      }
    }

    void increment(int times) {
      for (int i = 0; i < times; i++) {
        COUNT.getAndIncrement(this);
      }
    }
  }

  /** The same with an object for each field. */
  static final class Objects {
    private final AtomicReference<Object> state = new AtomicReference<>(FIRST);
    private final AtomicInteger count = new AtomicInteger();

    void compareAndSet(int times) {
      for (int i = 0; i < times; i++) {
        state.compareAndSet(FIRST, SECOND);
        state.compareAndSet(SECOND, FIRST);
      }
    }

    void getAndSet(int times) {
      for (int i = 0; i < times; i++) {
        Clock.sink = state.getAndSet(FIRST);
      }
    }

    void set(int times) {
      for (int i = 0; i < times; i++) {
        state.set(FIRST);
      }
    }

    void increment(int times) {
      for (int i = 0; i < times; i++) {
        count.getAndIncrement();
      }
    }
  }

  public static void main(String[] arguments) {
    Clock clock = new Clock(arguments);
    Holder holder = new Holder();
    Objects objects = new Objects();
    time(clock, "compare_and_set", holder::compareAndSet, objects::compareAndSet);
    time(clock, "get_and_set", holder::getAndSet, objects::getAndSet);
    time(clock, "set", holder::set, objects::set);
    time(clock, "increment", holder::increment, objects::increment);
  }

  private static void time(Clock clock, String name, IntConsumer updater, IntConsumer object) {
    clock.time(name, updater);
    clock.time(name + "_atomic", object);
  }
}
