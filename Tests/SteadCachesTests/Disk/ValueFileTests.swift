import CachesTestSupport
import Foundation
import SteadFiles
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

/// The file of a large value.
@Suite(.hangLimit) struct ValueFileTests {
  /// A damaged file was closed by what had met the damage, and again as the object ended. Between the two the number
  /// could become that of another thread's file, which lost it then.
  @Test(arguments: ["beginning", "length"])
  func `closes a damaged file once`(what: String) throws {
    let fixture = try CacheFixture()
    let cache = fixture.cache()
    #expect(cache.setData(CacheFixture.bytes(200_000), for: "a"))
    let path = fixture.values.file(try #require(fixture.valueNames.first)).filePath
    let entry = try #require(cache.find("a")).entry
    if what == "length" {
      truncate(path, 1000)
    } else {
      var contents = try Data(contentsOf: URL(filePath: path))
      contents[0] ^= 1
      try contents.write(to: URL(filePath: path))
    }
    let isAtWork = Mutex(true)
    let losses = Mutex(0)
    try inThreads(3) { thread in
      guard thread == 0 else {
        while isAtWork.withLock({ $0 }) {
          // Its number is the lowest that is free, as the one that was just closed is.
          let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
          for _ in 0..<20 { sched_yield() }
          if close(descriptor) != 0 { losses.withLock { $0 += 1 } }
        }
        return
      }
      defer { isAtWork.withLock { $0 = false } }
      for _ in 0..<3000 {
        #expect(throws: FileError.self) {
          try ValueFile(path, length: entry.length, body: entry.body, disk: POSIXDisk())
        }
      }
    }
    #expect(losses.withLock { $0 } == 0)
  }

  /// A sweep of another process found the new file before it was locked. The value wasn't kept then, and the report said
  /// that the cache can't be used.
  @Test func `makes another file where a sweep takes the new one`() throws {
    let fixture = try CacheFixture()
    let cache = fixture.cache()
    #expect(cache.setData(CacheFixture.bytes(200_000), for: "a"))
    let directory = CacheDirectory(path: fixture.url.filePath, disk: POSIXDisk())
    let isAtWork = Mutex(true)
    try inThreads(2) { thread in
      guard thread == 0 else {
        while isAtWork.withLock({ $0 }) {
          for name in try POSIXDisk().names(in: directory.values)
          where name.hasPrefix(ValueFileDraft.prefix) {
            ValueFileDraft.sweep(directory.path(ofValue: name), disk: POSIXDisk())
          }
        }
        return
      }
      defer { isAtWork.withLock { $0 = false } }
      for _ in 0..<5000 { try ValueFileDraft(in: directory).cancel() }
    }
  }
}
