import Foundation
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadFiles

/// Files on file systems that lack `flock` or shared mappings.
@Suite(.hangLimit) struct PlainFileTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  private var file: PlainFile { PlainFile(directory.file("a"), lock: directory.file("a.lock")) }

  /// All writers wrote to `a.new`: one renamed it while another had just emptied it, and readers found half a file.
  @Test func `writers that nothing keeps apart publish whole files`() async throws {
    let (file, url) = (file, directory.file("a"))
    let byteCount = 200_000
    try await inOwnThread {
      _ = try file.replace(with: Data(repeating: 0, count: byteCount))
      let faults = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { writer in
        for round in 0..<Effort.times(20) {
          do {
            // As where the file system has no record locks: nobody takes the lock.
            _ = try file.replace(
              with: Data(repeating: UInt8(writer * 50 + round % 50), count: byteCount))
            let found = try AtomicFile(url).read()
            if found.count != byteCount || Set(found).count != 1 {
              faults.withLock { $0.append("\(found.count) bytes, \(Set(found).count) writers'") }
            }
          } catch {
            faults.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(faults.withLock { $0 } == [])
    }
    #expect(try directory.names == ["a"])
  }

  @Test func `what killed writers have left is removed after an hour`() throws {
    func leave(_ name: String, age: TimeInterval) throws {
      try Data("half".utf8).write(to: directory.file(name))
      let date = Date(timeIntervalSinceNow: -age)
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: directory.file(name).filePath)
    }
    try leave(".a.stead-plain-0123456789abcdef", age: 7_200)
    let others = [
      ".a.stead-plain-0123456789abcde0": 3_000.0, ".a.stead-plain-0": 7_200,
      ".ab.stead-plain-0123456789abcdef": 7_200, "a.new": 7_200, ".a.stead-plain": 7_200,
    ]
    for (name, age) in others { try leave(name, age: age) }
    _ = try file.replace(with: Data("whole".utf8))
    #expect(try directory.names == Set(others.keys).union(["a"]))
  }

  @Test func `a write that fails leaves nothing`() throws {
    try FileManager.default.createDirectory(
      at: directory.file("a"), withIntermediateDirectories: false)
    try Data().write(to: directory.file("a/b"))
    #expect(throws: FileError.self) { try file.replace(with: Data("x".utf8)) }
    #expect(try directory.names == ["a"])
  }

  // Closing the file was to free the lock. A program that was being started by another thread at that moment had it open, too.
  @Test(.needs(.file("/proc/self/fd"))) func `the child of a fork does not keep the lock`() throws {
    var copy: Int32 = -1
    try file.withLock {
      // Shares the open file, as the child's does.
      copy = dup(try #require(try descriptor(of: directory.file("a.lock").filePath)))
    }
    defer { close(copy) }
    #expect(copy >= 0)
    try file.withLock {}
  }

  private func descriptor(of path: String) throws -> Int32? {
    let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    return names.compactMap { Int32($0) }.first { number in
      let target = try? FileManager.default.destinationOfSymbolicLink(
        atPath: "/proc/self/fd/\(number)")
      return target == path
    }
  }

  @Test func `a lock that another one has is not waited for`() throws {
    let other = file
    try file.withLock {
      let error = #expect(throws: FileError.self) {
        try other.withLock { Issue.record("not alone") }
      }
      #expect(error?.code == .busy)
    }
    try other.withLock {}
  }
}
