import ArgumentParser
import Foundation

/// What git knows about a folder's files.
struct GitHistory {
  let folder: URL

  /// The diff since a revision, without context lines, and the files that git doesn't track yet.
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

  private func run(_ words: [String]) throws(ValidationError) -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["git", "-c", "core.quotepath=off", "-C", folder.path] + words
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    do {
      try process.run()
    } catch {
      throw ValidationError("git can't be run; install it, or leave out --since: \(error)")
    }
    // The output is read while git writes it, since a pipe holds only a part of it.
    let data = output.fileHandleForReading.readDataToEndOfFile()
    let complaint = errors.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      let reason = String(decoding: complaint, as: UTF8.self).split(separator: "\n").first ?? ""
      throw ValidationError("git \(words.first ?? "") failed: \(reason)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
