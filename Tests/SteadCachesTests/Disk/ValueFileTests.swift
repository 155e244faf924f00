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
}
