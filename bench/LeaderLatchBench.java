import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.retry.RetryOneTime;

/**
 * Curator's LeaderLatch, handing over leadership in good order, beside one write and one read round trip
 * of the same client. Arguments: connect string, path, rounds. Prints one line of JSON.
 */
public class LeaderLatchBench {
  private static final int PAUSE = 10;
  private static final int CANDIDATES = 4;

  public static void main(String[] arguments) throws Exception {
    String connect = arguments[0];
    String path = arguments[1];
    int rounds = Integer.parseInt(arguments[2]);
    List<CuratorFramework> clients = new ArrayList<>();
    List<Candidate> line = new ArrayList<>();
    for (int index = 0; index < CANDIDATES; index++) {
      CuratorFramework client =
          CuratorFrameworkFactory.newClient(connect, 4000, 10000, new RetryOneTime(100));
      client.start();
      client.blockUntilConnected();
      clients.add(client);
      line.add(new Candidate(client, path));
    }
    double[] trips = roundTrips(clients.get(CANDIDATES - 1), path + "-probe");
    List<Double> handOvers = new ArrayList<>();
    for (int round = 0; round < rounds; round++) {
      Candidate leader = line.remove(0);
      leader.began.poll(10, TimeUnit.SECONDS);
      Thread.sleep(20);
      long left = System.nanoTime();
      leader.latch.close();
      Long begun = line.get(0).began.poll(10, TimeUnit.SECONDS);
      handOvers.add((begun - left) / 1e6);
      line.get(0).began.add(begun);
      line.add(new Candidate(clients.get(round % CANDIDATES), path));
    }
    System.out.printf(
        java.util.Locale.ROOT,
        "{\"write\":%.4f,\"read\":%.4f,\"handOver\":%.4f}%n",
        trips[0],
        trips[1],
        median(handOvers));
    System.exit(0);
  }

  private static class Candidate {
    final BlockingQueue<Long> began = new ArrayBlockingQueue<>(8);
    final LeaderLatch latch;

    Candidate(CuratorFramework client, String path) throws Exception {
      latch = new LeaderLatch(client, path);
      latch.addListener(
          new LeaderLatchListener() {
            @Override
            public void isLeader() {
              began.add(System.nanoTime());
            }

            @Override
            public void notLeader() {}
          });
      latch.start();
      Thread.sleep(50);
    }
  }

  private static double[] roundTrips(CuratorFramework client, String path) throws Exception {
    byte[] data = new byte[60];
    client.create().creatingParentsIfNeeded().forPath(path, data);
    List<Double> writes = new ArrayList<>();
    List<Double> reads = new ArrayList<>();
    for (int round = 0; round < 60; round++) {
      Thread.sleep(PAUSE);
      long started = System.nanoTime();
      client.setData().forPath(path, data);
      writes.add((System.nanoTime() - started) / 1e6);
      Thread.sleep(PAUSE);
      started = System.nanoTime();
      client.getData().forPath(path);
      reads.add((System.nanoTime() - started) / 1e6);
    }
    return new double[] {median(writes), median(reads)};
  }

  private static double median(List<Double> values) {
    List<Double> sorted = new ArrayList<>(values);
    Collections.sort(sorted);
    return sorted.get(sorted.size() / 2);
  }
}
