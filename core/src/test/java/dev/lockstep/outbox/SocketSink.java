package dev.lockstep.outbox;

import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Sends batches to a {@link SocketBroker}, on a connection for each partition. */
final class SocketSink implements Sink {
  static final String TYPE = "socket";

  private final int port;

  /**
   * @param settings the port
   */
  SocketSink(String settings) {
    this.port = Integer.parseInt(settings);
  }

  static SinkTypes types() {
    return SinkTypes.standard().with(TYPE, (stream, spec) -> new SocketSink(spec.settings()));
  }

  @Override
  public int maxInFlight() {
    return 0;
  }

  @Override
  public Session open(SessionLease lease) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setTcpNoDelay(true);
    DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(socket.getOutputStream(), 65_536));
    return new Conversation(socket, new DataInputStream(socket.getInputStream()), out);
  }

  @Override
  public void close() {}

  private record Conversation(Socket socket, DataInputStream in, DataOutputStream out)
      implements Session {
    @Override
    public CompletionStage<List<SinkResult>> deliver(List<Event> events) {
      try {
        out.writeInt(events.size());
        for (Event event : events) {
          out.writeUTF(event.key());
          out.writeLong(event.seq());
        }
        out.flush();
        int taken = in.readInt();
        List<SinkResult> results = new ArrayList<>();
        for (int i = 0; i < events.size(); i++) {
          results.add(i < taken ? SinkResult.DELIVERED : new SinkResult.Down("took " + taken));
        }
        return CompletableFuture.completedStage(results);
      } catch (IOException e) {
        return CompletableFuture.failedStage(e);
      }
    }

    @Override
    public void close() {
      try {
        socket.close();
      } catch (IOException e) {
        // Gone already.
      }
    }
  }
}
