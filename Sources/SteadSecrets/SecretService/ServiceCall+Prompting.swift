extension ServiceCall {
  /// How long an abandoned prompt may take to disappear.
  private static let dismissTime = Duration.seconds(1)

  /// Handles the prompt of a change, if it needs one.
  func finish(prompt path: String) throws(SecretError) {
    if case .allowed(let time) = prompts {
      return try run(prompt: path, until: Deadline(in: time), Cancellation())
    }
    guard path != ServiceName.noPath else { return }
    dismiss(path)
    // Prompts are mainly for locked collections, which have an error of their own.
    try checkUnlocked()
    throw SecretError(BusFailure(.promptNeeded))
  }

  /// Shows a prompt and waits until the user has answered it.
  func run(
    prompt path: String, until deadline: Deadline, _ cancellation: Cancellation
  ) throws(SecretError) {
    guard path != ServiceName.noPath else { return }
    let answer = Answer()
    do throws(BusFailure) {
      try BusContext.run(connection.bus.library) { context throws(BusFailure) in
        let subscriptions = follow(path, answer)
        defer {
          for subscription in subscriptions {
            connection.bus.library.gio.unsubscribe(connection.bus.pointer, subscription)
          }
        }
        _ = try connection.bus.call(
          connection.owner, path, ServiceName.prompt, "Prompt", [.string("")], until: deadline)
        let isOver = context.wait(until: deadline) {
          answer.isDismissed != nil || answer.isGone || cancellation.isCancelled
            || connection.bus.isClosed
        }
        if !isOver { throw BusFailure(.timedOut) }
      }
    } catch {
      dismiss(path)
      throw SecretError(error)
    }
    if answer.isDismissed == false { return }
    if answer.isDismissed == nil, answer.isGone || connection.bus.isClosed {
      throw SecretError(BusFailure(.disconnected))
    }
    if answer.isDismissed == nil {
      dismiss(path)
      throw SecretError(BusFailure(.cancelled))
    }
    throw SecretError(BusFailure(hasPrompter ? .cancelled : .promptNeeded))
  }

  private func dismiss(_ path: String) {
    // A prompt that no longer exists counts, too.
    _ = try? call(path, ServiceName.prompt, "Dismiss", until: Deadline(in: Self.dismissTime))
  }

  /// False when GNOME Keyring reported a prompt as dismissed that it could not show: its prompter stays on
  /// the bus for some seconds after each prompt. Other services show their own prompts.
  private var hasPrompter: Bool {
    let limit = Deadline(in: Self.dismissTime)
    let keyring = try? connection.bus.callBus(
      "GetNameOwner", [.string("org.gnome.keyring")], until: limit)
    guard keyring?[0]?.string == connection.owner else { return true }
    let reply = try? connection.bus.callBus(
      "NameHasOwner", [.string(ServiceName.prompter)], until: limit)
    return reply?[0]?.boolean ?? true
  }

  /// The signals of a prompt; only the waiting thread's context writes them.
  private final class Answer {
    var isDismissed: Bool?
    var isGone = false
  }

  /// Subscribes `answer` to the end of the prompt, and of the service.
  private func follow(_ path: String, _ answer: Answer) -> [UInt32] {
    let (gio, bus) = (connection.bus.library.gio, connection.bus.pointer)
    let target = Unmanaged.passUnretained(answer).toOpaque()
    let completed = gio.subscribe(
      bus, connection.owner, ServiceName.prompt, "Completed", path, nil, 0,
      { _, _, _, _, _, parameters, target in
        guard let target, let parameters, let library = try? SecretLibrary.shared.get() else {
          return
        }
        let child = BusReply(taking: library.variant.child(parameters, 0), library)
        Unmanaged<Answer>.fromOpaque(target).takeUnretainedValue().isDismissed =
          child.boolean ?? true
      }, target, nil)
    let gone = gio.subscribe(
      bus, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
      "/org/freedesktop/DBus", connection.owner, 0,
      { _, _, _, _, _, _, target in
        guard let target else { return }
        Unmanaged<Answer>.fromOpaque(target).takeUnretainedValue().isGone = true
      }, target, nil)
    return [completed, gone]
  }
}
