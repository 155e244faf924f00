import CSteadSecrets
import Foundation
import SteadFiles

/// The secret that the desktop stores for one app in a sandbox, such as a Flatpak or a Snap.
///
/// `org.freedesktop.portal.Secret` identifies an app by its sandbox, and always gives it the same secret. The
/// secret is in the desktop's keyring, and other apps cannot request it. As in libsecret, it encrypts the app's
/// own file; here that is a vault.
///
/// It is a ``SecretStore`` with one item, which nobody can change, so that ``VaultKey/stored(in:_:)`` can
/// name it.
///
/// A request works like this: the call passes the writing end of a pipe, and returns the path of a request object.
/// Its signal `Response` reports whether the user has agreed; then the secret is in the pipe.
struct SecretPortal: SecretStore {
  static let name = "org.freedesktop.portal.Desktop"
  private static let path = "/org/freedesktop/portal/desktop"
  private static let interface = "org.freedesktop.portal.Secret"
  private static let request = "org.freedesktop.portal.Request"

  let environment: [String: String]
  let timeout: Duration

  /// Whether the process is in a sandbox whose apps have to use the portal. It does not ask the bus.
  ///
  /// - Parameter information: The file that Flatpak puts into its sandboxes.
  static func isForProcess(
    _ environment: [String: String], information: String = "/.flatpak-info"
  ) -> Bool {
    environment["SNAP_NAME"]?.isEmpty == false || access(information, F_OK) == 0
  }

  /// Whether the desktop offers the portal.
  ///
  /// - Throws: ``SecretError`` when that is unknown.
  func isOffered() throws(SecretError) -> Bool {
    do throws(SecretError) {
      let (bus, owner, deadline) = try connect()
      do throws(BusFailure) {
        // Each interface of the portals has this property. Reading it asks the user nothing.
        _ = try bus.call(
          owner, Self.path, ServiceName.properties, "Get",
          [.string(Self.interface), .string("version")], until: deadline)
      } catch  where error.isMissingInterface {
        return false
      } catch {
        throw SecretError(error)
      }
      return true
    } catch {
      // Absent only if that is certain. A portal that doesn't answer may have the secret of the app's vault.
      switch error.unavailability {
      case .noLibrary, .noService: return false
      case .noBus where !BusAddress.isGiven(in: environment): return false
      default: throw reworded(error)
      }
    }
  }

  /// The secret; the desktop may ask its user to unlock the keyring meanwhile.
  ///
  /// - Throws: ``SecretError``: `.unavailable`, `.cancelled`, `.accessDenied`.
  func secret() throws(SecretError) -> SecretBytes {
    let pipe = try OpenPipe()
    do throws(SecretError) {
      let (bus, owner, deadline) = try connect()
      do throws(BusFailure) {
        try BusContext.run(bus.library) { context throws(BusFailure) in
          try retrieve(bus, owner, pipe, context, until: deadline)
        }
      } catch {
        throw SecretError(error)
      }
      return try pipe.contents(limit: VaultKey.maximumSize, until: deadline)
    } catch {
      throw reworded(error)
    }
  }

  /// Rewords an error for the portal; those of the bus are about the Secret Service.
  private func reworded(_ error: SecretError) -> SecretError {
    guard error.cause is BusFailure else { return error }
    var error = error
    error.message =
      switch error.code {
      case .cancelled:
        "The desktop's user dismissed the request for the app's secret. Try again, and allow it."
      case .unavailable:
        "The desktop's Secret portal did not answer in time, or isn't running. Unlock the "
          + "keyring, and try "
          + "again with a longer timeout."
      case .accessDenied:
        "The desktop denies the app access to its Secret portal. Check the sandbox's permissions."
      default:
        "The desktop's Secret portal returned no secret; see the cause. Check whether the "
          + "desktop has a "
          + "keyring that keeps secrets for sandboxes."
      }
    return error
  }

  /// Connects to the bus, and starts the deadline of the whole request.
  private func connect() throws(SecretError) -> (BusConnection, owner: String, Deadline) {
    let deadline = Deadline(in: timeout)
    let library = try SecretLibrary.usable()
    guard let address = BusAddress.find(in: environment, library) else {
      throw SecretError(BusFailure(.noBus, "no address"))
    }
    do throws(BusFailure) {
      let bus = try BusConnection(address, library, until: deadline)
      return (bus, try bus.owner(of: Self.name, until: deadline), deadline)
    } catch {
      throw SecretError(error)
    }
  }

  /// Requests the secret, and waits until the desktop has written it to the pipe.
  private func retrieve(
    _ bus: BusConnection, _ owner: String, _ pipe: OpenPipe, _ context: BusContext,
    until deadline: Deadline
  ) throws(BusFailure) {
    let responses = Responses()
    // Before the call: the signal can arrive before the call returns, and then the path is not known yet. So the
    // responses to all requests of this connection are collected.
    let subscription = bus.library.gio.subscribe(
      bus.pointer, owner, Self.request, "Response", nil, nil, 0,
      { _, _, path, _, _, parameters, target in
        guard let target, let path, let parameters,
          let library = try? SecretLibrary.shared.get()
        else { return }
        let code = BusReply(taking: library.variant.child(parameters, 0), library).uint32
        Unmanaged<Responses>.fromOpaque(target).takeUnretainedValue()
          .codes[String(cString: path)] = code ?? .max
      }, Unmanaged.passUnretained(responses).toOpaque(), nil)
    defer { bus.library.gio.unsubscribe(bus.pointer, subscription) }
    let reply = try bus.call(
      owner, Self.path, Self.interface, "RetrieveSecret", [.handle(0), .properties([:])],
      sending: pipe.writing, until: deadline)
    // Otherwise the pipe would never end: this process would be one of its writers.
    pipe.closeWriting()
    guard let handle = reply[0]?.string else { throw BusFailure(.malformed) }
    let isAnswered = context.wait(until: deadline) {
      responses.codes[handle] != nil || bus.isClosed
    }
    guard let code = responses.codes[handle] else {
      if !isAnswered { dismiss(handle, bus, owner) }
      throw BusFailure(isAnswered ? .disconnected : .timedOut)
    }
    // The codes are the portal's: 0 success, 1 dismissed by the user, 2 anything else.
    switch code {
    case 0: return
    case 1: throw BusFailure(.cancelled)
    default: throw BusFailure(.other, "the portal's response is \(code)")
    }
  }

