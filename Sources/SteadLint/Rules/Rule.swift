/// A kind of mistake: its description, and the code that finds it.
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
  public let level: Level
  /// Whether some findings have a fix.
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
  let inFile: @Sendable (FileContext) -> [Finding]
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
  /// The rule with an identifier such as `P04`, or with a name.
  public static func named(_ name: String) -> Rule? {
    all.first { $0.id == name.uppercased() || $0.name == name }
  }

  /// All rules, in the order of their identifiers.
  public static let all: [Rule] = [
    secretInPreferences, secretInModel, secretInsideCodable, swallowedDecode,
    rawRepresentableCollection, payloadGrowth,
    dateStrategyMismatch, largeBlobInPreferences, literalKey, keyUnsafeForKVO, needlessSynchronize,
    absentMeansFalse,
    standardInTests, blobWithoutExternalStorage, uniqueWithCloudKit, cloudKitNeedsDefault,
    relationshipWithoutInverse,
    implicitDeleteRule, oldSchemaNamesLiveModel, migrationPlanGap, containerFailure, swallowedSave,
    predicateTrap,
    wrongDirectory, sharedDefaultStore, keychainWithoutAccessibility, keychainAlwaysAccessible,
    keychainStatusIgnored,
    keychainDuplicateUnhandled, keychainWithoutService,
  ]
}
