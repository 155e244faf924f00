import Synchronization

/// One call of a store, which sends messages to the service until it has the result.
///
/// It has the state of the call: the deadline of all its messages, the collection's path once it is resolved, and
/// what a second attempt has to know. It belongs to the thread that makes the call.
///
/// What the messages are, and what services answer in each state of a keyring, is in
/// Documentation/SecretService.md.
final class ServiceCall {
  let connection: ServiceConnection
  let collection: SecretService.Collection
  let prompts: SecretService.PromptPolicy
  private(set) var deadline: Deadline
  private let timeout: Duration
  /// Whether the service has answered a message of this call, so that it may have changed something.
  private(set) var hasReachedService = false
  /// The item that the service last reported as locked.
  private(set) var lockedItem: String?
  private var resolvedPath: String?

  init(
    _ connection: ServiceConnection, _ collection: SecretService.Collection,
    _ prompts: SecretService.PromptPolicy, until deadline: Deadline, timeout: Duration
  ) {
    self.connection = connection
    self.collection = collection
    self.prompts = prompts
    self.deadline = deadline
    self.timeout = timeout
  }

  /// Restarts the time limit. Calls that process many items limit the time of each, not that of all together.
  func renewDeadline() { deadline = Deadline(in: timeout) }

  /// Calls a method of the service's object at a path.
  @discardableResult
  func call(
    _ path: String, _ interface: String, _ method: String, _ arguments: [BusValue] = [],
    until other: Deadline? = nil
  ) throws(SecretError) -> BusReply {
    do throws(BusFailure) {
      let reply = try connection.bus.call(
        connection.owner, path, interface, method, arguments, until: other ?? deadline)
      // From now on a repetition could do something twice.
      hasReachedService = true
      return reply
    } catch {
      throw SecretError(error)
    }
  }

  /// Calls methods of an item, and records its path in ``lockedItem`` if it is locked: an item can be locked
  /// in an open collection.
  func recordingLockedItem<Result>(
    _ path: String, _ body: () throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    do throws(SecretError) {
      return try body()
    } catch  where error.busKind == .locked {
      lockedItem = path
      throw error
    }
  }

  /// A property of the object at a path.
  func property(_ path: String, _ interface: String, _ name: String) throws(SecretError) -> BusReply
  {
    let reply = try call(
      path, ServiceName.properties, "Get", [.string(interface), .string(name)])
    return try require(reply[0]?.inner)
  }

  func setProperty(
    _ path: String, _ interface: String, _ name: String, _ value: BusValue
  ) throws(SecretError) {
    try call(
      path, ServiceName.properties, "Set", [.string(interface), .string(name), .variant(value)])
  }

  /// A part of an answer that the specification requires; `.corrupt` if it is missing.
  func require<Value>(_ value: Value?) throws(SecretError) -> Value {
    guard let value else { throw SecretError(BusFailure(.malformed)) }
    return value
  }

  /// Encodes a secret for this call's session.
  func encode(_ secret: SecretBytes) throws(SecretError) -> BusValue {
    do throws(BusFailure) { return try connection.session.encode(secret) } catch {
      throw SecretError(error)
    }
  }

  func decode(_ reply: BusReply) throws(SecretError) -> SecretBytes {
    do throws(BusFailure) { return try connection.session.decode(reply) } catch {
      throw SecretError(error)
    }
  }
}

extension ServiceCall {
  /// Calls `body` with the collection's own path.
  ///
  /// - Throws: ``SecretError``: `.notInitialized` when the collection does not exist; what `body` throws.
  func withCollection<Result>(
    _ body: (_ path: String) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    let path = try path
    do throws(SecretError) {
      return try body(path)
    } catch  where error.busKind == .noObject {
      throw .notInitialized(collection, error.cause as? BusFailure)
    }
  }

  /// The path of the collection's own object, resolved with the first message of the call.
  ///
  /// Messages never go to an alias's path (`/org/freedesktop/secrets/aliases/default`). GNOME Keyring resolves it
  /// in one thread, while another thread replaces the name that it reads whenever a program connects. Such a
  /// message can miss the collection.
  var path: String {
    get throws(SecretError) {
      if let resolvedPath { return resolvedPath }
      let path =
        switch collection.lookup {
        case .alias(let alias): try collection(of: alias)
        case .name(let name): try find(name)
        }
      guard let path else { throw .notInitialized(collection, nil) }
      // For this call: all of its messages must be about one collection.
      resolvedPath = path
      return path
    }
  }

