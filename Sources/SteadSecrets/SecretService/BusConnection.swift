import Foundation

/// A private connection to a message bus.
///
/// The connection that programs share (`g_bus_get`) ends the process with SIGTERM when the bus dies; a
/// private one does not.
// Sendable: GDBus's connections are thread-safe, and `pointer` is never set again.
final class BusConnection: @unchecked Sendable {
  /// `G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT` and `…_MESSAGE_BUS_CONNECTION`.
  private static let flags: UInt32 = 1 | 8
  /// How long a cancelled attempt to connect may take to end.
  private static let cancelTime = Duration.seconds(1)

  let pointer: GPointer
  let library: SecretLibrary

  /// Connects to the bus at an address.
  ///
  /// It ends by the deadline even if the address leads to a program that accepts connections and never
  /// answers: GDBus has no time limit for that, so it connects asynchronously, and is cancelled.
  init(_ address: String, _ library: SecretLibrary, until deadline: Deadline) throws(BusFailure) {
    // The address may be from an environment variable, and so anything.
    guard library.gio.isAddress(address) != 0 else { throw BusFailure(.noBus, "not an address") }
    self.library = library
    pointer = try BusContext.run(library) { context throws(BusFailure) in
      try Self.connect(address, library, context, until: deadline)
    }
  }

  deinit {
    // Not in the child of a fork: GLib's locks may have been held by threads that the child does not have. The
    // child leaks the connection instead.
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
    // `.gone`: the message is not sent, so the caller may connect again and repeat it.
    if isClosed { throw BusFailure(.gone, "closed") }
    if deadline.hasPassed { throw BusFailure(.timedOut) }
  }

  private static func connect(
    _ address: String, _ library: SecretLibrary, _ context: BusContext, until deadline: Deadline
  ) throws(BusFailure) -> GPointer {
    let cancellable = library.gio.cancellableNew()
    defer { library.glib.objectUnref(cancellable) }
    // Retained for the callback, which releases it. The callback may run after this function has given up.
    let outcome = Outcome(library)
    library.gio.connect(
      address, flags, nil, cancellable,
      { _, result, outcome in
        guard let outcome else { return }
        Unmanaged<Outcome>.fromOpaque(outcome).takeRetainedValue().take(result)
      }, Unmanaged.passRetained(outcome).toOpaque())
    if !context.wait(until: deadline, for: { outcome.result != nil }) {
      // The callback is called after a cancellation, too; without this wait `outcome` would leak with the context.
      library.gio.cancel(cancellable)
      _ = context.wait(until: Deadline(in: cancelTime), for: { outcome.result != nil })
      throw BusFailure(.timedOut)
    }
    guard let result = outcome.result else { throw BusFailure(.timedOut) }
    var error: UnsafeMutablePointer<GError>?
    guard let connection = library.gio.connectFinish(result, &error) else {
      let failure = BusFailure(taking: error, library)
      // Any other failure counts as a missing bus: usually nobody listens at the address.
      let isSpecific = failure.kind == .denied || failure.kind == .timedOut
      throw isSpecific ? failure : BusFailure(.noBus, failure.name)
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

// MARK: - Events

/// A `GMainContext` of the thread's own, for the events that it waits for.
///
/// Without one GLib would queue its events in the program's default main context, where they pile up in a
/// program that never runs it.
struct BusContext {
  /// The interval at which a wait checks its condition without an event, in milliseconds: a task's cancellation
  /// causes none.
  static let tick: UInt32 = 25

  private let context: GPointer
  private let library: SecretLibrary

  /// Calls `body` with a new context, which receives the events of everything that `body` starts on this thread.
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
    // 1 is `G_SOURCE_CONTINUE`: the source fires until it is destroyed.
    library.glib.sourceSetCallback(source, { _ in 1 }, nil, nil)
    _ = library.glib.sourceAttach(source, context)
    defer {
      library.glib.sourceDestroy(source)
      library.glib.sourceUnref(source)
    }
    while !condition() {
      if deadline.hasPassed { return false }
      _ = library.glib.contextIterate(context, 1)
    }
    return true
  }
}

// MARK: - Address

/// The address of the session's message bus, as an environment names it.
enum BusAddress {
  /// Whether the environment names a bus, existing or not, or leaves out one that the user has.
  ///
  /// If it does, a Secret Service that cannot be reached may still exist, and no vault is chosen in its place.
  ///
  /// - Parameter users: The directory in which systemd creates a runtime directory for each user.
  static func isGiven(in environment: [String: String], users: String = "/run/user") -> Bool {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
      return address.split(separator: ";").contains { !$0.hasPrefix("autolaunch:") }
    }
    if let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") {
      return access(directory + "/bus", F_OK) == 0
    }
    // A program of cron has neither variable, though the user's session may have a bus. With another HOME the
    // program is meant to be apart from the session, as in a test or a container.
    let isOwnHome = environment["HOME"] == ProcessInfo.processInfo.environment["HOME"]
    return isOwnHome && access("\(users)/\(geteuid())/bus", F_OK) == 0
  }

