/// What the answers to ``Question/refinements`` add to the advice about a store.
///
/// It never changes the store: that is why these questions needn't be asked.
///
/// Each answer has a function, which adds sentences or replaces a text of the store. A combination
/// of answer and store without an entry adds nothing.
struct Refinement {
  /// Sentences that are added to the decision's reasons.
  var reasons: [String] = []
  /// When to leave the store, in addition to the store's own.
  var exits: [String] = []
  /// The store's declaration, or one that is for the answers.
  var declaration: String
  /// The store's directory, or the one that others can reach.
  var directory: String
  /// How the data gets to other devices on these systems.
  var sync: String

  /// The store that was decided. It never changes here.
  private let store: Store

  /// Begins with the store's own texts, and applies each answer. A question without an answer has
  /// its first one.
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

  /// Whether the data is in a container of models.
  private var isRecords: Bool { store == .records || store == .recordsWithFiles }

  /// Whether the data is under a key. A history is one, so what is true of a domain holds for it.
  private var isPreferences: Bool { store == .preferences || store == .payloadHistory }

  /// Whether the data is a file of its own. A temporary one isn't among them: nobody else uses it.
  private var isFile: Bool { store == .file || store == .encryptedFile }

  // MARK: Systems

  /// What differs between systems: directories, keychains and sync.
  ///
  /// The store's own texts are for all systems, so only a narrower answer replaces or completes
  /// them.
  private mutating func limit(to platforms: Situation.Platforms, _ devices: Situation.Devices?) {
    switch platforms {
    case .all: break
    case .apple:
      // Without other systems there is no Secret Service and no vault.
      if store == .secrets { directory = "none of your own: the system's keychain" }
      // On one device there is nothing to sync, whatever the system has.
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
    // Permissions, and not the kind of store, are what separates users, so the reason is the same
    // for all.
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
  ///
  /// The first match counts: `.kept` before the stores, and both other answers for files at the
  /// end.
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
  ///
  /// A file notifies nobody on any system, so it gets a reason to leave for both kinds of
  /// observers.
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
  ///
  /// Each store has another means: a schema, a version in its options, a new key or a new name.
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

  /// Records that an app and its extension share, in the directory of their group.
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

  /// A cache on disk whose entries also end by their age.
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
