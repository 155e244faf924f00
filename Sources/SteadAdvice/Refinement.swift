/// What the answers to ``Question/refinements`` add to the advice about a store.
///
/// It never changes the store: that is why these questions needn't be asked.
struct Refinement {
  var reasons: [String] = []
  var exits: [String] = []
  var declaration: String
  var directory: String
  var sync: String

  private let store: Store

  init(_ situation: Situation, of store: Store) {
    self.store = store
    declaration = store.declaration
    directory = store.directory
    sync = store.sync(with: situation.devices)
    limit(to: situation.platforms ?? .all, situation.devices)
    share(with: situation.sharing ?? .none)
    remove(by: situation.retention ?? .kept)
    tell(situation.observers ?? .none)
    if situation.shape == .changing { change() }
  }

  private var isRecords: Bool { store == .records || store == .recordsWithFiles }

  private var isPreferences: Bool { store == .preferences || store == .payloadHistory }

  private var isFile: Bool { store == .file || store == .encryptedFile }

  // MARK: Systems

  /// What differs between systems: directories, keychains and sync.
  private mutating func limit(to platforms: Situation.Platforms, _ devices: Situation.Devices?) {
    switch platforms {
    case .all: break
    case .apple:
      if store == .secrets { directory = "none of your own: the system's keychain" }
      guard devices == .several else { return }
      if store == .preferences {
        sync = "iCloud's `NSUbiquitousKeyValueStore`, up to 1 MB and 1,024 keys"
      }
      if isRecords {
        sync = "CloudKit through Apple's SwiftData, or SteadSync with your own server"
      }
    case .linux:
      if isPreferences { directory += ", in $XDG_CONFIG_HOME or ~/.config" }
      if isRecords || isFile { directory += "; data is in $XDG_DATA_HOME or ~/.local/share" }
      if store == .diskCache || store == .httpCache {
        directory += "; it is in $XDG_CACHE_HOME or ~/.cache"
      }
      if store == .coreData {
        exits.append("the app runs on Linux, which has no Core Data: records")
      }
    }
  }

  // MARK: Others

  /// What others need in order to use the data.
  private mutating func share(with sharing: Situation.Sharing) {
    switch sharing {
    case .none: break
    case .processes: shareWithProcesses()
    case .extension:
      if store == .records {
        directory = "the group's directory, which the app and its extension share"
        declaration = Self.groupDeclaration
      } else if store == .recordsWithFiles {
        directory = "the group's directory: name the group with `groupContainer:`"
      } else if isPreferences {
        directory = "the preferences of a suite: both name it with `suiteName:`"
      } else if store == .secrets {
        reasons.append("The app and its extension need the same access group of the keychain.")
      } else if isFile || store == .diskCache {
        directory =
          "on Apple's systems the group's container, which `containerURL(forSecurityApplicationGroupIdentifier:)` returns"
      }
    case .daemon:
      reasons.append(
        "A service that runs as another user has its own directories: let one side keep the data, and the other ask for it."
      )
    case .editor:
      if store == .preferences {
        reasons.append("The property list may be edited by hand; such edits are applied.")
      } else if isFile {
        reasons.append("Read the file again before you replace it: an editor may have changed it.")
      } else {
        exits.append("people must be able to edit it as text: preferences, or a file")
      }
    }
  }

  /// What holds if several processes of one user use the data.
  private mutating func shareWithProcesses() {
    if isRecords {
      reasons.append("Several processes may use the store; each sees what others have saved.")
    } else if isPreferences {
      reasons.append("Several processes may use the domain at once, on a local disk.")
    } else if store == .secrets {
      reasons.append("`insert`, `update` and `replace` are atomic among processes.")
    } else if store == .diskCache {
      reasons.append("Processes share the cache and its limits.")
    } else if store == .memoryCache {
      exits.append("several processes must share it: a cache on disk")
    } else if isFile {
      exits.append("several processes change parts of it: records")
    }
  }

  // MARK: Old data

  /// What removes old data, and what the program has to remove itself.
  private mutating func remove(by retention: Situation.Retention) {
    switch (retention, store) {
    case (.kept, _): break
    case (.newest, .payloadHistory):
      reasons.append("Its limit is exact: it keeps the newest entries, whichever process adds one.")
    case (.newest, .records), (.newest, .recordsWithFiles):
      reasons.append("Nothing removes old records: delete the oldest in the save that adds one.")
    case (.age, .diskCache):
      declaration = Self.ageDeclaration
      reasons.append("A time to live removes an entry even if there is space left.")
    case (.age, .payloadHistory):
      reasons.append("A history limits the number, not the age: remove older entries yourself.")
    case (.age, .records), (.age, .recordsWithFiles):
      reasons.append("Give each record a date, and delete by it with `delete(model:where:)`.")
    case (_, .file), (_, .encryptedFile):
      reasons.append("Nothing removes old files: do so when the program starts.")
    default: break
    }
  }

  // MARK: Changes

  /// What reports changes, and where nothing does.
  private mutating func tell(_ observers: Situation.Observers) {
    switch observers {
    case .none: break
    case .views:
      if isRecords { reasons.append("`@Query` and `ResultsObserver` follow each save.") }
    case .processes:
      if isRecords {
        reasons.append("`HistoryObserver` notices what other processes have saved.")
      } else if isPreferences {
        reasons.append("Changes by other processes are noticed after a moment.")
      }
    }
    if observers != .none, isFile {
      exits.append(
        "others must be notified of each change: records or preferences, since a file notifies nobody"
      )
    }
  }

  /// How later versions tell the data's shape.
  private mutating func change() {
    if isRecords {
      reasons.append(
        "Give each version a `VersionedSchema`, and list them in a `SchemaMigrationPlan`.")
    } else if store == .payloadHistory {
      reasons.append(
        "Give entries a version with `PayloadHistoryOptions`, and upgrade earlier ones.")
    } else if store == .preferences {
      reasons.append("Use a new key for a new shape: earlier versions still read the old one.")
    } else if isFile || store == .secrets {
      reasons.append("Write the version of the format with the data.")
    } else if store == .diskCache {
      reasons.append("Use a new name for a new shape: the old data can be made again.")
    }
  }

  // MARK: Declarations

  /// Declarations other than those of the stores, by file name.
  static let declarations = [
    "records-extension": groupDeclaration, "disk-cache-age": ageDeclaration,
  ]

  private static let groupDeclaration = """
    import Foundation
    import SwiftData

    @Model final class SharedTask {
      @Attribute(.unique) var id: UUID
      var title: String

      init(title: String) {
        (id, self.title) = (UUID(), title)
      }
    }

    func makeSharedTasks() throws -> ModelContainer {
      let group = ModelConfiguration("Tasks", groupContainer: .identifier("group.org.example"))
      return try ModelContainer(for: SharedTask.self, configurations: group)
    }
    """

  private static let ageDeclaration = """
    import Foundation
    import SteadCaches
    import SteadFiles

    func makeRecentPictures() throws -> LayeredCache<Data> {
      let directories = try AppDirectories(id: "org.example.Notes")
      let limits = DiskCache.Limits(totalSizeLimit: 100 << 20, timeToLive: .seconds(7 * 86_400))
      return LayeredCache(over: DiskCache(named: "recent pictures", in: directories, limits: limits))
    }
    """
}
