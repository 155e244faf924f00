import Foundation
import SteadFiles

/// Why preferences could not be stored, read or imported.
///
/// Compare ``code``, show ``message``, and see ``cause`` for the underlying error. The strings name
/// keys, domains and files, and never contain a value.
public struct PreferencesError: Error, Sendable {
  /// What went wrong, for comparison.
  ///
  /// Later versions add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { name }

    /// The name of a domain or suite is empty, too long, leads elsewhere, or cannot be opened by
    /// that call.
    public static let invalidDomainName = Code("invalidDomainName")
    /// The value contains something that a property list cannot.
    public static let notAPropertyList = Code("notAPropertyList")
    /// The value would make the domain larger than its quota.
    public static let quotaExceeded = Code("quotaExceeded")
    /// The preferences were opened read-only.
    public static let readOnly = Code("readOnly")
    /// The disk or the user's quota is full.
    public static let noSpace = Code("noSpace")
    /// The files of the domain cannot be opened, created or written. The value is in effect, and is
    /// written as soon as they can be. The message says where it is until then, mostly in memory
    /// only. A change that depends on what is stored, such as those of a history, is not made.
    public static let unavailable = Code("unavailable")
    /// Another process keeps the files locked. The value is in effect, and is written when they are
    /// free. The message says where it is until then, mostly in a file beside the property list,
    /// which survives the end of the program. A change that depends on what is stored, such as
    /// those of a history, is not made.
    public static let locked = Code("locked")
    /// A file's contents differ from what was written.
    public static let damaged = Code("damaged")
    /// The system failed in a way that has no code here; see ``PreferencesError/cause``.
    public static let failed = Code("failed")
    /// The stored value has another type than requested, is out of range, or has missing parts.
    public static let doesNotDecode = Code("doesNotDecode")
    /// The maximum number of undecodable values is kept aside for the key; see
    /// ``Preferences/keptAsideLimit``.
    public static let tooManyKeptAside = Code("tooManyKeptAside")
    /// A payload of a history is longer than its options allow.
    public static let tooLarge = Code("tooLarge")
    /// A newer version of this library wrote it, in a format that this one does not know.
    public static let newerVersion = Code("newerVersion")
    /// The options of a history contradict each other.
    public static let invalidOptions = Code("invalidOptions")
  }

  /// What went wrong, for comparison.
  public var code: Code
  /// What went wrong and what to do about it, in a sentence or two for a person.
  public var message: String
  /// The affected domain, if known.
  public var domain: String?
  /// The affected key, if any.
  public var key: String?
  /// The underlying error, if any.
  public var cause: (any Error)?
  /// Whether the same error was reported before and nothing has changed since, so that handlers are
  /// not called again.
  var isRepetition = false

  /// Makes an error; the package does this, and a test may, too.
  public init(
    code: Code, message: String, domain: String? = nil, key: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.domain = domain
    self.key = key
    self.cause = cause
  }
}

// MARK: - Descriptions

extension PreferencesError: CustomStringConvertible, LocalizedError {
  /// The message, with the domain and the key.
  public var description: String { subject.isEmpty ? message : "\(message) (\(subject))" }
  /// The domain and the key, as far as they are known.
  var subject: String {
    [domain.map { "domain \($0)" }, key.map { "key \($0)" }].compactMap(\.self)
      .joined(separator: ", ")
  }
  /// The message, with the domain and the key, and the sentence of the cause.
  public var errorDescription: String? {
    guard let sentence = cause?.valueFreeSentence, !message.contains(sentence) else {
      return description
    }
    return "\(description) \(sentence)"
  }
}

extension Error {
  /// The error's message, if it is known to contain no stored value; nil for errors that might.
  package var valueFreeSentence: String? {
    switch self {
    case let error as PreferencesError: error.message
    case let error as PropertyListError: error.message
    case let error as FileError: error.message
    case let error as DecodingError: error.sentenceWithoutValue
    default: nil
    }
  }
}

extension PreferencesError {
  // MARK: - Wrapping errors

  /// Wraps an error, or completes one of this type with a domain and a key.
  init(_ error: any Error, domain: String?, key: String? = nil) {
    if var known = error as? PreferencesError {
      known.domain = known.domain ?? domain
      known.key = known.key ?? key
      self = known
      return
    }
    if let list = error as? PropertyListError {
      // These codes are about the value that was set. All others are about bytes that were read.
      let isValue = list.code == .notAPropertyList || list.code == .tooDeep
      self.init(
        code: isValue ? .notAPropertyList : .damaged, message: list.message, domain: domain,
        key: key, cause: error)
      return
    }
    let file = error as? FileError
    self.init(
      code: Code(file),
      message: file?.description ?? "The preferences could not be stored; do what the cause says.",
      domain: domain, key: key, cause: error)
  }

  // MARK: - Files that cannot be written or opened

