import Foundation
import SteadFiles

/// Why preferences could not be kept, read or brought in.
///
/// Compare ``code``, show ``message``, look into ``cause`` for what was found underneath. The texts
/// name keys, domains and files, and never hold a value.
public struct PreferencesError: Error, Sendable {
  /// What went wrong, to compare with.
  ///
  /// Later versions add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private let name: String
    private init(_ name: String) { self.name = name }

    /// The code's name, for logs and metrics.
    public var description: String { name }

    /// The name of a domain or suite is empty, too long, leads elsewhere, or is one that cannot be
    /// opened by that call.
    public static let invalidDomainName = Code("invalidDomainName")
    /// The value holds something that a property list cannot.
    public static let notAPropertyList = Code("notAPropertyList")
    /// The value would make the domain larger than its quota.
    public static let quotaExceeded = Code("quotaExceeded")
    /// The preferences were opened for reading only.
    public static let readOnly = Code("readOnly")
    /// The disk is full, or the user's share of it is.
    public static let noSpace = Code("noSpace")
    /// The files of the domain cannot be opened, made or written. What is set counts, and is written as
    /// soon as they can; until then it is kept in memory alone.
    public static let unavailable = Code("unavailable")
    /// Another process has the files locked and does not go on. What is set counts, and is written when
    /// they are free; until then it is kept in memory alone.
    public static let locked = Code("locked")
    /// A file holds something other than what was written.
    public static let damaged = Code("damaged")
    /// The system failed in a way that has no code here; see ``PreferencesError/cause``.
    public static let failed = Code("failed")
    /// What is stored is of another kind than what is read, out of range, or has parts missing.
    public static let doesNotDecode = Code("doesNotDecode")
    /// As many values that do not decode are kept aside for the key as there may be; see
    /// ``Preferences/keptAsideLimit``.
    public static let tooManyKeptAside = Code("tooManyKeptAside")
    /// A payload of a history is longer than its options allow.
    public static let tooLarge = Code("tooLarge")
    /// A newer version of this library wrote it, in a format that this one does not know.
    public static let newerVersion = Code("newerVersion")
    /// The options of a history contradict themselves.
    public static let invalidOptions = Code("invalidOptions")
  }

  /// What went wrong, to compare with.
  public var code: Code
  /// What went wrong and what to do, in a sentence or two for a person.
  public var message: String
  /// The domain it went wrong in, where one is known.
  public var domain: String?
  /// The key it went wrong with, where there is one.
  public var key: String?
  /// The error underneath, where there was one.
  public var cause: (any Error)?
  /// Whether the same was said before and nothing has changed since, so that handlers are not told again.
  var isRepetition = false

  /// Makes an error; the package does this, and so may a test.
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
  /// What an error says, as far as that is known to hold no stored value; nil for errors that might.
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

extension DecodingError {
  /// Foundation's own descriptions may quote what was read.
  fileprivate var sentenceWithoutValue: String {
    switch self {
    case .keyNotFound(let key, _): "It has no value for \(key.stringValue)."
    case .typeMismatch(let type, _): "A value in it isn't a \(type)."
    case .valueNotFound(let type, _): "A value of \(type) is missing in it."
    case .dataCorrupted: "A value in it is corrupt."
    @unknown default: "It does not decode."
    }
  }
}

extension PreferencesError {
  /// The error as it is, or one of another kind as the cause of ours.
  init(_ error: any Error, domain: String?, key: String? = nil) {
    if var known = error as? PreferencesError {
      known.domain = known.domain ?? domain
      known.key = known.key ?? key
      self = known
      return
    }
    if let list = error as? PropertyListError {
      let isValue = list.code == .notAPropertyList || list.code == .tooDeep
      self.init(
        code: isValue ? .notAPropertyList : .damaged, message: list.message, domain: domain,
        key: key, cause: error)
      return
    }
    let file = error as? FileError
    self.init(
      code: Code(file?.code), message: file?.message ?? "The preferences could not be kept.",
      domain: domain, key: key, cause: error)
  }

  /// The error for what is kept in memory since the files could not be written.
  init(notWritten error: FileError, domain: String, _ directory: URL?, isRepetition: Bool) {
    let place = directory.map { " in \($0.path(percentEncoded: false))" } ?? ""
    if error.code == .busy {
      self.init(
        code: .locked,
        message: "Another process has locked the files of the preferences\(place) for more than "
          + "\(Journal.lockWaitLimit.components.seconds) s. What is set is kept in memory, and is "
          + "written when they are free. Let that process go on, or end it.",
        domain: domain, cause: error)
    } else {
      let remedy =
        error.isUnsupported
        ? "The file system lacks locks or cannot map files. \(DirectoryRemedy.local)"
        : DirectoryRemedy.writable
      self.init(
        code: .unavailable,
        message: "The preferences\(place) cannot be written. What is set is kept in memory, and is "
          + "written as soon as they can. \(remedy)",
        domain: domain, cause: error)
    }
    self.isRepetition = isRepetition
  }

  /// The error for what happened to a journal.
  init(damage: JournalDamage) {
    let name = damage.url.lastPathComponent
    switch damage.kind {
    case .removed:
      self.init(
        code: .damaged,
        message: "Somebody removed the journal \(name) while it was open. It was put back.")
    case .exchanged:
      let kept = damage.keptAside.map {
        " It is no journal, is kept as \($0.lastPathComponent), and was replaced."
      }
      self.init(
        code: .damaged,
        message: "Somebody put another file in the place of the journal \(name) while it was open."
          + (kept ?? " Its values count, and what was set since."))
    case .overwritten:
      self.init(
        code: .damaged,
        message:
          "Somebody wrote over the journal \(name) while it was open. What is there counts if it "
          + "is a journal; else it was made anew from memory.")
    case .header, .checkpoint, .log, .notAJournal: self.init(unreadable: damage)
    }
  }

  private init(unreadable damage: JournalDamage) {
    let kept = damage.keptAside.map { " It is kept as \($0.lastPathComponent)." } ?? ""
    self.init(
      code: .damaged,
      message:
        "The journal \(damage.url.lastPathComponent) is damaged, and \(damage.lostByteCount) "
        + "bytes of it could not be read." + kept)
  }

  static func readOnly(_ domain: String) -> PreferencesError {
    PreferencesError(
      code: .readOnly, message: "The domain's files may be read only.", domain: domain)
  }

  static func invalidName(_ message: String) -> PreferencesError {
    PreferencesError(code: .invalidDomainName, message: message)
  }
}

extension PreferencesError.Code {
  fileprivate init(_ code: FileError.Code?) {
    switch code {
    case .noSpace?: self = .noSpace
    case .readOnly?, .denied?: self = .readOnly
    case .busy?: self = .locked
    case .damaged?: self = .damaged
    case .invalidName?: self = .invalidDomainName
    default: self = .failed
    }
  }
}

extension Stead.Problem.Code {
  /// A method of ``Preferences`` without `throws` failed, and no `Preferences.onError` was set. The
  /// problem's cause is a ``PreferencesError``, whose code says more.
  public static let preferencesFailed = Self("preferencesFailed")
}

extension Stead.Problem {
  init(_ error: PreferencesError) {
    self.init(
      code: .preferencesFailed, product: .preferences, subject: error.subject,
      message: error.message, cause: error)
  }
}
