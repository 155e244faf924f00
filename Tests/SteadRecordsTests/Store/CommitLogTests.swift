import Testing

@testable import SteadRecords

@Suite("The log of a process's commits") struct CommitLogTests {
  private let reader = ObjectIdentifier(CommitLogTests.self)
  private let other = ObjectIdentifier(CommitLog.self)

  private func rows(_ rows: Int64..., deleted: [Int64] = []) -> CommitLog.Rows {
    var result = CommitLog.Rows()
    result.add(.init(name: "Task", written: rows, deleted: deleted))
    return result
  }

  private func written(_ news: CommitLog.News) -> Set<Int64>? {
    guard case .rows(let rows) = news else { return nil }
    return rows.table("Task").map { Set($0.written) }
  }

  private func isEverything(_ news: CommitLog.News) -> Bool {
    if case .everything = news { true } else { false }
  }

  @Test func `a reader gets the rows of all commits that it has not seen, but for its own`() {
    let log = CommitLog()
    log.post(1, from: other, rows: rows(1))
    log.post(2, from: other, rows: rows(2, 3, deleted: [3]))
    log.post(3, from: reader, rows: rows(4))
    log.post(4, from: other, rows: rows(2))
    #expect(written(log.news(after: 1, upTo: 4, for: reader)) == [2, 3])
    #expect(written(log.news(after: 0, upTo: 1, for: reader)) == [1])
    if case .nothing = log.news(after: 2, upTo: 3, for: reader) {} else { Issue.record() }
  }

  @Test func `a number that the log lacks is another process's`() {
    let log = CommitLog()
    log.post(1, from: other, rows: rows(1))
    log.post(3, from: other, rows: rows(2))
    #expect(isEverything(log.news(after: 0, upTo: 3, for: reader)))
    #expect(written(log.news(after: 2, upTo: 3, for: reader)) == [2])
  }

  /// Forgotten commits are removed many at a time; those that are left must be exactly the newest.
  @Test func `the newest commits are remembered, however many there were`() {
    let log = CommitLog()
    let limit = Int64(CommitLog.commitLimit)
    for number in 1...(3 * limit) {
      log.post(number, from: other, rows: rows(number))
      guard number > limit else { continue }
      #expect(
        written(log.news(after: number - limit, upTo: number, for: reader))?.count == Int(limit))
      #expect(isEverything(log.news(after: number - limit - 1, upTo: number, for: reader)))
    }
  }

  @Test func `commits of many rows are forgotten earlier`() {
    let log = CommitLog()
    var many = CommitLog.Rows()
    many.add(.init(name: "Task", written: Array(0..<Int64(CommitLog.rowLimit))))
    log.post(1, from: other, rows: rows(1))
    log.post(2, from: other, rows: many)
    #expect(isEverything(log.news(after: 0, upTo: 2, for: reader)))
    #expect(written(log.news(after: 1, upTo: 2, for: reader))?.count == CommitLog.rowLimit)
    log.post(3, from: other, rows: rows(1))
    #expect(isEverything(log.news(after: 1, upTo: 3, for: reader)))
    #expect(written(log.news(after: 2, upTo: 3, for: reader)) == [1])
  }

  @Test func `a commit that was taken back is not there`() {
    let log = CommitLog()
    log.post(1, from: other, rows: rows(1))
    log.retract(1)
    log.post(1, from: other, rows: rows(2))
    #expect(written(log.news(after: 0, upTo: 1, for: reader)) == [2])
  }
}
