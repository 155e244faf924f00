/// A thread's own context for GLib's events, while the thread waits.
///
/// Without one GLib would queue its events in the program's main context, where they pile up in a program
/// that never runs it.
struct BusContext {
  /// The maximum time before a cancelled wait is noticed, in milliseconds.
  static let tick: UInt32 = 25

  private let context: GPointer
  private let library: SecretLibrary

  /// Calls `body` with a context that receives the events of what is started in it, on this thread.
  static func run<Result, Failure: Error>(
    _ library: SecretLibrary, _ body: (BusContext) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let context = library.glib.contextNew()
    library.glib.contextPush(context)
    defer {
      library.glib.contextPop(context)
      library.glib.contextUnref(context)
    }
    return try body(BusContext(context: context, library: library))
  }

  /// Processes events until a condition holds or the time is over; returns whether the condition holds.
  func wait(until deadline: Deadline, for condition: () -> Bool) -> Bool {
    let source = library.glib.timeoutSource(Self.tick)
    library.glib.sourceSetCallback(source, { _ in 1 }, nil, nil)
    _ = library.glib.sourceAttach(source, context)
    defer {
      library.glib.sourceDestroy(source)
      library.glib.sourceUnref(source)
    }
    while !condition() {
      if deadline.isOver { return false }
      _ = library.glib.contextIterate(context, 1)
    }
    return true
  }
}
