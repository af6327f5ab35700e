package p;
import java.util.concurrent.atomic.*;
public class Counter {
    volatile int count;
    volatile Object state;
    volatile Runnable task;
    volatile Thread thread;
    int plain;
    static volatile int shared;
    private static final AtomicIntegerFieldUpdater<Counter> COUNT =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    private static final AtomicReferenceFieldUpdater<Counter, Object> STATE =
        AtomicReferenceFieldUpdater.newUpdater(Counter.class, Object.class, "state");
    private static final AtomicReferenceFieldUpdater<Counter, Runnable> TASK =
        AtomicReferenceFieldUpdater.newUpdater(Counter.class, Runnable.class, "task");
    private static final AtomicReferenceFieldUpdater<Counter, Thread> THREAD =
        AtomicReferenceFieldUpdater.newUpdater(Counter.class, Thread.class, "thread");
    static final AtomicIntegerFieldUpdater<Counter> OPEN =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    private static final String NAME = System.getProperty("no.such.property", "count");
    private static final AtomicIntegerFieldUpdater<Counter> NAMED =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, NAME);
    private static final AtomicIntegerFieldUpdater<Counter> LEAKED =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    private static final AtomicIntegerFieldUpdater<Counter> CHOSEN;
    static {
        if (NAME.isEmpty()) CHOSEN = null;
        else CHOSEN = AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    }
    static AtomicIntegerFieldUpdater<Counter> changing =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");
    final AtomicIntegerFieldUpdater<Counter> own =
        AtomicIntegerFieldUpdater.newUpdater(Counter.class, "count");

    int next() { return COUNT.incrementAndGet(this); }
    boolean swap(Object a, Object b) { return STATE.compareAndSet(this, a, b); }
    static void task(Counter c, Runnable r) { TASK.set(c, r); }
    void thread(Thread t) { THREAD.lazySet(this, t); }
    int viaLocal(boolean b) {
        AtomicIntegerFieldUpdater<Counter> u = COUNT;
        return u.getAndAdd(this, b ? 1 : 2);
    }
    int open() { return OPEN.get(this); }
    int named() { return NAMED.get(this); }
    int chosen() { return CHOSEN.get(this); }
    int changing() { return changing.get(this); }
    int own() { return own.get(this); }
    static int given(AtomicIntegerFieldUpdater<Counter> u, Counter c) { return u.get(c); }
    int leaked() { return given(LEAKED, this) + LEAKED.get(this); }
    int either(boolean b) { return (b ? COUNT : OPEN).get(this); }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static int any(Object holder) { return ((AtomicIntegerFieldUpdater) COUNT).get(holder); }
    @SuppressWarnings({"unchecked", "rawtypes"})
    void wrong(Object value) { ((AtomicReferenceFieldUpdater) THREAD).set(this, value); }
    static class Sub extends Counter {
        int sub() { return OPEN.get(this); }
        static int sub(Sub s) { return OPEN.get(s); }
    }
    public static void main(String[] arguments) {
        Counter c = new Counter();
        System.out.println(c.next() + c.open() + c.named() + any(c) + c.chosen() + c.leaked());
        try { c.wrong("text"); } catch (ClassCastException e) { System.out.println("no Thread"); }
        try { any("text"); } catch (ClassCastException e) { System.out.println("no Counter"); }
    }
}
