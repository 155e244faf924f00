/// Where data can be stored.
///
/// The raw values are the names on the command line and in JSON, and don't change.
///
/// The texts about each store are in this file, a property for each topic: a new store is a case and
/// an entry in each `switch`. The compiler asks for all of these but that of `encryption`.
///
/// ```swift
/// for store in Store.allCases { print(store.rawValue, store.title) }
/// ```
public enum Store: String, CaseIterable, Codable, Sendable {
  /// Values by key, in a property list for each domain.
  case preferences
  /// Preferences that an administrator sets for all users.
  case managedPreferences = "managed-preferences"
  /// The system's keychain, a Secret Service, or a vault.
  case secrets
  /// A file that the program encrypts, with a key from ``secrets``.
  case encryptedFile = "encrypted-file"
  /// The newest values of one Codable type, under one key of the preferences.
  case payloadHistory = "payload-history"
  /// Models in a SQLite store.
  case records
  /// Records whose large values are in files next to the store.
  case recordsWithFiles = "records-with-files"
  /// An existing store of Core Data.
  case coreData = "core-data"
  /// A file of the program's own, or a document.
  case file
  /// A file that nobody needs once the program has ended.
  case temporaryFile = "temporary-file"
  /// Values in memory, up to a limit.
  case memoryCache = "memory-cache"
  /// Values on disk that can be made again.
  case diskCache = "disk-cache"
  /// Responses, kept as HTTP's headers allow.
  case httpCache = "http-cache"

  /// The products of this package that provide it, with commas between them; nil for Apple's Core Data.
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

  /// Its name in a sentence, with the name of the framework or class that it stands for, if any.
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

// MARK: - Properties

extension Store {
  /// The directory of the store's files, as `AppDirectories` names it where it has one.
  var directory: String {
    switch self {
    case .preferences, .payloadHistory: "config, a file for each domain"
    case .managedPreferences: "/etc/stead/managed, which the administrator writes"
    case .secrets: "none of your own: the desktop's keyring, or a vault in data"
    case .encryptedFile: "data"
    case .records, .recordsWithFiles:
      "data; name the store with `url:` if the program isn't sandboxed"
    case .coreData: "where the Core Data stack keeps it"
    case .file: "documents for what the user made, data for the program's own"
    case .temporaryFile: "temporary"
    case .memoryCache: "none"
    case .diskCache, .httpCache: "cache, which backups skip"
    }
  }

  /// How the data gets to other devices. Describes both cases if it isn't known how many need it.
  func sync(with devices: Situation.Devices?) -> String {
    switch devices {
    case .one: "none is needed"
    case .several: syncOfSeveral
    case nil:
      // Otherwise the text would say `none` twice.
      syncOfSeveral.hasPrefix("none")
        ? syncOfSeveral : "none on one device; on several, \(syncOfSeveral)"
    }
  }

  /// How several devices share the data; begins with `none` where nothing does that.
  private var syncOfSeveral: String {
    switch self {
    case .preferences:
      "SteadSync's `NSUbiquitousKeyValueStore`, up to 1 MB and 1,024 keys"
    case .records, .recordsWithFiles:
      "SteadSync: `ModelConfiguration(sync: .zone(…))`, with your own server"
    case .coreData: "NSPersistentCloudKitContainer"
    case .secrets: "none; the system's keychain may have its own"
    case .file, .encryptedFile: "a directory that a sync program watches"
    case .payloadHistory, .managedPreferences: "none: it belongs to one device"
    case .temporaryFile, .memoryCache, .diskCache, .httpCache:
      "none: each device makes it again"
    }
  }

  /// How to back the store up.
  ///
  /// A store of records must not be copied as a file: its newest changes may be in the log beside
  /// it.
  var backup: String {
    switch self {
    case .preferences, .payloadHistory: "the file as it is, at any time"
    case .managedPreferences: "the administrator's task"
    case .secrets: "the vault's file and its key, kept apart; a keyring with the desktop's tools"
    case .encryptedFile: "the file as it is; without the key it can't be read"
    case .records, .recordsWithFiles:
      "container.backUp(to:), never a copy of the file alone while the program runs"
    case .coreData: "with the tools of Core Data"
    case .file: "the file as it is"
    case .temporaryFile, .memoryCache, .diskCache, .httpCache: "none"
    }
  }

