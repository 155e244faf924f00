// A second process, for tests of secrets that several programs share.
//
// What fails is printed as a line that begins with `error`.

import Foundation
import SteadSecrets

@main struct SecretsWorker {
  static func main() {
    // One that hangs ends all the same, and its test fails.
    alarm(240)
    if CommandLine.arguments.dropFirst().first == "automatic" {
      Automatic.run(Array(CommandLine.arguments.dropFirst(2)))
      exit(0)
    }
    exit(64)
  }
}

/// Prints a line with one write, so that what has been printed is whole whenever the end comes.
func say(_ line: String) { print(line) }