  /// The bus address in the environment; nil if none.
  ///
  /// GDBus would start a bus if none is running ("autolaunch"), which needs a display and can hang. So the
  /// environment is read here, by the rules of the D-Bus specification and of systemd.
  static func find(in environment: [String: String], _ library: SecretLibrary) -> String? {
    if let address = environment["DBUS_SESSION_BUS_ADDRESS"], !address.isEmpty {
      let usable = address.split(separator: ";").filter { !$0.hasPrefix("autolaunch:") }
      return usable.isEmpty ? nil : usable.joined(separator: ";")
    }
    guard let directory = environment["XDG_RUNTIME_DIR"], directory.hasPrefix("/") else {
      return nil
    }
    let socket = directory + "/bus"
    guard access(socket, F_OK) == 0, let escaped = library.gio.escapeAddress(socket) else {
      return nil
    }
    defer { library.glib.free(escaped) }
    return "unix:path=" + String(cString: escaped)
  }
}

// MARK: - Values

/// A value to be sent over the bus; it becomes a `GVariant`.
indirect enum BusValue {
  case string(String)
  case path(String)
  case boolean(Bool)
  case uint32(UInt32)
  /// The index of a descriptor among those that are sent with the message.
  case handle(Int32)
  case variant(BusValue)
  case paths([String])
  /// `a{ss}`
  case strings([String: String])
  /// `a{sv}`
  case properties([String: BusValue])
  /// A value that libsecret has created: an encrypted secret.
  case made(BusReply)

  /// Makes the `GVariant`, with a floating reference, which the container or the call takes that it is passed to.
  ///
  /// Strings end at a NUL, so they must not contain any.
  func make(_ library: SecretLibrary) -> GPointer {
    let functions = library.variant
    switch self {
    case .string(let text): return functions.newString(text)
    case .path(let path): return functions.newPath(path)
    case .boolean(let value): return functions.newBoolean(value ? 1 : 0)
    case .uint32(let value): return functions.newUInt32(value)
    case .handle(let position): return functions.newHandle(position)
    case .variant(let value): return functions.newVariant(value.make(library))
    case .made(let made): return made.value
    case .paths(let paths):
      let values = paths.map { functions.newPath($0) }
      // With the type of the elements, which GLib could not infer from an empty array.
      return functions.newArray("o", values, values.count)
    case .strings(let entries):
      let values = entries.map {
        functions.newEntry(functions.newString($0), functions.newString($1))
      }
      return functions.newArray("{ss}", values, values.count)
    case .properties(let entries):
      let values = entries.map { name, value in
        functions.newEntry(functions.newString(name), BusValue.variant(value).make(library))
      }
      return functions.newArray("{sv}", values, values.count)
    }
  }

  static func tuple(_ values: [BusValue], _ library: SecretLibrary) -> GPointer {
    let made = values.map { $0.make(library) }
    return library.variant.newTuple(made, made.count)
  }
}

// MARK: - Replies

/// A `GVariant` that was received, or a part of one; it owns a reference.
///
/// Its parts are accessed by index and type, and are nil when the type differs: a service's answer is not
/// trusted to follow the specification, and GLib would end the process for a wrong type.
final class BusReply {
  let value: GPointer
  private let library: SecretLibrary
  private var functions: GVariantFunctions { library.variant }

  /// - Parameter value: A GLib value with a reference, of which this object takes ownership.
  init(taking value: GPointer, _ library: SecretLibrary) {
    self.value = value
    self.library = library
  }

  deinit { functions.unref(value) }

  var type: String { String(cString: functions.typeString(value)) }

  /// A part of a tuple, an array or an entry.
  subscript(_ index: Int) -> BusReply? {
    guard let first = type.utf8.first, "({a".utf8.contains(first) else { return nil }
    // GLib ends the process for a child that does not exist, and for one of a value without
    // children.
    guard index < functions.count(value) else { return nil }
    return BusReply(taking: functions.child(value, index), library)
  }

  /// The value in a variant.
  var inner: BusReply? { type == "v" ? BusReply(taking: functions.inner(value), library) : nil }

  var string: String? {
    ["s", "o"].contains(type) ? String(cString: functions.string(value, nil)) : nil
  }
  var boolean: Bool? { type == "b" ? functions.boolean(value) != 0 : nil }
  var uint32: UInt32? { type == "u" ? functions.uint32(value) : nil }
  var uint64: UInt64? { type == "t" ? functions.uint64(value) : nil }

  /// The parts of an array, in order.
  var parts: [BusReply]? {
    guard type.hasPrefix("a") else { return nil }
    return (0..<functions.count(value)).map {
      BusReply(taking: functions.child(value, $0), library)
    }
  }

  /// An array of strings or of paths.
  var strings: [String]? { ["as", "ao"].contains(type) ? parts?.compactMap(\.string) : nil }

  /// Strings by their names.
  var dictionary: [String: String]? {
    guard type == "a{ss}", let parts else { return nil }
    return Dictionary(
      parts.compactMap { part in
        guard let name = part[0]?.string, let value = part[1]?.string else { return nil }
        return (name, value)
      }, uniquingKeysWith: { $1 })
  }

  /// Values of any type by their names.
  var properties: [String: BusReply]? {
    guard type == "a{sv}", let parts else { return nil }
    return Dictionary(
      parts.compactMap { part in
        guard let name = part[0]?.string, let value = part[1]?.inner else { return nil }
        return (name, value)
      }, uniquingKeysWith: { $1 })
  }
}
