import CForkSupport
import Foundation
import Synchronization
import Testing

@testable import SteadFiles

#if os(Linux)
  @Suite(.hangLimit) struct FileWatcherProcessTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(.exitTests) func `tells of another process`() async throws {
      let path = directory.file("a").filePath
      var changes = try FileWatcher(file: directory.file("a")).makeAsyncIterator()
      await #expect(processExitsWith: .success) { [path = path as String] in
        try Data("theirs".utf8).write(to: URL(filePath: path))
      }
      #expect(await changes.next()?.names == ["a"])
    }

    @Test(.exitTests) func `shares one descriptor that goes with the last watcher`() async throws {
      let place = directory.url.filePath
      await #expect(processExitsWith: .success) { [place = place as String] in
        let directory = URL(filePath: place)
        for _ in 0..<3 {
          let watchers = try (0..<50).map {
            try FileWatcher(file: directory.appending(path: "\($0)"))
          }
          let other = try FileWatcher(directory: directory.deletingLastPathComponent())
          #expect(inotifyDescriptors() == 1)
          watchers.forEach { $0.cancel() }
          #expect(inotifyDescriptors() == 1)
          other.cancel()
          while inotifyDescriptors() > 0 { sched_yield() }
        }
      }
    }

    /// The kernel drops what comes when its queue is full, and says only that it did.
    @Test(.exitTests)
    func `says that anything may have changed when there was too much`() async throws {
      let place = directory.url.filePath
      await #expect(processExitsWith: .success) { [place = place as String] in
        let limitFile = URL(filePath: "/proc/sys/fs/inotify/max_queued_events")
        let text = String(decoding: try AtomicFile(limitFile).read(), as: UTF8.self)
        let limit = try #require(Int(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        let (entered, free) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let (calls, calling) = AsyncStream<Set<String>>.makeStream()
        let isFirst = Atomic(true)
        let watcher = try FileWatcher(directory: URL(filePath: place), names: nil) { names in
          if isFirst.exchange(false, ordering: .relaxed) {
            entered.signal()
            free.wait()
          }
          calling.yield(names)
        }
        let descriptors = ["a", "b"].map { open(place + "/" + $0, O_WRONLY | O_CREAT, 0o600) }
        entered.wait()
        // Two files in turn, since the kernel counts equal events in a row once.
        for _ in 0...limit { descriptors.forEach { futimens($0, nil) } }
        free.signal()
        for await names in calls where names.isEmpty { break }
        #expect(!watcher.isOver)
      }
    }

    @Test(.exitTests, .needs(.noThreadSanitizer))
    func `begins anew in the child of a fork and leaves the parent's alone`() async throws {
      let place = directory.url.filePath
      await #expect(processExitsWith: .success) { [place = place as String] in
        let directory = URL(filePath: place)
        let calls = CallPipe()
        let watcher = try FileWatcher(directory: directory, names: nil) { calls.write($0) }
        // One child only lets go of what is the parent's, another one watches for itself.
        let careless = stead_test_fork()
        if careless == 0 {
          watcher.cancel()
          stead_test_exit(0)
        }
        #expect(stead_test_wait(careless) == 0)
        let child = stead_test_fork()
        if child == 0 { stead_test_exit(childWatches(directory, inherited: watcher)) }
        #expect(stead_test_wait(child) == 0)
        // The child wrote "child"; the parent's descriptor has told of it, and works on.
        while try #require(calls.next()) != "child" {}
        try Data().write(to: directory.appending(path: "parent"))
        while try #require(calls.next()) != "parent" {}
        watcher.cancel()
      }
    }
  }

  private func inotifyDescriptors() -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return names.count { name in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(name)")
      return target?.contains("inotify") == true
    }
  }

  /// Watches in a child that has no threads but its own, and returns its exit status.
  private func childWatches(_ directory: URL, inherited: FileWatcher) -> Int32 {
    let calls = CallPipe()
    guard
      let watcher = try? FileWatcher(directory: directory, names: ["child"], onChange: calls.write)
    else { return 1 }
    guard (try? Data().write(to: directory.appending(path: "child"))) != nil else { return 2 }
    guard calls.next() == "child" else { return 3 }
    watcher.cancel()
    inherited.cancel()
    return 0
  }

  /// Carries names to whoever waits for them, with nothing that a fork would break.
  private struct CallPipe: Sendable {
    private let reader: Int32
    private let writer: Int32

    init() {
      var ends: [Int32] = [0, 0]
      pipe(&ends)
      (reader, writer) = (ends[0], ends[1])
    }

    @Sendable func write(_ names: Set<String>) {
      for name in names.isEmpty ? ["everything"] : names {
        let line = name + "\n"
        _ = Foundation.write(writer, line, line.utf8.count)
      }
    }

    /// The next name; nil when none came for ten seconds.
    func next() -> String? {
      var line: [UInt8] = []
      while true {
        var poll = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
        var byte: UInt8 = 0
        guard Foundation.poll(&poll, 1, 10_000) == 1, read(reader, &byte, 1) == 1 else {
          return nil
        }
        if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
        line.append(byte)
      }
    }
  }
#endif