  /// Resolves the collection's path without the caches of the call and the connection.
  ///
  /// Every call that changes something does, so that it never changes a collection that was the default a moment
  /// ago. So do calls that lock or unlock: the service reports no error for a path without a collection.
  @discardableResult
  func resolvePathAgain() throws(SecretError) -> String {
    resolvedPath = nil
    connection.alias.withLock { $0 = nil }
    return try path
  }

  /// Resolves an alias from the connection's short-lived cache; asking the service adds 50 % to a read.
  private func collection(of alias: String) throws(SecretError) -> String? {
    if let cached = connection.alias.withLock({ $0 }), !cached.expiry.hasPassed {
      return cached.path
    }
    // Before the service is asked: the answer is as old as the question at most.
    let expiry = Deadline(in: connection.aliasLifetime)
    // A missing collection is not cached: it is found as soon as the user has created it.
    guard let path = try target(of: alias) else { return nil }
    connection.alias.withLock {
      $0 = ServiceConnection.ResolvedAlias(path: path, expiry: expiry)
    }
    return path
  }

  /// Asks the service what an alias stands for; nil if nothing.
  private func target(of alias: String) throws(SecretError) -> String? {
    let reply = try call(ServiceName.path, ServiceName.service, "ReadAlias", [.string(alias)])
    let path = try require(reply[0]?.string)
    return path == ServiceName.noPath ? nil : path
  }

  /// Finds a collection by its alias, or by the label that its user gave it; nil if none has the name.
  private func find(_ name: String) throws(SecretError) -> String? {
    guard !name.utf8.contains(0) else { return nil }
    // An alias costs one message; labels cost one for each collection.
    if let path = try target(of: name) { return path }
    let all = try property(ServiceName.path, ServiceName.service, "Collections")
    for path in try require(all.strings) {
      do throws(SecretError) {
        // A collection can disappear between the two messages.
        if try property(path, ServiceName.collection, "Label").string == name { return path }
      } catch  where error.busKind == .noObject {
        continue
      }
    }
    return nil
  }

  /// Whether the collection is locked.
  var isLocked: Bool {
    get throws(SecretError) {
      try withCollection { path throws(SecretError) in
        try require(property(path, ServiceName.collection, "Locked").boolean)
      }
    }
  }

  /// Throws `.locked` when the collection is locked.
  ///
  /// It is called before an item is reported as missing: a locked collection may answer a search with nothing.
  func checkUnlocked() throws(SecretError) {
    if try isLocked { throw SecretError(BusFailure(.locked)) }
  }
}

extension ServiceCall {
  /// The flag by which a task's cancellation reaches the thread that waits for a prompt.
  final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }
    func cancel() { flag.store(true, ordering: .relaxed) }
  }
}

// MARK: - Names

/// Names from the Secret Service's specification, and from that of D-Bus.
enum ServiceName {
  static let bus = "org.freedesktop.secrets"
  static let path = "/org/freedesktop/secrets"
  static let service = "org.freedesktop.Secret.Service"
  static let collection = "org.freedesktop.Secret.Collection"
  static let item = "org.freedesktop.Secret.Item"
  static let prompt = "org.freedesktop.Secret.Prompt"
  static let properties = "org.freedesktop.DBus.Properties"
  /// The schema of items without a special one.
  static let schema = "org.freedesktop.Secret.Generic"
  static let schemaAttribute = "xdg:schema"
  /// The value that replaces a missing path.
  static let noPath = "/"
  /// The program that shows GNOME Keyring's prompts.
  static let prompter = "org.gnome.keyring.SystemPrompter"
}

// MARK: - Prompts

// A prompt is an object of the service. `Prompt` makes it appear, and the signal `Completed` reports that the user
// has answered it. No message is pending meanwhile. So the wait also has to notice the service's death, the bus's
// and the task's cancellation.
extension ServiceCall {
  /// How long an abandoned prompt may take to disappear.
  private static let dismissTime = Duration.seconds(1)

  /// Completes a change for which the service may require a prompt.
  ///
  /// - Parameter path: The prompt, or ``ServiceName/noPath`` if none is required.
  func complete(prompt path: String) throws(SecretError) {
    if case .allowed(let time) = prompts {
      return try run(prompt: path, until: Deadline(in: time), Cancellation())
    }
    guard path != ServiceName.noPath else { return }
    // Otherwise it would stay in the service's memory.
    dismiss(path)
    // The usual reason for a prompt is a locked collection, which has an error of its own.
    try checkUnlocked()
    throw SecretError(BusFailure(.promptNeeded))
  }

