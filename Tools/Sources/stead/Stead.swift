import ArgumentParser

/// The command line of Stead.
@main
struct Stead: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stead", abstract: "Tools for what Stead keeps.",
    subcommands: [Serve.self, Lint.self, Advise.self])
}
