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
