import Foundation
import SteadFiles

/// The desktop's keyring: GNOME Keyring, KWallet, KeePassXC, or any other program that offers the
/// freedesktop.org Secret Service on the session's message bus.
///
/// It is reached through libsecret, which the first call loads, so that programs can be built and started
/// without it. That call also connects; nothing is done before. The connection is private: the end of the bus
/// or of the service is an error, never the end of the process, and the next call reconnects.
///
/// Items are shared with `secret-tool` and other programs: the attributes `service` and `account` name them,
/// in this one collection, whatever their schema. If other programs have created several items of one name,
/// the newest counts; a write changes it, and ``remove(_:)`` removes all.
///
/// **What is protected.** The service encrypts the secrets on its disk and passes them to every program of
/// the user while the collection is unlocked. Labels and attributes, including the names of services and
/// accounts, are less protected: every program can read them while it is unlocked, and GNOME Keyring's file
/// contains unsalted MD5 hashes of the attributes' values in the clear. A short or common name can be found
/// from its hash by trial.
///
/// **Time.** A read costs two round trips to the service, under a millisecond, and once a second a third one,
/// which resolves the collection's alias. A write takes some milliseconds if the service syncs its file. Every
/// call ends within ``timeout``; a call for all items of a service has that time for each item. With
/// ``PromptPolicy/never``, the default, no call shows a prompt. If prompts are allowed, the time of a prompt
/// is added.
///
/// **Processes.** The service has no conditional writes, so writes through this type take turns through a
/// lock file in the user's runtime directory. Conditions hold among the programs that use this package; other
/// programs are not excluded. The child of a fork cannot use the library that its parent has loaded, and gets
/// `.unavailable`; a program that it starts can.
public final class SecretService: SecretStore {
  /// Whether a call may prompt a person.
  public enum PromptPolicy: Hashable, Sendable {
    /// A call that would need a prompt throws instead.
    case never
    /// A call may show prompts, to unlock a collection or to allow a change, and waits up to the timeout for each.
    case allowed(timeout: Duration)
  }

  /// The largest secret that it accepts, 1 MiB: services keep all secrets in memory, in locked memory as far
  /// as available, and write all of them at each change.
  public static let sizeLimit = 1 << 20

  /// The collection that contains the items.
  public let collection: Collection
  /// How long a call waits for the service.
  public let timeout: Duration
  /// Whether a call may prompt a person.
  public let prompts: PromptPolicy

  private let address: String?
  private let environment: [String: String]?
  // What only tests choose.
  private let libraryNames: [String]
  private let aliasLifetime: Duration
  private let connection = ForkSafeLock<ServiceConnection?>(nil)

  /// Describes the service on a message bus; nothing is done until the first call.
  ///
  /// - Parameters:
  ///   - collection: The collection that contains the items.
  ///   - timeout: How long a call waits for the service.
  ///   - prompts: Whether a call may prompt a person.
  ///   - address: The bus, as a D-Bus address; nil means the one in the environment.
  ///   - environment: Variables for the bus and the runtime directory; nil means the process's own.
  public convenience init(
    collection: Collection = .default, timeout: Duration = .seconds(5),
    prompts: PromptPolicy = .never, address: String? = nil, environment: [String: String]? = nil
  ) {
    self.init(
      collection: collection, timeout: timeout, prompts: prompts, address: address,
      environment: environment, aliasLifetime: ServiceConnection.ResolvedAlias.lifetime)
  }

  init(
    collection: Collection = .default, timeout: Duration = .seconds(5),
    prompts: PromptPolicy = .never, address: String? = nil, environment: [String: String]? = nil,
    libraryNames: [String] = SecretLibrary.names,
    aliasLifetime: Duration
  ) {
    self.collection = collection
    self.timeout = timeout
    self.prompts = prompts
    self.address = address
    self.environment = environment
    self.libraryNames = libraryNames
    self.aliasLifetime = aliasLifetime
  }

  /// The desktop's service, and the collection.
  public var storeDescription: SecretStoreDescription {
    SecretStoreDescription(
      kind: .secretService, location: "\(collection)",
      reason:
        "The desktop's Secret Service keeps the secrets. Every program of the user can read them "
        + "while the collection is unlocked; names and attributes are less protected.")
  }

  /// Locking and persistence, except for the session's collection, which is in memory.
  public var features: Set<SecretStoreFeature> {
    collection == .session ? [] : [.locking, .persistence]
  }

  /// The largest secret that it accepts, in bytes.
  public var sizeLimit: Int { Self.sizeLimit }
}

extension SecretService {
  /// The lock that writers of all processes take.
  var writersLock: ServiceLock { ServiceLock(environment: environment) }

  /// Calls `body` with the service, and reconnects if necessary.
  ///
  /// If the service has left the bus since the last call, `body` is called a second time over a new
  /// connection, provided that no message of the first call was answered. Otherwise a write may have been
  /// made, and a repetition could undo another program's later one; the caller gets `.unavailable`.
  func perform<Result>(
    _ body: (ServiceCall) throws(SecretError) -> Result
  ) throws(SecretError) -> Result {
    let deadline = Deadline(in: timeout)
    let call = ServiceCall(
      try connected(until: deadline), collection, prompts, until: deadline, timeout: timeout)
    do throws(SecretError) {
      return try body(call)
    } catch  where error.busKind == .gone && !call.hasReachedService {
      // `.gone` means that the message reached nobody, so nothing was done. Fall through to the second attempt.
      drop(call.connection)
    } catch  where error.busKind == .gone || error.busKind == .disconnected {
      drop(call.connection)
      throw error
    }
    return try body(
      ServiceCall(
        try connected(until: deadline), collection, prompts, until: deadline, timeout: timeout))
  }

