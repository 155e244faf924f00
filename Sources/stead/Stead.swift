#if Server
import ArgumentParser
import SteadAdviceCommand
import SteadLintCommand

/// The command line of Stead.
@main
struct Stead: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stead", abstract: "Tools for what Stead keeps.",
    subcommands: [Serve.self, Lint.self, Advise.self])

  static func main() async {
    do {
      var command = try await asyncParseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      end(with: error)
    }
  }
}
#else
import Foundation

/// What a build of the whole package has without the packages of the trait `Server`.
@main
struct Stead {
  static func main() {
    let message = "stead was built without the trait Server. Build it with --traits Server.\n"
    FileHandle.standardError.write(Data(message.utf8))
    exit(EX_UNAVAILABLE)
  }
}
#endif
