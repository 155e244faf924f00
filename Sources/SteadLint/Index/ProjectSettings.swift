import Foundation

/// What is known of a project from its property lists, Xcode projects, pods and XcodeGen files.
///
/// Each answer is what the files show: without any of them nothing is switched on, and every file
/// counts as compiled.
///
/// It is read in each run, and isn't in the cache. Several apps in one folder share it: what one of
/// them has counts for all.
struct ProjectSettings: Codable, Sendable {
  /// Whether an entitlement lets the app use CloudKit. A container then syncs unless its configuration turns
  /// that off.
  var hasCloudKit = false
  /// Whether it's made only for Apple's systems, as an Info.plist or entitlements show.
  var isAppleApp = false
  /// Whether entitlements turn the sandbox off.
  var isUnsandboxed = false
  /// The Xcode projects that list their files one by one.
  private var projects: [XcodeProject] = []
  /// The folders, each with a slash at its end, whose files a builder finds itself: pods, XcodeGen, and Xcode
  /// projects with whole folders.
  private var wholeFolders: [String] = []

  /// Whether a file is one of these, by its name.
  ///
  /// `Info.plist` is the end of the name only, as in `Widget-Info.plist`.
  static func isSettings(_ path: String) -> Bool {
    [".entitlements", "Info.plist", ".pbxproj"].contains(where: path.hasSuffix)
      || describesFolder(path)
  }

  /// Whether a file says that a builder takes all sources of its folder: a podspec, or XcodeGen's project.
  private static func describesFolder(_ path: String) -> Bool {
    path.hasSuffix(".podspec") || path.split(separator: "/").last == "project.yml"
  }

  /// Adds a file for which ``isSettings(_:)`` is true. One that can't be read as what it is changes nothing.
  ///
  /// Files may come in any order, since each one only adds to what is known.
  mutating func add(_ data: Data, path: String) {
    if path.hasSuffix(".pbxproj") { return addProject(data, path: path) }
    if Self.describesFolder(path) {
      wholeFolders.append(Self.folder(of: path))
      return
    }
    // An unreadable property list shows nothing about the app.
    guard
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
        as? [String: Any]
    else {
      return
    }
    // A program for Linux or for the command line needs neither kind of list.
    isAppleApp = true
    guard path.hasSuffix(".entitlements") else { return }
    // Only an explicit false. Without the key a Mac's app has no sandbox either, but an iPhone's
    // always has one.
    if list["com.apple.security.app-sandbox"] as? Bool == false { isUnsandboxed = true }
    // An app without an iCloud container doesn't sync, whatever services its entitlements have.
    let containers = list["com.apple.developer.icloud-container-identifiers"] as? [String] ?? []
    guard !containers.isEmpty else { return }
    switch list["com.apple.developer.icloud-services"] {
    case let names as [String]:
      hasCloudKit = hasCloudKit || names.contains { $0.hasPrefix("CloudKit") }
    // `*` stands for all services, and is a string, not an array.
    case let name as String: hasCloudKit = hasCloudKit || name == "*" || name.hasPrefix("CloudKit")
    default: break
    }
  }

  /// Adds an Xcode project. One that can't be read, or lists no Swift file, shows nothing about which files
  /// are compiled.
  private mutating func addProject(_ data: Data, path: String) {
    // The project is a folder itself.
    let folder = Self.folder(of: String(Self.folder(of: path).dropLast()))
    // A larger project counts as unknown, and its files as compiled.
    guard let project = XcodeProject(data, folder: folder) else { return }
    // A list with whole folders isn't complete, so no file may count as missing from it.
    if project.hasFolders {
      wholeFolders.append(folder)
    } else if !project.files.isEmpty {
      projects.append(project)
    }
  }

  /// The part of a path up to its last slash.
  ///
  /// Empty for a path without one, which is the folder that is checked.
  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// Whether a target may have a file: unless only Xcode projects are above it, and none of them lists it.
  ///
  /// Files are compared by their names alone, without their folders: a path in a project is
  /// relative to a group, and groups aren't parsed. So a file that has the name of a listed one
  /// counts as compiled.
  func mayBeCompiled(_ path: String) -> Bool {
    let above = projects.filter { path.hasPrefix($0.folder) }
    guard !above.isEmpty, let name = path.split(separator: "/").last?.lowercased() else {
      return true
    }
    return above.contains { $0.files.contains(name) }
      || wholeFolders.contains(where: path.hasPrefix)
  }
}

// MARK: - Xcode

/// What a `project.pbxproj` says of its source files.
///
/// The file is not parsed, only searched: its format isn't documented, and one that other tools write may differ.
struct XcodeProject: Codable, Sendable {
  /// The folder that contains the project, with a slash at its end; empty for the root.
  let folder: String
  /// The names of the Swift files that it lists, in lower case: a Mac's disk doesn't tell `App.swift` from
  /// `app.swift`.
  private(set) var files: Set<String> = []
  /// Whether it has whole folders, so that it doesn't list every file.
  private(set) var hasFolders = false

  /// The largest project that is read, in bytes; a larger one counts as unknown, and all files as compiled.
  static let sizeLimit = 32 << 20

  /// Reads a list in the form that Xcode writes: `path = Name.swift;` or `path = "Its Name.swift";`.
  ///
  /// Returns nil for a larger one.
  init?(_ data: Data, folder: String) {
    guard data.count <= Self.sizeLimit else { return nil }
    self.folder = folder
    // Since Xcode 16 a project may have folders whose files it doesn't list.
    hasFolders = data.range(of: Data("PBXFileSystemSynchronizedRootGroup".utf8)) != nil
    let (key, ending) = (Data("path = ".utf8), Data(".swift".utf8))
    var rest = data[...]
    while let start = rest.range(of: key)?.upperBound {
      rest = rest[start...]
      // Cut off: what was found so far stands.
      guard let end = rest.firstIndex(of: UInt8(ascii: ";")) else { return }
      let value = rest[..<end]
      if value.range(of: ending) != nil {
        // Quotes are there only if the name needs them.
        let path = String(decoding: value, as: UTF8.self).filter { $0 != "\"" }
        if let name = path.split(separator: "/").last, name.hasSuffix(".swift") {
          files.insert(name.lowercased())
        }
      }
      rest = rest[end...]
    }
  }
}
