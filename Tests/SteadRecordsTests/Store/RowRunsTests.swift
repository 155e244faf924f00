import Testing

@testable import SteadRecords

@Suite("Rows to delete, as runs and single ones") struct RowRunsTests {
  @Test func `neighbours are a run from sixteen on`() {
    let runs = RowRuns([5] + Array(Int64(100)...115) + Array(Int64(200)...214))
    #expect(runs.runs == [100...115])
    #expect(runs.singles == [5] + Array(Int64(200)...214))
  }

  @Test func `the order does not matter, and a row may be named twice`() {
    let runs = RowRuns(Array((Int64(1)...20).reversed()) + [20, 1, 40, 40])
    #expect(runs.runs == [1...20])
    #expect(runs.singles == [40, 40])
  }

  @Test func `no rows are no runs`() {
    let runs = RowRuns([])
    #expect(runs.runs.isEmpty && runs.singles.isEmpty)
  }
}
