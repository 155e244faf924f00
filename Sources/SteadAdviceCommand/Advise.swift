import ArgumentParser
import Foundation
import SteadAdvice
import SteadLintCommand

/// Advises where data belongs: the command `stead advise`.
package struct Advise: AdviceVerb {
  package static let configuration: CommandConfiguration = {
    var configuration = Self.configuration(of: "stead advise")
    configuration.subcommands.append(HelpVerb<Advise>.self)
    return configuration
  }()

  @OptionGroup var format: AdviceFormat
  @OptionGroup var options: AdviceOptions

  package init() {}

  /// The configuration of a command with these verbs. The last word of its name is the command's.
  package static func configuration(of name: String) -> CommandConfiguration {
    CommandConfiguration(
      commandName: name.split(separator: " ").last.map(String.init),
      abstract: "Asks what the data is, and advises where it belongs.",
      usage: """
        \(name) [<options>]
        \(name) --from-code <path> [--json] [--cloudkit]
        \(name) questions [--json]
        \(name) limits [--json]
        """,
      discussion: """
        A question that an option answers isn't asked. Those about sharing, retention, platforms, observers and shape \
        refine the advice, and are never asked. `questions` lists the questions with their answers.

        Answers are read from standard input, one per line: a name, a number from the list, or an empty line for the \
        usual answer. If the input ends early, the advice uses the answers so far.

        Exits with 0, with 1 if code keeps something in the wrong store, and with 2 if it couldn't tell.
        """,
      subcommands: [Questions.self, Limits.self])
  }

  package func run(_ command: AdviceCommand) -> AdviceCommand.Exit {
    if let code = options.code {
      return command.review(code, assumesCloudKit: options.assumesCloudKit, format)
    }
    return command.advise(
      options.situation, assumesUsual: options.assumesUsual, format)
  }
}

/// A verb of the command. `AdviceCommand` does its work.
package protocol AdviceVerb: ParsableCommand {
  func run(_ command: AdviceCommand) -> AdviceCommand.Exit
}

extension AdviceVerb {
  package func run() throws {
    let command = AdviceCommand(
      directory: URL(filePath: FileManager.default.currentDirectoryPath),
      isTerminal: isatty(STDIN_FILENO) == 1, readLine: { readLine() },
      print: StandardStream.print, complain: StandardStream.complain)
    throw ExitCode(run(command).rawValue)
  }
}

// MARK: - Verbs

extension Advise {
  package struct Questions: AdviceVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Lists the questions, their answers and their reasons.")

    @OptionGroup var format: AdviceFormat

    package init() {}

    package func run(_ command: AdviceCommand) -> AdviceCommand.Exit {
      command.list((Question.all + Question.refinements).map(QuestionText.init), format)
    }
  }

  package struct Limits: AdviceVerb {
    package static let configuration = CommandConfiguration(
      abstract: "Lists the limits of the stores, with the measurements.")

    @OptionGroup var format: AdviceFormat

    package init() {}

    package func run(_ command: AdviceCommand) -> AdviceCommand.Exit {
      command.list(Threshold.all.map(LimitText.init), format)
    }
  }
}
