import Testing

extension WorkerProcess {
  package func send(_ line: String) { #expect(tell(line)) }

  /// What a worker dumps that does nothing else, and ends well.
  package func wholeDump() throws -> [String: String] {
    let contents = dump()
    let rest = rest()
    #expect(finish() == 0 && rest.isEmpty, "\(rest)")
    return try #require(contents)
  }

  /// Lets writers and readers that are ready begin together, and waits until each has come to its end.
  ///
  /// Readers look until all is written: they would look for ever for what a writer that ends early leaves
  /// out, so then all are ended. A reader says in one line how often it looked.
  package static func race(_ writers: [WorkerProcess], _ readers: [WorkerProcess]) throws {
    let all = writers + readers
    for worker in all { try #require(worker.line() == "ready") }
    for worker in all { worker.send("go") }
    for worker in writers {
      let lines = worker.rest()
      if lines == ["done"], worker.finish() == 0 { continue }
      for worker in all { worker.end() }
      Issue.record("A writer ended: \(lines)")
      return
    }
    for worker in readers {
      let lines = worker.rest()
      #expect(lines.count == 1 && lines[0].hasPrefix("looks "), "\(lines.prefix(10))")
      #expect(worker.finish() == 0)
    }
  }
}
