import ArgumentParser
import SteadAdviceCommand
import SteadLintCommand

/// `stead advise` as a program of its own.
@main
struct AdviceProgram: ParsableCommand {
  static let configuration = Advise.configuration(of: "stead-advise")

  @OptionGroup var advise: Advise

  static func main() { start() }

  func run() throws { try advise.run() }
}
