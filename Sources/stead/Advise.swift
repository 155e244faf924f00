#if Server
import ArgumentParser
import Foundation
import SteadAdviceCommand

/// Advises where data belongs. Its arguments are those of `stead-advise`, and `AdviceCommand` parses them.
struct Advise: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Advises where data belongs; `stead advise help` lists its options.", helpNames: [])

  @Argument(
    parsing: .captureForPassthrough, help: "Answers as options, or a verb such as `questions`.")
  var words: [String] = []

  func run() throws {
    let command = AdviceCommand(
      directory: URL(filePath: FileManager.default.currentDirectoryPath),
      isTerminal: isatty(STDIN_FILENO) == 1, readLine: { readLine() },
      print: { FileHandle.standardOutput.write(Data($0.utf8)) },
      complain: { FileHandle.standardError.write(Data($0.utf8)) })
    throw ExitCode(command.run(words).rawValue)
  }
}
#endif