  /// Who encrypts the store on the disk.
  ///
  /// Only three stores differ from a plain file.
  var encryption: String {
    switch self {
    case .secrets: "the keyring's or the vault's"
    case .encryptedFile: "yours, with a key from secrets"
    case .httpCache:
      "none; `no-store` keeps a response out, and without a directory nothing is on disk"
    // Preferences, records, plain files and both other caches.
    default: "none but the disk's"
    }
  }

  /// The linter's rules for code that uses this store.
  ///
  /// Their texts are in `SteadLint`, which this target doesn't import.
  var rules: [String] {
    switch self {
    case .preferences: ["P01", "P04", "P05", "P07", "P08", "P09", "P10", "P12", "P13"]
    case .managedPreferences: ["P09", "P12"]
    case .secrets: ["P01", "P02", "P03", "P26", "P27", "P28", "P29", "P30"]
    case .encryptedFile: ["P01", "P24"]
    case .payloadHistory: ["P03", "P04", "P06", "P07", "P08"]
    case .records: ["P02", "P15", "P16", "P17", "P18", "P19", "P20", "P21", "P22", "P23", "P25"]
    case .recordsWithFiles: ["P02", "P14", "P17", "P18", "P20", "P21", "P22", "P23", "P25"]
    case .coreData: ["P02"]
    case .file, .temporaryFile: ["P24"]
    case .memoryCache, .diskCache, .httpCache: ["P24"]
    }
  }

