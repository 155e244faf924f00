/// What is known about some data that a program wants to keep. A property is nil if it isn't known
/// yet.
///
/// ```swift
/// var situation = Situation(kind: .records)
/// situation.access = .parts
/// print(Advisor.advice(for: situation).store)  // records
/// ```
///
/// The raw values of its enumerations are the answers on the command line and in JSON. A situation
/// is a value that says nothing about a store, except in ``today``.
public struct Situation: Hashable, Codable, Sendable {
  /// What the data is.
  public enum Kind: String, CaseIterable, Codable, Sendable {
    /// A choice of the user, or a small value that the program remembers.
    case setting
    /// A password, a token or a key.
    case secret
    /// Things of one kind that are looked up, sorted or related.
    case records
    /// The most recent things that the program made, kept as they are.
    case payloads
    /// A file that the user made and knows about.
    case document
    /// A picture, a sound or a film that belongs to the program's own data.
    case media
    /// Data that was computed or loaded, and can be again.
    case cache
    /// Responses of a web server.
    case response
    /// Work that is still to be done, in order.
    case queue
    /// A value that an administrator sets for all users.
    case managed
  }

  /// What happens if somebody else reads the data.
  public enum Exposure: String, CaseIterable, Codable, Sendable {
    /// Nothing bad happens; or it is private, or gives access to something.
    case harmless, harmful
  }

  /// Where the data comes from.
  public enum Origin: String, CaseIterable, Codable, Sendable {
    /// It exists nowhere else.
    case only
    /// It can be made or loaded again.
    case again
  }

  /// How the data is read.
  public enum Access: String, CaseIterable, Codable, Sendable {
    /// All of it, as it was written.
    case whole
    /// By a field, sorted, searched or through relationships; or changed one by one.
    case parts
  }

  /// How long the data is needed.
  public enum Lifetime: String, CaseIterable, Codable, Sendable {
    /// As long as the program runs.
    case run
    /// At the next start, too.
    case launches
  }

  /// How many of the user's devices need the data.
  public enum Devices: String, CaseIterable, Codable, Sendable {
    /// One device; or several, which then need a sync.
    case one, several
  }

  /// What exists already.
  public enum Ground: String, CaseIterable, Codable, Sendable {
    /// Nothing that limits the choice.
    case new
    /// A Core Data stack that stays, or Apple systems that are too old for SwiftData.
    case coreData = "core-data"
  }

  /// Who else uses the data.
  public enum Sharing: String, CaseIterable, Codable, Sendable {
    case none
    /// Other processes of the same user.
    case processes
    /// An extension of the app, in its own sandbox.
    case `extension`
    /// A service that runs as another user.
    case daemon
    /// A person with an editor.
    case editor
  }

  /// How long old data stays.
  public enum Retention: String, CaseIterable, Codable, Sendable {
    case kept
    /// Only the newest data is kept.
    case newest
    /// Data is removed at a certain age.
    case age
  }

  /// The systems that the program runs on.
  public enum Platforms: String, CaseIterable, Codable, Sendable {
    /// Apple's systems and others; only Apple's; only Linux.
    case all, apple, linux
  }

  /// Who must be notified of changes.
  public enum Observers: String, CaseIterable, Codable, Sendable {
    /// Nobody; views of the same program; other processes.
    case none, views, processes
  }

  /// Whether later versions of the program change the data's shape.
  public enum Shape: String, CaseIterable, Codable, Sendable {
    /// No version changes it; later versions do.
    case fixed, changing
  }

  /// What the data is. The one question without a usual answer.
  public var kind: Kind?
  /// What happens if somebody else reads it; harmless if it isn't known.
  public var exposure: Exposure?
  /// Where it comes from; only from here if it isn't known.
  public var origin: Origin?
  /// How long it is needed; at the next start, too, if it isn't known.
  public var lifetime: Lifetime?
  /// How it is read; as a whole if it isn't known.
  public var access: Access?
  /// How many there are; one if it isn't known.
  public var count: Int?
  /// The size of one, in bytes; small if it isn't known, except for media, which count as large.
  public var size: Int?
  /// How many of the user's devices need it; one if it isn't known.
  public var devices: Devices?
  /// What exists already; nothing if it isn't known.
  public var ground: Ground?
  /// Who else uses it. Changes only the advice about the store, as do the properties that follow.
  public var sharing: Sharing?
  /// How long old data stays; it is kept if it isn't known.
  public var retention: Retention?
  /// The systems that the program runs on; all if it isn't known.
  public var platforms: Platforms?
  /// Who must be notified of changes; nobody if it isn't known.
  public var observers: Observers?
  /// Whether later versions change the data's shape; they don't if it isn't known.
  public var shape: Shape?
  /// Where the data is now. It only determines which move is advised.
  public var today: Store?

