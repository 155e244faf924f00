import CForkSupport
import Foundation
import SteadPreferences

/// A process with preferences that forks, while threads of it write.
struct Forker {
  let preferences: Preferences
  let threads: Int
  let count: Int

  init?(_ preferences: Preferences, _ arguments: [String]) {
    guard let threads = Int(arguments[0]), let count = Int(arguments[1]) else { return nil }
    self.preferences = preferences
    self.threads = threads
    self.count = count
  }

  func run() {
    preferences.set("from before", forKey: "before")
    let group = DispatchGroup()
    for thread in 0..<threads {
      group.enter()
      let (preferences, count) = (preferences, count)
      Thread.detachNewThread {
        for number in 0..<count { preferences.set(number, forKey: "thread\(thread).\(number)") }
        group.leave()
      }
    }
    // Each child is forked at another moment of what the threads do.
    var children: [pid_t] = []
    for child in 0..<4 {
      preferences.set(child, forKey: "parent.child\(child)")
      let id = stead_test_fork()
      if id == 0 { runChild(child) }
      children.append(id)
    }
    for number in 0..<count { preferences.set(number, forKey: "parent.\(number)") }
    for child in children { expectSuccess(of: child) }
    group.wait()
    for child in 0..<4 {
      for number in 0..<count { expect("child\(child).\(number)", number) }
    }
    say("parent done")
  }

  /// What `exit` runs belongs to the parent.
  private func runChild(_ child: Int) -> Never {
    expect("parent.child\(child)", child)
    if preferences.string(forKey: "before") != "from before" { say("error before is missing") }
    for number in 0..<count { preferences.set(number, forKey: "child\(child).\(number)") }
    for number in 0..<count { expect("child\(child).\(number)", number) }
    say("child \(child) done")
    stead_test_exit(0)
  }

  private func expect(_ key: String, _ number: Int) {
    guard preferences.propertyList(forKey: key) != .integer(Int64(number)) else { return }
    say("error \(key) is \(preferences.propertyList(forKey: key)?.line ?? "missing")")
  }

  private func expectSuccess(of child: pid_t) {
    let status = stead_test_wait(child)
    if status != 0 { say("error a child ended with \(status)") }
  }
}
