import Foundation
import SteadSecrets
import Synchronization

/// A process with an open store that forks, while a thread of it reads and keeps secrets.
struct Forker {
  private let secrets: Secrets
  private let children: Int
  private let count: Int

  init(_ secrets: Secrets, _ children: Int, _ count: Int) {
    self.secrets = secrets
    self.children = children
    self.count = count
  }

  func run() throws {
    try secrets.set("from before", for: "before")
    let writing = Writing(secrets)
    writing.start()
    let forked = try (0..<children).map { child in
      try secrets.set("\(child)", for: "parent.\(child)")
      return try ForkedChild { try runChild(child) }
    }
    ForkedChild.finish(forked)
    writing.finish()
    for child in 0..<children { try expect("child\(child)") }
    say("parent done")
  }

  private func runChild(_ child: Int) throws {
    if try secrets.string(for: "before") != "from before" { say("error before is missing") }
    if try secrets.string(for: "parent.\(child)") != "\(child)" {
      say("error the last is missing")
    }
    for number in 0..<count { try secrets.set("\(number)", for: "child\(child).\(number)") }
    try expect("child\(child)")
    say("child \(child) done")
  }

  private func expect(_ name: String) throws {
    for number in 0..<count where try secrets.string(for: "\(name).\(number)") != "\(number)" {
      say("error \(name).\(number) is missing")
    }
  }

  /// A thread in the middle of reads and writes while its process forks.
  private final class Writing: Sendable {
    private let secrets: Secrets
    private let isWanted = Atomic(true)
    private let isDone = Atomic(false)

    init(_ secrets: Secrets) { self.secrets = secrets }

    func start() {
      Thread.detachNewThread { [self] in
        defer { isDone.store(true, ordering: .releasing) }
        var number = 0
        while isWanted.load(ordering: .acquiring) {
          do {
            try secrets.set("\(number)", for: "thread")
            if try secrets.string(for: "thread") != "\(number)" { say("error thread is wrong") }
          } catch {
            say("error in the thread: \(error)")
          }
          number += 1
        }
      }
    }

    func finish() {
      isWanted.store(false, ordering: .releasing)
      while !isDone.load(ordering: .acquiring) { sched_yield() }
    }
  }
}
