# Java: a compiler written in Java builds a program, which sorts with threads and a collector.
set -eu
JAVA_HOME=$(echo /usr/lib/jvm/java-17-openjdk-*)
export JAVA_HOME PATH="$JAVA_HOME/bin:$PATH"
mkdir -p /tmp/java
cat >/tmp/java/Sums.java <<'.'
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

public class Sums {
	static String words(int part) {
		Map<Integer, List<String>> found = new TreeMap<>();
		for (int i = 0; i < 40000; i++)
			found.computeIfAbsent((i * 7919 + part) % 1009, k -> new ArrayList<>()).add("w" + i);
		return found.values().stream().map(l -> String.valueOf(l.size() + l.hashCode() % 7))
			.collect(Collectors.joining(","));
	}
	public static void main(String[] arguments) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(4);
		List<Future<String>> parts = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			int part = i;
			parts.add(pool.submit(() -> words(part)));
		}
		long sum = 0;
		for (Future<String> part : parts)
			sum = sum * 31 + part.get().hashCode();
		pool.shutdown();
		System.gc();
		System.out.println("sum=" + sum);
		Process child = new ProcessBuilder("cat", "/etc/hosts").start();
		System.out.println("lines=" + new String(child.getInputStream().readAllBytes()).lines().count());
		System.out.println("child=" + child.waitFor());
	}
}
.
cd /tmp/java
ecj -proc:none -17 Sums.java
java -Xmx128m Sums
