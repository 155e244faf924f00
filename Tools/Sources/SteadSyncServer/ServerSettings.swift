import Logging

/// What a server is started with.
public struct ServerSettings: Sendable {
  /// The directory of the keys, the blobs and, with SQLite, the database.
  public var directory: String
  /// Where the database is; a file in the directory unless it is set.
  public var location: StorageEngine.Location
  public var host: String
  /// The port; 0 for any that is free.
  public var port: Int
  /// Proxies whose `X-Forwarded-For` is believed.
  public var trustedProxies: [AddressRange]
  /// Bytes that the zones of one owner may hold.
  public var ownerQuota: Int64
  /// Requests a second that a device may make over time.
  public var requestsPerSecond: Double
  /// Requests that a device may make at once.
  public var requestBurst: Double

  /// The least level of what is logged.
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
