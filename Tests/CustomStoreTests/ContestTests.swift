import Foundation
import RecordsTestSupport
import SteadTestSupport
import SwiftData
import Testing

/// A save was checked against what the store had been, and another program could save before it was written. Two processes that
/// made one unique key at the same time left a file in which every fetch failed, for both had it; a child was
/// saved after its parent had gone.
@Suite("Two programs that save to one store at the same time") struct ContestTests {
  private let directory: TemporaryDirectory

  private var json: JSONStoreConfiguration {
    JSONStoreConfiguration(url: directory.file("contest.json"))
  }
  private var sqlite: ModelConfiguration {
    ModelConfiguration(schema: Schema(Contest.types), url: directory.file("contest.store"))
  }

  init() throws { directory = try TemporaryDirectory() }

  private static func context(_ configuration: any DataStoreConfiguration) throws -> ModelContext {
    ModelContext(
      try ModelContainer(
        for: Schema(Contest.types), configurations: [configuration] as [any DataStoreConfiguration])
    )
  }

  /// When the other program saves.
  enum Moment: CaseIterable {
    /// Between the context's changes and its save.
    case beforeTheSave
    /// After the save was checked.
    case inTheSave
    /// The same, and the context's save is a transaction's.
    case inATransaction
  }

  /// Has the other program come at a moment, and compares what the store has then.
  private func hold<S: DataStoreVersioning>(
    _ contest: Contest, _ moment: Moment, in type: S.Type, _ configuration: S.Configuration
  ) throws where S.Snapshot == DefaultSnapshot, S.Configuration: Sendable {
    let first = try Self.context(configuration)
    try contest.before(first)
    try first.save()
    let rival = ContestedStore<S>.Rival()
    let context = try Self.context(ContestedStore<S>.Configuration(configuration, rival))
    _ = try Contest.content(context)
    let move: @Sendable () throws -> Void = {
      let other = try Self.context(configuration)
      try contest.theirs(other)
      try other.save()
    }
    if moment != .beforeTheSave { rival.add(move) }
    try attempt(contest, context) {
      if moment == .inATransaction { return try context.transaction { try contest.mine(context) } }
      try contest.mine(context)
      if moment == .beforeTheSave { try move() }
      try context.save()
    }
    for context in [try Self.context(configuration), context] {
      #expect(try Contest.content(context) == contest.result)
    }
  }

  private func attempt(
    _ contest: Contest, _ context: ModelContext, _ save: () throws -> Void
  ) throws {
    guard let error = contest.error else { return try save() }
    #expect(throws: error) { try save() }
    #expect(context.hasChanges)
    context.rollback()
  }

  @Test(arguments: Contest.keys, Moment.allCases)
  func `each key is one object's in a JSON file, whoever saves when`(
    _ contest: Contest, _ moment: Moment
  ) throws {
    try hold(contest, moment, in: JSONStore.self, json)
  }

  @Test(arguments: Contest.links, Moment.allCases)
  func `relationships in a JSON file keep to the models' rules, whoever saves when`(
    _ contest: Contest, _ moment: Moment
  ) throws {
    try hold(contest, moment, in: JSONStore.self, json)
  }

  @Test(arguments: Contest.keys + Contest.links)
  func `a store over a DefaultStore keeps to the rules, too`(_ contest: Contest) throws {
    try hold(contest, .inTheSave, in: DefaultStore.self, sqlite)
  }

  @Test func `programs that make the same keys at once make one object for each`() throws {
    let containers = try (0..<3).map { _ in try Self.context(json).container }
    DispatchQueue.concurrentPerform(iterations: containers.count) { place in
      let context = ModelContext(containers[place])
      for key in 0..<6 {
        context.insert(Token("\(key)", place))
        #expect(throws: Never.self) { try context.save() }
      }
    }
    let tokens = try Self.context(json).fetch(FetchDescriptor<Token>())
    #expect(tokens.map(\.name).sorted() == (0..<6).map { "\($0)" })
  }

  @Test func `a store that others never leave alone is reported, and nothing is lost`() throws {
    let rival = ContestedStore<JSONStore>.Rival()
    let context = try Self.context(ContestedStore<JSONStore>.Configuration(json, rival))
    let json = json
    for _ in 0..<100 {
      rival.add { try (Data(contentsOf: json.url) + Data(" ".utf8)).write(to: json.url) }
    }
    context.insert(Token("a", 1))
    let error = #expect(throws: SwiftDataError.self) { try context.save() }
    #expect(error?.code == .storeLocked && error?.message.contains("save again") == true)
    #expect(context.hasChanges)
    try context.save()
    #expect(try Contest.content(Self.context(json)) == ["token a 1"])
  }

  @Test func `a required object that another program has deleted is missed in any store`() throws {
    let content = DictionaryStore.Content()
    let contexts = try (0..<2).map { _ in
      try Self.context(DictionaryStore.Configuration(content))
    }
    let parent = Parent("p")
    contexts[0].insert(parent)
    try contexts[0].save()
    let known = try contexts[1].only(Parent.self)
    contexts[0].delete(parent)
    try contexts[0].save()
    contexts[1].insert(Child("c", known))
    #expect(throws: SwiftDataError.modelValidationFailure) { try contexts[1].save() }
    #expect(content.snapshots.isEmpty)
  }
}
