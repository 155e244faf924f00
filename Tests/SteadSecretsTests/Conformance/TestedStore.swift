import Foundation
import SteadSecrets
import Testing

// One suite runs over every store of the package. To add one:
//
// 1. Make a file Stores/TestedStore+NAME.swift, or open the one that is there for it.
// 2. In it, make a `TestedStore`: a name for the test's title, and a closure that prepares an empty
//    place (a directory, a keyring of its own) and returns what opens a store there. The closure is
//    called once for each test; it may be called on several threads at once. What it makes goes when
//    the closure that it returns does, so let that closure hold it.
// 3. Put it into the list of that file, which `all` below takes in. Leave the list empty where the machine
//    lacks what the store needs, and give a test of its own the trait `needs`, so that it is listed as skipped.
//
// Each call of the returned closure must give another store object on the same place, as another
// part of a program would have. Only a store that is its own place returns itself.

/// A kind of store that the suite is run over.
struct TestedStore: Sendable, CustomTestStringConvertible {
  let name: String
  /// What the store's times are whole multiples of, in seconds; nil when it tells none.
  var timeResolution: TimeInterval? = 0.001
  /// Whether items tell when they were made.
  var tellsCreation = true
  /// Prepares an empty place, and returns what opens a store there.
  let prepare: @Sendable () throws -> @Sendable () throws -> any SecretStore

  var testDescription: String { name }

  /// A place of a test's own, with nothing in it, which goes when the last reference to it does.
  func place() throws -> TestedPlace { TestedPlace(open: try prepare()) }

  /// Stores that a program names.
  static let named: [TestedStore] =
    [.inMemory, .plaintext] + TestedStore.secretServices + TestedStore.vaults

  static let all: [TestedStore] = named + automatic
}

/// Where the stores of one test keep their items.
struct TestedPlace {
  /// Another store object on the place.
  let open: @Sendable () throws -> any SecretStore

  /// The secrets of a service, by a store object of their own.
  func secrets(_ service: String = "org.example.Tests") throws -> Secrets {
    try Secrets(service: service, store: open())
  }
}
