import WorkerModels

/// A store of ledgers that other processes hold open, and copies of its files.
extension StoreFile {
  /// Another process that has the store open, and waits for commands.
  ///
  /// - Parameter first: The number of its first ledger.
  func hold(from first: Int = 0) throws -> WorkerProcess {
    let worker = try WorkerProcess([
      WorkerProcess.program("StoreWorker"), url.filePath, "hold", "\(first)",
    ])
    try #require(worker.line() == "ready")
    return worker
  }

  /// How many whole groups the store has.
  func wholeCount() throws -> Int {
    // Objects that load one another after the end of their context keep the store open.
    let context = ModelContext(try openLedgers(at: url))
    return try withExtendedLifetime(context) {
      try context.fetch(FetchDescriptor<Ledger>()).count { $0.isWhole }
    }
  }

  /// The error with which the store is refused.
  func refusal(
    allowsSave: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
  ) -> String {
    let error = #expect(throws: SwiftDataError.self, sourceLocation: sourceLocation) {
      try ModelContainer(
        for: Ledger.self, Entry.self,
        configurations: ModelConfiguration(url: url, allowsSave: allowsSave))
    }
    #expect(error?.code == .unreadableStore, sourceLocation: sourceLocation)
    return error?.message ?? ""
  }

  // MARK: Files

  var logURL: URL { URL(filePath: url.filePath + "-wal") }

  var hasLog: Bool {
    let log = try? FileManager.default.attributesOfItem(atPath: logURL.filePath)
    return (log?[.size] as? Int ?? 0) > 0
  }

  func removeLog() {
    for suffix in ["-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: url.filePath + suffix)
    }
  }

  /// Overwrites a file of the store by that of another one.
  func take(from other: StoreFile, _ suffix: String) throws {
    let copying = try WorkerProcess(["cp", other.url.filePath + suffix, url.filePath + suffix])
    try #require(copying.finish() == 0)
  }

  /// A copy in a directory of its own.
  ///
  /// Another process makes it: this one would release SQLite's locks on the file as it closes the file.
  func copy(withLog: Bool) throws -> StoreFile {
    let copy = try StoreFile()
    for suffix in withLog ? ["", "-wal"] : [""] {
      guard FileManager.default.fileExists(atPath: url.filePath + suffix) else { continue }
      try copy.take(from: self, suffix)
    }
    return copy
  }
}

extension WorkerProcess {
  /// The number that the process answers a command with.
  func ask(_ command: String) throws -> Int {
    send(command)
    return try #require(line().flatMap { Int($0) })
  }
}
