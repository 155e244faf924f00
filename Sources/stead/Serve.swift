#if Server
import ArgumentParser
import Foundation
import SteadSyncServer

/// Runs and administers a sync server.
///
/// Each verb opens the server's data by itself, so all but the first also work while a server runs.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Runs a sync server.",
    subcommands: [Run.self, Invite.self, Backup.self, RotateKey.self], defaultSubcommand: Run.self)

  /// Serves until SIGTERM or SIGINT; then answers the open requests and ends.
  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Runs the server (the default).")

    @OptionGroup var place: Place
    @Option(help: "The address to listen on.") var host = "127.0.0.1"
    @Option(help: "The port to listen on; 0 for any free one.") var port = 8_787
    @Option(help: "An address or range whose X-Forwarded-For is trusted; repeatable.")
    var trustedProxy: [String] = []
    @Option(help: "The bytes that the zones of one owner may hold.") var quota: Int64 = 10 << 30

    @Option(help: "The requests per second that a device may make on average.")
    var requestsPerSecond = 20.0
    @Option(help: "The number of requests that a device may make at once.") var requestBurst = 200.0

    func run() async throws {
      // Only the server's user may read what it makes. Set before `SyncServer.init`, which makes the
      // directory, the keys and the database.
      umask(0o077)
      var settings = try place.settings()
      settings.host = host
      settings.port = port
      settings.ownerQuota = quota
      settings.requestsPerSecond = requestsPerSecond
      settings.requestBurst = requestBurst
      settings.trustedProxies = try trustedProxy.map { text in
        // An error and not ignored: with a range misspelled, all clients of a proxy would share one
        // rate limit.
        guard let range = AddressRange(text) else {
          throw ValidationError("--trusted-proxy takes an address or a range such as 10.0.0.0/8.")
        }
        return range
      }
      // A copy, since the closure may not capture the settings, which are a variable.
      let host = settings.host
      try await SyncServer(settings).run { port in
        // Flushed at once, for programs that wait for the line.
        FileHandle.standardOutput.write(Data("Serving at http://\(host):\(port)\n".utf8))
      }
    }
  }

  /// Prints a code that enrols one device within 15 minutes.
  struct Invite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints a code with which a user enrols one device. Creates the user if needed.")

    @OptionGroup var place: Place
    @Argument(help: "The user's name.") var user: String

    func run() async throws {
      guard let account = AccountName(user) else {
        throw ValidationError("A user's name has 1 to 64 lower-case letters, digits, and . _ - @.")
      }
      let server = try SyncServer(place.settings())
      let code = try await server.invite(account)
      // Ends the connections to the database after their work.
      await server.close()
      print(code)
    }
  }

  /// Copies the database, the blobs and the keys. Refuses a PostgreSQL database, which has its own tools.
  struct Backup: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Copies a server's data into a new directory, while the server runs.")

    @OptionGroup var place: Place
    @Argument(help: "The directory to create.") var directory: String

    func run() async throws {
      try SyncServer.backUp(place.settings(), to: directory)
    }
  }

  /// Makes a key with which a server signs from its next start on. The earlier key verifies for at
  /// least an hour more, which is longer than a token is valid.
  struct RotateKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate-key",
      abstract: "Makes a new signing key. Restart a server that runs.")

    @OptionGroup var place: Place

    func run() async throws {
      try SigningKeys(directory: place.settings().directory, clock: .system).rotate(clock: .system)
    }
  }
}

/// The location of a server's data, which all verbs share.
struct Place: ParsableArguments {
  @Option(help: "The directory of the keys, the blobs and the database.")
  var data = "/var/lib/stead"
  @Option(
    help: "Where the database is: postgresql://… for PostgreSQL; a file in the directory otherwise."
  )
  var database: String?

  /// The server's default settings for this location.
  ///
  /// - Throws: A `ValidationError` for a database that is neither PostgreSQL's nor a file.
  func settings() throws -> ServerSettings {
    var settings = ServerSettings(directory: data)
    if let database {
      guard let location = StorageEngine.Location(url: database) else {
        throw ValidationError("--database takes postgresql://… or sqlite:PATH.")
      }
      settings.location = location
    }
    return settings
  }
}
#else
import ArgumentParser
import Foundation
import SteadLintCommand

/// What a build has in place of the server without the packages of the trait `Server`.
struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(
    // Without names for help, so that `serve --help` says what to build, too.
    abstract: "Runs a sync server, if built with --traits Server.", helpNames: [])

  /// All arguments, none of which is an error: the remedy is the same for each.
  @Argument(parsing: .captureForPassthrough) var words: [String] = []

  func run() throws {
    StandardStream.complain(
      "stead was built without the trait Server. Build it with --traits Server.\n")
    // 69 of sysexits.h, which a service manager tells from a crash.
    throw ExitCode(EX_UNAVAILABLE)
  }
}
#endif
