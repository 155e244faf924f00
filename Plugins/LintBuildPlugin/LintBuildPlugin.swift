import Foundation
import PackagePlugin

/// Checks a target's sources when one of them has changed. Findings become diagnostics of the build, and an error fails
/// it.
@main
struct LintBuildPlugin: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target as? SwiftSourceModuleTarget else { return [] }
    let work = context.pluginWorkDirectoryURL
    // The stamp is an empty Swift file: an output of any other kind would become a resource of the target.
    let stamp = work.appending(path: "SteadLintStamp.swift")
    return [
      .buildCommand(
        displayName: "Checking persistence in \(target.name)",
        executable: try context.tool(named: "stead-lint").url,
        arguments: [
          target.directoryURL.path, "--level", "warning", "--quiet",
          "--cache", work.appending(path: "cache").path, "--stamp", stamp.path,
        ],
        inputFiles: target.sourceFiles(withSuffix: "swift").map(\.url), outputFiles: [stamp])
    ]
  }
}
