import Foundation
import Observation
import SteadFiles

/// The settings of an app and its user, under the names and with the behaviour of `UserDefaults`.
///
/// With one line in a module, code written for `UserDefaults` compiles and works unchanged:
///
/// ```swift
/// typealias UserDefaults = Preferences
/// ```
///
/// A value is durable against process death when `set` returns; ``flush()`` makes it survive a
/// power loss. Other processes may read and write the same domains at the same time. Reading and
/// writing take the same time however many keys exist. Safe on any thread.
///
/// The methods of `UserDefaults` can't throw. They pass errors to ``onError-swift.property``, and
/// keep a value that cannot be stored in memory, where it is lost with the process. A command-line
/// tool therefore ends with `try flush()`, or sets values through ``strict``.
///
/// A value is looked up in one domain after another, and the first that has it wins:
///
/// 1. Values forced by an administrator, for the app, then for all programs.
/// 2. The command line: `-key value`.
/// 3. The app's domain, or the suite's: the values for this machine alone, then the rest. `set`
///    writes here.
/// 4. Suites, in the order in which they were added.
/// 5. The user's global domain: the values for this machine alone, then the rest.
/// 6. The machine's values for all users: for the app, then for all programs.
/// 7. Registered defaults.
public final class Preferences: Sendable {
  /// The name of the writable domain.
  public let domain: String

  let search: LiveSearchList
  let errors = ErrorReports()
  /// Receives errors that no call could throw: a damaged file, a checkpoint without room on the
  /// disk.
  private let problems: ProblemSubscription
  let observers: PreferenceObservers
  let readTracker = ReadTracker()

  /// Opens the domains of a plan.
  ///
  /// Problems that occur before the handler exists are reported at the end.
  init(plan: SearchPlan) {
    domain = plan.domain
    var problems: [PreferencesError] = []
    let search = LiveSearchList(plan: plan) { problems.append($0) }
    self.search = search
    let observers = PreferenceObservers { search.list.layers }
    self.observers = observers
    search.addObserver { [weak observers] isOwn in
      observers?.searchListDidChange(isOwn: isOwn)
    }
    // Captures the reports, not self: a weak reference to self would slow down each retain of it,
    // see ``ErrorReports``.
    let subscription = ProblemSubscription { [errors] problem in errors.report(problem) }
    self.problems = subscription
    search.addObserver { [weak search] _ in
      if let search { subscription.subscribe(to: search.list.target) }
    }
    // Collected until now, since no handler can be set before the initializer returns; the type's
    // handler gets them.
    for problem in problems { report(problem) }
    subscription.subscribe(to: search.list.target)
  }

  /// The app's preferences: one object for the whole process, as `UserDefaults.standard`.
  ///
  /// Its domain is the main bundle's identifier, or the executable's name.
  public static let standard = Preferences()

  /// The app's preferences, with a search list of their own.
  ///
  /// If the app's domain cannot be opened, values are kept in memory until the process ends, and
  /// each write is reported as ``PreferencesError/Code/unavailable``.
  public convenience init() {
    let environment = Environment.process
    self.init(
      plan: SearchPlan(
        domain: environment.appID, options: DomainStore.Options(), environment: environment.search))
  }

  /// The preferences of a suite, which several apps of one user share; nil means the app's own.
  ///
  /// Returns nil for the global domain and the app's own identifier, as on Apple's systems, and for
  /// names that are empty, longer than 180 bytes, begin with a dot, or contain a slash, a
  /// backslash, two dots in a row or control characters; the reason is passed to `onError`.
  public convenience init?(suiteName: String?) {
    self.init(suiteName: suiteName, environment: .process)
  }

  /// As ``init(suiteName:)``, in an environment, such as a test's.
  public convenience init?(suiteName: String?, environment: Environment) {
    let name = suiteName ?? environment.appID
    do {
      if suiteName != nil { try Self.checkSuite(name, environment.search) }
    } catch {
      Self.onError(PreferencesError(error, domain: nil))
      return nil
    }
    self.init(
      plan: SearchPlan(
        domain: name, options: DomainStore.Options(), environment: environment.search))
  }