  /// Where the values of a domain are that could not be written as usual.
  enum ValuesLocation {
    /// Some are in memory alone.
    case memory
    /// The journal or the property list has all of them, but those in the waiting file.
    case waitingFile
    /// The journal has all of them, and only the property list isn't up to date.
    case journal
    /// The property list has all of them, and is the only file.
    case propertyList
    /// None waits, and the files can't be written at all.
    case none
    /// The change depended on what the files have, and nothing of it was kept.
    case notMade
  }

  /// The error for files that could not be written.
  ///
  /// - Parameter values: Where the values are that are in effect.
  init(
    notWritten error: FileError, domain: String, _ directory: URL?, values: ValuesLocation,
    isRepetition: Bool
  ) {
    // The directory is named, since the remedy is usually about it.
    let location = directory.map { " in \($0.path(percentEncoded: false))" } ?? ""
    if error.code == .busy {
      let values =
        switch values {
        case .memory: "New values are kept in memory, and are written when they are free."
        case .waitingFile:
          "New values are in the file \(domain).waiting beside the property list, from which the next program that can "
            + "write takes them."
        case .journal, .none:
          "All values are in the journal. The property list is updated when they are free."
        case .propertyList: "All values are in the property list."
        case .notMade: "The change was not made; make it again when they are free."
        }
      // With a fraction, since the limit may be below one second.
      let seconds = String(format: "%g", Journal.lockWaitLimit / Duration.seconds(1))
      self.init(
        code: .locked,
        message: "Another process has locked the files of the preferences\(location) for more than "
          + "\(seconds) s. \(values) Resume or end that process.",
        domain: domain, cause: error)
    } else {
      let values =
        switch values {
        case .memory:
          "The preferences\(location) cannot be written. New values are kept in memory, and are written as soon as "
            + "possible."
        case .waitingFile:
          "The preferences\(location) cannot be written. New values are in the file \(domain).waiting beside the "
            + "property list, from which the next program that can write takes them."
        case .journal:
          "The property list of the preferences\(location) cannot be written. All values are in the journal, and the "
            + "property list is updated as soon as possible."
        case .propertyList:
          "The property list of the preferences\(location) cannot be written. All values that were set before are in it."
        case .none: "The preferences\(location) cannot be written. No value waits for that."
        case .notMade:
          "The preferences\(location) cannot be written. The change was not made; make it again when they can be."
        }
      self.init(
        code: .unavailable, message: "\(values) \(DirectoryRemedy().remedy(for: error))",
        domain: domain, cause: error)
    }
    self.isRepetition = isRepetition
  }

  /// The error for files that could not be opened.
  ///
  /// - Parameters:
  ///   - isKept: Whether the program goes on with values in memory.
  ///   - advice: What is known of the directory.
  init(
    notOpened error: any Error, domain: String, _ directory: URL?, isKept: Bool,
    _ advice: DirectoryRemedy = DirectoryRemedy()
  ) {
    let location = directory.map { " in \($0.path(percentEncoded: false))" } ?? ""
    let isFull =
      (error as? PreferencesError)?.code == .noSpace || (error as? FileError)?.code == .noSpace
    let values = isKept ? ", and are kept in memory alone until they can" : ""
    self.init(
      code: isFull && !isKept ? .noSpace : .unavailable,
      message: "The preferences cannot be opened\(location)\(values). "
        + advice.remedy(for: error), domain: domain, cause: error)
  }

  // MARK: - Damage

  /// The error for a damaged journal.
  init(damage: JournalDamage) {
    let name = damage.url.lastPathComponent
    switch damage.kind {
    case .removed:
      self.init(
        code: .damaged,
        message: "The journal \(name) was removed while it was open. It was restored. Find out "
          + "which program removes it.")
    case .exchanged:
      let kept = damage.keptAside.map { " The other file is kept as \($0.lastPathComponent)." }
      self.init(
        code: .damaged,
        message: "Another file replaced the journal \(name) while it was open. It was restored."
          + (kept ?? " Values that were set in the other file are in effect, too."))
    case .overwritten:
      self.init(
        code: .damaged,
        message:
          "The journal \(name) was overwritten while it was open. It was restored from memory.")
    case .notAJournal:
      let kept = damage.keptAside.map { " It is kept as \($0.lastPathComponent)." }
      self.init(
        code: .damaged,
        message: "Something that isn't a journal has the name of the journal \(name)."
          + (kept ?? " Move it away."))
    case .header, .checkpoint, .log: self.init(unreadable: damage)
    }
  }

  private init(unreadable damage: JournalDamage) {
    let kept = damage.keptAside.map { " It is kept as \($0.lastPathComponent)." } ?? ""
    let cause =
      "Find out whether a program has truncated or overwritten it; otherwise check the disk."
    let loss =
      switch (damage.lostByteCount, damage.kind) {
      case (0, .header):
        "is empty, or its header is damaged. Values that a running program or the property list has are in "
          + "effect. \(cause)"
      case (0, _): "is damaged. It is restored from memory. Check the disk."
      default: "is damaged, and \(damage.lostByteCount) bytes of it could not be read. \(cause)"
      }
    self.init(
      code: .damaged, message: "The journal \(damage.url.lastPathComponent) \(loss)" + kept)
  }

