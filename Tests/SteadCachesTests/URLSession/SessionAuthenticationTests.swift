import Foundation
import LocalServer
import SteadTestSupport
import Synchronization
import Testing

@testable import SteadCaches

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

@Suite(.hangLimit) struct SessionAuthenticationTests {
  /// A session's delegate that knows a name and a password.
  private final class Guest: NSObject, URLSessionTaskDelegate, Sendable {
    let asked = Mutex<[URLSession]>([])
    let password: String?
    /// What it answers without a password, and the second time.
    let otherwise: URLSession.AuthChallengeDisposition

    init(
      password: String?,
      otherwise: URLSession.AuthChallengeDisposition = .performDefaultHandling
    ) {
      self.password = password
      self.otherwise = otherwise
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler:
        @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      asked.withLock { $0.append(session) }
      guard let password, challenge.previousFailureCount == 0 else {
        return completionHandler(otherwise, nil)
      }
      completionHandler(
        .useCredential, URLCredential(user: "anna", password: password, persistence: .none))
    }
  }

  private let cache = HTTPCache()

  init() { MemoryPressure.shared.ignoreSystem() }

  // Off Apple's systems the head of the 401 comes before the delegate is asked; it was taken for the response.
  @Test func `asks the session's delegate for credentials`() async throws {
    let guest = Guest(password: "open")
    let session = session(guest)
    let server = try server()
    let (data, response) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("welcome".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 200)
    #expect(guest.asked.withLock { $0.map { $0 === session } } == [true])
  }

  // Off Apple's systems a task whose challenge isn't answered with credentials never ends by itself.
  @Test(
    arguments: ["wrong", nil],
    [
      URLSession.AuthChallengeDisposition.performDefaultHandling, .rejectProtectionSpace,
    ])
  func `hands on the refusal`(
    password: String?, otherwise: URLSession.AuthChallengeDisposition
  ) async throws {
    let session = session(Guest(password: password, otherwise: otherwise))
    let server = try server()
    let (data, response) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("who are you?".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 401)
  }

  @Test func `throws when the delegate cancels`() async throws {
    let session = session(Guest(password: nil, otherwise: .cancelAuthenticationChallenge))
    let server = try server()
    let error = await #expect(throws: URLError.self) {
      try await session.data(for: try server.request(), cache: cache)
    }
    #expect(error?.code == .userCancelledAuthentication)
  }

  @Test func `hands on a refusal without a delegate`() async throws {
    let session = URLSession(configuration: .patient)
    let server = try server()
    let (data, response) = try await session.data(for: try server.request(), cache: cache)
    #expect(data == Data("who are you?".utf8))
    #expect((response as? HTTPURLResponse)?.statusCode == 401)
  }

  private func session(_ guest: Guest) -> URLSession {
    let configuration = URLSessionConfiguration.patient
    configuration.urlCredentialStorage = nil
    return URLSession(configuration: configuration, delegate: guest, delegateQueue: nil)
  }

  private func server() throws -> LocalServer {
    try LocalServer { request in
      // anna:open
      guard request["Authorization"] == "Basic YW5uYTpvcGVu" else {
        return LocalServer.Reply(
          status: 401, reason: "Unauthorized",
          fields: [("WWW-Authenticate", "Basic realm=\"house\"")],
          body: .data(Data("who are you?".utf8)))
      }
      return LocalServer.Reply("welcome")
    }
  }
}
