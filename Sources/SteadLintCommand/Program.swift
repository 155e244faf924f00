import ArgumentParser
import Foundation

// What the programs `stead`, `stead-lint` and `stead-advise` have in common.

extension ParsableCommand {
  /// Runs the command that a program's arguments name, and ends the program.
  ///
  /// For `main` of a program whose root is the command itself.
  package static func start() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch {
      end(with: error)
    }
  }

  /// Runs a command of the program `stead`, without ending the process.
  ///
  /// - Parameters:
  ///   - words: The arguments after the command's name.
  ///   - run: Runs a parsed command, and returns the exit status; nil if it knows no such command.
  /// - Returns: The exit status, which is 2 if the arguments are invalid.
  package static func dispatch(
    _ words: [String], print: (String) -> Void, complain: (String) -> Void,
    to run: (any ParsableCommand) -> Int32?
  ) -> Int32 {
    do {
      // Under a root `stead`, so that usage and errors begin with both words.
      var command = try Root<Self>.parseAsRoot([_commandName] + words)
      if let status = run(command) { return status }
      // Help, which is thrown.
      try command.run()
      return LintCommand.Exit.clean.rawValue
    } catch {
      let text = Root<Self>.fullMessage(for: error) + "\n"
      // Help and a version are thrown, too, and were asked for.
      if Root<Self>.exitCode(for: error).isSuccess {
        print(text)
        return LintCommand.Exit.clean.rawValue
      }
      complain(text)
      return LintCommand.Exit.failed.rawValue
    }
  }

  /// Ends a program as `exit(withError:)` does, but with 2 instead of 64 if its arguments are invalid.
  ///
  /// Hooks and CI tell 1, something was found, from 2, it couldn't be looked for.
  package static func end(with error: any Error) -> Never {
    guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
    StandardStream.complain(fullMessage(for: error) + "\n")
    exit(withError: ExitCode(LintCommand.Exit.failed.rawValue))
  }
}

/// The program `stead` with one command, so that messages have its name in front of the command's.
private struct Root<Command: ParsableCommand>: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "stead", subcommands: [Command.self])
  }
}

/// The word `help` after a command of a program, such as `stead lint help`. The parser has it after a program's name only.
package struct HelpVerb<Command: ParsableCommand>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    // Hidden, as the parser's own word is.
    CommandConfiguration(commandName: "help", shouldDisplay: false)
  }

  @Argument var words: [String] = []

  package init() {}

  package func run() throws {
    let verbs = Command.configuration.subcommands
    // Help for a word that is no verb is that of the command.
    let verb: (any ParsableCommand.Type)? = verbs.first { $0._commandName == words.first }
    throw CleanExit.helpRequest(verb ?? Command.self)
  }
}

/// Writes to the standard streams, without a buffer: what was written is seen even if the process then crashes.
package enum StandardStream {
  /// Writes to standard output. The text has its line end.
  @Sendable package static func print(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// Writes to standard error. The text has its line end.
  @Sendable package static func complain(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