  /// Makes a situation from what is known. In a call only what is known need be named.
  public init(
    kind: Kind? = nil, exposure: Exposure? = nil, origin: Origin? = nil, lifetime: Lifetime? = nil,
    access: Access? = nil, count: Int? = nil, size: Int? = nil, devices: Devices? = nil,
    ground: Ground? = nil, today: Store? = nil, sharing: Sharing? = nil,
    retention: Retention? = nil, platforms: Platforms? = nil, observers: Observers? = nil,
    shape: Shape? = nil
  ) {
    self.kind = kind
    self.exposure = exposure
    self.origin = origin
    self.lifetime = lifetime
    self.access = access
    self.count = count
    self.size = size
    self.devices = devices
    self.ground = ground
    self.today = today
    self.sharing = sharing
    self.retention = retention
    self.platforms = platforms
    self.observers = observers
    self.shape = shape
  }

  /// The size of all of it, in bytes; nil if the number or the size isn't known. A product beyond 64 bits is the
  /// greatest number.
  public var totalSize: Int? {
    guard let count, let size else { return nil }
    // The numbers come from a command line. Too much is more than every threshold, and must not end
    // the program.
    let (product, isOver) = count.multipliedReportingOverflow(by: size)
    return isOver ? .max : product
  }
}

// MARK: - Thresholds

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

/// Numbers as people write them: `500`, `10KB`, `1.5 MB`, `2k`.
///
/// ```swift
/// ByteCount.parse("1.5 MB")   // 1572864
/// ByteCount.text(1_572_864)   // "1.5 MB"
/// ```
public enum ByteCount {
  // The first suffix that fits counts, so `kb` is before `k` and `b`. Powers of two with a B, and
  // of ten without one: the latter count things.
  private static let units: [(suffix: String, factor: Double)] = [
    ("kb", 1_024), ("mb", 1_048_576), ("gb", 1_073_741_824), ("k", 1_000), ("m", 1_000_000),
    ("bytes", 1), ("byte", 1), ("b", 1),
  ]

  /// The number that a string stands for; nil if the string isn't a number. A KB is 1,024 bytes, and `k` without a B
  /// is 1,000. Case, spaces, commas and underscores don't matter, and a fraction of a byte is rounded.
  public static func parse(_ text: String) -> Int? {
    // The separators of people and of Swift's literals, so an example of an answer is an answer.
    var digits = text.lowercased().filter { $0 != " " && $0 != "," && $0 != "_" }
    var factor = 1.0
    if let unit = units.first(where: { digits.hasSuffix($0.suffix) }) {
      digits.removeLast(unit.suffix.count)
      factor = unit.factor
    }
    guard let value = Double(digits), value.isFinite else { return nil }
    // Nil beyond 64 bits, where a conversion would trap.
    return Int(exactly: (value * factor).rounded())
  }

  /// A number of bytes for people: `1.5 MB`, with one digit after the point at most. The rounded number need not
  /// parse to the same one.
  public static func text(_ count: Int) -> String {
    for (suffix, factor) in [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)]
    where count >= factor {
      // Rounded before it is compared with a whole number, so 1.04 MB has no digit after the
      // point.
      let tenths = (Double(count) / Double(factor) * 10).rounded() / 10
      return tenths == tenths.rounded() ? "\(Int(tenths)) \(suffix)" : "\(tenths) \(suffix)"
    }
    return "\(count) bytes"
  }

  /// A whole number for people: `2,500`.
  ///
  /// By hand, since a formatter would follow the user's locale, and advice is the same everywhere.
  /// Not for negative numbers.
  static func grouped(_ number: Int) -> String {
    let digits = String(number)
    let parts = digits.enumerated().map { index, digit in
      index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : String(digit)
    }
    return parts.joined()
  }
}
