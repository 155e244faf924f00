import BenchmarkHarness
import Foundation
import SteadPreferences
import SteadSecrets

/// What data costs at the sizes and numbers at which the advice is to move it.
enum Thresholds {
  private static let kilobyte = 1 << 10
  private static let callCount = 200

  static var comparisons: [Comparison] {
    [values] + domains + histories + [secrets]
  }

  private static func text(_ size: Int) -> String {
    size < kilobyte * kilobyte ? "\(size / kilobyte) KB" : "\(size / kilobyte / kilobyte) MB"
  }

  private static func data(_ size: Int) -> Data {
    Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
  }

  /// A value of a preference that is set.
  private static var values: Comparison {
    Comparison(name: "value", title: "set one preference of so many bytes") { directory in
      let preferences = try Preferences(domain: "value", directory: directory)
      return [4, 64, 1_024].map { kilobytes in
        let value = data(kilobytes * kilobyte)
        return Comparison.Peer(name: text(kilobytes * kilobyte)) {
          try timed {
            for _ in 0..<callCount { preferences.set(value, forKey: "value-\(kilobytes)") }
          } / Double(callCount)
        }
      }
    }
  }

  /// A domain that is opened, and read once.
  private static var domains: [Comparison] {
    [
      Comparison(name: "domain", title: "open a domain of values of 1 KB, and get one") {
        directory in
        try [100, 1_000, 10_000].map { count in
          let name = "domain-\(count)"
          try autoreleasing {
            let preferences = try Preferences(domain: name, directory: directory)
            for number in 0..<count { preferences.set(data(kilobyte), forKey: "key-\(number)") }
          }
          return Comparison.Peer(name: text(count * kilobyte)) {
            try timed {
              let preferences = try Preferences(domain: name, directory: directory)
              keep(preferences.data(forKey: "key-1"))
            }
          }
        }
      }
    ]
  }

  private struct Entry: Codable, Identifiable, Sendable {
    var id: Int
    var text: String
  }

  /// A history that is opened, and read whole.
  private static var histories: [Comparison] {
    [
      Comparison(name: "history", title: "open a history of entries of 10 KB, read all") {
        directory in
        try [500, 1_000, 5_000].map { count in
          let name = "history-\(count)"
          try autoreleasing {
            let preferences = try Preferences(domain: name, directory: directory)
            let history = try PayloadHistory<Entry>("entries", limit: count, in: preferences)
            let text = String(repeating: "Once upon a time. ", count: 10 * kilobyte / 18)
            try history.prepend(contentsOf: (0..<count).map { Entry(id: $0, text: text) })
          }
          return Comparison.Peer(name: "\(count)") {
            try timed {
              let preferences = try Preferences(domain: name, directory: directory)
              let history = try PayloadHistory<Entry>("entries", limit: count, in: preferences)
              var sum = 0
              for entry in history.items { sum += entry.text.utf8.count }
              keep(sum)
            }
          }
        }
      }
    ]
  }

  /// A secret of a vault that is set.
  private static var secrets: Comparison {
    Comparison(name: "secret", title: "set one secret of so many bytes in a vault") { directory in
      // The vault takes a directory that nobody else may enter.
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o700], ofItemAtPath: directory.path)
      let key = VaultKey.keyFile(directory.appending(path: "key"))
      let vault = try Vault(at: directory.appending(path: "vault"), key: key, opening: .create)
      let secrets = try Secrets(service: "org.example.advice", store: vault)
      return [4, 64].map { kilobytes in
        let value = data(kilobytes * kilobyte)
        return Comparison.Peer(name: text(kilobytes * kilobyte)) {
          try timed { try secrets.set(value, for: "secret-\(kilobytes)") }
        }
      }
    }
  }

  private static func autoreleasing(_ body: () throws -> Void) rethrows { try body() }
}