  /// Shows a prompt, and waits until the user has answered it.
  ///
  /// - Throws: ``SecretError``: `.cancelled` when the user dismissed it or the task was cancelled,
  ///   `.interactionRequired` when nothing could show it, `.unavailable` after the deadline or when the service
  ///   disappeared.
  func run(
    prompt path: String, until deadline: Deadline, _ cancellation: Cancellation
  ) throws(SecretError) {
    guard path != ServiceName.noPath else { return }
    let signals = PromptSignals()
    do throws(BusFailure) {
      try BusContext.run(connection.bus.library) { context throws(BusFailure) in
        // Before the prompt is shown: the user's answer could precede a later subscription.
        let subscriptions = subscribe(path, signals)
        defer {
          for subscription in subscriptions {
            connection.bus.library.gio.unsubscribe(connection.bus.pointer, subscription)
          }
        }
        _ = try connection.bus.call(
          connection.owner, path, ServiceName.prompt, "Prompt", [.string("")], until: deadline)
        let hasEnded = context.wait(until: deadline) {
          signals.isDismissed != nil || signals.isGone || cancellation.isCancelled
            || connection.bus.isClosed
        }
        if !hasEnded { throw BusFailure(.timedOut) }
      }
    } catch {
      // Nobody waits for the answer any more, and the dialog would stay on the user's screen.
      dismiss(path)
      throw SecretError(error)
    }
    if signals.isDismissed == false { return }
    // An answer that came before the service went away counts.
    if signals.isDismissed == nil, signals.isGone || connection.bus.isClosed {
      throw SecretError(BusFailure(.disconnected))
    }
    if signals.isDismissed == nil {
      dismiss(path)
      throw SecretError(BusFailure(.cancelled))
    }
    throw SecretError(BusFailure(hasPrompter ? .cancelled : .promptNeeded))
  }

  private func dismiss(_ path: String) {
    // The error of a prompt that no longer exists doesn't matter.
    _ = try? call(path, ServiceName.prompt, "Dismiss", until: Deadline(in: Self.dismissTime))
  }

  /// Whether a prompt that was reported as dismissed has been shown.
  ///
  /// GNOME Keyring also reports a prompt as dismissed that it could not show. Its prompter, a separate
  /// program, stays on the bus for some seconds after each prompt; if it isn't there, no prompt was shown.
  /// Other services show their own prompts.
  private var hasPrompter: Bool {
    let limit = Deadline(in: Self.dismissTime)
    let keyring = try? connection.bus.callBus(
      "GetNameOwner", [.string("org.gnome.keyring")], until: limit)
    guard keyring?[0]?.string == connection.owner else { return true }
    let reply = try? connection.bus.callBus(
      "NameHasOwner", [.string(ServiceName.prompter)], until: limit)
    return reply?[0]?.boolean ?? true
  }

  /// What signals have reported of a prompt. Only the waiting thread writes it, in its own event context.
  private final class PromptSignals {
    var isDismissed: Bool?
    var isGone = false
  }

  /// Subscribes `signals` to the end of the prompt, and of the service.
  private func subscribe(_ path: String, _ signals: PromptSignals) -> [UInt32] {
    let (gio, bus) = (connection.bus.library.gio, connection.bus.pointer)
    let target = Unmanaged.passUnretained(signals).toOpaque()
    // Not retained: `run` keeps `signals` until it has unsubscribed, and GIO calls back on this thread's context
    // alone.
    let completed = gio.subscribe(
      bus, connection.owner, ServiceName.prompt, "Completed", path, nil, 0,
      { _, _, _, _, _, parameters, target in
        guard let target, let parameters, let library = try? SecretLibrary.shared.get() else {
          return
        }
        let child = BusReply(taking: library.variant.child(parameters, 0), library)
        Unmanaged<PromptSignals>.fromOpaque(target).takeUnretainedValue().isDismissed =
          child.boolean ?? true
      }, target, nil)
    let gone = gio.subscribe(
      bus, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
      "/org/freedesktop/DBus", connection.owner, 0,
      { _, _, _, _, _, _, target in
        guard let target else { return }
        Unmanaged<PromptSignals>.fromOpaque(target).takeUnretainedValue().isGone = true
      }, target, nil)
    return [completed, gone]
  }
}
