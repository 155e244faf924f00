// A second process, for tests of caches that several programs share.
//
// Failures and the deadline: WorkerMain.

import Foundation
import SteadCaches
import SteadTestSupport

@main struct CachesWorker {
  static func main() {
    WorkerMain.run { arguments in
      if try DiskWorker.run(arguments) { return }
      if TimesWorker.run(arguments) { return }
      if HTTPWorker.run(arguments) { return }
      if try HomeWorker.run(arguments) { return }
      WorkerMain.misuse()
    }
  }
}
