import Foundation
import SteadPreferences
import SteadSecrets
import SwiftData
import Testing

@testable import SteadTransfer

/// Random items, over random contents, in runs that stop anywhere, against what a dictionary holds then.
@Suite(.hangLimit) struct ConflictRandomTests {
  private struct Stop: Error {}

  private enum Kind: String, CaseIterable { case preferences, secrets, records }

  /// A key and a text.
  private struct Item: Equatable {
    let key: String
    let text: String

    init(_ item: String) {
      let parts = item.split(separator: "=").map(String.init)
      (key, text) = (parts[0], parts[1])
    }
  }

  /// One source and one destination.
  private struct Bench {
    let kind: Kind
    let source = Preferences.inMemory("org.example.source")
    let preferences = Preferences.inMemory("org.example.destination")
    let secrets: Secrets
    let container: ModelContainer

    init(_ kind: Kind, _ contents: [String: String]) throws {
      self.kind = kind
      secrets = try Secrets(service: "org.example.mail", store: InMemorySecretStore())
      container = try .pages()
      switch kind {
      case .preferences: for (key, text) in contents { preferences.set(text, forKey: key) }
      case .secrets: for (key, text) in contents { try secrets.set(text, for: key) }
      case .records: try container.fillPages(contents)
      }
    }

    func run(_ options: TransferOptions, chunk: Int, stoppingAfter steps: Int?) throws {
      var left = steps
      func progress(_: TransferProgress) throws {
        guard let count = left else { return }
        if count == 0 { throw Stop() }
        left = count - 1
      }
      let from = TransferSource<String>.preference("items", of: String.self, in: source)
      switch kind {
      case .preferences:
        try Transfer("t", from: from, to: .preferences(preferences), options: options) {
          PreferenceEntry(key: Item($0).key, value: .string(Item($0).text))
        }.run(progress)
      case .secrets:
        try Transfer("t", from: from, to: try .secrets(secrets), options: options) {
          SecretEntry(account: Item($0).key, secret: Item($0).text)
        }.run(progress)
      case .records:
        var transfer = Transfer("t", from: from, to: .records(container), options: options) {
          ConflictPage(Item($0).key, Item($0).text)
        }
        transfer.limit.count = chunk
        try transfer.run(progress)
      }
    }

    func contents() throws -> [String: String] {
      switch kind {
      case .preferences:
        let keys = preferences.keys.filter { !$0.hasPrefix("stead.") }
        return Dictionary(
          uniqueKeysWithValues: keys.map { ($0, preferences.string(forKey: $0) ?? "") })
      case .secrets:
        return Dictionary(
          uniqueKeysWithValues: try secrets.accounts().map {
            ($0, try secrets.string(for: $0) ?? "")
          })
      case .records:
        return Dictionary(
          uniqueKeysWithValues: try container.all(ConflictPage.self).map { ($0.key, $0.text) })
      }
    }
  }

  @Test(arguments: 1...4) func `ends as a dictionary does`(part: Int) throws {
    for seed in (part * 1_000)..<(part * 1_000 + Effort.times(30)) {
      for kind in Kind.allCases { try check(kind, UInt64(seed)) }
    }
  }

  private func check(_ kind: Kind, _ seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    func text() -> String { "\(Int.random(in: 0..<3, using: &random))" }
    let keys = ["a", "b", "c", "d", "e"]
    var contents: [String: String] = [:]
    for key in keys where Bool.random(using: &random) { contents[key] = text() }
    let items = (0..<Int.random(in: 0..<9, using: &random)).map { _ in
      "\(keys.randomElement(using: &random) ?? "a")=\(text())"
    }
    let rule: TransferOptions.ConflictRule = Bool.random(using: &random) ? .keepExisting : .replace
    let bench = try Bench(kind, contents)
    bench.source.set(items, forKey: "items")
    let options = TransferOptions(conflicts: rule)
    let chunk = Int.random(in: 1..<5, using: &random)
    for _ in 0..<Int.random(in: 0..<3, using: &random) {
      let steps = Int.random(in: 0..<25, using: &random)
      do { try bench.run(options, chunk: chunk, stoppingAfter: steps) } catch is Stop {}
    }
    try bench.run(options, chunk: chunk, stoppingAfter: nil)
    for item in items.map(Item.init) {
      if rule == .replace || contents[item.key] == nil { contents[item.key] = item.text }
    }
    let comment: Comment = "\(kind), \(rule), seed \(seed), items \(items), chunks of \(chunk)"
    #expect(try bench.contents() == contents, comment)
    #expect((bench.source.stringArray(forKey: "items") ?? []).isEmpty, comment)
  }
}
