import Foundation
import PackagePlugin

/// Checks a target's sources when one of them has changed. Findings become diagnostics of the
/// build, and an error fails it.
///
/// ```swift
/// .target(name: "App", plugins: [.plugin(name: "LintBuildPlugin", package: "stead")])
/// ```
@main
struct LintBuildPlugin: BuildToolPlugin {
  /// The command for a target; none for one without Swift sources.
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
          // The cache and the stamp are in the plugin's work directory, the only place where
          // SwiftPM's sandbox on a Mac lets it write.
          target.directoryURL.path, "--level", "warning", "--quiet",
          "--cache", work.appending(path: "cache").path, "--stamp", stamp.path,
        ],
        inputFiles: target.sourceFiles(withSuffix: "swift").map(\.url), outputFiles: [stamp])
    ]
  }
}
