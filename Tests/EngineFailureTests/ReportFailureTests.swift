import Synchronization

@testable import SteadRecords

@Suite("Problems and groups of undo") struct ReportFailureTests {
  /// `beginUndoGrouping; change; processPendingChanges; endUndoGrouping` stopped the program: the
  /// second last call closed the program's own group.
  @Test func `processPendingChanges leaves an open undo group open`() throws {
    let store = try TestStore(Counter.self)
    let (context, undo) = (store.context(), UndoManager())
    let counter = Counter()
    context.insert(counter)
    try context.save()
    context.undoManager = undo
    undo.beginUndoGrouping()
    counter.value = 1
    context.processPendingChanges()
    counter.value = 2
    context.processPendingChanges()
    undo.endUndoGrouping()
    undo.undo()
    #expect(counter.value == 0)
    undo.redo()
    #expect(counter.value == 2)
  }

  /// The libraries printed by themselves. What no method can throw goes to the one handler.
  @Test(.exitTests)
  func `a failed autosave goes to the handler and nothing is printed`() async throws {
    let result = await #expect(
      processExitsWith: .success,
      observing: [\.standardErrorContent, \.standardOutputContent]
    ) {
      let received = Mutex<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
      let store = try TestStore(Landlord.self, Tenant.self, Rumor.self)
      try await MainActor.run {
        let main = store.container.mainContext
        let landlord = Landlord(name: "L")
        main.insert(landlord)
        landlord.tenants = [Tenant(name: "T")]
        try main.save()
        main.delete(landlord)
      }
      while received.withLock({ $0.isEmpty }) { await Task.yield() }
      let problem = try #require(received.withLock { $0.first })
      #expect(problem.product == .records)
      #expect(problem.code == .autosaveFailed)
      #expect(problem.cause as? SwiftDataError == .deletionDenied)
    }
    let printed = try #require(result)
    #expect(String(decoding: printed.standardErrorContent, as: UTF8.self) == "")
    #expect(!String(decoding: printed.standardOutputContent, as: UTF8.self).contains("stead"))
  }

  /// It was made again, empty, without a word.
  @Test(.exitTests) func `a table that another program has removed is reported`() async throws {
    await #expect(processExitsWith: .success) {
      let received = Mutex<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
      let store = try TestStore(Counter.self)
      _ = try store.reopened()
      #expect(received.withLock { $0.isEmpty })
      try SteadRecords.StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
        .execute("DROP TABLE Counter")
      #expect(try store.reopened().count(Counter.self) == 0)
      let problem = try #require(received.withLock { $0.first })
      #expect(problem.product == .records && problem.subject == "Counter")
      #expect(problem.message.contains("Open a backup"))
    }
  }

  /// An edit of an object that another context has deleted was lost without a word.
  @Test(.exitTests)
  func `changes of an object that another context deleted are reported`() async throws {
    await #expect(processExitsWith: .success) {
      let received = Mutex<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.withLock { $0.append(problem) } }
      let store = try TestStore(Counter.self)
      // Found out by the save, by a fetch before it, and by a read of the object.
      for way in 0..<3 {
        let (context, other) = (store.context(), store.context())
        context.insertAll(Counter(), Counter())
        try context.save()
        let counters = try context.all(Counter.self)
        counters[0].value = 1
        for counter in try other.all(Counter.self) { other.delete(counter) }
        try other.save()
        switch way {
        case 0: break
        case 1: _ = try context.all(Counter.self)
        default: context.processPendingChanges()
        }
        try context.save()
        let problems = received.withLock { problems in
          defer { problems = [] }
          return problems
        }
        // Of the other object nothing was changed.
        #expect(problems.map(\.code) == [.changesLost])
        #expect(problems.first?.message.contains("changes of value") == true)
        #expect(counters[0].value == 1 && counters[0].modelContext == nil)
      }
    }
  }
}
