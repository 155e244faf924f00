import Foundation

/// What a project's property lists say.
struct ProjectSettings: Codable, Sendable {
  /// Whether an entitlement lets the app use CloudKit, which a container then syncs with unless it's told not to.
  var hasCloudKit = false
  /// Whether it's made for Apple's systems alone, as Info.plist or entitlements show.
  var isAppleApp = false
  /// Whether entitlements say that it isn't in a sandbox.
  var isUnsandboxed = false

  /// Adds a file of entitlements or an Info.plist; one that isn't a property list changes nothing.
  mutating func add(_ data: Data, path: String) {
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
}
