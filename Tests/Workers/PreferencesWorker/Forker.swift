import Foundation
import SteadPreferences
import Synchronization

/// A process with preferences that forks, while threads of it write.
struct Forker {
  let preferences: Preferences
  let threads: Int
  let count: Int
  private let children = 4

  init?(_ preferences: Preferences, _ arguments: [String]) {
    guard let threads = Int(arguments[0]), let count = Int(arguments[1]) else { return nil }
    self.preferences = preferences
    self.threads = threads
    self.count = count
  }

  func run() throws {
    preferences.set("from before", forKey: "before")
    let writing = startThreads()
    // Reading from it returns in all children at once, when the parent has closed its end.
    var gate: [Int32] = [0, 0]
    guard pipe(&gate) == 0 else { return say("error no pipe") }
    let forked = try (0..<children).map { child in
      preferences.set(child, forKey: "parent.child\(child)")
      return try ForkedChild { runChild(child, gate) }
    }
    close(gate[1])
    for number in 0..<count { preferences.set(number, forKey: "parent.\(number)") }
    ForkedChild.finish(forked)
    writing.finish()
    for child in 0..<children {
      for number in 0..<count { expect("child\(child).\(number)", number) }
    }
    say("parent done")
  }

  private func runChild(_ child: Int, _ gate: [Int32]) {
    close(gate[1])
    var byte: UInt8 = 0
    while read(gate[0], &byte, 1) == -1, errno == EINTR {}
    expect("parent.child\(child)", child)
    if preferences.string(forKey: "before") != "from before" { say("error before is missing") }
    for number in 0..<count { preferences.set(number, forKey: "child\(child).\(number)") }
    for number in 0..<count { expect("child\(child).\(number)", number) }
    say("child \(child) done")
  }

  private func expect(_ key: String, _ number: Int) {
    guard preferences.propertyList(forKey: key) != .integer(Int64(number)) else { return }
    say("error \(key) is \(preferences.propertyList(forKey: key)?.line ?? "missing")")
  }

  private final class Threads: Sendable {
    let isOver = Atomic<Bool>(false)
    let group = DispatchGroup()

    func finish() {
      isOver.store(true, ordering: .releasing)
      group.wait()
    }
  }

  /// Threads that set all their keys over and over, so that every fork meets them at work.
  private func startThreads() -> Threads {
    let writing = Threads()
    for thread in 0..<threads {
      writing.group.enter()
      let (preferences, count) = (preferences, count)
      Thread.detachNewThread {
        repeat {
          for number in 0..<count { preferences.set(number, forKey: "thread\(thread).\(number)") }
        } while !writing.isOver.load(ordering: .acquiring)
        writing.group.leave()
      }
    }
    return writing
  }
}
