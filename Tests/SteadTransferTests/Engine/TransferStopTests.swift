import Foundation
import SteadPreferences
import Testing

@testable import SteadTransfer

/// A run that is stopped at any step of any phase loses nothing, and the next one doubles nothing.
struct TransferStopTests {
  private struct Stop: Error {}

  @Test func `stops at every step`() throws {
    let texts = ["one", "two", "same", "same"]
    let whole = try Moving()
    whole.put(texts)
    var steps: [TransferProgress] = []
    try whole.transfer().run { steps.append($0) }
    #expect(Set(steps.map(\.phase)).count == 5)

    for step in steps.indices {
      let moving = try Moving()
      moving.put(texts)
      var count = 0
      #expect(throws: Stop.self, "\(steps[step])") {
        try moving.transfer().run { _ in
          if count == step { throw Stop() }
          count += 1
        }
      }
      for text in texts {
        #expect(try moving.left.contains(text) || moving.moved().contains(text), "\(steps[step])")
      }
      let isWritten = try moving.receipt() != nil
      #expect(try moving.moved().count == (isWritten ? 4 : 0), "\(steps[step])")
      try moving.transfer().run()
      #expect(try moving.moved() == texts.sorted(), "\(steps[step])")
      #expect(moving.left.isEmpty)
      #expect(try moving.receipt()?.state == .finished)
    }
  }

  @Test func `a cancelled task stops`() async throws {
    let moving = try Moving()
    moving.put("one")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try moving.transfer().run()
    }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(moving.left == ["one"])
    #expect(moving.destination.keys.isEmpty)
  }

  /// Not an item that does not convert.
  @Test func `a conversion may be cancelled`() throws {
    let moving = try Moving()
    moving.put("one", "two")
    #expect(throws: CancellationError.self) {
      try moving.transfer(TransferOptions(acceptsPartial: true)) { text in
        if text == "two" { throw CancellationError() }
      }.run()
    }
    #expect(moving.left == ["one", "two"])
    #expect(moving.destination.keys.isEmpty)
  }

  @Test func `cancelling the background stops between items`() async throws {
    let moving = try Moving()
    moving.put((0..<100).map { "draft \($0)" })
    let task = Task {
      try await moving.transfer().runInBackground { progress in
        if progress.phase == .writing, progress.completed == 50 {
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
    }
    let result = await task.result
    #expect(throws: CancellationError.self) { try result.get() }
    #expect(moving.left.count == 100)
    #expect(try moving.moved().isEmpty)
  }
}
