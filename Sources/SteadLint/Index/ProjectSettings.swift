import Foundation

/// What a project's property lists, Xcode projects and descriptions for other builders say.
struct ProjectSettings: Codable, Sendable {
  /// Whether an entitlement lets the app use CloudKit, which a container then syncs with unless it's told not to.
  var hasCloudKit = false
  /// Whether it's made for Apple's systems alone, as Info.plist or entitlements show.
  var isAppleApp = false
  /// Whether entitlements say that it isn't in a sandbox.
  var isUnsandboxed = false
  /// The names of the source files that Xcode projects list; nil without a project, or if one has whole folders.
  private(set) var listedFiles: Set<String>?
  private var hasFolders = false
  /// The folders, each with a slash at its end, whose files a builder finds itself: CocoaPods and XcodeGen.
  private(set) var wholeFolders: [String] = []

  static func isSettings(_ path: String) -> Bool {
    [".entitlements", "Info.plist", ".pbxproj"].contains(where: path.hasSuffix)
      || describesFolder(path)
  }

  private static func describesFolder(_ path: String) -> Bool {
    path.hasSuffix(".podspec") || path.split(separator: "/").last == "project.yml"
  }

  /// Adds a file for which ``isSettings(_:)`` is true; one that isn't a property list changes nothing.
  mutating func add(_ data: Data, path: String) {
    if path.hasSuffix(".pbxproj") { return addProject(String(decoding: data, as: UTF8.self)) }
    if Self.describesFolder(path) {
      let name = path.split(separator: "/").last ?? ""
      wholeFolders.append(String(path.dropLast(name.count)))
      return
    }
    // What can't be read says nothing of the app.
    guard
      let list = try? PropertyListSerialization.propertyList(from: data, format: nil)
        as? [String: Any]
    else {
      return
    }
    isAppleApp = true
    guard path.hasSuffix(".entitlements") else { return }
    if list["com.apple.security.app-sandbox"] as? Bool == false { isUnsandboxed = true }
    // Without a container of its own an app doesn't sync, whatever service it may use.
    let containers = list["com.apple.developer.icloud-container-identifiers"] as? [String] ?? []
    guard !containers.isEmpty else { return }
    switch list["com.apple.developer.icloud-services"] {
    case let names as [String]:
      hasCloudKit = hasCloudKit || names.contains { $0.hasPrefix("CloudKit") }
    case let name as String: hasCloudKit = hasCloudKit || name == "*" || name.hasPrefix("CloudKit")
    default: break
    }
  }

  /// Adds an Xcode project, which lists each file as `path = Name.swift;` or `path = "Its Name.swift";`.
  private mutating func addProject(_ text: String) {
    hasFolders = hasFolders || text.contains("PBXFileSystemSynchronizedRootGroup")
    guard !hasFolders else {
      listedFiles = nil
      return
    }
    var names = listedFiles ?? []
    for line in text.split(whereSeparator: \.isNewline) where line.contains(".swift") {
      for part in line.split(separator: ";") {
        guard let start = part.range(of: "path = ")?.upperBound else { continue }
        let path = part[start...].filter { $0 != "\"" }
        if let name = path.split(separator: "/").last, name.hasSuffix(".swift") {
          names.insert(String(name))
        }
      }
    }
    listedFiles = names
  }
}