  /// When to leave the store, with figures, and where the data belongs then.
  ///
  /// The figures are those of ``Threshold``, in words.
  var exits: [String] {
    switch self {
    case .preferences:
      [
        "a value is larger than 64 KB, or all of them together are larger than 10 MB: a file, or records",
        "you search for one among many: records, with `Transfer` from a key to a model",
        "it has become a secret: `Transfer` from a key to secrets, which removes it here",
      ]
    case .managedPreferences: ["users should choose for themselves: preferences"]
    case .secrets: ["a secret is larger than 64 KB: a file, encrypted with a key that stays here"]
    case .encryptedFile: ["you search it: records, with the secret parts in secrets"]
    case .payloadHistory:
      [
        "there are more than 2,500 entries of 10 KB, which take 50 ms to load: records, with `Transfer`",
        "you search, sort or change entries by a field, or want them on several devices: records",
      ]
    case .records:
      [
        "a value is larger than 100 KB: `.externalStorage`; larger than 1 MB: a file and its relative path"
      ]
    case .recordsWithFiles: ["a value is larger than 1 MB: a file and its relative path"]
    case .coreData:
      ["the app needs iOS 17 or macOS 14 anyway: records; `SteadTransfer` reads the store"]
    case .file: ["you search the files' contents: records with the files' relative paths"]
    case .temporaryFile:
      ["it is needed at the next start: a file in cache, or in data if it can't be made again"]
    case .memoryCache: ["it is needed at the next start: a cache on disk under this one"]
    case .diskCache: ["it can't be made again after all: a file, or records"]
    case .httpCache: ["the app must have it offline for certain: records, or files in data"]
    }
  }
}

// MARK: - Declarations

extension Store {
  /// Swift code that declares the store and uses it once: a complete file that compiles.
  ///
  /// Names in it are examples. Only Core Data's needs a system that has it.
  public var declaration: String {
    switch self {
    case .preferences:
      """
      import SteadPreferences

      extension Preferences.Keys {
        var theme: Preferences.Key<String> { .init("theme", default: "system") }
      }

      func useTheme(_ preferences: Preferences) {
        preferences[\\.theme] = "dark"
      }
      """
    case .managedPreferences:
      """
      import SteadPreferences

      // /etc/stead/managed/org.example.Notes.plist has the administrator's value.
      func updatesAreAllowed(_ preferences: Preferences) -> Bool {
        preferences.bool(forKey: "updatesAreAllowed")
      }
      """
    case .secrets:
      """
      import SteadSecrets

      func keepToken(_ token: String) throws {
        let secrets = try Secrets(service: "org.example.Notes")
        try secrets.set(token, for: "token")
      }
      """
    case .encryptedFile:
      """
      import Crypto
      import Foundation
      import SteadFiles
      import SteadSecrets

      func lettersKey() throws -> SymmetricKey {
        let secrets = try Secrets(service: "org.example.Notes")
        if let kept = try secrets.data(for: "letters key") { return SymmetricKey(data: kept) }
        let new = SymmetricKey(size: .bits256)
        // Throws if another process has inserted a key first: call this again then.
        try secrets.insert(new.withUnsafeBytes { Data($0) }, for: "letters key")
        return new
      }

      func writeLetters(_ letters: Data, to url: URL) throws {
        let sealed = try ChaChaPoly.seal(letters, using: lettersKey())
        try AtomicFile(url).replace(with: sealed.combined)
      }
      """
    case .payloadHistory:
      """
      import Foundation
      import SteadPreferences

      struct Generation: Codable, Identifiable, Sendable {
        var id: UUID
        var prompt: String
        var createdAt: Date
      }

      func keepGeneration(_ generation: Generation) throws {
        let history = try PayloadHistory<Generation>("generation_history", limit: 500)
        try history.prepend(generation)
      }
      """
    case .records:
      """
      import Foundation
      import SwiftData

      @Model final class Task {
        @Attribute(.unique) var id: UUID
        var title: String
        var createdAt: Date

        init(title: String) {
          (id, self.title, createdAt) = (UUID(), title, .now)
        }
      }

      func makeTasks(in store: URL) throws -> ModelContainer {
        try ModelContainer(for: Task.self, configurations: ModelConfiguration(url: store))
      }
      """
    case .recordsWithFiles:
      """
      import Foundation
      import SwiftData

      @Model final class Photo {
        var takenAt: Date
        @Attribute(.externalStorage) var image: Data

        init(takenAt: Date, image: Data) {
          (self.takenAt, self.image) = (takenAt, image)
        }
      }
      """
    case .coreData:
      """
      import CoreData

      let container = NSPersistentContainer(name: "Notes")
      """
    case .file:
      """
      import Foundation
      import SteadFiles

      func saveDrawing(_ data: Data, named name: String) throws {
        let directories = try AppDirectories(id: "org.example.Notes")
        let folder = try directories.create(\\.data)
        try AtomicFile(folder.appending(path: name)).replace(with: data)
      }
      """
    case .temporaryFile:
      """
      import Foundation
      import SteadFiles

      func unpack(_ archive: Data) throws -> URL {
        let directories = try AppDirectories(id: "org.example.Notes")
        let url = try directories.create(\\.temporary).appending(path: UUID().uuidString)
        try AtomicFile(url).replace(with: archive)
        return url
      }
      """
    case .memoryCache:
      """
      import Foundation
      import SteadCaches

      let thumbnails = MemoryCache<URL, Data>(totalCostLimit: 32 << 20)

      func thumbnail(of url: URL) async throws -> Data {
        try await thumbnails.value(for: url, cost: { $0.count }) { try Data(contentsOf: url) }
      }
      """
    case .diskCache:
      """
      import Foundation
      import SteadCaches
      import SteadFiles

      func makePictures() throws -> LayeredCache<Data> {
        let directories = try AppDirectories(id: "org.example.Notes")
        let limits = DiskCache.Limits(totalSizeLimit: 100 << 20)
        return LayeredCache(over: DiskCache(named: "pictures", in: directories, limits: limits))
      }
      """
    case .httpCache:
      """
      import Foundation
      import SteadCaches
      import SteadFiles

      #if canImport(FoundationNetworking)
        import FoundationNetworking
      #endif

      func load(_ url: URL) async throws -> Data {
        let cache = HTTPCache(named: "responses", in: try AppDirectories(id: "org.example.Notes"))
        return try await URLSession.shared.data(for: URLRequest(url: url), cache: cache).0
      }
      """
    }
  }
}
