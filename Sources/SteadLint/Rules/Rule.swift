/// A kind of mistake: its description, and the code that finds it.
///
/// A new rule is a `static let` beside those of its topic, an entry in ``all``, and samples in the tests. Its
/// texts make Documentation/LintRules.md, and `bad` must be found by the rule, which the tests check. A rule
/// that is often wrong is turned off, so each has exceptions (`avoids`), and samples of code that must not be flagged.
///
/// ```swift
/// for rule in Rule.all where rule.level == .error { print(rule.id, rule.summary) }
/// ```
public struct Rule: Sendable {
  /// The code in which a rule's findings count.
  enum Scope: Sendable {
    /// Not in tests and previews.
    case shipped
    case tests
  }

  /// Such as `P04`.
  public let id: String
  /// Such as `swallowed-decode-overwrites`.
  public let name: String
  /// The level of its findings, unless one is less certain and is a note.
  public let level: Level
  /// Whether some findings have a fix, which ``LintReport/fixed(_:path:)`` makes. A fix never needs a decision.
  public let isFixable: Bool
  /// What is flagged, in a sentence.
  public let summary: String
  /// What goes wrong.
  public let why: String
  /// Code that is flagged.
  public let bad: String
  /// The same code, corrected.
  public let good: String
  /// What looks like the mistake and isn't flagged.
  public let avoids: [String]

  let scope: Scope
  /// Checks a file by its syntax, on the thread that reads it. Findings are cached with the file.
  let inFile: @Sendable (FileContext) -> [Finding]
  /// Checks the facts of all files, in each run.
  let inProject: @Sendable (ProjectIndex) -> [Finding]

  init(
    _ rule: RuleID, isFixable: Bool = false, scope: Scope = .shipped, summary: String, why: String,
    bad: String,
    good: String, avoids: [String],
    inFile: @escaping @Sendable (FileContext) -> [Finding] = { _ in [] },
    inProject: @escaping @Sendable (ProjectIndex) -> [Finding] = { _ in [] }
  ) {
    id = rule.id
    name = rule.name
    level = rule.level
    self.isFixable = isFixable
    self.scope = scope
    self.summary = summary
    self.why = why
    self.bad = bad
    self.good = good
    self.avoids = avoids
    self.inFile = inFile
    self.inProject = inProject
  }
}

extension Rule {
  /// The rule with an identifier such as `P04`, in any case, or with a name; nil if there is none.
  public static func named(_ name: String) -> Rule? {
    all.first { $0.id == name.uppercased() || $0.name == name }
  }

  /// All rules, in the order of their identifiers.
  public static let all: [Rule] = [
    // By hand: Swift can't enumerate static members. The order is that of the page.
    // P01-P03Secrets.swift
    secretInPreferences, secretInModel, secretInsideCodable,
    // P04SwallowedDecode.swift
    swallowedDecode,
    // P05-P07Payloads.swift
    rawRepresentableCollection, payloadGrowth, dateStrategyMismatch,
    // P08-P10PreferenceKeys.swift
    largeBlobInPreferences, literalKey, keyUnsafeForKVO,
    // P11-P13PreferenceAccess.swift
    needlessSynchronize, absentMeansFalse, standardInTests,
    // P14-P18Models.swift
    blobWithoutExternalStorage, uniqueWithCloudKit, cloudKitNeedsDefault,
    relationshipWithoutInverse, implicitDeleteRule,
    // P19-P20Migrations.swift
    oldSchemaNamesLiveModel, migrationPlanGap,
    // P21ContainerFailure.swift, P22SwallowedSave.swift, P23PredicateTrap.swift
    containerFailure, swallowedSave, predicateTrap,
    // P24-P25StoreLocations.swift
    wrongDirectory, sharedDefaultStore,
    // P26-P30Keychain.swift
    keychainWithoutAccessibility, keychainAlwaysAccessible, keychainStatusIgnored,
    keychainDuplicateUnhandled, keychainWithoutService,
  ]
}

// MARK: - Pages

/// The rules as a Markdown page: Documentation/LintRules.md.
public enum RulePages {
  /// A list of the rules, and a section for each, in their order.
  public static var markdown: String {
    """
    # The linter's rules

    This page has each rule of `stead-lint`, with its reason, code that it finds, better code, and what it leaves alone. `stead-lint rules --markdown` writes it
    from the rules' own texts, and [Lint.md](Lint.md) says how to run them.

    | rule | level | fix | finds |
    |---|---|---|---|
    \(Rule.all.map(row).joined(separator: "\n"))

    Two warnings are about the run itself. \(label(.unexplainedSuppression)): a comment that disables a rule has no reason, and so disables nothing.
    \(label(.unreadFile)): a file can't be read, isn't UTF-8 or exceeds a limit, and isn't checked; or a part of it doesn't parse, and the rest is checked.

    \(Rule.all.map(section).joined(separator: "\n"))
    """
  }

  private static func label(_ id: RuleID) -> String { "\(id.id) \(id.name)" }

  private static func row(_ rule: Rule) -> String {
    let summary = rule.summary.split(separator: "\n").joined(separator: " ")
    return
      "| [\(rule.id) \(rule.name)](#\(rule.id.lowercased())-\(rule.name)) | \(rule.level.rawValue) "
      + "| \(rule.isFixable ? "some" : "") | \(summary) |"
  }

  private static func section(_ rule: Rule) -> String {
    """
    ## \(rule.id) \(rule.name)

    \(rule.summary) Level: \(rule.level.rawValue).\(rule.isFixable ? " Some findings have a fix." : "")

    **Why.** \(rule.why)

    ```swift
    \(rule.bad)
    ```

    **Better:**

    ```swift
    \(rule.good)
    ```

    **Not flagged**, or flagged as a note where it says so:

    \(rule.avoids.map { "- \($0)" }.joined(separator: "\n"))

    """
  }
}