  /// The error for writing a domain that was opened read-only.
  static func readOnly(_ domain: String) -> PreferencesError {
    PreferencesError(
      code: .readOnly,
      message: "The domain was opened with isReadOnly; open it without that to change it.",
      domain: domain)
  }

  static func invalidName(_ message: String) -> PreferencesError {
    PreferencesError(code: .invalidDomainName, message: message)
  }
}

extension PreferencesError.Code {
  /// The code for an error of a file.
  fileprivate init(_ error: FileError?) {
    switch error?.code {
    case .noSpace?: self = .noSpace
    // With a cause it is the system's: a file system that is mounted read-only.
    case .readOnly? where error?.cause == nil: self = .readOnly
    case .readOnly?, .denied?, .notFound?, .notAFile?, .alreadyExists?, .changed?, .failed?:
      self = .unavailable
    case .busy?: self = .locked
    case .damaged?: self = .damaged
    case .newerVersion?: self = .newerVersion
    case .invalidName?: self = .invalidDomainName
    default: self = .failed
    }
  }
}

// MARK: - Problems

extension Stead.Problem.Code {
  /// A method of ``Preferences`` that does not throw failed, and no `Preferences.onError` was set.
  /// The problem's cause is a ``PreferencesError``, whose code gives the details.
  public static let preferencesFailed = Self("preferencesFailed")
}

extension Stead.Problem {
  /// A problem for `Stead.onProblem`.
  init(_ error: PreferencesError) {
    self.init(
      code: .preferencesFailed, product: .preferences, subject: error.subject,
      message: error.message, cause: error)
  }
}

// MARK: - Remedies

/// What a person can do about the directory of preferences.
struct DirectoryRemedy {
  /// Whether the files are only read.
  var isReadOnly = false
  /// Whether the program names the directory, so that no variable moves it; nil if that isn't known.
  var isNamed: Bool?

  /// For files that cannot be opened or written.
  private var able: String {
    let able = isReadOnly ? "readable" : "writable"
    let other = variable.map { ", or set \($0) to one that is" } ?? ""
    return "Make the directory \(able)\(other)\(end)"
  }

  /// For a missing home.
  private var otherHome: String {
    if isNamed == true { return "A directory that isn't in it can be named, too." }
    return variable.map { "\($0) can name another directory for preferences\(end)" }
      ?? "A directory can also be passed to the initializer."
  }

  /// For a file system that lacks what preferences need.
  var local: String {
    variable.map { "Set \($0) to a directory on a local disk\(end)" }
      ?? "Move the directory to a local disk."
  }

  private var variable: String? { isNamed == true ? nil : Self.variable }
  private var end: String {
    isNamed == nil && variable != nil ? ", unless the program names the directory." : "."
  }

  /// What a person can do about files that cannot be opened or written.
  func remedy(for error: any Error) -> String {
    let known = error as? PreferencesError
    guard let file = known?.cause as? FileError ?? error as? FileError else {
      return known?.message ?? able
    }
    // From the most specific obstacle to the least.
    if file.isMissingHome { return "\(file.message) \(otherHome)" }
    if file.isUnsupported { return "The file system lacks locks or cannot map files. \(local)" }
    if let remedy = file.remedyForOpenFileLimit { return remedy }
    switch file.code {
    case .noSpace: return "The disk is full. Free some space on it."
    case .changed, .damaged, .newerVersion, .invalidName, .tooLarge: return file.description
    default: return remedy(forFileAt: file.path) ?? able
    }
  }

  /// What to do about one file; nil if its directory is the obstacle.
  private func remedy(forFileAt path: String) -> String? {
    let (disk, name) = (POSIXDisk(), path.fileName)
    // The file itself may be the obstacle, and not its directory: also a link that leads in a circle.
    guard let status = (try? disk.statusFollowingLinks(path)) ?? (try? disk.status(at: path)) else {
      // Links are followed before a file is opened, so the path may be that of a link's destination.
      let parent = path.directoryPath
      guard let kind = (try? disk.statusFollowingLinks(parent))?.kind, kind != .directory else {
        return nil
      }
      return "\(parent) is not a directory: move it away, or the link that leads to \(path)."
    }
    if status.kind != .file {
      return status.kind == .directory && access(path, W_OK) != 0
        ? nil : "Move away \(name), which is not a regular file."
    }
    // A file that can be written is replaced in a directory that can't.
    guard access(path, isReadOnly ? R_OK : R_OK | W_OK) != 0, errno == EACCES else { return nil }
    return isReadOnly
      ? "Make the file \(name) readable for this user."
      : "Make the file \(name) readable and writable for this user, or move it away."
  }
}

extension FileError {
  /// What to do when the process or the system has as many files open as it may; nil otherwise.
  fileprivate var remedyForOpenFileLimit: String? {
    switch (cause as? POSIXError)?.code {
    case .EMFILE?:
      "This process has too many files open. Close some, or raise the limit with ulimit -n."
    case .ENFILE?: "The system has too many files open. End programs, or raise fs.file-max."
    default: nil
    }
  }
}
