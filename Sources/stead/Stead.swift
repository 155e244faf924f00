import ArgumentParser
import SteadAdviceCommand
import SteadLintCommand

/// The command line of Stead: the linter, the advisor, and the server if it was built with it.
///
/// It exits with 2 if its arguments are invalid, as its commands do on their own.
@main
struct Stead: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stead", abstract: "Tools for what Stead keeps.",
    subcommands: [Serve.self, Lint.self, Advise.self])

  // Its own, since the parser's ends with 64 for invalid arguments.
  static func main() async {
    do {
      var command = try await asyncParseAsRoot()
      // Only the server's commands are asynchronous.
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
