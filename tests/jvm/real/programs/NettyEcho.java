import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.codec.LengthFieldPrepender;
import io.netty.util.AttributeKey;
import io.netty.util.HashedWheelTimer;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.Recycler;
import io.netty.util.Timeout;
import io.netty.util.concurrent.DefaultPromise;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.netty.util.concurrent.Promise;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** An echo server and its clients on the loopback address, and the parts of netty that count references and time. */
public final class NettyEcho {
  private static final int CLIENTS = 8;
  private static final int MESSAGES = 200;

  private NettyEcho() {}

  public static void main(String[] arguments) throws Exception {
    EventLoopGroup bosses = new NioEventLoopGroup(1);
    EventLoopGroup workers = new NioEventLoopGroup(3);
    try {
      echo(bosses, workers);
      references();
      promises(workers);
      timers(workers);
    } finally {
      bosses.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
      workers.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }
    System.out.println("terminated: " + bosses.isTerminated() + " " + workers.isTerminated());
    try {
      workers.next().execute(() -> System.out.println("ran"));
    } catch (RuntimeException e) {
      System.out.println("after the end: " + e.getClass().getSimpleName());
    }
  }

  private static void echo(EventLoopGroup bosses, EventLoopGroup workers) throws Exception {
    Channel server =
        new ServerBootstrap()
            .group(bosses, workers)
            .channel(NioServerSocketChannel.class)
            .childHandler(framed(new Echo()))
            .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .sync()
            .channel();
    AtomicLong sum = new AtomicLong();
    CountDownLatch done = new CountDownLatch(CLIENTS);
    List<Channel> clients = new ArrayList<>();
    for (int n = 0; n < CLIENTS; n++) {
      Bootstrap bootstrap = new Bootstrap().group(workers).channel(NioSocketChannel.class);
      bootstrap.handler(framed(null, new Client(sum, done)));
      clients.add(bootstrap.connect(server.localAddress()).sync().channel());
    }
    System.out.println("answered: " + done.await(60, TimeUnit.SECONDS) + " " + sum.get());
    for (Channel client : clients) {
      client.close().sync();
      System.out.println("client: " + client.isActive() + " " + client.closeFuture().isSuccess());
    }
    server.close().sync();
    System.out.println("server: " + server.isOpen());
  }

  private static ChannelInitializer<Channel> framed(io.netty.channel.ChannelHandler... last) {
    return new ChannelInitializer<>() {
      @Override
      protected void initChannel(Channel channel) {
        channel.pipeline().addLast(new LengthFieldBasedFrameDecoder(1 << 20, 0, 4, 0, 4), new LengthFieldPrepender(4));
        for (io.netty.channel.ChannelHandler handler : last) {
          if (handler != null) {
            channel.pipeline().addLast(handler);
          }
        }
      }
    };
  }

  @Sharable
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      context.writeAndFlush(message);
    }
  }

  /** Sends numbers, each when the one before came back. */
  private static final class Client extends SimpleChannelInboundHandler<ByteBuf> {
    private static final AttributeKey<Integer> SENT = AttributeKey.valueOf("sent");
    private final AtomicLong sum;
    private final CountDownLatch done;

    Client(AtomicLong sum, CountDownLatch done) {
      this.sum = sum;
      this.done = done;
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      context.channel().attr(SENT).set(0);
      send(context);
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf message) {
      sum.addAndGet(message.readInt());
      int sent = context.channel().attr(SENT).get();
      if (sent < MESSAGES) {
        send(context);
      } else {
        done.countDown();
      }
    }

    private void send(ChannelHandlerContext context) {
      int next = context.channel().attr(SENT).get() + 1;
      context.channel().attr(SENT).set(next);
      context.writeAndFlush(context.alloc().buffer().writeInt(next).writeZero(next * 7 % 500));
    }
  }

  private static void references() {
    ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(64).writeInt(7);
    ByteBuf slice = buffer.retainedSlice(0, 4);
    System.out.println("references: " + buffer.refCnt() + " " + slice.readInt() + " " + slice.release());
    System.out.println("released: " + buffer.release() + " " + buffer.refCnt());
    for (Runnable misuse : new Runnable[] {buffer::retain, buffer::release, () -> Unpooled.buffer().retain(-1)}) {
      try {
        misuse.run();
        System.out.println("allowed");
      } catch (IllegalReferenceCountException | IllegalArgumentException e) {
        System.out.println("refused: " + e);
      }
    }
    Recycler<Object[]> recycler =
        new Recycler<>() {
          @Override
          protected Object[] newObject(Handle<Object[]> handle) {
            return new Object[] {handle};
          }
        };
    System.out.println("recycled: " + (recycler.get() != null));
  }

  private static void promises(EventLoopGroup workers) throws Exception {
    Promise<String> promise = new DefaultPromise<>(workers.next());
    CountDownLatch heard = new CountDownLatch(3);
    for (int n = 0; n < 3; n++) {
      promise.addListener(future -> heard.countDown());
    }
    System.out.println("promise: " + promise.trySuccess("kept") + " " + promise.trySuccess("again") + " " + promise.getNow());
    System.out.println("listeners: " + heard.await(60, TimeUnit.SECONDS));
    Promise<String> failed = GlobalEventExecutor.INSTANCE.newPromise();
    System.out.println("failed: " + failed.setUncancellable() + " " + failed.cancel(false) + " " + failed.tryFailure(new IllegalStateException("x")) + " " + failed.cause());
    Promise<String> cancelled = GlobalEventExecutor.INSTANCE.newPromise();
    System.out.println("cancelled: " + cancelled.cancel(true) + " " + cancelled.isCancelled() + " " + cancelled.setUncancellable());
    List<Future<Integer>> sums = new ArrayList<>();
    for (int n = 0; n < 100; n++) {
      int mine = n;
      sums.add(workers.submit(() -> mine * mine));
    }
    int sum = 0;
    for (Future<Integer> one : sums) {
      sum += one.get();
    }
    System.out.println("submitted: " + sum);
  }

  private static void timers(EventLoopGroup workers) throws Exception {
    HashedWheelTimer timer = new HashedWheelTimer(1, TimeUnit.MILLISECONDS);
    CountDownLatch fired = new CountDownLatch(50);
    for (int n = 0; n < 50; n++) {
      timer.newTimeout(timeout -> fired.countDown(), n % 10, TimeUnit.MILLISECONDS);
    }
    Timeout never = timer.newTimeout(timeout -> System.out.println("fired"), 1, TimeUnit.HOURS);
    System.out.println("timer: " + fired.await(60, TimeUnit.SECONDS) + " " + never.cancel() + " " + never.isCancelled());
    System.out.println("left: " + timer.stop().size());
    Future<?> scheduled = workers.schedule(() -> 1, 1, TimeUnit.HOURS);
    System.out.println("scheduled: " + scheduled.cancel(false) + " " + workers.schedule(() -> 5, 1, TimeUnit.MILLISECONDS).get());
  }
}
