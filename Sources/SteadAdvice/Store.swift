/// Where data can be stored.
public enum Store: String, CaseIterable, Codable, Sendable {
  case preferences
  case managedPreferences = "managed-preferences"
  case secrets
  case encryptedFile = "encrypted-file"
  case payloadHistory = "payload-history"
  case records
  /// Records whose large values are in files next to the store.
  case recordsWithFiles = "records-with-files"
  case coreData = "core-data"
  case file
  case temporaryFile = "temporary-file"
  case memoryCache = "memory-cache"
  case diskCache = "disk-cache"
  case httpCache = "http-cache"

  /// The product of this package that provides it; nil for Apple's Core Data.
  public var product: String? {
    switch self {
    case .preferences, .managedPreferences, .payloadHistory: "SteadPreferences"
    case .secrets: "SteadSecrets"
    case .encryptedFile: "SteadSecrets, SteadFiles"
    case .records, .recordsWithFiles: "SteadSwiftData"
    case .coreData: nil
    case .file, .temporaryFile: "SteadFiles"
    case .memoryCache, .diskCache, .httpCache: "SteadCaches"
    }
  }

  /// Its name in a sentence.
  public var title: String {
    switch self {
    case .preferences: "preferences (UserDefaults)"
    case .managedPreferences: "managed preferences"
    case .secrets: "secrets (the keychain)"
    case .encryptedFile: "an encrypted file, whose key is a secret"
    case .payloadHistory: "a payload history, under one key of the preferences"
    case .records: "records (SwiftData)"
    case .recordsWithFiles: "records with external storage"
    case .coreData: "Core Data, until the app can move to records"
    case .file: "a file"
    case .temporaryFile: "a temporary file"
    case .memoryCache: "a cache in memory (NSCache)"
    case .diskCache: "a cache on disk"
    case .httpCache: "a cache of HTTP responses (URLCache)"
    }
  }
}
