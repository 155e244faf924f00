import Testing

/// Several processes run one transfer at the same time, as an app and its extension may.
struct TransferCrowdTests {
  @Test(arguments: ["preferences", "records", "history"])
  func `moves each item once`(workload: String) throws {
    let place = try TransferPlace(workload)
    var (expected, meetings) = ([String](), 0)
    for round in 0..<10 {
      let new = (0..<30).map { "draft \(round).\($0 / 2)" }
      expected += new
      try place.add(new)
      let workers = try (0..<3).map { _ in try place.worker("run") }
      for worker in workers {
        let lines = worker.rest()
        #expect(worker.finish() == 0, "\(lines.suffix(2))")
        let hasMet = lines.contains("changed") || lines.contains { $0.contains("cut off") }
        if hasMet { meetings += 1 }
      }
      #expect(place.left.isEmpty)
    }
    #expect(try place.moved().sorted() == expected.sorted())
    #expect(meetings > 0, "No two processes met.")
  }
}
