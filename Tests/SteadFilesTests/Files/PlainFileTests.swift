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

  /// A mount point was emptied when the complete new file had just been removed, so that nothing was left of either.
  @Test(arguments: [false, true], [false, true])
  func `a mount point has the old contents or the new ones at any moment`(
    isKill: Bool, isEmpty: Bool
  )
    throws
  {
    let old = isEmpty ? Data() : Data("old contents".utf8)
    let new = Data("the new contents, which are longer".utf8)
    for count in 0..<20 {
      let directory = try TemporaryDirectory(inMemory: true)
      let (url, lock) = (directory.file("a"), directory.file("a.lock"))
      try old.write(to: url)
      let disk = FailingMount(url.filePath, changes: count, isKill: isKill)
      var isDone = true
      do { _ = try PlainFile(url, lock: lock, disk: disk).replace(with: new) } catch {
        isDone = false
      }
      let after = FailingMount(url.filePath, changes: .max, isKill: false)
      let file = PlainFile(url, lock: lock, disk: after)
      let found = try file.read()
      #expect(
        // What failed was in effect nevertheless: a program that repeated it did it twice.
        found == (isDone ? new : old) || isKill && found == new,
        "\(count): \(String(decoding: found, as: UTF8.self))")
      // Later contents, which begin differently, and are shorter.
      let last = Data("last".utf8)
      _ = try file.replace(with: last)
      #expect(try file.read() == last && Data(contentsOf: url) == last)
      let names = try directory.names.filter {
        !$0.contains(".stead-plain-") || $0.hasSuffix("-next")
      }
      #expect(names == ["a"])
      if isDone, count == 19 { #expect(try directory.names == ["a"]) }
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

/// A disk on which a file is a mount point, and that fails at a chosen change: it is full, or the process is killed.
private final class FailingMount: ForwardingDisk {
  let real = POSIXDisk()
  private let (path, isKill): (String, Bool)
  private let left: Mutex<Int>

  init(_ path: String, changes: Int, isKill: Bool) {
    (self.path, self.isKill) = (path, isKill)
    left = Mutex(changes)
  }

  private func change(_ path: String, tearing: () throws -> Void = {}) throws {
    let left = left.withLock { left in
      left -= 1
      return left
    }
    if left == -1 { try tearing() }
    guard left < 0, isKill || left == -1 else { return }
    throw FileError(errno: ENOSPC, doing: "write to the file", path: path)
  }

  func open(_ path: String, _ flags: Int32, mode: mode_t) throws -> Int32 {
    if flags & (O_CREAT | O_TRUNC) != 0 { try change(path) }
    return try real.open(path, flags, mode: mode)
  }
  func write(_ descriptor: Int32, from buffer: UnsafeRawBufferPointer, path: String) throws -> Int {
    let half = UnsafeRawBufferPointer(rebasing: buffer[..<(buffer.count / 2)])
    try change(path) { _ = try real.write(descriptor, from: half, path: path) }
    return try real.write(descriptor, from: buffer, path: path)
  }
  func sync(_ descriptor: Int32, path: String) throws {
    try change(path)
    try real.sync(descriptor, path: path)
  }
  func remove(_ path: String) throws {
    try change(path)
    try real.remove(path)
  }
  func rename(_ path: String, to newPath: String) throws {
    try change(newPath)
    guard newPath != self.path else {
      throw FileError(errno: EBUSY, doing: "put the new file in place", path: newPath)
    }
    try real.rename(path, to: newPath)
  }
}
