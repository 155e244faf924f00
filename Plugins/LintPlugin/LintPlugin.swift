import Foundation
import PackagePlugin

/// `swift package lint` checks the package's sources. It passes its arguments on to `stead-lint`.
@main
struct LintPlugin: CommandPlugin {
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
    if process.terminationStatus != 0 {
      Diagnostics.error(
        "stead-lint exited with status \(process.terminationStatus); its output above has the reason."
      )
    }
  }
}
