import Testing

@testable import SteadPreferences

/// When a history says that records would serve better.
struct HistoryAdviceTests {
  private func advice(
    count: Int = 0, bytes: Int = 0, load: Double = 0, searches: [(String, Double)] = []
  ) -> HistoryAdvice {
    var usage = HistoryUsage()
    usage.loadSeconds = load
    let limits = HistoryAdvice.Limits()
    for (field, seconds) in searches {
      usage.note(field, seconds: seconds, limit: limits.searchSeconds)
    }
    return HistoryAdvice(count: count, byteCount: bytes, usage: usage, limits: limits)
  }

  @Test func saysNothingUpToTheLimits() {
    let slow = Array(repeating: ("\\Prompt.text", 0.006), count: 10)
    let quick = Array(repeating: ("\\Prompt.id", 0.005), count: 99)
    let advice = advice(count: 2_000, bytes: 4 << 20, load: 0.1, searches: slow + quick)
    #expect(!advice.isTimeToMove && advice.reasons.isEmpty)
    #expect(advice.description == "The history serves well as it is.")
  }

  @Test func namesEachFigureAboveItsLimit() {
    let slow = Array(repeating: ("\\Prompt.text", 0.006), count: 11)
    let advice = advice(count: 2_001, bytes: (4 << 20) + 1, load: 0.25, searches: slow)
    #expect(advice.isTimeToMove)
    #expect(advice.reasons.map(\.kind) == [.count, .loadTime, .byteCount, .searches])
    #expect(advice.reasons.map(\.figure) == [2_001, 0.25, 4_194_305, 11])
    #expect(advice.reasons.map(\.limit) == [2_000, 0.1, 4_194_304, 10])
    #expect(advice.reasons.map(\.unit) == ["entries", "seconds", "bytes", "searches"])
    #expect(advice.reasons.map(\.field) == [nil, nil, nil, "\\Prompt.text"])
    #expect(advice.reasons[1].description == "opening took 0.25 seconds, and the limit is 0.1")
  }

  @Test func aHistoryKnowsItsFigures() throws {
    let home = try HistoryHome()
    var options = PayloadHistoryOptions<Prompt>()
    options.adviceLimits = .init(
      count: 2, loadSeconds: 1e6, byteCount: 50, searchSeconds: 0, slowSearches: 1)
    let history = try home.history(options: options)
    #expect(history.advice.reasons.isEmpty)
    try history.prepend(1, 2, 3)
    for _ in 0..<2 { #expect(history.filter(\.text, equals: "prompt 2") == [prompt(2)]) }
    #expect(history.filter { $0.id > 1 }.map(\.id) == [3, 2])
    #expect(history.advice.reasons.map(\.kind) == [.count, .byteCount, .searches])
    #expect(history.advice.reasons.last?.field == "\\Prompt.text")
    let bytes = try history.records().reduce(0) { $0 + $1.bytes.count }
    #expect(history.advice.reasons[1].figure == Double(bytes))
    try history.removeAll()
    #expect(history.advice.reasons.map(\.kind) == [.searches])
  }

  @Test func countsTheTimeOfTheOpening() throws {
    let home = try HistoryHome()
    try home.history().prepend(1)
    var options = PayloadHistoryOptions<Prompt>()
    options.adviceLimits.loadSeconds = 0
    let reasons = try home.history(options: options).advice.reasons
    #expect(reasons.map(\.kind) == [.loadTime])
    #expect((reasons.first?.figure ?? 0) > 0)
  }
}
