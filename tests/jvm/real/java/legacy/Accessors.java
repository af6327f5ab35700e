package legacy;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Compiled for Java 8, where nested classes reach private members through `access$000` methods. */
public final class Accessors {
  private volatile int n = 7;
  private volatile String text = "old";
  private static final AtomicIntegerFieldUpdater<Accessors> N =
      AtomicIntegerFieldUpdater.newUpdater(Accessors.class, "n");
  private static final AtomicReferenceFieldUpdater<Accessors, String> TEXT =
      AtomicReferenceFieldUpdater.newUpdater(Accessors.class, String.class, "text");

  private static class Nested {
    private volatile long m = 1;
    private static final java.util.concurrent.atomic.AtomicLongFieldUpdater<Nested> M =
        java.util.concurrent.atomic.AtomicLongFieldUpdater.newUpdater(Nested.class, "m");

    int bump(Accessors holder) {
      return N.incrementAndGet(holder);
    }

    String swap(Accessors holder, String text) {
      return TEXT.getAndSet(holder, text);
    }
  }

  private class Inner {
    int bump() {
      return N.addAndGet(Accessors.this, n);
    }
  }

  public void print() {
    Accessors holder = new Accessors();
    Nested nested = new Nested();
    System.out.println("legacy.nested: " + nested.bump(holder) + " " + nested.swap(holder, "new"));
    System.out.println("legacy.inner: " + holder.new Inner().bump());
    System.out.println("legacy.outer: " + Nested.M.incrementAndGet(nested) + " " + Nested.M.getAndSet(nested, 5));
    System.out.println("legacy.text: " + holder.text + " " + nested.m);
    try {
      nested.bump(null);
    } catch (RuntimeException e) {
      System.out.println("legacy.null: " + e);
    }
  }
}
