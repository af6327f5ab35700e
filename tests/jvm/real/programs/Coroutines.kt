@file:OptIn(ExperimentalCoroutinesApi::class)

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.Executors
import kotlinx.coroutines.*
import kotlinx.coroutines.channels.*
import kotlinx.coroutines.flow.*
import kotlinx.coroutines.selects.onTimeout
import kotlinx.coroutines.selects.select
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.Semaphore
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.sync.withPermit

/** Prints what does not depend on which thread was faster: sums, orders that are promised, and outcomes. */
fun main() = runBlocking {
    section("launch") { launching() }
    section("channels") { channels() }
    section("mutex") { mutex() }
    section("select") { selecting() }
    section("cancellation") { cancelling() }
    section("exceptions") { exceptions() }
    section("flows") { flows() }
    section("executor") { executor() }
}

private suspend fun section(name: String, body: suspend CoroutineScope.() -> Unit) {
    println("== $name")
    withTimeout(60_000) { coroutineScope { body() } }
}

private suspend fun CoroutineScope.launching() {
    val results = (1..2_000).map { n -> async(Dispatchers.Default) { yield(); n } }.awaitAll()
    println("async: ${results.sum()}")
    val lazy = async(start = CoroutineStart.LAZY) { "started" }
    println("lazy: ${lazy.isActive} ${lazy.await()} ${lazy.isCompleted}")
    val order = mutableListOf<String>()
    val job = launch { order += "inside"; delay(1); order += "after delay" }
    job.invokeOnCompletion { order += "completed" }
    order += "outside"
    job.join()
    println("order: $order")
    val nested = launch { repeat(100) { launch { delay(1) } } }
    nested.join()
    println("children: ${nested.children.count()} ${nested.isCompleted} ${nested.isCancelled}")
}

private suspend fun CoroutineScope.channels() {
    for (capacity in listOf(Channel.RENDEZVOUS, 1, 16, Channel.UNLIMITED)) {
        val channel = Channel<Int>(capacity)
        val producers = List(4) { p -> launch(Dispatchers.Default) { repeat(500) { channel.send(p * 500 + it) } } }
        val sums = List(3) { async(Dispatchers.Default) { var sum = 0; for (n in channel) sum += n; sum } }
        producers.joinAll()
        channel.close()
        println("capacity $capacity: ${sums.awaitAll().sum()} ${channel.isClosedForReceive} ${channel.trySend(1).isClosed}")
    }
    val latest = Channel<Int>(Channel.CONFLATED)
    repeat(10) { latest.trySend(it) }
    println("conflated: ${latest.receive()} ${latest.tryReceive().isFailure}")
    val dropping = Channel<Int>(3, BufferOverflow.DROP_OLDEST) { println("dropped $it") }
    repeat(5) { dropping.send(it) }
    println("kept: ${dropping.receive()}")
    dropping.cancel()
    println("cancelled: ${runCatching { dropping.receive() }.exceptionOrNull()?.let { it::class.simpleName }}")
    val squares = produce(capacity = 2) { for (n in 1..5) send(n * n) }
    println("produced: ${squares.toList()}")
    val iterated = Channel<String>()
    val waiting = launch {
        runCatching { for (word in iterated) println("got $word") }.onFailure { println("then ${it.message}") }
    }
    iterated.send("a")
    iterated.send("b")
    iterated.close(IllegalStateException("closed on purpose"))
    waiting.join()
}

private suspend fun mutex() {
    val mutex = Mutex()
    var counter = 0
    coroutineScope { repeat(20) { launch(Dispatchers.Default) { repeat(200) { mutex.withLock { counter++ } } } } }
    println("counted: $counter ${mutex.isLocked} ${mutex.tryLock("me")} ${mutex.holdsLock("me")} ${mutex.tryLock("you")}")
    println("not mine: ${runCatching { mutex.unlock("you") }.exceptionOrNull()?.let { it::class.simpleName }}")
    val permits = Semaphore(3)
    var most = 0
    var inside = 0
    val guard = Mutex()
    coroutineScope {
        repeat(50) {
            launch(Dispatchers.IO) {
                permits.withPermit {
                    guard.withLock { inside++; most = maxOf(most, inside) }
                    yield()
                    guard.withLock { inside-- }
                }
            }
        }
    }
    println("semaphore: ${most in 1..3} $inside ${permits.availablePermits}")
    val held = Mutex(locked = true)
    val waiter = CoroutineScope(Dispatchers.Default).launch { held.lock() }
    waiter.cancelAndJoin()
    held.unlock()
    println("cancelled waiter: ${waiter.isCancelled} ${held.tryLock()}")
}

