import Foundation
import SteadPreferences
import SteadSecrets
import SteadTestSupport
import SwiftData
import WorkerModels

/// A setting, a secret and a record at the places that the products choose, as a program keeps them that is
/// started in a container.
///
///     container set       keeps 5, `token` and a group; prints what came of each
///     container get       prints what is there
///
/// A line is the product's name, then what is there, or `error` and the error.
enum Container {
  private static let service = "org.example.container"

  static func run(_ command: String) {
    let isSetting = command == "set"
    tell("preferences") { try setting(isSetting) }
    tell("secrets") { try secret(isSetting) }
    tell("records") { try record(isSetting) }
  }

  private static func tell(_ product: String, _ body: () throws -> String) {
    do {
      say("\(product) \(try body())")
    } catch {
      say("\(product) error \(error)".replacing("\n", with: " "))
    }
  }

  private static func setting(_ isSetting: Bool) throws -> String {
    let preferences = Preferences.standard
    preferences.onError = { say("told \($0)") }
    if isSetting { preferences.set(5, forKey: "number") }
    say("preferences \(preferences.integer(forKey: "number"))")
    try preferences.flush()
    return "flushed"
  }

  private static func secret(_ isSetting: Bool) throws -> String {
    let secrets = try Secrets(service: service)
    if isSetting { try secrets.set("token", for: "account") }
    return try secrets.string(for: "account") ?? "none"
  }

  private static func record(_ isSetting: Bool) throws -> String {
    let context = ModelContext(try ModelContainer(for: Ledger.self))
    if isSetting {
      context.insert(Ledger(number: 5, writer: "container", amounts: [1, 2]))
      try context.save()
    }
    return "\(try context.fetch(FetchDescriptor<Ledger>()).map(\.number))"
  }
}
