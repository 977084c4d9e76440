package dev.lockstep.postgres;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The exclusive right to run a server on a folder. The operating system ends it when the process
 * dies, however it dies.
 */
final class DirectoryLock implements AutoCloseable {

  /**
   * The folders locked by this process. Static, because a POSIX file lock belongs to the process
   * and is lost as soon as the process closes <em>any</em> descriptor of the file; a second attempt
   * must not even open it.
   */
  private static final Set<Path> HELD = ConcurrentHashMap.newKeySet();

  private static final int PID_BYTES_MAX = 20;

  private final Path directory;
  private final FileChannel channel;

  private DirectoryLock(Path directory, FileChannel channel) {
    this.directory = directory;
    this.channel = channel;
  }

  /**
   * Takes the lock without waiting.
   *
   * @param directory a real path
   * @throws PostgresException if another owner holds it
   */
  static DirectoryLock acquire(Path directory) throws IOException {
    if (!HELD.add(directory)) {
      throw inUse(directory, Long.toString(ProcessHandle.current().pid()));
    }
    boolean acquired = false;
    try {
      DirectoryLock lock = open(directory);
      acquired = true;
      return lock;
    } finally {
      if (!acquired) {
        HELD.remove(directory);
      }
    }
  }

  private static DirectoryLock open(Path directory) throws IOException {
    FileChannel channel =
        FileChannel.open(
            directory.resolve("lock"),
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (OverlappingFileLockException e) {
      // Another class loader of this process holds it. Leave the channel open: closing it would end
      // that lock.
      throw inUse(directory, Long.toString(ProcessHandle.current().pid()));
    }
    if (lock == null) {
      String owner = readOwner(channel);
      channel.close();
      throw inUse(directory, owner);
    }
    channel.truncate(0);
    channel.write(
        ByteBuffer.wrap(
            Long.toString(ProcessHandle.current().pid()).getBytes(StandardCharsets.US_ASCII)));
    return new DirectoryLock(directory, channel);
  }

  private static String readOwner(FileChannel channel) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(PID_BYTES_MAX);
    channel.read(content, 0);
    String owner = new String(content.array(), 0, content.position(), StandardCharsets.US_ASCII);
    return owner.isEmpty() ? "unknown" : owner;
  }

  private static PostgresException inUse(Path directory, String owner) {
    return new PostgresException(
        directory
            + " is in use by another Lockstep (process "
            + owner
            + "). Stop it or choose another --data folder.");
  }

  @Override
  public void close() throws IOException {
    try {
      channel.close();
    } finally {
      HELD.remove(directory);
    }
  }
}
