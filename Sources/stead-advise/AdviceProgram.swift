import ArgumentParser
import SteadAdviceCommand
import SteadLintCommand

/// `stead advise` as a program of its own.
@main
struct AdviceProgram: ParsableCommand {
  static let configuration = Advise.configuration(of: "stead-advise")

  /// The options of the command itself. Its verbs are in the configuration.
  @OptionGroup var advise: Advise

  // In place of the parser's own `main`, which ends with 64 for invalid arguments.
  static func main() { start() }

  /// Advises, or reviews code, where the arguments have no verb.
  func run() throws { try advise.run() }
}
