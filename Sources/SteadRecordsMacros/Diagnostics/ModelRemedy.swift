import SwiftDiagnostics

/// What a fix-it offers to do.
enum ModelRemedy: FixItMessage {
  case replace(String, with: String)
  case insertMemberwiseInitializer
  case remove(String)
  case insert(String)
  case split

  var message: String {
    switch self {
    case .replace(let old, let new): "replace '\(old)' with '\(new)'"
    case .insertMemberwiseInitializer: "insert a memberwise initializer"
    case .remove(let text): "remove '\(text)'"
    case .insert(let text): "insert '\(text)'"
    case .split: "declare each property separately"
    }
  }

  var fixItID: MessageID {
    let label = Mirror(reflecting: self).children.first?.label ?? "\(self)"
    return MessageID(domain: "SteadRecords", id: label)
  }
}
