#if canImport(Darwin)
  // Not run on this project's machines.
  import Dispatch

  extension MemoryPressure {
    // Never changed after it was made.
    private static let source = DispatchSource.makeMemoryPressureSource(
      eventMask: [.warning, .critical], queue: .global(qos: .utility))

    /// Begins to observe the system.
    func observe() {
      let source = Self.source
      source.setEventHandler {
        self.report(source.data.contains(.critical) ? .critical : .warning)
      }
      source.activate()
    }
  }
#endif
