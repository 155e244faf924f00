import Foundation
import SteadPreferences
import SteadTransfer
import Synchronization
import Testing

/// Threads that move, while another adds to the source all the time.
struct TransferThreadTests {
  @Test func `nothing is lost or doubled while others write`() throws {
    let moving = try Moving()
    let count = 400
    let isAdded = Atomic(false)
    let meetings = Atomic(0)
    try inThreads(4) { thread in
      if thread == 0 {
        defer { isAdded.store(true, ordering: .sequentiallyConsistent) }
        for number in 0..<count { try Self.add("draft \(number)", to: moving.source) }
        return
      }
      var isLast = false
      while !isLast {
        isLast = isAdded.load(ordering: .sequentiallyConsistent)
        do {
          try moving.transfer().run()
        } catch let error as TransferError where error.code == .changed {
          meetings.add(1, ordering: .relaxed)
          isLast = false
        }
      }
    }
    #expect(moving.left.isEmpty)
    #expect(try moving.moved() == (0..<count).map { "draft \($0)" }.sorted())
    #expect(meetings.load(ordering: .relaxed) > 0, "No two threads met.")
  }

  /// As a program does that shares the domain: it takes nothing back that another has changed.
  private static func add(_ text: String, to source: Preferences) throws {
    while true {
      let old = try source.ownValue(forKey: "drafts")
      var texts = old?.elements ?? []
      texts.append(.string(text))
      let isDone = try source.apply(
        [DomainEdit(key: "drafts", value: .array(texts))],
        ifStill: [DomainEdit(key: "drafts", value: old)])
      if isDone { return }
    }
  }
}

extension PropertyList {
  fileprivate var elements: [PropertyList]? {
    if case .array(let elements) = self { elements } else { nil }
  }
}
