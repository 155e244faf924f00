public import Foundation
import SteadFiles
internal import SteadSyncProtocol

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The data with which a device accesses its account. Keep it secret: whoever has the refresh token is this device.
public struct SyncCredentials: Codable, Hashable, Sendable {
  /// The server's address, such as `https://sync.example.org`.
  public var server: URL
  /// The name of the account.
  public var user: String
  /// The device's name in the account; part of each stamp.
  public var device: String
  /// The secret that gives access tokens. It works once; each use gives the next one.
  public var refreshToken: String

  /// Makes credentials from stored parts. New ones come from
  /// ``HTTPSyncTransport/enrol(server:user:code:deviceName:session:timeout:)``.
  public init(server: URL, user: String, device: String, refreshToken: String) {
    self.server = server
    self.user = user
    self.device = device
    self.refreshToken = refreshToken
  }
}

extension SyncCredentials: CustomStringConvertible, CustomDebugStringConvertible {
  /// Without the token.
  public var description: String { "\(user) at \(server), device \(device)" }
  /// As ``description``, so that no debugger or log has the token.
  public var debugDescription: String { description }
}

// MARK: - Storage

/// Where a device's credentials are stored: in a file, or in the app's store of secrets. The credentials change with
/// each renewal of the access token, about every quarter of an hour while an engine runs.
///
/// Calls come from any thread, never two at the same time from one transport, and may block.
public protocol SyncCredentialStore: Sendable {
  /// Loads the credentials; nil if the device is not enrolled.
  func load() throws -> SyncCredentials?
  /// Replaces the stored credentials. They survive the end of the process once this returns.
  ///
  /// If it throws, the request that needed the token fails, and the next one renews again with the old refresh token.
  /// The server accepts that until a newer one was used, since its answer may have been lost.
  func save(_ credentials: SyncCredentials) throws
}

/// Credentials in a file that only its owner may read.
///
/// For servers and command-line programs. On a desktop, keep them in a store of SteadSecrets. Each save replaces the
/// file as a whole, so a crash leaves the old or the new credentials.
public struct SyncCredentialFile: SyncCredentialStore {
  private let file: AtomicFile

  /// Names a file, which is created by the first save, and replaced as a whole by each.
  public init(_ url: URL) { file = AtomicFile(url) }

  /// Reads the file; nil if it doesn't exist.
  ///
  /// - Throws: A `FileError` if it can't be read, and a `DecodingError` if it has something else.
  public func load() throws -> SyncCredentials? {
    guard let data = try file.readIfPresent() else { return nil }
    return try JSONDecoder().decode(SyncCredentials.self, from: data)
  }

  /// Replaces the file, which is durable when this returns.
  ///
  /// - Throws: A `FileError`; the old credentials then stay.
  public func save(_ credentials: SyncCredentials) throws {
    try file.replace(with: try JSONEncoder().encode(credentials), permissions: .ownerOnly)
  }
}

// MARK: - Access tokens

/// The access token of one account.
///
/// Invariant: one renewal at a time. A refresh token works once, so two renewals at the same time would spend one token
/// twice, after which the server revokes the device. Callers that come meanwhile wait for the same task.
actor HTTPSyncAccess {
  /// How long before its expiry a token is renewed, in seconds.
  private static let margin = 60.0

  /// The credentials, with the refresh token for the next renewal.
  private var credentials: SyncCredentials
  /// Where each renewal saves the next refresh token.
  private let store: any SyncCredentialStore
  private let session: SyncSession
  private let timeout: Double
  /// The last access token, and its end by the device's clock.
  private var current: (token: String, end: Date)?
  /// The renewal in progress, for whose end all callers wait.
  private var renewal: Task<String, any Error>?

  init(
    _ credentials: SyncCredentials, _ store: some SyncCredentialStore, _ session: SyncSession,
    _ timeout: Double
  ) {
    self.timeout = timeout
    self.credentials = credentials
    self.store = store
    self.session = session
  }

  var server: URL { credentials.server }
  /// The server's name for the device; nil if it isn't one of the protocol.
  var device: DeviceID? { DeviceID(credentials.device) }

  /// A token that is valid for a while; a new one if the server rejected the last.
  func token(renewing: Bool = false) async throws -> String {
    // Also a caller whose token was just refused: it gets the new one.
    if let renewal { return try await renewal.value }
    if let current, !renewing, current.end.timeIntervalSinceNow > Self.margin {
      return current.token
    }
    // A task of its own: the cancellation of one caller must not lose a refresh token that the server has given
    // already.
    let task = Task { try await renew() }
    renewal = task
    // Also after a failure, so that the next request tries again.
    defer { renewal = nil }
    return try await task.value
  }

  /// Exchanges the refresh token for an access token and the next refresh token ("Access" in SyncServer.md).
  ///
  /// Invariant: a refresh token is on the disk before it is used, and the old one stays there until then. So after a
  /// crash at any point the stored one is the last that was used or its successor, and the server accepts both.
  private func renew() async throws -> String {
    let tokens = try await Self.tokens(
      "v1/token", at: credentials.server, ["refresh_token": credentials.refreshToken], session,
      timeout)
    var next = credentials
    next.refreshToken = tokens.refresh_token
    // Saved before it is used: if the process ended with an unsaved refresh token, the device would be locked out.
    try store.save(next)
    credentials = next
    // Counted from the arrival, so the token ends a little earlier than this. The margin covers
    // that.
    current = (tokens.access_token, Date(timeIntervalSinceNow: Double(tokens.expires_in)))
    return tokens.access_token
  }

  /// Exchanges a code for the first tokens. Saves nothing.
  static func enrol(
    server: URL, _ body: [String: String], _ session: SyncSession, _ timeout: Double
  ) async throws -> SyncCredentials {
    let tokens = try await tokens("v1/enrol", at: server, body, session, timeout)
    return SyncCredentials(
      server: server, user: tokens.user, device: tokens.device,
      refreshToken: tokens.refresh_token)
  }

  // MARK: - Requests

  /// The answer to an enrolment and to a renewal.
  private struct Tokens: Decodable {
    let user: String
    let device: String
    let access_token: String
    let expires_in: Int64
    let refresh_token: String
  }

  /// Sends a request without an access token, for new tokens.
  private static func tokens(
    _ path: String, at server: URL, _ body: [String: String], _ session: SyncSession,
    _ timeout: Double
  ) async throws -> Tokens {
    var request = URLRequest(
      url: server.appending(path: path), timeoutInterval: timeout)
    request.httpMethod = "POST"
    request.httpBody = try JSONEncoder().encode(body)
    request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    let answer = try await Self.answer(to: request, session)
    guard answer.status == 200 else { throw answer.error }
    do {
      return try JSONDecoder().decode(Tokens.self, from: answer.data)
    } catch {
      throw SyncError.unreachable(reason: "\(server) doesn't answer like a sync server")
    }
  }

  /// Sends a request. A failed connection is thrown as ``SyncError/unreachable(reason:)``.
  static func answer(
    to request: URLRequest, _ session: SyncSession
  ) async throws -> HTTPSyncResponse {
    do {
      let (data, response) = try await session.data(for: request)
      return try HTTPSyncResponse(data, response)
    } catch let error as URLError {
      // Not the error itself: its description has the URL, with the zone's name.
      throw SyncError.unreachable(reason: error.localizedDescription)
    }
  }
}
