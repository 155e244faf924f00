import Foundation
import SteadTestSupport
import Testing

/// A program as containers and system services run it: a user without an account, no home, no session bus,
/// and a file system that can be read only.
@Suite(.needs(.container)) struct ContainerTests {
  /// Each product works in memory, or says what to set.
  @Test func `says what to set where nothing can be written`() throws {
    let lines = try Container.run("set", variables: [:], writable: [])
    #expect(lines["preferences"]?.first == "5")
    let told = try #require(lines["told"])
    #expect(told.count == 1 && told[0].contains("XDG_CONFIG_HOME"), "\(told)")
    for product in ["preferences", "secrets", "records"] {
      let last = try #require(lines[product]?.last)
      #expect(last.hasPrefix("error "), "\(product): \(last)")
      #expect(last.contains("HOME"), "\(product) names the variable: \(last)")
    }
  }

  /// With a directory of its own, named by the variables, all is kept.
  @Test func `keeps all in the directory that it is given`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("data").filePath
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for _ in 0..<2 {
      for command in ["set", "get"] {
        let lines = try Container.run(command, variables: ["HOME": path], writable: [path])
        #expect(lines["preferences"] == ["5", "flushed"])
        #expect(lines["secrets"] == ["token"])
        #expect(lines["records"]?.allSatisfy { $0.hasPrefix("[5") } == true)
        #expect(lines["told"] == nil)
      }
    }
  }
}

private enum Container {
  /// A user and a group that no account has.
  static let user = "47110"

  /// Runs the worker, and gives its lines by their first word.
  static func run(
    _ command: String, variables: [String: String], writable: [String]
  ) throws -> [String: [String]] {
    let script = """
      set -e
      user="$1" variables="$2" writable="$3"
      shift 3
      mount --make-rprivate /
      for path in $writable; do
        chown "$user:$user" "$path"
        mount --bind "$path" "$path"
      done
      for path in / /tmp /dev/shm /run; do
        mountpoint -q "$path" && mount -o remount,ro,bind "$path"
      done
      exec setpriv --reuid="$user" --regid="$user" --clear-groups env -i PATH="$PATH" $variables "$@"
      """
    let settings = variables.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
    let text = try ToolRun.text([
      "unshare", "--mount", "bash", "-c", script, "container", user, settings,
      writable.joined(separator: " "), try WorkerProcess.program("TransferWorker"), "container",
      command,
    ])
    var lines: [String: [String]] = [:]
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 1).map(String.init)
      lines[words[0], default: []].append(words.count > 1 ? words[1] : "")
    }
    return lines
  }
}

extension Requirement {
  /// A name space of one's own, and a worker that any user can run.
  fileprivate static let container = Requirement(
    (try? Container.run("none", variables: [:], writable: [])) != nil,
    orElse:
      "a container cannot be imitated: run the tests as root of a Linux that lets it mount, in a "
      + "directory that all users can reach")
}
