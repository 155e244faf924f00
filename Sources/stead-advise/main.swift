import Foundation
import SteadAdviceCommand

let command = AdviceCommand(
  directory: URL(filePath: FileManager.default.currentDirectoryPath),
  isTerminal: isatty(STDIN_FILENO) == 1, readLine: { readLine() },
  print: { FileHandle.standardOutput.write(Data($0.utf8)) },
  complain: { FileHandle.standardError.write(Data($0.utf8)) })
exit(command.run(Array(CommandLine.arguments.dropFirst())).rawValue)
