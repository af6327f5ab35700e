.class public Lp/Held;
.super Ljava/lang/Object;

# What dx and D8 make of a class with an updater: calls that stay reflective.

.field private static final FU:Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;
.field volatile count:I

.method static constructor <clinit>()V
    .registers 2
    const-class v0, Lp/Held;
    const-string v1, "count"
    invoke-static {v0, v1}, Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;->newUpdater(Ljava/lang/Class;Ljava/lang/String;)Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;
    move-result-object v0
    sput-object v0, Lp/Held;->FU:Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;
    return-void
.end method

.method public constructor <init>()V
    .registers 1
    invoke-direct {p0}, Ljava/lang/Object;-><init>()V
    return-void
.end method

.method public next(I)I
    .registers 4
    packed-switch p1, :cases
    sget-object v0, Lp/Held;->FU:Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;
    invoke-virtual {v0, p0}, Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;->incrementAndGet(Ljava/lang/Object;)I
    move-result v0
    return v0
    :one
    sget-object v0, Lp/Held;->FU:Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;
    const/4 v1, 0x5
    invoke-virtual/range {v0 .. v2}, Lp/Held;->other(Ljava/lang/Object;I)V
    const/4 v0, 0x0
    return v0
    :cases
    .packed-switch 0x0
        :one
        :one
    .end packed-switch
.end method

.method public swap(II)Z
    .registers 6
    sget-object v0, Lp/Held;->FU:Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;
    invoke-virtual {v0, p0, p1, p2}, Ljava/util/concurrent/atomic/AtomicIntegerFieldUpdater;->compareAndSet(Ljava/lang/Object;II)Z
    move-result v0
    const-string v1, "~~D8{\"backend\":\"dex\",\"compilation-mode\":\"release\",\"min-api\":24,\"version\":\"8.2.33\"}"
    return v0
.end method
