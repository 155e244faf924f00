import Foundation
import Synchronization
import Testing

@testable import SteadRecords

@Suite struct FollowersTests {
  @Test func `a follower is told until it returns false`() {
    let followers = Followers()
    var told: [Set<String>] = []
    followers.add {
      told.append($0)
      return told.count < 2
    }
    for table in ["a", "b", "c"] {
      followers.note(table)
      followers.notify()
    }
    #expect(told == [["a"], ["b"]])
    #expect(followers.isEmpty)
  }

  @Test func `what a follower changes is told to all`() {
    let followers = Followers()
    var told: [Set<String>] = []
    followers.add { tables in
      #expect(!followers.isEmpty, "A change would count as one that nobody follows.")
      followers.forgetUnfollowed()
      if tables == ["a"] { followers.note("b") }
      followers.forgetUnfollowed()
      return true
    }
    followers.add {
      told.append($0)
      return true
    }
    followers.note("a")
    followers.notify()
    #expect(told == [["a"], ["b"]])
  }

  @Test func `a follower that comes during a round is told from the next change on`() {
    let followers = Followers()
    var told: [Set<String>] = []
    followers.add { _ in
      followers.add {
        told.append($0)
        return true
      }
      return false
    }
    followers.note("a")
    followers.notify()
    #expect(told.isEmpty)
    followers.note("b")
    followers.notify()
    #expect(told == [["b"]])
  }

  /// The thread whose round is under way calls the functions for both.
  @Test(.hangLimit) func `tables of another thread are told by the round under way`() {
    let shared = Shared()
    shared.followers.add { tables in
      shared.told.withLock { $0.append(tables) }
      if tables == ["a"] {
        let other = Thread {
          shared.followers.note("b")
          shared.followers.notify()
          shared.isDone.signal()
        }
        other.start()
        shared.isDone.wait()
      }
      return true
    }
    shared.followers.note("a")
    shared.followers.notify()
    #expect(shared.told.withLock { $0 } == [["a"], ["b"]])
  }

  @Test(.hangLimit) func `every table of several threads is told`() {
    let shared = Shared()
    shared.followers.add { tables in
      shared.told.withLock { $0.append(tables) }
      return true
    }
    DispatchQueue.concurrentPerform(iterations: 4) { thread in
      for number in 0..<500 {
        shared.followers.note("\(thread).\(number)")
        shared.followers.notify()
      }
    }
    #expect(shared.told.withLock { Set($0.joined()) }.count == 2_000)
  }

  // Sendable: `followers` is what the tests call on several threads; the rest is locked.
  private final class Shared: @unchecked Sendable {
    let followers = Followers()
    let told = Mutex<[Set<String>]>([])
    let isDone = DispatchSemaphore(value: 0)
  }
}
