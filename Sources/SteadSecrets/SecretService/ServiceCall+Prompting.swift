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
