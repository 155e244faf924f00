/// A private connection to a message bus.
///
/// The connection that programs share (`g_bus_get`) ends the process with SIGTERM when the bus dies; a
/// private one does not.
// Sendable: GDBus's connections are thread-safe, and `pointer` is never set again.
final class BusConnection: @unchecked Sendable {
  /// `G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT` and `…_MESSAGE_BUS_CONNECTION`.
  private static let flags: UInt32 = 1 | 8
  /// How long an abandoned attempt may take to end.
  private static let cancelTime = Duration.seconds(1)

  let pointer: GPointer
  let library: SecretLibrary

  /// Connects, limited by the deadline even if the address leads to a program that does not answer.
  init(_ address: String, _ library: SecretLibrary, until deadline: Deadline) throws(BusFailure) {
    guard library.gio.isAddress(address) != 0 else { throw BusFailure(.noBus, "not an address") }
    self.library = library
    pointer = try BusContext.run(library) { context throws(BusFailure) in
      try Self.connect(address, library, context, until: deadline)
    }
  }

  deinit {
    // In the child of a fork GLib's locks may be held by threads that the child lacks.
    if library.isUsable { library.glib.objectUnref(pointer) }
  }

  var isClosed: Bool { library.gio.isClosed(pointer) != 0 }

  /// `G_DBUS_CALL_FLAGS_NO_AUTO_START`
  private static let noAutoStart: UInt32 = 1

  /// Calls a method and waits for its answer, which is a tuple.
  func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ arguments: [BusValue] = [], until deadline: Deadline
  ) throws(BusFailure) -> BusReply {
    try check(deadline)
    var error: UnsafeMutablePointer<GError>?
    let answer = library.gio.call(
      pointer, destination, path, interface, method, BusValue.tuple(arguments, library), nil,
      Self.noAutoStart, deadline.milliseconds, nil, &error)
    guard let answer else { throw BusFailure(taking: error, library) }
    return BusReply(taking: answer, library)
  }

  /// Calls a method with a copy of an open file, to which `.handle(0)` refers.
  func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ arguments: [BusValue], sending descriptor: Int32, until deadline: Deadline
  ) throws(BusFailure) -> BusReply {
    try check(deadline)
    var error: UnsafeMutablePointer<GError>?
    let descriptors = library.gio.descriptorsNew()
    defer { library.glib.objectUnref(descriptors) }
    guard library.gio.descriptorsAppend(descriptors, descriptor, &error) == 0 else {
      throw BusFailure(taking: error, library)
    }
    let answer = library.gio.callWithDescriptors(
      pointer, destination, path, interface, method, BusValue.tuple(arguments, library), nil,
      Self.noAutoStart, deadline.milliseconds, descriptors, nil, nil, &error)
    guard let answer else { throw BusFailure(taking: error, library) }
    return BusReply(taking: answer, library)
  }

  private func check(_ deadline: Deadline) throws(BusFailure) {
    if isClosed { throw BusFailure(.gone, "closed") }
    if deadline.isOver { throw BusFailure(.timedOut) }
  }

  private static func connect(
    _ address: String, _ library: SecretLibrary, _ context: BusContext, until deadline: Deadline
  ) throws(BusFailure) -> GPointer {
    let cancellable = library.gio.cancellableNew()
    defer { library.glib.objectUnref(cancellable) }
    let outcome = Outcome(library)
    library.gio.connect(
      address, flags, nil, cancellable,
      { _, result, outcome in
        guard let outcome else { return }
        Unmanaged<Outcome>.fromOpaque(outcome).takeRetainedValue().take(result)
      }, Unmanaged.passRetained(outcome).toOpaque())
    if !context.wait(until: deadline, for: { outcome.result != nil }) {
      library.gio.cancel(cancellable)
      _ = context.wait(until: Deadline(in: cancelTime), for: { outcome.result != nil })
      throw BusFailure(.timedOut)
    }
    guard let result = outcome.result else { throw BusFailure(.timedOut) }
    var error: UnsafeMutablePointer<GError>?
    guard let connection = library.gio.connectFinish(result, &error) else {
      let failure = BusFailure(taking: error, library)
      let isTold = failure.kind == .denied || failure.kind == .timedOut
      throw isTold ? failure : BusFailure(.noBus, failure.name)
    }
    return connection
  }

  /// The result of an attempt to connect. Only its thread's context calls `take`.
  private final class Outcome {
    private(set) var result: GPointer?
    private let library: SecretLibrary

    init(_ library: SecretLibrary) { self.library = library }
    deinit { if let result { library.glib.objectUnref(result) } }

    func take(_ result: GPointer?) { self.result = result.map { library.glib.objectRef($0) } }
  }
}
