import ArgumentParser
import Foundation
import SteadLint
import Synchronization

/// What is read, and which part of it is reported.
///
/// One folder is read on its own. Files, and several paths, are read with the project around them, since types and keys
/// in other files decide what is a mistake.
struct LintScope {
  /// The folder that paths are relative to.
  let directory: URL
  /// The folder that is read.
  let root: URL
  /// A prefix that makes the paths of findings relative to the working directory.
  private let prefix: String
  /// The paths in the folder that are reported; all paths if it's empty.
  private let chosen: [String]

  /// Finds the folder to read for some paths.
  ///
  /// - Parameter paths: As in the arguments; the working directory if there are none.
  /// - Throws: A `ValidationError` that names a path that doesn't exist.
  init(paths: [String], directory: URL) throws(ValidationError) {
    self.directory = directory
    let urls = (paths.isEmpty ? ["."] : paths).map {
      URL(filePath: $0, relativeTo: directory).standardizedFileURL
    }
    // The message has the path as it was given, and not as it was resolved.
    for (url, path) in zip(urls, paths) where !FileManager.default.fileExists(atPath: url.path) {
      throw ValidationError("\(path) doesn't exist; name a folder or a Swift file.")
    }
    // Read as it is, and reported as a whole.
    if urls.count == 1, Self.isFolder(urls[0]) {
      root = urls[0]
      chosen = []
    } else {
      root = Self.project(around: urls)
      let base = root.pathComponents
      // The project is around all of them, so each path begins with the folder's components.
      chosen = urls.map { $0.pathComponents.dropFirst(base.count).joined(separator: "/") }
    }
    let here = directory.standardizedFileURL.pathComponents
    let there = root.pathComponents
    // By components: `/a/bc` isn't below `/a/b`.
    if there.starts(with: here) {
      prefix = there.dropFirst(here.count).map { $0 + "/" }.joined()
    } else {
      prefix = root.path + "/"
    }
  }

  /// Whether a finding is in one of the paths that were named.
  func isReported(_ finding: Finding) -> Bool {
    chosen.isEmpty
      || chosen.contains { path in
        path.isEmpty || finding.place.path == path || finding.place.path.hasPrefix(path + "/")
      }
  }

  /// A report with paths relative to the working directory.
  ///
  /// Editors and compilers' problem matchers open such paths from where the command was started.
  func placed(_ report: LintReport) -> LintReport {
    prefix.isEmpty ? report : report.prefixed(with: prefix)
  }

  /// Whether a folder is at a URL, or a link that leads to one.
  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The nearest folder around all paths that looks like a project; the common folder of the paths if none does.
  ///
  /// Without the project a key that is a constant elsewhere, or a container in another file, would
  /// be unknown.
  private static func project(around urls: [URL]) -> URL {
    let folders = urls.map { isFolder($0) ? $0 : $0.deletingLastPathComponent() }.map(
      \.pathComponents)
    var common = folders[0]
    for folder in folders.dropFirst() {
      common = Array(zip(common, folder).prefix { $0 == $1 }.map(\.0))
    }
    var candidate = common
    // Not the root directory itself, whose first component is the only one.
    while candidate.count > 1 {
      if isProject(url(candidate)) { return url(candidate) }
      candidate.removeLast()
    }
    return url(common)
  }

  /// The URL of a path's components, of which the first is the slash.
  private static func url(_ components: [String]) -> URL {
    URL(filePath: "/" + components.dropFirst().joined(separator: "/")).standardizedFileURL
  }

  /// Whether a folder has a manifest, an Xcode project or workspace, or is the root of a git
  /// repository.
  private static func isProject(_ folder: URL) -> Bool {
    // A folder that can't be listed isn't one.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.contains {
      $0 == "Package.swift" || $0 == ".git" || $0.hasSuffix(".xcodeproj")
        || $0.hasSuffix(".xcworkspace")
    }
  }
}

// MARK: - Changed lines

/// The lines of files that are new or changed since a revision.
struct ChangedLines {
  /// The new lines of each file, by the file's path.
  private var lines: [String: [ClosedRange<Int>]] = [:]
  /// The files that git doesn't track, all lines of which are new.
  private let new: Set<String>
  /// Every file that differs, including files that are gone.
  private(set) var paths: Set<String>

  /// Reads a unified diff without context lines, as ``GitHistory/changes(since:)`` asks git for.
  init(_ changes: (diff: String, new: [String])) {
    new = Set(changes.new)
    paths = new
    var path: String?
    // Lines of a hunk that are still to come: a removed `-- a/x` must not be taken for the header of a file.
    var remaining = 0
    for line in changes.diff.split(separator: "\n") {
      if remaining > 0, line.hasPrefix("-") || line.hasPrefix("+") {
        remaining -= 1
      } else if line.hasPrefix("--- a/") || line.hasPrefix("+++ b/") {
        path = String(line.dropFirst("--- a/".count))
        // Git ends a path that has a space with a tab, as old versions of `patch` want it.
        if path?.last == "\t" { path?.removeLast() }
        // Both headers: a file that is gone has only the first one, and a new one only the second.
        path.map { _ = paths.insert($0) }
      } else if line.hasPrefix("@@ ") {
        let (old, new) = (Self.range("-", of: line), Self.range("+", of: line))
        // Without context each line of the hunk is either removed or added, so this is their
        // number.
        remaining = (old?.count ?? 0) + (new?.count ?? 0)
        if let path, let new { lines[path, default: []].append(new) }
      }
    }
  }