  private func connected(until deadline: Deadline) throws(SecretError) -> ServiceConnection {
    let library = try library
    // Whether the service still lives is not asked, which would cost a message: the next call fails with `.gone`, and
    // `perform` connects again.
    if let old = connection.withLock({ $0 }), !old.bus.isClosed { return old }
    let environment = environment ?? ProcessInfo.processInfo.environment
    guard let address = address ?? BusAddress.find(in: environment, library) else {
      throw SecretError(BusFailure(.noBus, "no address"))
    }
    let new: ServiceConnection
    do throws(BusFailure) {
      // Outside of the lock: connecting waits for the bus and the service, up to the deadline.
      new = try ServiceConnection(
        address, library, aliasLifetime: aliasLifetime, until: deadline)
    } catch {
      throw SecretError(error)
    }
    // If two threads connect at once, the later connection stays. The other one is closed outside of the lock,
    // where that delays nobody.
    let old = connection.withLock { current in
      let old = current
      current = new
      return old
    }
    return withExtendedLifetime(old) { new }
  }

  /// Forgets a dead connection, unless another thread has replaced it already.
  private func drop(_ dead: ServiceConnection) {
    connection.withLock { if $0 === dead { $0 = nil } }
  }

  private var library: SecretLibrary {
    get throws(SecretError) {
      try SecretLibrary.usable(
        libraryNames == SecretLibrary.names
          ? SecretLibrary.shared : SecretLibrary.load(libraryNames))
    }
  }
}

// MARK: - Collection

extension SecretService {
  /// A part of the service with its own lock; desktops call it a keyring or a wallet.
  public struct Collection: Hashable, Sendable, CustomStringConvertible {
    enum Lookup: Hashable, Sendable {
      case alias(String)
      case name(String)
    }

    let lookup: Lookup

    /// The user's default collection.
    ///
    /// If the user makes another one the default, as the active tab is in KeePassXC, writes use it at once, and
    /// reads that begin a second later.
    public static let `default` = Collection(lookup: .alias("default"))
    /// A collection in the service's memory that is removed when the user logs out. It has no lock.
    public static let session = Collection(lookup: .alias("session"))

    /// A collection by its alias, or otherwise by the label that the user gave it.
    ///
    /// It is looked up again in each call, which costs a message, and by label one more for each collection.
    /// This package creates only the default collection.
    public static func named(_ name: String) -> Collection { Collection(lookup: .name(name)) }

    /// Its name.
    public var description: String {
      switch lookup {
      case .alias(let name), .name(let name): name
      }
    }
  }
}

// MARK: - Writers' lock

/// The lock that serializes the writers of all processes that use this package.
///
/// The Secret Service has neither transactions nor conditional writes. Under the lock, a condition can be checked
/// and the item written without another such writer in between.
struct ServiceLock {
  /// The pause between two attempts to get a lock that is taken; doubled each time, up to the last.
  private static let (firstPause, lastPause) = (UInt32(500), UInt32(16_000))

  /// Variables for the runtime directory; nil means the process's own.
  let environment: [String: String]?

  /// Calls `body` while holding the lock.
  ///
  /// - Throws: ``SecretError``: `.unavailable` when others held it the whole time; `.accessDenied` or
  ///   `.failed` when the lock's file cannot be used; and what `body` throws.
  func hold<Success>(
    until deadline: Deadline, _ body: () throws(SecretError) -> Success
  ) throws(SecretError) -> Success {
    let lock: FileLock
    do {
      lock = FileLock(try directory().appending(path: "secret-service.lock"))
    } catch {
      throw Self.noLock(error)
    }
    var pause = Self.firstPause
    while true {
      let outcome: Result<Success, SecretError>?
      do {
        // As a result, so that an error of `body` is not taken for one of the lock's file.
        outcome = try lock.withLockIfAvailable { Result(catching: body) }
      } catch {
        throw Self.noLock(error)
      }
      if let outcome { return try outcome.get() }
      guard !deadline.hasPassed else {
        throw SecretError(
          code: .unavailable,
          message: "Other programs kept writing to the Secret Service. Try again.",
          unavailability: .timedOut)
      }
      // A blocking thread cannot wait for a lock's file with a time limit; only tasks can.
      usleep(pause)
      pause = min(pause * 2, Self.lastPause)
    }
  }

  /// The directory of the lock's file: the user's runtime directory, else one in the user's home.
  ///
  /// Without `XDG_RUNTIME_DIR` the runtime directory is below `/tmp`. Another user who creates it first could
  /// block all writes; then the state directory is used.
  private func directory() throws -> URL {
    let environment = environment ?? ProcessInfo.processInfo.environment
    let directories = try AppDirectories(id: "stead", environment: environment)
    do {
      return try directories.create(\.runtime)
    } catch let error as FileError where error.code == .denied || error.code == .notAFile {
      return try directories.create(\.state)
    }
  }

  /// The error when the lock's file cannot be created or opened.
  private static func noLock(_ error: any Error) -> SecretError {
    let isDenied = (error as? FileError)?.code == .denied
    return SecretError(
      code: isDenied ? .accessDenied : .failed,
      message: "The lock file in the user's runtime or state directory cannot be used; see the "
        + "cause.",
      cause: error)
  }
}