  /// Closes an abandoned request, so that its prompt disappears.
  private func dismiss(_ handle: String, _ bus: BusConnection, _ owner: String) {
    _ = try? bus.call(owner, handle, Self.request, "Close", until: Deadline(in: .seconds(1)))
  }

  /// The codes of responses, by the paths of their requests; only the waiting thread's context writes them.
  private final class Responses {
    var codes: [String: UInt32] = [:]
  }
}

extension SecretPortal {
  var storeDescription: SecretStoreDescription {
    SecretStoreDescription(
      kind: .other("Secret portal"),
      reason: "The desktop stores one secret for each app in a sandbox.")
  }
  var features: Set<SecretStoreFeature> { [.persistence] }
  var sizeLimit: Int { VaultKey.maximumSize }

  func bytes(for id: SecretID) throws(SecretError) -> SecretBytes? { try secret() }
  func item(for id: SecretID) throws(SecretError) -> SecretItem? { nil }
  func items(service: String) throws(SecretError) -> [SecretItem] { [] }
  func items(matching attributes: [String: String]) throws(SecretError) -> [SecretItem] { [] }
  func remove(_ id: SecretID) throws(SecretError) -> Bool { throw unchangeable }
  func removeAll(service: String) throws(SecretError) -> Int { throw unchangeable }
  func write(
    _ bytes: SecretBytes, for id: SecretID, _ write: SecretStoreWrite
  ) throws(SecretError) { throw unchangeable }

  private var unchangeable: SecretError {
    SecretError(
      code: .accessDenied,
      message: "The Secret portal's secret cannot be changed. Keep secrets in a vault whose key it "
        + "is.")
  }
}

extension VaultKey {
  /// The secret that the desktop's Secret portal stores for this app in a sandbox: Flatpak, Snap.
  ///
  /// It protects the vault from other apps and from readers of the file. The desktop may ask its user to
  /// unlock the keyring when a vault is opened with it.
  ///
  /// - Parameters:
  ///   - timeout: How long the desktop and its user may take.
  ///   - environment: The process's environment, or a test's substitute.
  public static func secretPortal(
    timeout: Duration = .seconds(60),
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> VaultKey {
    .stored(in: SecretPortal(environment: environment, timeout: timeout), .portal)
  }
}

extension SecretID {
  /// This package's name for the portal's secret; the portal itself gives it none.
  fileprivate static let portal = SecretID(own: "stead.portal", "secret")
}

// MARK: - Pipe

/// A pipe through which another program passes a secret. It belongs to the thread that creates it.
final class OpenPipe {
  private let reading: Int32
  /// The descriptor that the other program gets a copy of; -1 once it is closed here.
  private(set) var writing: Int32

  init() throws(SecretError) {
    var ends: [Int32] = [-1, -1]
    let error = stead_pipe(&ends)
    guard error == 0 else {
      throw SecretError(
        code: .failed, message: "The system has no pipe left. Close files, and try again.",
        cause: POSIXError(POSIXErrorCode(rawValue: error) ?? .EMFILE))
    }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    closeWriting()
    POSIXDisk().close(reading)
  }

  /// Closes this process's writing end, so that the pipe ends when the other program closes its copy.
  func closeWriting() {
    if writing >= 0 { POSIXDisk().close(writing) }
    writing = -1
  }

  /// Everything that was written, up to the end of the pipe, read directly into memory that is wiped.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when the end does not come in time, `.corrupt` above the limit.
  func contents(limit: Int, until deadline: Deadline) throws(SecretError) -> SecretBytes {
    var count = 0
    // One byte more than allowed: if it is filled, the contents are too long.
    let buffer = try SecretBytes(count: limit + 1) { (memory) throws(SecretError) in
      while count < memory.count {
        let rest = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
        let more = try read(into: rest, deadline)
        if more == 0 { return }
        count += more
      }
      throw SecretError(
        code: .corrupt, message: "The other program sent a key longer than \(limit) bytes.")
    }
    return buffer.withBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  private func read(
    into memory: UnsafeMutableRawBufferPointer, _ deadline: Deadline
  ) throws(SecretError) -> Int {
    while true {
      var waiting = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
      // A `read` alone has no time limit, and the portal may keep its end open. Interrupted calls are repeated until
      // the deadline.
      if poll(&waiting, 1, deadline.milliseconds) > 0 {
        let count = Foundation.read(reading, memory.baseAddress, memory.count)
        if count >= 0 { return count }
      }
      if deadline.hasPassed { throw SecretError(BusFailure(.timedOut)) }
    }
  }
}
