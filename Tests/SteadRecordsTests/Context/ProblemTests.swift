import Foundation
import SwiftData
import Testing

@testable import SteadRecords

// `Stead` comes with the import of SwiftData.
struct ProblemTests {
  @Model final class Listed {
    init() {}
  }

  @Model final class Unlisted {
    var secret: String
    init(secret: String) { self.secret = secret }
  }

  @Model final class Sender {
    var drafts: [Letter] = []
    var letters: [Letter] = []
    init() {}
  }

  @Model final class Letter {
    var author: Sender?
    var clerk: Sender?
    init() {}
  }

  @Model final class Team {
    var home: [Match] = []
    var away: [Match] = []
    init() {}
  }

  @Model final class Match {
    var host: Team?
    var guest: Team?
    init() {}
  }

  /// Two of them came as one problem with a line break, which a log shows as a literal `\n`.
  @Test(.exitTests) func `each ambiguous group of inverses is a problem of its own, in one line`()
    async
  {
    await #expect(processExitsWith: .success) {
      let received = Box<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.change { $0.append(problem) } }
      _ = try TestStore(.memory, Sender.self, Team.self)
      let problems = received.value
      #expect(problems.map(\.code) == [.inverseAmbiguous, .inverseAmbiguous])
      #expect(problems.allSatisfy { !$0.message.contains("\n") })
      #expect(problems.contains { $0.message.contains("Letter.author") })
      #expect(problems.contains { $0.message.contains("Match.host") })
    }
  }

  /// What is thrown may be logged, too.
  @Test func `several problems of a schema are one line`() throws {
    let problems = [
      SchemaProblem(.invalidInverse, "One is wrong."), SchemaProblem(.nameClash, "Two is wrong."),
    ]
    let findings = SchemaFindings(problems: problems)
    let error = #expect(throws: SchemaProblem.self) { try findings.check() }
    #expect(error?.message == "One is wrong. Two is wrong.")
  }

  @Test(.exitTests) func `a problem that cannot be thrown reaches the handler`() async {
    await #expect(processExitsWith: .success) {
      let received = Box<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.change { $0.append(problem) } }
      let elsewhere = try TestStore(.memory, Unlisted.self).context()
      let unlisted = Unlisted(secret: "opensesame")
      elsewhere.insert(unlisted)
      try elsewhere.save()
      let store = try TestStore(.memory, Listed.self)
      _ = store.context().model(for: unlisted.persistentModelID)
      let problem = try #require(received.value.first)
      #expect(received.value.count == 1)
      #expect(problem.product == .records)
      #expect(problem.code == .unknownModel)
      #expect("\(problem)".contains("Unlisted"))
      #expect(!"\(problem)".contains("opensesame"))
    }
  }

  /// The subject was "property 4" of a URL, and the cause quoted the text that another program had written.
  @Test(.exitTests) func `a file that cannot be read is a problem of its property and row`() async {
    await #expect(processExitsWith: .success) {
      let received = Box<[Stead.Problem]>([])
      Stead.onProblem = { problem in received.change { $0.append(problem) } }
      let store = try TestStore(Headline.self)
      let context = store.context()
      context.insert(Headline(title: "a"))
      try context.save()
      let file = SteadRecords.StoreFile(ModelConfiguration(url: store.url))
      try file.open(writable: true, keepsJournalMode: true)
        .execute("UPDATE \"Headline\" SET \"picture\" = 'my secret PIN is 4711'")
      let container = try store.secondContainer()
      #expect(try ModelContext(container).only(Headline.self).picture == nil)
      let problem = try #require(received.value.first)
      #expect(problem.code == .externalFileFailed)
      #expect(problem.subject == "Headline.picture of row 1")
      #expect(!"\(problem)".contains("4711"))
    }
  }
}
