import Testing

@testable import SteadPreferences

/// When a history says that records would serve better.
struct HistoryAdviceTests {
  private func advice(
    count: Int = 0, bytes: Int = 0, load: Double = 0, searches: [(String, Double)] = []
  ) -> HistoryAdvice? {
    var usage = HistoryUsage()
    usage.loadSeconds = load
    let limits = HistoryAdvice.Limits()
    for (field, seconds) in searches {
      usage.record(field, seconds: seconds, limit: limits.searchSeconds)
    }
    return HistoryAdvice(count: count, byteCount: bytes, usage: usage, limits: limits)
  }

  @Test func `says nothing up to the limits`() {
    let slow = Array(repeating: ("\\Prompt.text", 0.006), count: 10)
    let quick = Array(repeating: ("\\Prompt.id", 0.005), count: 99)
    #expect(advice(count: 2_000, bytes: 4 << 20, load: 0.1, searches: slow + quick) == nil)
  }

  @Test func `gives the figure and its limit`() {
    let slow = Array(repeating: ("\\Prompt.text", 0.006), count: 11)
    let cases: [(HistoryAdvice?, Double, String)] = [
      (advice(count: 2_001), 2_001, "The history holds 2001 entries, and the limit is 2000."),
      (advice(load: 0.25), 0.25, "Opening the history took 0.25 seconds, and the limit is 0.1."),
      (
        advice(bytes: 4_194_305), 4_194_305,
        "The history's JSON takes 4194305 bytes, and the limit is 4194304."
      ),
      (
        advice(searches: slow), 11,
        "11 searches for \\Prompt.text took longer than 0.005 seconds, and the limit is 10."
      ),
    ]
    for (advice, figure, sentence) in cases {
      #expect(advice?.figure == figure)
      #expect(advice?.sentence == sentence)
    }
  }

  @Test func `names the figure that is furthest above its limit`() {
    let slow = Array(repeating: ("\\Prompt.text", 0.006), count: 20)
    let all = advice(count: 2_001, bytes: 5 << 20, load: 0.25, searches: slow)
    #expect(all?.figure == 0.25)
  }

  @Test func `a history knows its figures`() throws {
    let home = try HistoryHome()
    var options = PayloadHistoryOptions<Prompt>()
    options.adviceLimits = HistoryAdvice.Limits(
      count: 2, loadSeconds: 1e6, byteCount: 50, searchSeconds: 0, slowSearches: 1)
    let history = try home.history(options: options)
    #expect(history.advice == nil)
    try history.prepend(1, 2, 3)
    let bytes = try history.records().reduce(0) { $0 + $1.bytes.count }
    #expect(history.advice?.figure == Double(bytes))
    for _ in 0..<2 { #expect(history.filter(\.text, equals: "prompt 2") == [prompt(2)]) }
    #expect(history.filter { $0.id > 1 }.map(\.id) == [3, 2])
    try history.removeAll()
    #expect(history.advice?.figure == 2)
    #expect(history.advice?.sentence.contains("\\Prompt.text") == true)
  }

  @Test func `counts the time of the opening`() throws {
    let home = try HistoryHome()
    try home.history().prepend(1)
    var options = PayloadHistoryOptions<Prompt>()
    options.adviceLimits.loadSeconds = 0
    let advice = try home.history(options: options).advice
    #expect((advice?.figure ?? 0) > 0)
    #expect(advice?.sentence.hasPrefix("Opening the history took ") == true)
  }
}
