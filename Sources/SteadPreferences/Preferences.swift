import Foundation
import Observation
import SteadFiles

/// The settings of an app and its user, under the names and with the behaviour of `UserDefaults`.
///
/// With one line in a module, code that is written for `UserDefaults` compiles and works as it is:
///
/// ```swift
/// typealias UserDefaults = Preferences
/// ```
///
/// A value that was set is kept when `set` returns, whatever ends the process after that; ``flush()``
/// makes it survive a loss of power. Other processes may read and write the same domains at the same
/// time. Reading and writing cost the same however many keys there are. Safe from any thread.
///
/// A value is looked up in one domain after another, and the first that has it counts:
///
/// 1. What an administrator has fixed, for the app, then for all programs.
/// 2. The command line: `-key value`.
/// 3. The app's domain, or the suite's: what is for this machine alone, then the rest. `set` writes here.
/// 4. Suites, in the order in which they were added.
/// 5. The user's global domain: for this machine alone, then the rest.
/// 6. What the machine has for all users: for the app, then for all programs.
/// 7. Registered defaults.
public final class Preferences: Sendable {
  /// The name of the domain that is written.
  public let domain: String

  let search: LiveSearchList
  let errors = ErrorReports()
  /// Hears of what no call could report: a damaged file, a checkpoint that found no room.
  private let problems: ProblemSubscription
  let observers: PreferenceObservers
  let readings = TrackedReadings()

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
    let subscription = ProblemSubscription { [errors] problem in errors.report(problem) }
    self.problems = subscription
    search.addObserver { [weak search] _ in
      if let search { subscription.follow(search.list.target) }
    }
    for problem in problems { report(problem) }
    subscription.follow(search.list.target)
  }

  /// The app's preferences, the same object for the whole process.
  public static let standard = Preferences()

  /// The app's preferences, with a search list of their own.
  ///
  /// When the app's domain cannot be opened, values are kept in memory, and each write is reported as
  /// ``PreferencesError/Code/unavailable``.
  public convenience init() {
    let environment = Environment.process
    self.init(
      plan: SearchPlan(
        domain: environment.appID, options: DomainStore.Options(), environment: environment.search))
  }

  /// The preferences of a suite, which several apps of one user share; nil for the app's own.
  ///
  /// Gives nil for the global domain and the app's own identifier, as on Apple's systems, and for
  /// names that are empty, longer than 180 bytes, begin with a dot, or hold a slash, two dots in a row
  /// or control characters; `onError` is told why.
  public convenience init?(suiteName: String?) {
    self.init(suiteName: suiteName, environment: .process)
  }

  /// As ``init(suiteName:)``, in an environment.
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

  /// The preferences of a domain, with choices that `UserDefaults` does not give.
  ///
  /// - Parameters:
  ///   - domain: The domain's name; nil is the app's own.
  ///   - directory: Where the domain's files are, `domain.plist` among them; nil is the environment's
  ///     place.
  ///   - options: How it is opened.
  ///   - environment: What the search list takes from the process and the machine.
  /// - Throws: ``PreferencesError`` `.invalidDomainName` by the rules of ``init(suiteName:)``, and
  ///   `.unavailable` when the domain cannot be opened.
  public convenience init(
    domain: String? = nil, directory: URL? = nil, options: Options = Options(),
    environment: Environment = .process
  ) throws {
    let name = domain ?? environment.appID
    try DomainName.check(name)
    self.init(
      plan: SearchPlan(
        domain: name, directory: directory, options: DomainStore.Options(options),
        environment: environment.search))
    if let problem = search.list.problem { throw problem }
  }

  /// Preferences that are kept in memory and are gone with this object: for tests and previews.
  ///
  /// Nothing of the process or the machine is seen in them: no files, no arguments, no defaults that
  /// were registered elsewhere. Give several the same environment to have them share their domains.
  public static func inMemory(
    _ name: String = "memory", options: Options = Options(), environment: Environment? = nil
  ) -> Preferences {
    Preferences(
      plan: SearchPlan(
        domain: name, options: DomainStore.Options(options),
        environment: (environment ?? .inMemory(appID: name)).search))
  }

  /// The same preferences, where what is set counts on this machine alone.
  ///
  /// It is looked up before what is set without regard to the machine, and kept in a file of its own,
  /// so that a home directory may be shared by several machines.
  ///
  /// Costs an opening of that file, and makes a new object with a search list of its own at each call.
  public func scopedToCurrentHost() -> Preferences {
    var plan = plan
    plan.scope = .thisHost
    let preferences = Preferences(plan: plan)
    // The domain may just have come to be: the search lists of others lack it.
    environment.shared.renewLists { preferences.report($0) }
    return preferences
  }

  // MARK: What all else is made of

  /// The value that counts for a key, as it is kept; nil when no domain has one.
  public func propertyList(forKey key: String) -> PropertyList? {
    track(key)
    return search.value(forKey: key)
  }

  /// Sets a value in the domain, nil removes it, and says so when that fails.
  ///
  /// `set(_:forKey:)` does the same and gives errors to `onError`. Posts ``didChangeNotification``.
  ///
  /// - Throws: ``PreferencesError``: `.readOnly`, `.quotaExceeded`, `.noSpace`, or `.unavailable` and
  ///   `.locked`, in which case the value counts, is kept in memory, and is written with the next change
  ///   or ``flush()`` that can.
  public func setPropertyList(_ value: PropertyList?, forKey key: String) throws {
    do {
      try writing { target in try target.set(value, forKey: key) }
    } catch {
      throw PreferencesError(error, domain: domain, key: key)
    }
  }
}

extension Preferences {
  var plan: SearchPlan { search.plan }
  var environment: SearchEnvironment { plan.environment }

  /// The domains to look in, as things are.
  var layers: [DomainStore] { search.list.layers }

  /// Changes the domain that is written, and posts what is to be posted.
  func writing(_ body: (DomainStore) throws -> Void) throws {
    guard !plan.options.isReadOnly else {
      throw PreferencesError(
        code: .readOnly, message: "The preferences were opened for reading only.", domain: domain)
    }
    try search.current._withUnsafeGuaranteedRef { list in
      do {
        try list.withTarget(body)
      } catch let error as PreferencesError where error.code == .quotaExceeded {
        NotificationCenter.default.post(name: Self.sizeLimitExceededNotification, object: self)
        throw error
      }
      postChange()
      if let problem = list.problem { try reopen(after: problem) }
    }
  }

  /// Opens the domain that could not be opened before, with what was set meanwhile.
  private func reopen(after problem: PreferencesError) throws {
    search.renew(report: report)
    guard search.list.problem != nil else { return }
    var problem = problem
    problem.isRepetition = true
    throw problem
  }

  static func checkSuite(_ name: String, _ environment: SearchEnvironment) throws {
    try DomainName.check(name)
    guard name != globalDomain else {
      throw PreferencesError.invalidName(
        "The global domain is no suite. Use setPersistentDomain(_:forName:).")
    }
    guard name != environment.appID else {
      throw PreferencesError.invalidName("The app's own identifier is no suite. Use `standard`.")
    }
  }
}

extension DomainStore.Options {
  init(_ options: Preferences.Options) {
    self.init(isReadOnly: options.isReadOnly, quota: options.quota, format: options.format)
  }
}
