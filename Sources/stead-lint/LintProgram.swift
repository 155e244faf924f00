import ArgumentParser
import SteadLintCommand

/// `stead lint` as a program of its own, for hooks, CI and the package's plugins.
@main
struct LintProgram: ParsableCommand {
  static let configuration = Lint.configuration(of: "stead-lint")

  @OptionGroup var lint: Lint

  static func main() { start() }
}