  /// The preferences of a domain, with options that `UserDefaults` does not have.
  ///
  /// - Parameters:
  ///   - domain: The domain's name; nil means the app's own.
  ///   - directory: The directory of the domain's files, including `domain.plist`; nil means the
  ///     environment's.
  ///   - options: How it is opened.
  ///   - environment: The process and machine that the search list uses.
  /// - Throws: ``PreferencesError`` `.invalidDomainName` for names that no domain may have, by the
  ///   rules of ``init(suiteName:)``; `.unavailable` when the domain's files cannot be opened, or
  ///   it has none and can get none; and then `.noSpace` if the disk is full.
  public convenience init(
    domain: String? = nil, directory: URL? = nil, options: Options = Options(),
    environment: Environment = .process
  ) throws {
    let name = domain ?? environment.appID
    try DomainName.check(name)
    self.init(
      plan: SearchPlan(
        domain: name, directory: directory, options: DomainStore.Options(options),
        environment: environment.search, isStrict: true))
    if let problem = search.list.problem { throw problem }
  }

  /// Preferences that are kept in memory and are gone with this object: for tests and previews.
  ///
  /// They contain nothing of the process or the machine: no files, no arguments, no defaults
  /// registered elsewhere. Pass several the same environment to make them share their domains.
  public static func inMemory(
    _ name: String = "memory", options: Options = Options(), environment: Environment? = nil
  ) -> Preferences {
    Preferences(
      plan: SearchPlan(
        domain: name, options: DomainStore.Options(options),
        environment: (environment ?? .inMemory(appID: name)).search))
  }

  /// The same preferences, in which `set` affects this machine alone.
  ///
  /// Values for this machine take precedence over those for all machines, and are stored in a
  /// separate file, so that several machines can share a home directory.
  ///
  /// Costs opening that file, and creates a new object with its own search list at each call.
  public func scopedToCurrentHost() -> Preferences {
    var plan = plan
    (plan.scope, plan.isStrict) = (.thisHost, false)
    let preferences = Preferences(plan: plan)
    // The domain may have just been created: other objects' search lists lack it.
    environment.shared.renewLists { preferences.report($0) }
    return preferences
  }

  // MARK: - Primitives

  /// The effective value of a key, as it is stored; nil when no domain has one.
  ///
  /// All other reads are conversions of this one. It takes about 0.1 microseconds, waits
  /// for no other process, and never fails.
  public func propertyList(forKey key: String) -> PropertyList? {
    track(key)
    return search.value(forKey: key)
  }

  /// Sets a value in the domain; nil removes the key.
  ///
  /// Unlike `set(_:forKey:)`, which passes errors to `onError`, it throws them. Posts
  /// ``didChangeNotification``.
  ///
  /// - Throws: ``PreferencesError``: `.readOnly`, `.quotaExceeded`, `.noSpace`, or `.unavailable`
  ///   and `.locked`. With the last two the value is in effect, is kept in memory, and is written
  ///   with the next change or ``flush()`` that succeeds. Files that could not be opened are tried
  ///   again by a change or ``synchronize()``, and not by ``flush()``.
  public func setPropertyList(_ value: PropertyList?, forKey key: String) throws {
    do {
      try writing { target in try target.set(value, forKey: key) }
    } catch {
      throw PreferencesError(error, domain: domain, key: key)
    }
  }
}

// MARK: - Options

extension Preferences {
  /// How a domain is opened.
  public struct Options: Sendable, Hashable {
    /// Whether writing is disabled; a call that would write fails with `.readOnly`.
    public var isReadOnly = false
    /// The maximum size of the domain's keys and values in bytes; nil for no limit.
    ///
    /// They are counted as they are written into the journal, which takes about as much as a binary
    /// property list. A value that would exceed it is refused with `.quotaExceeded`, and
    /// ``Preferences/sizeLimitExceededNotification`` is posted. Existing values are kept.
    public var quota: Int?
    /// The format of the property list file that is written; all formats can be read.
    ///
    /// The journal next to it is exact in any case: while it exists, dates keep their fraction and
    /// `Float` its type, which XML cannot express.
    public var format = PropertyList.Format.binary

    /// Makes options: by default read and write, without a limit, binary.
    public init(isReadOnly: Bool = false, quota: Int? = nil, format: PropertyList.Format = .binary)
    {
      self.isReadOnly = isReadOnly
      self.quota = quota
      self.format = format
    }
  }

  // MARK: - Environment

  /// The process and machine that preferences belong to: the user, the locations of files, the
  /// command line.
  ///
  /// Programs use ``process``. A test creates its own environment, so that it neither sees nor
  /// changes anything of the user's:
  ///
  /// ```swift
  /// let environment = Preferences.Environment(
  ///   appID: "com.example.notes", variables: ["HOME": scratch.path],
  ///   arguments: ["notes", "-theme", "dark"], managedDirectory: scratch)
  /// let preferences = try Preferences(environment: environment)
  /// ```
  ///
  /// All preferences of one environment share registered defaults, arguments and other volatile
  /// domains, as all those of a process do; copies of the value are the same environment.
  public struct Environment: Sendable {
    /// The name of the app's own domain.
    ///
    /// For the process this is the main bundle's identifier, or the executable's name.
    public var appID: String { search.appID }
    let search: SearchEnvironment

