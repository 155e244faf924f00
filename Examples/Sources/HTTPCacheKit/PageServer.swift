import Foundation

/// A server of a few pages on a port of this machine, each cacheable in another way.
///
/// It answers one request after another and closes each connection, which is enough to show a cache.
public final class PageServer: Sendable {
  /// What is served at one path.
  public struct Page: Sendable {
    /// The path, with a slash at the front.
    public var path: String
    /// The value of `Cache-Control`.
    public var control: String
    /// The entity tag, quoted; nil for a page that can't be validated.
    public var tag: String?
    /// The number of bytes in the body.
    public var size: Int
  }

  /// The pages of the example.
  public static let pages = [
    Page(path: "/style.css", control: "max-age=3600", tag: nil, size: 2_000),
    Page(
      path: "/photo.jpg", control: "max-age=86400, immutable", tag: "\"photo-1\"", size: 200_000),
    Page(path: "/news", control: "no-cache", tag: "\"news-7\"", size: 30_000),
    Page(path: "/account", control: "private, max-age=60", tag: "\"account-3\"", size: 4_000),
    Page(path: "/balance", control: "no-store", tag: nil, size: 500),
  ]

  private let socket: Int32
  /// Where the server listens.
  public let port: UInt16

  /// Begins to listen.
  ///
  /// - Throws: `POSIXError` if the system has no port to give.
  public init() throws {
    (socket, port) = try Self.listen()
    let socket = socket
    Thread.detachNewThread {
      while let connection = Self.accept(socket) {
        Self.answer(connection)
        close(connection)
      }
      close(socket)
    }
  }

  /// The URLs of all pages.
  public var urls: [URL] {
    Self.pages.compactMap { URL(string: "http://127.0.0.1:\(port)\($0.path)") }
  }

  /// Ends the server.
  public func stop() { shutdown(socket, Int32(SHUT_RDWR)) }

  private static func answer(_ connection: Int32) {
    var request = ""
    var bytes = [UInt8](repeating: 0, count: 4096)
    while !request.contains("\r\n\r\n") {
      let count = recv(connection, &bytes, bytes.count, 0)
      guard count > 0 else { return }
      request += String(decoding: bytes.prefix(count), as: UTF8.self)
    }
    var rest = response(to: request)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// The bytes of a response: 304 where the client has the page already.
  static func response(to request: String) -> Data {
    let lines = request.components(separatedBy: "\r\n")
    let path = lines[0].split(separator: " ").dropFirst().first.map(String.init)
    guard let page = pages.first(where: { $0.path == path }) else {
      return Data("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
    }
    let known = lines.first { $0.lowercased().hasPrefix("if-none-match:") }
    let isKnown = page.tag.map { known?.contains($0) ?? false } ?? false
    var head = isKnown ? "HTTP/1.1 304 Not Modified\r\n" : "HTTP/1.1 200 OK\r\n"
    head += "Cache-Control: \(page.control)\r\nConnection: close\r\n"
    if let tag = page.tag { head += "ETag: \(tag)\r\n" }
    if !isKnown { head += "Content-Type: text/plain\r\nContent-Length: \(page.size)\r\n" }
    let body = isKnown ? Data() : Data(repeating: UInt8(ascii: "x"), count: page.size)
    return Data((head + "\r\n").utf8) + body
  }
}

extension PageServer {
  private static let backlog: Int32 = 16

  private static func listen() throws -> (socket: Int32, port: UInt16) {
    #if canImport(Glibc)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    let descriptor = Foundation.socket(AF_INET, type, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        descriptor >= 0 && bind(descriptor, address, size) == 0
          && Foundation.listen(descriptor, backlog) == 0
          && getsockname(descriptor, address, &size) == 0
      }
    }
    guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  /// The next connection; nil once the server was stopped.
  private static func accept(_ socket: Int32) -> Int32? {
    let connection = Foundation.accept(socket, nil, nil)
    return connection >= 0 ? connection : nil
  }
}
