import Logging

/// The settings of a server.
public struct ServerSettings: Sendable {
  /// The directory with the keys, the blobs and, with SQLite, the database.
  public var directory: String
  /// The location of the database; by default a file in the directory.
  public var location: StorageEngine.Location
  public var host: String
  /// The port; 0 for any free one.
  public var port: Int
  /// Proxies whose `X-Forwarded-For` is trusted.
  public var trustedProxies: [AddressRange]
  /// The maximum size of one owner's zones, in bytes.
  public var ownerQuota: Int64
  /// The requests per second that a device may make on average.
  public var requestsPerSecond: Double
  /// The number of requests that a device may make at once.
  public var requestBurst: Double

  /// The lowest level that is logged.
  public var logLevel: Logger.Level

  public init(directory: String) {
    self.directory = directory
    location = .sqlite(directory + "/stead.sqlite")
    host = "127.0.0.1"
    port = 8_787
    trustedProxies = []
    ownerQuota = 10 << 30
    requestsPerSecond = 20
    requestBurst = 200
    logLevel = .info
  }
}
