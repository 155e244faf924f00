import Testing

@testable import RaceKit

@Suite struct ScoreTests {
  private let course = Course(racers: 2, keysPerRacer: 3)

  private var everything: [String: Int] {
    Dictionary(
      uniqueKeysWithValues: (0..<course.racers).flatMap { course.keys(of: $0) }
        .map { ($0.key, $0.value) })
  }

  @Test func `finds all that is there`() {
    let stored = everything
    #expect(stored.count == course.keyCount)
    let score = Score(of: course) { stored[$0] ?? 0 }
    #expect(score.found == [3, 3] && score.lost == 0)
  }

  @Test func `misses what is gone and what is wrong`() throws {
    var stored = everything
    let first = try #require(course.keys(of: 1).first)
    let last = try #require(course.keys(of: 1).last)
    stored[first.key] = nil
    stored[last.key] = last.value + 1
    let score = Score(of: course) { stored[$0] ?? 0 }
    #expect(score.found == [3, 1])
    #expect(score.written == 6 && score.survived == 4 && score.lost == 2)
  }

  @Test func `counts nothing in an empty store`() {
    #expect(Score(of: course) { _ in 0 }.survived == 0)
  }

  @Test func `comes through a line`() {
    let score = Score(found: [3, 1], keysPerRacer: 3)
    #expect(Score(line: score.line + "\n", course: course) == score)
    #expect(Score(line: "3", course: course) == nil)
    #expect(Score(line: "3 x", course: course) == nil)
  }

  @Test func `puts a row in columns`() {
    var table = Table()
    table.rows = [
      .init(
        name: "A", score: Score(found: [3, 1], keysPerRacer: 3), time: .milliseconds(12))
    ]
    let lines = table.text.split(separator: "\n").map { $0.split(separator: " ") }
    #expect(lines.first == ["written", "racer", "1", "racer", "2", "found", "lost", "time"])
    #expect(lines.last == ["A", "6", "3", "1", "4", "2", "12", "ms"])
  }
}
