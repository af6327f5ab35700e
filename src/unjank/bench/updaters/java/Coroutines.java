import kotlin.Unit;
import kotlin.coroutines.Continuation;
import kotlin.coroutines.CoroutineContext;
import kotlin.coroutines.EmptyCoroutineContext;
import kotlinx.coroutines.BuildersKt;
import kotlinx.coroutines.CompletableDeferred;
import kotlinx.coroutines.CompletableDeferredKt;
import kotlinx.coroutines.CoroutineScope;
import kotlinx.coroutines.CoroutineScopeKt;
import kotlinx.coroutines.CoroutineStart;
import kotlinx.coroutines.DelayKt;
import kotlinx.coroutines.Dispatchers;
import kotlinx.coroutines.Job;
import kotlinx.coroutines.channels.BufferOverflow;
import kotlinx.coroutines.channels.Channel;
import kotlinx.coroutines.channels.ChannelKt;
import kotlinx.coroutines.sync.Mutex;
import kotlinx.coroutines.sync.MutexKt;

/** Times what kotlinx.coroutines does with its updaters, on one thread. */
public final class Coroutines {
  private static final CoroutineScope SCOPE = CoroutineScopeKt.CoroutineScope(Dispatchers.getUnconfined());
  private static final Channel<Object> CHANNEL = ChannelKt.Channel(64, BufferOverflow.SUSPEND, null);
  private static final Mutex MUTEX = MutexKt.Mutex(false);
  private static final Object MESSAGE = new Object();
  private static final Continuation<Object> UNUSED =
      new Continuation<>() {
        @Override
        public CoroutineContext getContext() {
          return EmptyCoroutineContext.INSTANCE;
        }

        @Override
        public void resumeWith(Object result) {
          throw new IllegalStateException("nothing suspends here");
        }
      };

  private Coroutines() {}

  public static void main(String[] arguments) {
    Clock clock = new Clock(arguments);
    clock.time("launch_cancel", Coroutines::launchCancel);
    clock.time("launch_complete", Coroutines::launchComplete);
    clock.time("deferred", Coroutines::deferred);
    clock.time("mutex", Coroutines::mutex);
    clock.time("channel", Coroutines::channel);
  }

  /** The coroutine starts, suspends, is cancelled and ends, all before this goes on. */
  private static void launchCancel(int times) {
    for (int i = 0; i < times; i++) {
      Job job =
          BuildersKt.launch(
              SCOPE,
              EmptyCoroutineContext.INSTANCE,
              CoroutineStart.DEFAULT,
              (scope, continuation) -> DelayKt.awaitCancellation(continuation));
      job.cancel(null);
      require(job.isCompleted());
    }
  }

  private static void launchComplete(int times) {
    for (int i = 0; i < times; i++) {
      Job job =
          BuildersKt.launch(
              SCOPE, EmptyCoroutineContext.INSTANCE, CoroutineStart.DEFAULT, (scope, continuation) -> Unit.INSTANCE);
      require(job.isCompleted());
    }
  }

  private static void deferred(int times) {
    for (int i = 0; i < times; i++) {
      CompletableDeferred<Object> deferred = CompletableDeferredKt.CompletableDeferred((Job) null);
      require(deferred.complete(MESSAGE));
      Clock.sink = deferred.getCompleted();
    }
  }

  private static void mutex(int times) {
    for (int i = 0; i < times; i++) {
      require(MUTEX.tryLock(null));
      MUTEX.unlock(null);
    }
  }

  /** The buffer has room, so neither side suspends. */
  private static void channel(int times) {
    for (int i = 0; i < times; i++) {
      require(CHANNEL.send(MESSAGE, UNUSED) == Unit.INSTANCE);
      require(CHANNEL.receive(UNUSED) == MESSAGE);
    }
  }

  private static void require(boolean so) {
    if (!so) {
      throw new IllegalStateException("the coroutine did not do what is timed");
    }
  }
}
