#if Server
import ArgumentParser
import Foundation
import SteadLintCommand

/// Finds persistence mistakes. Its arguments are those of `stead-lint`, and `LintCommand` parses them.
struct Lint: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Finds persistence mistakes in Swift source; `stead lint help` lists its options.",
    helpNames: [])

  @Argument(parsing: .captureForPassthrough, help: "Paths and options, or a verb such as `rules`.")
  var words: [String] = []

  func run() throws {
    let command = LintCommand(
      directory: URL(filePath: FileManager.default.currentDirectoryPath),
      print: { FileHandle.standardOutput.write(Data($0.utf8)) },
      complain: { FileHandle.standardError.write(Data($0.utf8)) })
    throw ExitCode(command.run(words).rawValue)
  }
}
#endif