private suspend fun CoroutineScope.selecting() {
    val left = Channel<String>(1)
    val right = Channel<String>(1)
    right.send("r")
    println(select<String> { left.onReceive { "left $it" }; right.onReceive { "right $it" } })
    println(select<String> { left.onSend("l") { "sent" }; right.onReceive { "right $it" } })
    println(select<String> { right.onReceive { "right $it" }; onTimeout(5) { "timeout" } })
    val deferred = async { delay(5); "awaited" }
    println(select<String> { deferred.onAwait { it }; onTimeout(50_000) { "late" } })
    val job = launch { delay(5) }
    println(select<String> { job.onJoin { "joined" }; right.onReceiveCatching { "closed ${it.isClosed}" } })
    right.close()
    println(select<String> { right.onReceiveCatching { "closed ${it.isClosed}" }; onTimeout(50_000) { "late" } })
    val mutex = Mutex(locked = true)
    val locker = launch { mutex.lock("second") }
    mutex.unlock()
    locker.join()
    println("lock passed on: ${mutex.holdsLock("second")}")
    val a = Channel<Int>()
    val b = Channel<Int>()
    val senders = listOf(a, b).map { to -> launch(Dispatchers.Default) { repeat(500) { n -> to.send(n) } } }
    var sum = 0
    repeat(1_000) { sum += select<Int> { a.onReceive { it }; b.onReceive { it } } }
    senders.joinAll()
    println("selected: $sum")
}

private suspend fun CoroutineScope.cancelling() {
    val log = ConcurrentLinkedQueue<String>()
    val job = launch {
        try {
            awaitCancellation()
        } finally {
            withContext(NonCancellable) { delay(1); log += "cleaned up" }
        }
    }
    yield()
    job.cancelAndJoin()
    println("$log ${job.isCancelled} ${job.isCompleted}")
    println("timeout: ${withTimeoutOrNull(5) { awaitCancellation() }} ${withTimeoutOrNull(50_000) { 1 }}")
    println("thrown: ${runCatching { withTimeout(5) { awaitCancellation() } }.exceptionOrNull()?.message}")
    val many = List(1_000) { launch(Dispatchers.Default) { awaitCancellation() } }
    many.forEach { it.cancel() }
    many.joinAll()
    println("many: ${many.count { it.isCancelled }}")
    val racing = List(1_000) { n -> async(Dispatchers.Default) { if (n % 2 == 0) n else awaitCancellation() } }
    racing.filterIndexed { n, _ -> n % 2 == 1 }.forEach { it.cancel() }
    println("racing: ${racing.sumOf { runCatching { it.await() }.getOrDefault(0) as Int }}")
    val result = suspendCancellableCoroutine<String> { it.invokeOnCancellation { }; it.resume("resumed") { _, _, _ -> } }
    println(result)
    val deferred = CompletableDeferred<Int>(coroutineContext[Job])
    println("deferred: ${deferred.complete(1)} ${deferred.complete(2)} ${deferred.await()}")
}

private suspend fun exceptions() {
    val failed = runCatching {
        coroutineScope {
            launch { awaitCancellation() }
            launch { throw IllegalArgumentException("first") }
        }
    }
    println("scope: ${failed.exceptionOrNull()}")
    val seen = CompletableDeferred<String>()
    val handler = CoroutineExceptionHandler { _, thrown -> seen.complete("handled ${thrown.message}") }
    supervisorScope {
        launch(handler) { error("supervised") }
        val sibling = launch { delay(1) }
        sibling.join()
        println("sibling: ${sibling.isCancelled}")
    }
    println(seen.await())
    val both = runCatching {
        coroutineScope {
            launch { try { awaitCancellation() } finally { throw IllegalStateException("second") } }
            yield()
            throw IllegalArgumentException("first")
        }
    }.exceptionOrNull()
    println("suppressed: $both ${both?.suppressed?.map { it.message }}")
}

private suspend fun CoroutineScope.flows() {
    println("flow: ${(1..100).asFlow().flowOn(Dispatchers.Default).buffer(3).map { it * 2 }.filter { it % 3 == 0 }.toList().sum()}")
    val state = MutableStateFlow(0)
    coroutineScope { repeat(10) { launch(Dispatchers.Default) { repeat(100) { state.update { it + 1 } } } } }
    println("state: ${state.value} ${state.compareAndSet(1000, 5)} ${state.first { it == 5 }}")
    val shared = MutableSharedFlow<Int>(replay = 2)
    val collected = List(3) { async(start = CoroutineStart.UNDISPATCHED) { shared.take(5).toList() } }
    repeat(5) { shared.emit(it) }
    println("shared: ${collected.awaitAll()} ${shared.replayCache}")
    println("merged: ${merge(flowOf(1, 2), flowOf(3, 4)).toList().sorted()}")
    println("zip: ${flowOf(1, 2, 3).zip(flowOf("a", "b")) { n, s -> "$n$s" }.toList()}")
    println("latest: ${flowOf(1, 2, 3).conflate().last()} ${flowOf(1, 2, 3).transformLatest { emit(it); delay(1_000); emit(-it) }.first()}")
    val started = flow { emit(7); awaitCancellation() }.stateIn(this, SharingStarted.Eagerly, 0)
    println("shared while subscribed: ${started.first { it == 7 }}")
    coroutineContext.cancelChildren()
}

private suspend fun executor() {
    Executors.newFixedThreadPool(3).asCoroutineDispatcher().use { pool ->
        val narrow = pool.limitedParallelism(1)
        var unsafe = 0
        coroutineScope { repeat(1_000) { launch(narrow) { unsafe++ } } }
        println("confined: $unsafe")
        println("hops: ${withContext(pool) { withContext(Dispatchers.IO) { withContext(narrow) { ++unsafe } } }}")
        val ticks = coroutineScope { List(20) { async(pool) { delay(2); 1 } }.awaitAll() }
        println("delays: ${ticks.sum()}")
    }
}
