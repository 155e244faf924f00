// A second process, for tests of secrets that several programs share.
//
// What fails is printed as a line that begins with `error`.

import Foundation
import SteadSecrets

@main struct SecretsWorker {
  static func main() {
    // One that hangs ends all the same, and its test fails.
    alarm(240)
    exit(64)
  }
}
