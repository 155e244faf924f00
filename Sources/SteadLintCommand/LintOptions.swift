import ArgumentParser
import SteadLint

/// The options of a run of the linter. The verbs take them, too, and use what concerns them.
package struct LintOptions: ParsableArguments {
  @Flag(name: .customLong("fix"), help: "Make the fixes that need no decision, then check again.")
  var fixes = false

  @Option(
    help: ArgumentHelp("Report only lines that changed since a git revision.", valueName: "rev"))
  var since: String?

  @Option(help: "The format of the report; sarif is SARIF 2.1.0, github annotates pull requests.")
  var format = ReportFormat.text

  @Option(
    name: .shortAndLong, help: ArgumentHelp("Write the report to a file.", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(help: "Show findings of this level and above.")
  var level = Level.note

  @Flag(name: .customLong("strict"), help: "Exit with 1 for warnings, too.")
  var isStrict = false

  @Option(
    help: ArgumentHelp("Check only these rules, such as P01,P04.", valueName: "rules"),
    completion: .rules, transform: Rule.identifiers)
  var rules: Set<String> = []

  @Option(
    help: ArgumentHelp("Skip these rules.", valueName: "rules"), completion: .rules,
    transform: Rule.identifiers)
  var disable: Set<String> = []

  @Option(
    help: ArgumentHelp(
      "Hide the findings of a baseline; .stead-lint.json is used if it exists.", valueName: "file"),
    completion: .file())
  var baseline: String?

  @Option(
    name: .customLong("write-baseline"),
    help: ArgumentHelp(
      "Write all findings, and the shapes of stored types, to a baseline.", valueName: "file"),
    completion: .file())
  var newBaseline: String?

  @Flag(name: .customLong("cloudkit"), help: "Check models as if the app synced with CloudKit.")
  var assumesCloudKit = false

  @Option(
    help: ArgumentHelp("Keep the cache in this file.", valueName: "file"), completion: .file())
  var cache: String?

  @Flag(name: .customLong("no-cache"), help: "Keep no cache.")
  var isUncached = false

  @Option(
    help: ArgumentHelp(
      "Write an empty file if it exits with 0, for build systems.", valueName: "file"),
    completion: .file())
  var stamp: String?

  @Flag(name: [.customLong("quiet"), .customShort("q")], help: "Write no summary.")
  var isQuiet = false

  package init() {}
}

extension ReportFormat: ExpressibleByArgument {}

extension Level: ExpressibleByArgument {}

extension CompletionKind {
  static var rules: CompletionKind { .list(Rule.all.map(\.id)) }
}

extension Rule {
  /// The rule with an identifier or a name.
  @Sendable static func required(_ name: String) throws -> Rule {
    guard let rule = named(name) else {
      throw ValidationError("\(name) isn't a rule; `stead lint rules` lists them.")
    }
    return rule
  }

  /// The identifiers of rules that are separated by commas.
  @Sendable static func identifiers(_ names: String) throws -> Set<String> {
    try Set(names.split(separator: ",").map { try required(String($0)).id })
  }
}
