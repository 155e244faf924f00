/// A size or a number beyond which data should be kept elsewhere.
///
/// Between ``comfortable`` and ``limit`` the advice names the threshold, and beyond the limit another store. The
/// figures are measured; ``reason`` has the measurement.
public struct Threshold: Hashable, Codable, Sendable {
  /// What is measured, such as "one preference value".
  public let name: String
  /// Up to here the store is a good choice, in bytes or pieces.
  public let comfortable: Int
  /// From here on the data belongs in another store.
  public let limit: Int
  /// The unit of both.
  public let unit: Unit
  /// The measurement or the source.
  public let reason: String

  /// What a threshold counts.
  public enum Unit: String, Codable, Sendable {
    case bytes
    case pieces
  }

  /// One value in preferences, which each program that uses the domain has in memory.
  public static let preferenceValue = Threshold(
    name: "one preference value", comfortable: 4 << 10, limit: 64 << 10, unit: .bytes,
    reason:
      "Setting 4 KB takes 9 us, 64 KB 84 us, 1 MB 600 us, and every program that uses the domain holds all values."
  )
  /// All values of a domain, which Foundation reads and writes as a whole.
  public static let preferenceDomain = Threshold(
    name: "all values of a preferences domain", comfortable: 1 << 20, limit: 10 << 20, unit: .bytes,
    reason: "Opening 1 MB takes 1.5 ms here; Foundation's UserDefaults reads and writes all of it.")
  /// The entries of a payload history, all of which are read when it is opened.
  public static let historyCount = Threshold(
    name: "entries of a payload history", comfortable: 500, limit: 2_500, unit: .pieces,
    reason:
      "Opening and reading 500 entries of 10 KB takes 9 ms, 1,000 entries 18 ms, 5,000 entries 127 ms."
  )
  /// One entry of a payload history.
  public static let historyEntry = Threshold(
    name: "one entry of a payload history", comfortable: 10 << 10, limit: 64 << 10, unit: .bytes,
    reason: "The whole history is read when it is opened.")
  /// One value of a record. The source is https://www.sqlite.org/intern-v-extern-blob.html.
  public static let recordValue = Threshold(
    name: "one value of a record", comfortable: 100 << 10, limit: 1 << 20, unit: .bytes,
    reason:
      "SQLite's own measurement shows that from 100 KB on, a file is faster than a value in a row.")
  /// One secret, which a Secret Service sends as a whole.
  public static let secret = Threshold(
    name: "one secret", comfortable: 4 << 10, limit: 64 << 10, unit: .bytes,
    reason: "A Secret Service sends each secret as a whole, and password managers show them.")

  /// All values of a key-value sync: the limit of `NSUbiquitousKeyValueStore`.
  public static let keyValueSync = Threshold(
    name: "all values of a key-value sync", comfortable: 800 << 10, limit: 1 << 20, unit: .bytes,
    reason: "iCloud's store and SteadSync's hold 1 MB, and make no change that would exceed it.")
  /// One value that is only in memory.
  public static let memoryValue = Threshold(
    name: "one value in memory", comfortable: 1 << 20, limit: 16 << 20, unit: .bytes,
    reason:
      "The system kills a program that uses too much memory, and one value can't be dropped in part."
  )

  /// All of them, in the order of the documentation.
  public static let all = [
    preferenceValue, preferenceDomain, historyCount, historyEntry, recordValue, secret,
    keyValueSync, memoryValue,
  ]
}
