extension Store {
  /// The directory of the store's files, as `AppDirectories` names it.
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

  /// Describes both cases if it isn't known how many devices need the data.
  func sync(with devices: Situation.Devices?) -> String {
    switch devices {
    case .one: "none is needed"
    case .several: syncOfSeveral
    case nil:
      syncOfSeveral.hasPrefix("none")
        ? syncOfSeveral : "none on one device; on several, \(syncOfSeveral)"
    }
  }

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

  var encryption: String {
    switch self {
    case .secrets: "the keyring's or the vault's"
    case .encryptedFile: "yours, with a key from secrets"
    case .httpCache:
      "none; `no-store` keeps a response out, and without a directory nothing is on disk"
    default: "none but the disk's"
    }
  }

  /// The linter's rules for code that uses this store.
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
