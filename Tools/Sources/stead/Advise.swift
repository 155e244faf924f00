import ArgumentParser
import Foundation
import SteadAdviceCommand

/// Says where data belongs. The words behind it are those of `stead-advise`, which reads them itself.
struct Advise: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Says where data belongs; `stead advise help` lists its options.", helpNames: [])

  @Argument(
    parsing: .captureForPassthrough, help: "Answers as options; a verb such as `questions`.")
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
