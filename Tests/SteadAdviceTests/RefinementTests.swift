import Testing

@testable import SteadAdvice

/// What is never asked changes what the advice says, and never the store.
@Suite struct RefinementTests {
  private func advice(_ kind: Situation.Kind, _ option: String, _ answer: String) throws -> Advice {
    let question = try #require(Question.refinements.first { $0.id == option })
    var situation = Situation(kind: kind, devices: .several)
    #expect(question.answer(answer, in: &situation))
    return Advisor.advice(for: situation)
  }

  private func content(_ advice: Advice) -> [String] {
    advice.reasons + advice.exits + [advice.declaration, advice.directory, advice.sync]
  }

  private static let unusual = [
    ("sharing", "processes"), ("sharing", "extension"), ("sharing", "daemon"),
    ("sharing", "editor"), ("retention", "newest"), ("retention", "age"), ("platforms", "apple"),
    ("platforms", "linux"), ("observers", "views"), ("observers", "processes"),
    ("shape", "changing"),
  ]

  @Test(arguments: unusual)
  func `each answer changes what is said of records`(option: String, answer: String) throws {
    let usual = Advisor.advice(for: Situation(kind: .records, devices: .several))
    #expect(try content(advice(.records, option, answer)) != content(usual))
  }

  @Test func `these are all unusual answers`() {
    for question in Question.refinements {
      let tested = Self.unusual.filter { $0.0 == question.id }.map(\.1)
      #expect(Set(question.choices.map(\.name)) == Set(tested + [question.usual ?? ""]))
    }
  }

  @Test(arguments: Situation.Kind.allCases)
  func `no answer changes the store`(kind: Situation.Kind) throws {
    let usual = Advisor.advice(for: Situation(kind: kind, devices: .several))
    for question in Question.refinements {
      for choice in question.choices {
        #expect(try advice(kind, question.id, choice.name).store == usual.store)
      }
      let named = try advice(kind, question.id, try #require(question.usual))
      #expect(content(named) == content(usual))
    }
  }

  @Test func `refinements are never asked`() {
    #expect(Set(Question.all.map(\.id)).isDisjoint(with: Question.refinements.map(\.id)))
  }

  /// What an answer adds about a store; every other answer adds nothing.
  private static let effects: [(stores: [Store], answer: String, words: [String])] = [
    (records, "sharing processes", ["Several processes may use the store"]),
    (lists, "sharing processes", ["Several processes may use the domain"]),
    ([.secrets], "sharing processes", ["atomic among processes"]),
    ([.diskCache], "sharing processes", ["Processes share the cache"]),
    ([.memoryCache], "sharing processes", ["a cache on disk"]),
    (files, "sharing processes", ["several processes change parts"]),
    (
      [.records], "sharing extension",
      ["the group's directory, which", "groupContainer: .identifier"]
    ),
    ([.recordsWithFiles], "sharing extension", ["name the group with `groupContainer:`"]),
    (lists, "sharing extension", ["`suiteName:`"]),
    ([.secrets], "sharing extension", ["same access group"]),
    (files + [.diskCache], "sharing extension", ["containerURL"]),
    (Store.allCases, "sharing daemon", ["runs as another user"]),
    ([.preferences], "sharing editor", ["edited by hand"]),
    (files, "sharing editor", ["an editor may have changed it"]),
    (
      Store.allCases.filter { $0 != .preferences && !files.contains($0) }, "sharing editor",
      ["edit it as text"]
    ),
    ([.payloadHistory], "retention newest", ["whichever process adds one"]),
    (records, "retention newest", ["delete the oldest"]),
    (files, "retention newest", ["Nothing removes old files"]),
    ([.diskCache], "retention age", ["A time to live", "timeToLive: .seconds"]),
    ([.payloadHistory], "retention age", ["limits the number, not the age"]),
    (records, "retention age", ["`delete(model:where:)`"]),
    (files, "retention age", ["Nothing removes old files"]),
    ([.secrets], "platforms apple", ["the system's keychain"]),
    ([.preferences], "platforms apple", ["NSUbiquitousKeyValueStore"]),
    (records, "platforms apple", ["CloudKit through Apple's SwiftData"]),
    (lists, "platforms linux", ["XDG_CONFIG_HOME"]),
    (records + files, "platforms linux", ["XDG_DATA_HOME"]),
    ([.diskCache, .httpCache], "platforms linux", ["XDG_CACHE_HOME"]),
    ([.coreData], "platforms linux", ["has no Core Data"]),
    (records, "observers views", ["`ResultsObserver` follow"]),
    (files, "observers views", ["a file notifies nobody"]),
    (records, "observers processes", ["`HistoryObserver` notices"]),
    (lists, "observers processes", ["noticed after a moment"]),
    (files, "observers processes", ["a file notifies nobody"]),
    (records, "shape changing", ["`VersionedSchema`"]),
    ([.payloadHistory], "shape changing", ["PayloadHistoryOptions"]),
    ([.preferences], "shape changing", ["a new key for a new shape"]),
    (files + [.secrets], "shape changing", ["the version of the format"]),
    ([.diskCache], "shape changing", ["a new name for a new shape"]),
  ]
  private static let records: [Store] = [.records, .recordsWithFiles]
  private static let lists: [Store] = [.preferences, .payloadHistory]
  private static let files: [Store] = [.file, .encryptedFile]

  private func parts(_ refinement: Refinement) -> [String] {
    refinement.reasons + refinement.exits
      + [refinement.declaration, refinement.directory, refinement.sync]
  }

  /// On one device nothing is synced, so nothing is said of CloudKit.
  @Test(arguments: Store.allCases, Situation.Devices.allCases)
  func `each says what it means for the store`(store: Store, devices: Situation.Devices) throws {
    let usual = parts(Refinement(Situation(devices: devices), of: store))
    for (option, answer) in Self.unusual {
      let question = try #require(Question.refinements.first { $0.id == option })
      var situation = Situation(devices: devices)
      #expect(question.answer(answer, in: &situation))
      let added = parts(Refinement(situation, of: store)).filter { !usual.contains($0) }
      let isSynced = devices == .several || answer != "apple" || store == .secrets
      let words = Self.effects.filter {
        isSynced && $0.stores.contains(store) && $0.answer == "\(option) \(answer)"
      }.flatMap(\.words)
      #expect(added.count == words.count, "\(store) \(option) \(answer): \(added)")
      for word in words { #expect(added.contains { $0.contains(word) }, "\(word)") }
    }
  }
}
