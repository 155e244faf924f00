import Foundation
import SteadLintCommand

let command = LintCommand(
  directory: URL(filePath: FileManager.default.currentDirectoryPath),
  print: { FileHandle.standardOutput.write(Data($0.utf8)) },
  complain: { FileHandle.standardError.write(Data($0.utf8)) })
exit(command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
