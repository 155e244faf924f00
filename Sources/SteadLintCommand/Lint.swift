import ArgumentParser
import Foundation
import SteadLint

/// Finds persistence mistakes: the command `stead lint`.
package struct Lint: ParsableCommand {
  package static let configuration: CommandConfiguration = {
    var configuration = Self.configuration(of: "stead lint")
    configuration.subcommands.append(HelpVerb<Lint>.self)
    return configuration
  }()

  // Only what isn't positional: a path here would take the place of a verb.
  @OptionGroup var options: LintOptions

  package init() {}

  /// The configuration of a command with these verbs. The last word of its name is the command's.
  package static func configuration(of name: String) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name.split(separator: " ").last.map(String.init),
      abstract: "Finds persistence mistakes in Swift files and folders; in . without a path.",
      usage: """
        \(name) [<options>] [<path> ...]
        \(name) rules [--markdown]
        \(name) explain <rule>
        """,
      discussion: """
        A comment disables a rule for its line, or for the next one. It needs a reason:
          // stead:disable P01 the token of a public demo
          // stead:disable:next P22 the next save reports it

        Exits with 0, with 1 if errors were found, and with 2 if it couldn't check.
        """,
      subcommands: [Check.self, Rules.self, Explain.self], defaultSubcommand: Check.self)
  }
}

/// A verb of the command. `LintCommand` does its work.
package protocol LintVerb: ParsableCommand {
  func run(_ command: LintCommand) -> LintCommand.Exit
}

extension LintVerb {
  package func run() throws {
    let command = LintCommand(
      directory: URL(filePath: FileManager.default.currentDirectoryPath),
      print: StandardStream.print,
      complain: StandardStream.complain)
    throw ExitCode(run(command).rawValue)
  }
}

// MARK: - Verbs

extension Lint {
  package struct Check: LintVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Finds mistakes. The word may be left out.")

    @OptionGroup var options: LintOptions

    @Argument(
      help: ArgumentHelp("A Swift file, or a folder.", valueName: "path"), completion: .file())
    var paths: [String] = []

    package init() {}

    package func run(_ command: LintCommand) -> LintCommand.Exit {
      command.check(paths, options)
    }
  }

  package struct Rules: LintVerb {
    package static let configuration = CommandConfiguration(abstract: "Lists the rules.")

    @Flag(name: .customLong("markdown"), help: "As a page with their reasons and examples.")
    var isMarkdown = false

    package init() {}

    package func run(_ command: LintCommand) -> LintCommand.Exit {
      command.print(isMarkdown ? RulePages.markdown : RuleText.list)
      return .clean
    }
  }

  package struct Explain: LintVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Says what a rule finds, why, and what to write instead.")

    @Argument(
      help: "Its identifier or name, such as P04.", completion: .rules, transform: Rule.required)
    var rule: Rule

    package init() {}

    package func run(_ command: LintCommand) -> LintCommand.Exit {
      command.print(RuleText.page(of: rule))
      return .clean
    }
  }
}
