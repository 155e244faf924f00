import ArgumentParser
import SteadLintCommand

/// `stead lint` as a program of its own, for hooks, CI and the package's plugins.
@main
struct LintProgram: ParsableCommand {
  static let configuration = Lint.configuration(of: "stead-lint")

  /// Options may come before the verb. Without one the default is to check.
  @OptionGroup var lint: Lint

  // In place of the parser's own `main`, which ends with 64 for invalid arguments.
  static func main() { start() }
}
