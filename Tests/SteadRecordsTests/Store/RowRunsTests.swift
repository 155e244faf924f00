import Testing

@testable import SteadRecords

@Suite("Rows to delete, as runs and single ones") struct RowRunsTests {
  @Test("neighbours are a run from sixteen on")
  func findsRuns() {
    let runs = RowRuns([5] + Array(Int64(100)...115) + Array(Int64(200)...214))
    #expect(runs.runs == [100...115])
    #expect(runs.singles == [5] + Array(Int64(200)...214))
  }

  @Test("the order does not matter, and a row may be named twice")
  func sorts() {
    let runs = RowRuns(Array((Int64(1)...20).reversed()) + [20, 1, 40, 40])
    #expect(runs.runs == [1...20])
    #expect(runs.singles == [40, 40])
  }

  @Test("no rows are no runs")
  func takesNone() {
    let runs = RowRuns([])
    #expect(runs.runs.isEmpty && runs.singles.isEmpty)
  }
}