    /// The environment of this process.
    public static let process = Environment(
      arguments: ProcessInfo.processInfo.arguments,
      managedDirectory: URL(filePath: "/etc/stead/managed", directoryHint: .isDirectory))

    /// Makes an environment for preferences with files.
    ///
    /// - Parameters:
    ///   - appID: The name of the app's own domain; nil means the process's.
    ///   - variables: The process's environment variables, or a test's substitute;
    ///     `XDG_CONFIG_HOME`, `XDG_CONFIG_DIRS` and `HOME` are read.
    ///   - arguments: A command line, starting with the program's name.
    ///   - managedDirectory: Where an administrator installs property lists that users cannot
    ///     change; nil for none.
    ///   - host: A name for this machine; nil means one that is derived from its identity by a
    ///     hash.
    public init(
      appID: String? = nil,
      variables: [String: String] = ProcessInfo.processInfo.environment,
      arguments: [String] = [], managedDirectory: URL? = nil, host: String? = nil
    ) {
      search = SearchEnvironment(
        appID: appID ?? Self.processID,
        directories: DomainDirectories(variables: variables, managed: managedDirectory),
        host: host ?? HostID.current, shared: SharedDomains(arguments: arguments))
    }

    /// An environment without any file: all domains disappear with the last preferences that use
    /// it.
    public static func inMemory(appID: String = "memory", arguments: [String] = []) -> Environment {
      Environment(
        search: SearchEnvironment(
          appID: appID, directories: DomainDirectories(config: nil, allUsers: [], managed: nil),
          host: "memory", shared: SharedDomains(arguments: arguments)))
    }

    private init(search: SearchEnvironment) { self.search = search }

    private static var processID: String {
      let process = ProcessInfo.processInfo
      let executable = process.arguments.first.map { URL(filePath: $0).lastPathComponent }
      return Bundle.main.bundleIdentifier ?? executable ?? process.processName
    }
  }
}

// MARK: - Writing

extension Preferences {
  var plan: SearchPlan { search.plan }
  var environment: SearchEnvironment { plan.environment }

  /// The domains to search, as of now.
  var layers: [DomainStore] { search.list.layers }

  /// Changes the writable domain, and posts the notification.
  ///
  /// If the domain could only be replaced in memory, the change is made there, and the files are
  /// tried again.
  ///
  /// - Parameters:
  ///   - body: Makes the change.
  ///   - isDone: Whether it was made; asked after the body.
  func writing(
    _ body: (DomainStore) throws -> Void, ifDone isDone: () -> Bool = { true }
  ) throws {
    // Before the domain is asked, which may be one in memory that could be changed.
    guard !plan.options.isReadOnly else {
      throw PreferencesError(
        code: .readOnly, message: "The preferences were opened read-only; open them for writing.",
        domain: domain)
    }
    // Without counting references, as in a read.
    try search.current._withUnsafeGuaranteedRef { list in
      do {
        try list.withTarget(body)
      } catch let error as PreferencesError where error.code == .quotaExceeded {
        NotificationCenter.default.post(name: Self.sizeLimitExceededNotification, object: self)
        throw error
      }
      if isDone() { postChange() }
      // The change was made in memory. The files may be accessible by now.
      if let problem = list.problem { try reopen(after: problem) }
    }
  }

  /// Tries again to open the domain's files, and writes the values that were set meanwhile.
  private func reopen(after problem: PreferencesError) throws {
    search.renew(report: report)
    // Others have had the same values in memory, which are in the files now.
    guard search.list.problem != nil else { return environment.shared.renewLists(report: report) }
    var problem = problem
    problem.isRepetition = true
    throw problem
  }

  /// Refuses names that no suite can have.
  static func checkSuite(_ name: String, _ environment: SearchEnvironment) throws {
    try DomainName.check(name)
    guard name != globalDomain else {
      throw PreferencesError.invalidName(
        "The global domain isn't a suite. Use setPersistentDomain(_:forName:).")
    }
    guard name != environment.appID else {
      throw PreferencesError.invalidName("The app's own identifier isn't a suite. Use `standard`.")
    }
  }
}

extension DomainStore.Options {
  init(_ options: Preferences.Options) {
    self.init(isReadOnly: options.isReadOnly, quota: options.quota, format: options.format)
  }
}
