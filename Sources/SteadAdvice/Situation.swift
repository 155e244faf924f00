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
