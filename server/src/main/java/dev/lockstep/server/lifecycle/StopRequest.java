package dev.lockstep.server.lifecycle;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Turns SIGTERM and Ctrl-C into an orderly end of the thread that started the server.
 *
 * <p>Only that thread opens and closes things. The JVM's shutdown hook just asks, waits for a
 * bounded time, and then ends the process: with code 0, because the JVM's own 143 and 130 look like
 * failures, or with 1 if the time was too short.
 */
public final class StopRequest implements AutoCloseable {
  /** Longer than {@code Server.close} takes, and as long as Docker waits before SIGKILL. */
  private static final long STOP_TIMEOUT_SECONDS = 10;

  private final Thread starter = Thread.currentThread();
  private final CountDownLatch requested = new CountDownLatch(1);
  private final CountDownLatch closed = new CountDownLatch(1);
  private boolean starting = true;
  private volatile @Nullable RuntimeException failure;

  private StopRequest() {}

  /** Listens from now on; requests go to the calling thread. */
  public static StopRequest onSignal() {
    StopRequest stop = new StopRequest();
    Runtime.getRuntime().addShutdownHook(new Thread(stop::onShutdown, "lockstep-stop"));
    return stop;
  }

  /** From now on {@link #await} reports a request; before, a request interrupts the start. */
  public synchronized void startFinished() {
    starting = false;
  }

  /** Whether a signal requested the stop, rather than {@link #fail}. */
  public boolean requested() {
    return requested.getCount() == 0 && failure == null;
  }

  /**
   * Waits for a request to stop.
   *
   * @throws RuntimeException the reason, if it was not a signal
   */
  public void await() throws InterruptedException {
    requested.await();
    RuntimeException because = failure;
    if (because != null) {
      throw because;
    }
  }

  /** Requests a stop because the server cannot continue; {@link #await} throws the reason. */
  public void fail(RuntimeException because) {
    failure = because;
    requested.countDown();
  }

  /** Everything is closed: the process may end. */
  @Override
  public void close() {
    closed.countDown();
  }

  private synchronized void ask() {
    requested.countDown();
    if (starting) {
      starter.interrupt();
    }
  }

  private void onShutdown() {
    if (closed.getCount() == 0) {
      return; // an ordinary exit, which has its own code
    }
    ask();
    boolean inTime;
    try {
      inTime = closed.await(STOP_TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      inTime = false;
    }
    if (!inTime) {
      System.err.println(
          "lockstep: did not stop within "
              + STOP_TIMEOUT_SECONDS
              + " s and was ended; the next start recovers");
    }
    Runtime.getRuntime().halt(inTime ? 0 : 1);
  }
}
