#if !canImport(Darwin)
  import Foundation

  extension AppDirectories {
    init(checkedID id: String, environment: [String: String]) {
      self.id = id
      let base = BaseDirectories(environment: environment)
      home = HomeDirectory(base.home)
      documents = base.user("DOCUMENTS", default: "Documents")
      data = base.data.directory(id)
      config = base.config.directory(id)
      cache = base.cache.directory(id)
      state = base.state.directory(id)
      logs = base.state.directory(id).directory("logs")
      // Names of groups begin with "group." by Apple's rules, so they cannot clash with an app's.
      groups = base.data
      // With the user's number, since users share the temporary directory.
      temporary = base.temporary.directory("\(id)-\(geteuid())")
      (runtime, runtimeWarning) = Self.runtime(
        id: id, named: environment["XDG_RUNTIME_DIR"], temporaryBase: base.temporary)
    }

    /// "MUST be owned by the user, and he MUST be the only one having read and write access to it."
    private static func runtime(
      id: String, named path: String?, temporaryBase: URL
    ) -> (URL, warning: String?) {
      let problem: String
      if let named = BaseDirectories.directory(path) {
        do {
          let found = try PrivateDirectory.problem(with: named.checkedPath, on: POSIXDisk())
          guard let found else { return (named.directory(id), nil) }
          problem = found
        } catch {
          problem = "\(error)"
        }
      } else {
        problem = path == nil ? "It isn't set." : "It isn't an absolute path."
      }
      // A single component, since the owner of a directory in between could exchange its contents.
      let replacement = temporaryBase.directory("\(id)-runtime-\(geteuid())")
      let replacementPath = replacement.path(percentEncoded: false)
      return (
        replacement,
        "XDG_RUNTIME_DIR cannot be used. \(problem) \(replacementPath) is used instead."
      )
    }
  }

  // MARK: - Base directories

  /// The directories that all apps of a user share, by the XDG Base Directory Specification 0.8 and
  /// by `user-dirs.dirs`.
  package struct BaseDirectories {
    package let home: URL
    package let data: URL
    package let config: URL
    package let cache: URL
    package let state: URL
    package let temporary: URL
    /// Where an administrator puts settings for all users; earlier directories take precedence.
    package let allUsersConfig: [URL]
    private let userDirectories: UserDirectories

    package init(environment: [String: String]) {
      let home = Self.directory(environment["HOME"]) ?? HomeDirectory.account
      func base(_ variable: String, _ fallback: String) -> URL {
        Self.directory(environment[variable]) ?? home.directory(fallback)
      }
      self.home = home
      data = base("XDG_DATA_HOME", ".local/share")
      config = base("XDG_CONFIG_HOME", ".config")
      cache = base("XDG_CACHE_HOME", ".cache")
      state = base("XDG_STATE_HOME", ".local/state")
      allUsersConfig = Self.directories(environment["XDG_CONFIG_DIRS"], default: "/etc/xdg")
      temporary = Self.directory(environment["TMPDIR"]) ?? URL(filePath: "/tmp")
      // A missing or unreadable file leaves the default locations of desktops.
      let text = try? AtomicFile(config.appending(path: "user-dirs.dirs")).read()
      userDirectories = UserDirectories(
        text.map { String(decoding: $0, as: UTF8.self) } ?? "",
        home: home.path(percentEncoded: false))
    }

    /// One of the directories visible to the user, such as `DOCUMENTS`.
    package func user(_ name: String, default fallback: String) -> URL {
      Self.directory(userDirectories[name]) ?? home.directory(fallback)
    }

    /// "All paths set in these environment variables must be absolute"; others count as not set.
    static func directory(_ path: String?) -> URL? {
      guard let path, path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
      return URL(filePath: path, directoryHint: .isDirectory)
    }

    /// Colon-separated paths; those that are not absolute are skipped, and an empty list counts as not set.
    private static func directories(_ list: String?, default fallback: String) -> [URL] {
      let found = (list ?? "").split(separator: ":").compactMap { directory(String($0)) }
      return found.isEmpty ? [URL(filePath: fallback, directoryHint: .isDirectory)] : found
    }
  }

  extension URL {
    package func directory(_ path: String) -> URL {
      appending(path: path, directoryHint: .isDirectory)
    }
  }

  // MARK: - user-dirs.dirs

  /// The contents of a `user-dirs.dirs` file: where a user has their documents, music and so on.
  ///
  /// The file looks like a shell script, but isn't one. A line counts when it is `XDG_NAME_DIR="$HOME/path"` or
  /// `XDG_NAME_DIR="/path"`, with a backslash before a character that is meant literally; all other lines are
  /// skipped, and the last of several lines for one name counts.
  struct UserDirectories {
    private var paths: [String: String] = [:]

    init(_ text: String, home: String) {
      for line in text.split(whereSeparator: \.isNewline) {
        guard let (name, path) = Self.entry(line, home: home) else { continue }
        paths[name] = path
      }
    }

    /// The absolute path of one of the directories, such as `DOCUMENTS`.
    subscript(name: String) -> String? { paths[name] }

    private static func entry(_ line: Substring, home: String) -> (name: String, path: String)? {
      var rest = line.drop(while: \.isBlank)
      guard rest.hasPrefix("XDG_"), let equals = rest.firstIndex(of: "=") else { return nil }
      var name = rest[..<equals].dropFirst(4)
      while name.last?.isBlank == true { name.removeLast() }
      guard name.hasSuffix("_DIR"), name.count > 4 else { return nil }

      rest = rest[equals...].dropFirst().drop(while: \.isBlank)
      guard rest.first == "\"", let path = path(rest.dropFirst(), home: home) else { return nil }
      return (String(name.dropLast(4)), path)
    }

    /// The path in a string up to the closing quotation mark; nil when it is not absolute.
    private static func path(_ text: Substring, home: String) -> String? {
      // Checked before the backslashes are removed: `\$HOME` is a directory of that odd name.
      if text.first == "/" { return unquoted(text) }
      let variable = "$HOME"
      guard text.hasPrefix(variable), let rest = unquoted(text.dropFirst(variable.count)) else {
        return nil
      }
      guard rest.isEmpty || rest.hasPrefix("/") else { return nil }
      let relative = rest.drop { $0 == "/" }
      return relative.isEmpty ? home : home + (home.hasSuffix("/") ? "" : "/") + relative
    }

    /// The string up to the closing quotation mark; nil when it has none.
    private static func unquoted(_ text: Substring) -> String? {
      var value = ""
      var isEscaped = false
      for character in text {
        if isEscaped {
          value.append(character)
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          return value
        } else {
          value.append(character)
        }
      }
      return nil
    }
  }

  extension Character {
    fileprivate var isBlank: Bool { self == " " || self == "\t" }
  }
#endif
