import Foundation
import SteadPreferences
import Testing

/// A process is killed while it takes over the array of an older version of the app.
@Suite(.ownThread) struct HistoryTakeOverTests {
  private static let count = 96

  /// How far a take-over has come, seen from outside.
  private enum State: Hashable { case before, between, after }

  private func state(_ directory: URL) throws -> State {
    let hasArray =
      try Preferences(domain: "domain", directory: directory)
      .propertyList(forKey: "messages") != nil
    let hasEntries = try !Preferences(domain: "domain.history.messages", directory: directory)
      .keys.isEmpty
    #expect(hasArray || hasEntries, "all is lost")
    return hasEntries ? hasArray ? .between : .after : .before
  }

  /// On a disk, since the take-over waits for it, and is killed there, too.
  @Test func `wherever it is killed, the next opening completes it`() throws {
    var random = SplitMix(seed: Effort.seed)
    let texts = (0..<Self.count).map { number in
      #"{"id":"w.\#(number)","text":"\#(Self.text(number))"}"#
    }
    let array = Data("[\(texts.joined(separator: ","))]".utf8)
    let expected = (0..<Self.count).map { "w.\($0)" }
    var states: [State: Int] = [:]
    var longest = 0.1
    for _ in 0..<Effort.times(40, long: 1_000) {
      let directory = try TemporaryDirectory()
      try Preferences(domain: "domain", directory: directory.url)
        .setPropertyList(.data(array), forKey: "messages")
      let worker = try Worker(directory.url, ["history-open", "50"])
      try #require(worker.line() == "ready")
      worker.send("go")
      spin(for: Double.random(in: 0..<longest, using: &random))
      let isOpen = !worker.linesAtHand().isEmpty
      worker.end()
      // Most kills are to come before the end, however fast the machine is.
      longest *= isOpen ? 0.8 : 1.1
      states[try state(directory.url), default: 0] += 1
      #expect(try Worker.messages(directory.url, limit: 50) == expected)
      #expect(try state(directory.url) == .after)
    }
    if isThreadSanitized { return }
    #expect(states[.before, default: 0] > 0 && states[.after, default: 0] > 0, "\(states)")
  }

  /// As the worker makes texts.
  private static func text(_ number: Int) -> String {
    "w.\(number)" + String(repeating: "x", count: number % 16 == 7 ? 3_000 : number % 200)
  }

  @Test func `several processes take it over once`() throws {
    let texts = (0..<Self.count).map { #"{"id":"w.\#($0)","text":"\#(Self.text($0))"}"# }
    for _ in 0..<5 {
      let directory = try TemporaryDirectory(inMemory: true)
      try Preferences(domain: "domain", directory: directory.url)
        .setPropertyList(
          .data(Data("[\(texts.joined(separator: ","))]".utf8)), forKey: "messages")
      let workers = try (0..<4).map { _ in try Worker(directory.url, ["history-open", "500"]) }
      for worker in workers { try #require(worker.line() == "ready") }
      for worker in workers { worker.send("go") }
      for worker in workers { #expect(worker.line() == "opened \(Self.count)") }
      #expect(try Worker.messages(directory.url) == (0..<Self.count).map { "w.\($0)" })
    }
  }
}
