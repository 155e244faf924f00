import Foundation
import PackagePlugin

/// `swift package lint` checks the package's sources. It passes its arguments on to `stead-lint`.
///
/// It asks for no permission to write to the package, so SwiftPM's sandbox on a Mac refuses `--fix`
/// and `--write-baseline`.
@main
struct LintPlugin: CommandPlugin {
  /// Runs the linter in the package's folder, and waits for it.
  func performCommand(context: PluginContext, arguments: [String]) throws {
    let tool = try context.tool(named: "stead-lint")
    let process = Process()
    process.executableURL = tool.url
    process.currentDirectoryURL = context.package.directoryURL
    // Before the arguments, so that one of them may name another file.
    let cache = context.pluginWorkDirectoryURL.appending(path: "cache").path
    process.arguments = ["--cache", cache] + arguments
    try process.run()
    process.waitUntilExit()
    // An error makes SwiftPM exit with a status other than 0, too.
    if process.terminationStatus != 0 {
      Diagnostics.error(
        "stead-lint exited with status \(process.terminationStatus); its output above has the reason."
      )
    }
  }
}
