import Foundation
import Synchronization

/// A small HTTP/1.1 server on a port of this machine, for tests of clients.
///
/// Each connection has a thread, so a handler may block. It ends when the last reference to it goes.
package final class LocalServer: Sendable {
  /// Answers a request; throwing closes the connection without a response.
  package typealias Handler = @Sendable (Request) throws -> Reply

  /// A request with its whole body.
  package struct Request: Sendable {
    package var method: String
    /// Path and query, as the client sent them.
    package var target: String
    package var fields: [(name: String, value: String)]
    package var body: Data

    package subscript(name: String) -> String? {
      let values = fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
  }

  /// A response with a status below 200, which another one follows.
  package struct Interim: Sendable {
    package var status: Int
    package var fields: [(name: String, value: String)]

    package init(status: Int, fields: [(name: String, value: String)] = []) {
      self.status = status
      self.fields = fields
    }
  }

  /// What is written back.
  package struct Reply: Sendable {
    package enum Body: Sendable {
      /// Framed by Content-Length, unless the fields have a length or a transfer coding of their own.
      case data(Data)
      /// Framed by chunks, each sent when it is written.
      case stream(@Sendable (Writer) throws -> Void)
    }

    package var status: Int
    package var reason: String
    package var fields: [(name: String, value: String)]
    package var body: Body
    /// What is written before it.
    package var interim: [Interim] = []

    package init(
      status: Int = 200, reason: String = "OK", fields: [(name: String, value: String)] = [],
      body: Body = .data(Data())
    ) {
      self.status = status
      self.reason = reason
      self.fields = fields
      self.body = body
    }

    package init(_ text: String, fields: [(name: String, value: String)] = []) {
      self.init(fields: fields, body: .data(Data(text.utf8)))
    }
  }

  /// Writes the chunks of one response.
  package struct Writer: Sendable {
    let connection: Connection

    package func write(_ chunk: Data) throws {
      guard !chunk.isEmpty else { return }
      try connection.write(
        Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8))
    }

    /// Blocks until the client closes the connection, or sends something.
    package func waitForTheClientToLeave() { connection.waitForTheClientToLeave() }
  }

  package let port: UInt16
  private let listener: Listener
  private let connections = Connections()
  private let counter = Counter()

  /// Begins to listen on a free port of 127.0.0.1.
  package init(handler: @escaping Handler) throws {
    let (descriptor, port) = try TCP.listen()
    self.port = port
    listener = Listener(descriptor)
    let (listener, connections, counter) = (listener, connections, counter)
    Thread.detachNewThread {
      while let descriptor = TCP.accept(descriptor) {
        guard connections.add(descriptor) else { break }
        Thread.detachNewThread {
          let connection = Connection(descriptor)
          connection.serve { request in
            counter.add()
            return try handler(request)
          }
          connections.remove(descriptor)
        }
      }
      listener.close()
    }
  }

  deinit { stop() }

  /// Ends the server and all connections; what is asked of its port fails from then on.
  package func stop() {
    listener.shutDown()
    connections.end()
  }

  package var base: String { "http://127.0.0.1:\(port)" }
  /// How many requests have come.
  package var requestCount: Int { counter.count }

  package func url(_ target: String) throws -> URL {
    guard let url = URL(string: base + target) else { throw URLError(.badURL) }
    return url
  }
}

/// The socket that takes connections.
///
/// The thread that waits for them closes it, so that its number is not another file's while it still waits. Once it is
/// closed nothing is done with the number: a server is stopped a second time when it goes.
private final class Listener: Sendable {
  private let descriptor: Mutex<Int32?>

  init(_ descriptor: Int32) { self.descriptor = Mutex(descriptor) }

  /// Lets the thread that waits for connections end.
  func shutDown() {
    descriptor.withLock { descriptor in
      if let descriptor { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
  }

  func close() {
    descriptor.withLock { descriptor in
      if let open = descriptor { Foundation.close(open) }
      descriptor = nil
    }
  }
}

private final class Counter: Sendable {
  private let value = Mutex(0)
  func add() { value.withLock { $0 += 1 } }
  var count: Int { value.withLock { $0 } }
}

/// The open connections of one server, to end them with it.
private final class Connections: Sendable {
  private let open = Mutex<Set<Int32>?>([])

  /// Whether the server still runs.
  func add(_ descriptor: Int32) -> Bool {
    let isRunning = open.withLock { open in
      open?.insert(descriptor)
      return open != nil
    }
    if !isRunning { close(descriptor) }
    return isRunning
  }

  func remove(_ descriptor: Int32) {
    open.withLock { open in
      open?.remove(descriptor)
      close(descriptor)
    }
  }

  func end() {
    open.withLock { open in
      // Each is closed by its own thread, which finds its end.
      for descriptor in open ?? [] { shutdown(descriptor, Int32(SHUT_RDWR)) }
      open = nil
    }
  }
}

#if STEAD_THREAD_SANITIZER
  import SteadFiles

  typealias Mutex<Value> = SanitizedMutex<Value>
#endif