  /// Whether a finding begins on a changed line, or is in a new file.
  ///
  /// A finding that begins above a changed line isn't reported, even if it reaches down to it.
  func contains(_ finding: Finding) -> Bool {
    new.contains(finding.place.path)
      || (lines[finding.place.path] ?? []).contains { $0.contains(finding.place.line) }
  }

  /// The old (`-`) or new (`+`) lines of `@@ -3,2 +3,4 @@`; nil if there are none.
  ///
  /// A count of zero is a pure insertion or removal, which has no lines on that side.
  private static func range(_ sign: Character, of header: Substring) -> ClosedRange<Int>? {
    guard let part = header.split(separator: " ").first(where: { $0.first == sign }) else {
      return nil
    }
    let numbers = part.dropFirst().split(separator: ",").compactMap { Int($0) }
    guard let first = numbers.first else { return nil }
    // Git leaves out a count of one.
    let count = numbers.count > 1 ? numbers[1] : 1
    return count > 0 ? first...(first + count - 1) : nil
  }
}

// MARK: - Git

/// What git knows about a folder's files.
///
/// It runs git as a program, with options that make its output the same whatever the user has
/// configured. Paths are relative to the folder, which may be a part of the repository.
struct GitHistory {
  /// The folder whose files are asked about.
  let folder: URL

  /// The diff since a revision, without context lines, and the files that git doesn't track yet.
  ///
  /// Compares with the files on the disk, not with those that are staged.
  func changes(since revision: String) throws(ValidationError) -> (diff: String, new: [String]) {
    let diff = try run([
      "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--relative",
      "--src-prefix=a/",
      "--dst-prefix=b/", revision, "--", "*.swift",
    ])
    let new = try run(["ls-files", "-z", "--others", "--exclude-standard", "--", "*.swift"])
    return (diff, new.split(separator: "\0").map(String.init))
  }

  /// The contents of files at a revision; nil for files that didn't exist.
  ///
  /// Costs a process for each file. The list of files comes first, since git fails for one that the
  /// revision lacks.
  func contents(of paths: Set<String>, at revision: String) throws(ValidationError) -> [String:
    String?]
  {
    let known = Set(
      try run(["ls-tree", "-r", "-z", "--name-only", revision, "."]).split(separator: "\0").map(
        String.init))
    var contents: [String: String?] = [:]
    for path in paths {
      contents[path] = .some(
        known.contains(path) ? try run(["show", "\(revision):./\(path)"]) : nil)
    }
    return contents
  }

  /// The output of git in the folder.
  ///
  /// - Throws: A `ValidationError` with the first line of git's complaint, if it can't be run or fails.
  private func run(_ words: [String]) throws(ValidationError) -> String {
    let process = Process()
    // It looks git up in the user's PATH, which `Process` doesn't.
    process.executableURL = URL(filePath: "/usr/bin/env")
    // Paths with letters beyond ASCII would otherwise be in quotation marks, with escapes.
    process.arguments = ["git", "-c", "core.quotepath=off", "-C", folder.path] + words
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    // Otherwise git has this process's own input, and a filter or a helper of the user's
    // configuration that reads it waits for as long as nobody types.
    process.standardInput = FileHandle.nullDevice
    do {
      try process.run()
    } catch {
      throw ValidationError("git can't be run; install it, or leave out --since: \(error)")
    }
    // Both pipes are read while git runs. A pipe holds only a part of what git writes. Once the one
    // that nobody reads is full, git waits, and never closes the other one.
    let complaint = PipeReader(errors)
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let reasons = complaint.content()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let reason = String(decoding: reasons, as: UTF8.self).split(separator: "\n").first ?? ""
      throw ValidationError("git \(words.first ?? "") failed: \(reason)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}

/// Reads a pipe to its end on a thread of its own, while the caller reads another one.
private final class PipeReader: Sendable {
  private let bytes = Mutex(Data())
  private let done = DispatchGroup()

  /// Starts to read. The thread ends with the last process that can write to the pipe.
  init(_ pipe: Pipe) {
    let handle = pipe.fileHandleForReading
    done.enter()
    Thread.detachNewThread { [self] in
      let all = handle.readDataToEndOfFile()
      bytes.withLock { $0 = all }
      done.leave()
    }
  }

  /// All that was written to the pipe. Blocks until its end.
  func content() -> Data {
    done.wait()
    return bytes.withLock { $0 }
  }
}
