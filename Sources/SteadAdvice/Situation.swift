/// What is known of some data that a program wants to keep; nil stands for what nobody has said yet.
public struct Situation: Hashable, Codable, Sendable {
  /// What the data is.
  public enum Kind: String, CaseIterable, Codable, Sendable {
    /// A choice of the user, or a small value that the program remembers.
    case setting
    /// A password, a token or a key.
    case secret
    /// Things of one kind that are looked up, sorted or related.
    case records
    /// The last so many things that the program made, kept as they are.
    case payloads
    /// A file that the user made and knows of.
    case document
    /// A picture, a sound or a film that belongs to the program's own data.
    case media
    /// What was computed or loaded, and can be again.
    case cache
    /// Responses of a web server.
    case response
    /// Work that is still to be done, in order.
    case queue
    /// A value that an administrator fixes for all users.
    case managed
  }

  /// What happens if somebody else reads the data.
  public enum Exposure: String, CaseIterable, Codable, Sendable {
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
    /// By a field, sorted, searched, or by what is related to it; or changed one by one.
    case parts
  }

  /// How long the data is needed.
  public enum Lifetime: String, CaseIterable, Codable, Sendable {
    /// As long as the program runs.
    case run
    /// At the next start, too.
    case launches
  }

  /// On how many devices of a person the data is wanted.
  public enum Devices: String, CaseIterable, Codable, Sendable {
    case one, several
  }

  /// What the program has already.
  public enum Ground: String, CaseIterable, Codable, Sendable {
    /// Nothing that stands in the way.
    case new
    /// A Core Data stack that stays, or systems of Apple's before those that have SwiftData.
    case coreData = "core-data"
  }

  /// Who else uses the data.
  public enum Sharing: String, CaseIterable, Codable, Sendable {
    case none
    /// Other processes of the same user.
    case processes
    /// An extension of the app, in a sandbox of its own.
    case `extension`
    /// A service that runs as another user.
    case daemon
    /// A person with an editor.
    case editor
  }

  /// How long old data stays.
  public enum Retention: String, CaseIterable, Codable, Sendable {
    case kept
    /// The newest ones stay.
    case newest
    /// What is older than some time goes.
    case age
  }

  /// The systems that the program runs on.
  public enum Platforms: String, CaseIterable, Codable, Sendable {
    case all, apple, linux
  }

  /// Who has to learn of changes.
  public enum Observers: String, CaseIterable, Codable, Sendable {
    case none, views, processes
  }

  /// Whether later versions of the program give the data another shape.
  public enum Shape: String, CaseIterable, Codable, Sendable {
    case fixed, changing
  }

  public var kind: Kind?
  public var exposure: Exposure?
  public var origin: Origin?
  public var lifetime: Lifetime?
  public var access: Access?
  /// How many there are.
  public var count: Int?
  /// The bytes of one.
  public var size: Int?
  public var devices: Devices?
  public var ground: Ground?
  public var sharing: Sharing?
  public var retention: Retention?
  public var platforms: Platforms?
  public var observers: Observers?
  public var shape: Shape?
  /// Where the data is now; it decides what moves it, and nothing else.
  public var today: Store?

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

  /// How many bytes all of it has; nil where that isn't known.
  public var totalSize: Int? {
    guard let count, let size else { return nil }
    let (product, isOver) = count.multipliedReportingOverflow(by: size)
    return isOver ? .max : product
  }
}
