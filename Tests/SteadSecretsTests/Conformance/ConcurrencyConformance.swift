import Foundation
import SteadSecrets
import Synchronization
import Testing

/// What every store keeps to when several threads use it.
@Suite struct ConcurrencyConformance {
  private static let threadCount = 4

  @Test(arguments: TestedStore.all)
  func `loses no increment by compare-and-swap`(_ tested: TestedStore) throws {
    let place = try tested.place()
    try place.secrets().set("0", for: "counter")
    let rounds = 20
    try inThreads(Self.threadCount) { _ in
      // A store object for each thread: what keeps them apart is the place, not the object.
      let secrets = try place.secrets()
      for _ in 0..<rounds {
        while true {
          guard let old = try secrets.string(for: "counter"), let number = Int(old) else {
            throw CocoaError(.coderReadCorrupt)
          }
          do {
            try secrets.replace(old, with: "\(number + 1)", for: "counter")
            break
          } catch let error as SecretError where error.code == .changed {
            continue
          }
        }
      }
    }
    #expect(try place.secrets().string(for: "counter") == "\(Self.threadCount * rounds)")
  }

  @Test(arguments: TestedStore.all)
  func `lets exactly one insert`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let shared = try place.secrets()
    let accounts = (0..<10).map { "account \($0)" }
    let winners = Mutex<[String: Int]>([:])
    try inThreads(Self.threadCount) { thread in
      // Half of them share a store object.
      let secrets = thread % 2 == 0 ? shared : try place.secrets()
      for account in accounts {
        do {
          try secrets.insert("\(thread)", for: account)
          winners.withLock { #expect($0.updateValue(thread, forKey: account) == nil) }
        } catch let error as SecretError where error.code == .duplicateItem {
          continue
        }
      }
    }
    for (account, thread) in winners.withLock({ $0 }) {
      #expect(try shared.string(for: account) == "\(thread)")
    }
    #expect(try shared.accounts() == accounts)
    #expect(winners.withLock { $0.count } == accounts.count)
  }

  @Test(arguments: TestedStore.all)
  func `keeps all that threads set`(_ tested: TestedStore) throws {
    let place = try tested.place()
    try inThreads(Self.threadCount) { thread in
      let secrets = try place.secrets()
      for number in 0..<10 { try secrets.set("\(thread) \(number)", for: "\(thread) \(number)") }
    }
    let secrets = try place.secrets()
    #expect(try secrets.accounts().count == Self.threadCount * 10)
    for account in try secrets.accounts() {
      #expect(try secrets.string(for: account) == account)
    }
  }

  /// A read finds the secret before or after a write, whole, and never none.
  @Test(arguments: TestedStore.all)
  func `reads whole secrets during writes`(_ tested: TestedStore) throws {
    let place = try tested.place()
    let shared = try place.secrets()
    let values = (1...3).map { Data(repeating: UInt8($0), count: $0 * 3000) }
    try shared.set(values[0], for: "a")
    let isWriting = Atomic(true)
    try inThreads(Self.threadCount) { thread in
      let secrets = thread == 1 ? try place.secrets() : shared
      if thread == 0 {
        defer { isWriting.store(false, ordering: .releasing) }
        for round in 0..<30 { try secrets.set(values[round % 3], for: "a") }
      } else {
        repeat {
          let found = try secrets.data(for: "a")
          guard let found, values.contains(found) else {
            Issue.record("a read found \(found?.count ?? -1) bytes that nobody wrote")
            return
          }
        } while isWriting.load(ordering: .acquiring)
      }
    }
  }
}
