// For Apple's systems; not run on this project's machines.
#if canImport(Darwin)
  import os

  extension Stead.Problem {
    /// Writes the problem to the unified log.
    func writeToLog() {
      // Public, since no text of a problem holds a stored value.
      Logger(subsystem: "stead", category: "\(product)").error("\(self, privacy: .public)")
    }
  }
#endif
