package p;
import java.io.*;
import java.util.concurrent.atomic.*;
public class Main implements Serializable {
    volatile int i;
    volatile long l;
    volatile Object o = "start";
    volatile Number n = 1;
    volatile CharSequence text = "";
    volatile int[] array;
    private static final AtomicIntegerFieldUpdater<Main> I = AtomicIntegerFieldUpdater.newUpdater(Main.class, "i");
    private static final AtomicLongFieldUpdater<Main> L = AtomicLongFieldUpdater.newUpdater(Main.class, "l");
    private static final AtomicReferenceFieldUpdater<Main, Object> O =
        AtomicReferenceFieldUpdater.newUpdater(Main.class, Object.class, "o");
    private static final AtomicReferenceFieldUpdater<Main, Number> N =
        AtomicReferenceFieldUpdater.newUpdater(Main.class, Number.class, "n");
    private static final AtomicReferenceFieldUpdater<Main, CharSequence> T =
        AtomicReferenceFieldUpdater.newUpdater(Main.class, CharSequence.class, "text");
    private static final AtomicReferenceFieldUpdater<Main, int[]> A =
        AtomicReferenceFieldUpdater.newUpdater(Main.class, int[].class, "array");
    static final AtomicIntegerFieldUpdater<Main> SHARED = AtomicIntegerFieldUpdater.newUpdater(Main.class, "i");
    private static final AtomicReferenceFieldUpdater<Main, Number> KEPT =
        AtomicReferenceFieldUpdater.newUpdater(Main.class, Number.class, "n");

    static void say(Object... values) { System.out.println(java.util.Arrays.deepToString(values)); }

    static void ints(Main m) {
        say(I.get(m), I.getAndIncrement(m), I.getAndDecrement(m), I.incrementAndGet(m), I.decrementAndGet(m));
        say(I.getAndAdd(m, 5), I.addAndGet(m, 7), I.getAndSet(m, 40), I.compareAndSet(m, 40, 41));
        say(I.compareAndSet(m, 40, 42), I.weakCompareAndSet(m, 41, 43));
        I.set(m, 9); I.lazySet(m, 10);
        say(I.getAndUpdate(m, x -> x * 2), I.updateAndGet(m, x -> x + 1));
        say(I.getAndAccumulate(m, 3, Math::max), I.accumulateAndGet(m, 100, Integer::sum), m.i);
    }
    static void longs(Main m) {
        say(L.get(m), L.getAndIncrement(m), L.getAndDecrement(m), L.incrementAndGet(m), L.decrementAndGet(m));
        say(L.getAndAdd(m, 5L << 33), L.addAndGet(m, 7), L.getAndSet(m, 40), L.compareAndSet(m, 40, 41));
        say(L.compareAndSet(m, 40, 42), L.weakCompareAndSet(m, 41, 43));
        L.set(m, 9); L.lazySet(m, 10);
        say(L.getAndUpdate(m, x -> x * 2), L.updateAndGet(m, x -> x + 1));
        say(L.getAndAccumulate(m, 3, Math::max), L.accumulateAndGet(m, 100, Long::sum), m.l);
    }
    static void references(Main m) {
        say(O.get(m), O.compareAndSet(m, "start", "a"), O.compareAndSet(m, "no", "b"), O.getAndSet(m, "c"));
        O.set(m, "d"); O.lazySet(m, "e");
        say(O.getAndUpdate(m, x -> x + "f"), O.updateAndGet(m, x -> x + "g"), O.weakCompareAndSet(m, m.o, "h"));
        say(O.getAndAccumulate(m, "i", (a, b) -> a + "" + b), O.accumulateAndGet(m, "j", (a, b) -> b + "" + a));
        say(N.get(m), N.compareAndSet(m, m.n, 2L), N.getAndSet(m, 3.5), N.updateAndGet(m, x -> x.intValue()));
        say(T.getAndSet(m, "t"), T.compareAndSet(m, "t", new StringBuilder("u")), T.get(m).toString());
        say(A.compareAndSet(m, null, new int[] {1, 2}), A.get(m));
    }
    int path(boolean b, int k) {
        AtomicIntegerFieldUpdater<Main> u = I;
        for (int at = 0; at < 3; at++) u.addAndGet(this, b ? at : k == 0 ? 5 : k == 1 ? 6 : 7);
        switch (k) { case 0: I.decrementAndGet(this); break; case 2: return I.get(this); default: I.getAndSet(this, k); }
        try { return SHARED.getAndAdd(this, Integer.parseInt("" + k)); }
        catch (NumberFormatException e) { return -1; }
        finally { SHARED.incrementAndGet(this); }
    }
    static AtomicReferenceFieldUpdater<Main, Number> given() { return KEPT; }
    static class Nested { static int next(Main m) { return SHARED.incrementAndGet(m) + N.get(m).intValue(); } }
    static class Sub extends Main { int viaThis() { return SHARED.incrementAndGet(this); } }

    interface Step { Object run() throws Exception; }
    static void fails(String name, Step step) {
        try { say(name, step.run()); }
        catch (Throwable t) { say(name, t.getClass().getName(), t instanceof ClassCastException ? t.getMessage() : ""); }
    }
    @SuppressWarnings({"unchecked", "rawtypes"})
    static void failures(Main m) {
        fails("null int", () -> I.get(null));
        fails("null long", () -> { L.set(null, 1); return 0; });
        fails("null reference", () -> O.compareAndSet(null, 1, 2));
        fails("null function", () -> O.getAndUpdate(m, null));
        fails("wrong function", () -> ((AtomicReferenceFieldUpdater) N).updateAndGet(m, x -> "text"));
        fails("wrong expected", () -> ((AtomicReferenceFieldUpdater) N).compareAndSet(m, "text", 4));
        fails("wrong value", () -> ((AtomicReferenceFieldUpdater) T).getAndSet(m, 5));
        fails("wrong holder", () -> ((AtomicIntegerFieldUpdater) SHARED).get("text"));
        fails("wrong array", () -> ((AtomicReferenceFieldUpdater) A).getAndSet(m, new long[1]));
    }
    static class Early {
        static final Early FIRST = new Early();
        volatile int early;
        private static final AtomicIntegerFieldUpdater<Early> U =
            AtomicIntegerFieldUpdater.newUpdater(Early.class, "early");
        Object failure;
        Early() { try { U.incrementAndGet(this); } catch (NullPointerException e) { failure = "null updater"; } }
        static Object both() { return FIRST.failure + " " + U.incrementAndGet(FIRST); }
    }
    public static void main(String[] arguments) throws Exception {
        Main m = new Main();
        ints(m); longs(m); references(m);
        say(m.path(true, 1), m.path(false, 0), m.path(false, 1), m.path(false, 2), m.i);
        say(given().get(m), KEPT.getAndSet(m, 6), Nested.next(m), new Sub().viaThis());
        failures(m);
        say(Early.both());
        say(ObjectStreamClass.lookup(Main.class).getSerialVersionUID());
    }
}
