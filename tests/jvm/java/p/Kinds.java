package p;
import java.io.*;
import java.util.concurrent.atomic.*;
public class Kinds implements Serializable, Comparable<Kinds> {
    public int a; protected transient long b; private String c; private static int d; static final int E = 5;
    volatile int v;
    Kinds() {}
    protected Kinds(int x, String[] y) {}
    private Kinds(long x) {}
    public int compareTo(Kinds o) { return 0; }
    synchronized native void n();
    strictfp double s() { return 0; }
    private void hidden() {}
    static { System.getProperty("x"); }
    protected static abstract class Nested implements Serializable { abstract void m(); Object a = hiddenOf(null); }
    private static class Hidden implements Serializable { int[] field; Hidden[][] more; }
    interface Face extends Serializable { void m(); int X = 1; }
    interface Marker extends Serializable {}
    static Object hiddenOf(Kinds k) { return k; }
    static class Plain implements Serializable {}
    static class Named implements Serializable { private static final long serialVersionUID = 42; }
    static class Held implements Serializable {
        volatile int v;
        private static final AtomicIntegerFieldUpdater<Held> FU =
            AtomicIntegerFieldUpdater.newUpdater(Held.class, "v");
        int own() { return FU.incrementAndGet(this); }
        static class Other { static int other(Held h) { return FU.get(h); } }
    }
    public static void main(String[] a) throws Exception {
        for (String n : "Kinds Kinds$Nested Kinds$Hidden Kinds$Face Kinds$Marker Kinds$Plain Kinds$Named Kinds$Held".split(" "))
            System.out.println(n + " " + ObjectStreamClass.lookup(Class.forName("p." + n)).getSerialVersionUID());
        Held h = new Held(); h.own();
        System.out.println(Held.Other.other(h));
    }
}
